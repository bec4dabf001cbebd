//! Logs into rotating files, for the user alone. SPEC A9. No telemetry: nothing ever leaves the machine.

use std::path::Path;

use cairn_protocol::ApiError;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::environment::Environment;
use crate::files;

/// Days of logs that are kept.
const DAYS: usize = 7;

/// Starts logging into `folder`, one file a day; drop the guard last, so that the last lines are written.
///
/// `CAIRN_LOG` sets what is logged, in the form of `tracing`; without it warnings are, and what our own crates inform
/// of. Without a folder that can be written nothing is logged and everything else works.
pub fn start_logs(
    folder: &Path,
    program: &str,
    environment: &Environment,
) -> Result<Option<WorkerGuard>, ApiError> {
    files::make_private_folder(folder)?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(program)
        .filename_suffix("log")
        .max_log_files(DAYS)
        .build(folder)
        .map_err(|error| {
            files::failed(
                "write logs into",
                folder,
                &std::io::Error::other(error.to_string()),
            )
        })?;
    let (writer, guard) = tracing_appender::non_blocking(appender);
    let usual = "warn,cairn_agent=info,cairn_host=info,cairn_store=info,cairn_models=info,cairn_exec=info";
    let filter = EnvFilter::try_new(environment.text("CAIRN_LOG").unwrap_or(usual))
        .unwrap_or_else(|_| EnvFilter::new(usual));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(false);
    // A second start in one process (tests) keeps the first.
    let started = tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init()
        .is_ok();
    Ok(started.then_some(guard))
}
