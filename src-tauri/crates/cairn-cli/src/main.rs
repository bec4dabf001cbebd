//! The headless `cairn` command: one request, sessions, rules, configuration, and opening the window.
//!
//! Owns: arguments, what is printed, exit codes. Must never know: how anything is done; the host does it.

mod allow;
mod args;
mod config;
mod doctor;
mod exec;
mod open;
mod out;
mod sessions;

use std::process::ExitCode;
use std::sync::Arc;

use cairn_host::parts::{HelperProgram, Pace, helper_main};
use cairn_host::{Environment, Host, start_logs};
use cairn_protocol::{ApiError, ErrorCode};
use clap::Parser;

use crate::args::{Args, Command};

/// Done.
const DONE: u8 = 0;
/// The request failed.
const FAILED: u8 = 1;
/// Bad usage or broken configuration: nothing was sent.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    if let Some(code) = helper_main(std::env::args_os()) {
        return code;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; everything else is bad usage.
            let code = if error.use_stderr() { USAGE } else { DONE };
            error.print().unwrap_or_default();
            return code.into();
        }
    };
    let environment = Environment::new(std::env::vars_os());
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            out::problem(&format!("Cairn could not start: {error}"));
            return FAILED.into();
        }
    };
    let code = runtime.block_on(run(args, environment));
    // Whatever still blocks a thread must not keep the command from ending.
    runtime.shutdown_background();
    if let Some(why) = out::lost() {
        out::problem(&format!(
            "Not everything could be written to standard output: {why}. What was done is in the session's history."
        ));
        return if code == DONE { FAILED } else { code }.into();
    }
    code.into()
}

async fn run(args: Args, environment: Environment) -> u8 {
    let inside = environment.get("CAIRN_INSIDE").is_some();
    if inside && !only_reads(args.command.as_ref()) {
        out::problem(
            "This runs inside a command that Cairn started: there it cannot change what Cairn may do.",
        );
        return USAGE;
    }
    let Some(command) = args.command else {
        return open::window(args.folder.as_deref(), &environment);
    };
    let demo = matches!(&command, Command::Exec(exec) if exec.profile.as_deref() == Some("demo"));
    let host = match start(environment, demo) {
        Ok(host) => host,
        Err(error) => return failed(&error),
    };
    // Everything works without logs; the last lines are written when the guard goes.
    let _logs = start_logs(&host.home().logs(), "cairn", host.environment());
    let done = match command {
        Command::Exec(exec) => exec::run(&host, exec).await,
        Command::Sessions(sessions) => sessions::run(&host, sessions).await,
        Command::Allow(allow) => allow::run(&host, allow).await,
        Command::Config(config) => config::run(&host, config).await,
        Command::Doctor => doctor::run(&host).await,
    };
    host.shutdown().await;
    match done {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

/// Whether it changes nothing of ours; a window could be made to change everything.
fn only_reads(command: Option<&Command>) -> bool {
    match command {
        Some(Command::Doctor) => true,
        Some(Command::Sessions(sessions)) => sessions.only_reads(),
        Some(Command::Exec(_) | Command::Allow(_) | Command::Config(_)) | None => false,
    }
}

fn start(environment: Environment, demo: bool) -> Result<Arc<Host>, ApiError> {
    // The tour is read, not watched, when there is no window: it need not dawdle.
    let pace = if demo { Pace::INSTANT } else { Pace::READABLE };
    Host::start(environment, HelperProgram::this_program(), pace)
}

fn failed(error: &ApiError) -> u8 {
    out::problem(&error.message);
    match error.code {
        ErrorCode::BadRequest | ErrorCode::BadConfig | ErrorCode::BadFolder | ErrorCode::NoModel => USAGE,
        _ => FAILED,
    }
}
