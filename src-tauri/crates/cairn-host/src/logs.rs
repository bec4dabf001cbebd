//! Logs into rotating files, for the user alone. SPEC A9. No telemetry: nothing ever leaves the machine.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cairn_protocol::ApiError;
use tracing_appender::non_blocking::WorkerGuard;
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
    let file =
        DailyFile::open(folder, program).map_err(|error| files::failed("write logs into", folder, &error))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
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

/// One file a day, for the user alone from its first byte on.
struct DailyFile {
    folder: PathBuf,
    program: String,
    day: String,
    file: File,
}

impl DailyFile {
    fn open(folder: &Path, program: &str) -> io::Result<Self> {
        let day = today();
        let file = files::append_private(&folder.join(name(program, &day)))?;
        forget_old(folder, program)?;
        Ok(Self {
            folder: folder.to_owned(),
            program: program.to_owned(),
            day,
            file,
        })
    }
}

impl Write for DailyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.day != today() {
            *self = Self::open(&self.folder, &self.program)?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

fn name(program: &str, day: &str) -> String {
    format!("{program}.{day}.log")
}

/// Removes a program's oldest files: days sort as their names do.
fn forget_old(folder: &Path, program: &str) -> io::Result<()> {
    let is_ours = |name: &str| {
        name.strip_prefix(program)
            .and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".log"))
            .is_some_and(|day| day.len() == 10 && day.bytes().all(|c| c.is_ascii_digit() || c == b'-'))
    };
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_ours(name))
        .collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    for old in names.iter().skip(DAYS) {
        std::fs::remove_file(folder.join(old))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_of_a_programs_own_logs_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
        for day in 1..=9 {
            write(&format!("desktop.2020-01-0{day}.log"));
        }
        for other in [
            "cairn.2020-01-01.log",
            "desktop.log",
            "desktop.2020-01-01.txt",
            "notes",
        ] {
            write(other);
        }
        let mut log = DailyFile::open(folder.path(), "desktop").unwrap();
        log.write_all(b"a line\n").unwrap();
        let mut left: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let of_today = name("desktop", &today());
        let mut wanted = vec![
            "cairn.2020-01-01.log".to_owned(),
            "desktop.2020-01-01.txt".to_owned(),
        ];
        wanted.extend((4..=9).map(|day| format!("desktop.2020-01-0{day}.log")));
        wanted.extend([of_today.clone(), "desktop.log".to_owned(), "notes".to_owned()]);
        assert_eq!(left, wanted);
        assert_eq!(
            std::fs::read_to_string(folder.path().join(of_today)).unwrap(),
            "a line\n"
        );
    }

    #[test]
    #[cfg(unix)]
    fn a_log_is_for_the_user_alone_also_when_it_was_not_before() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name("desktop", &today()));
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(DailyFile::open(folder.path(), "desktop").unwrap());
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        drop(DailyFile::open(folder.path(), "desktop").unwrap());
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn another_day_gets_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = DailyFile::open(folder.path(), "cairn").unwrap();
        log.day = "2020-01-01".to_owned();
        std::fs::remove_file(folder.path().join(name("cairn", &today()))).unwrap();
        log.write_all(b"new\n").unwrap();
        let text = std::fs::read_to_string(folder.path().join(name("cairn", &today()))).unwrap();
        assert_eq!(text, "new\n");
    }
}
