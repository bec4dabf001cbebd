//! A program with the helper role, and one that plays the app, for the tests of this crate: `app LINE` runs a line
//! under a supervisor and prints what it printed.

use std::io::Write as _;
use std::process::ExitCode;

use cairn_exec::{CommandSpec, HelperProgram, Processes, Program, Shell, child_environment, helper_main};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    if let Some(code) = helper_main(std::env::args_os()) {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    let (Some("app"), Some(line)) = (arguments.next().as_deref(), arguments.next()) else {
        return ExitCode::from(2);
    };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
    else {
        return ExitCode::FAILURE;
    };
    let ran = runtime.block_on(async {
        let spec = CommandSpec {
            program: Program::Line {
                shell: Shell::find(None),
                line,
            },
            workdir: "/".into(),
            environment: child_environment(std::env::vars_os(), &[]),
            limit: None,
            cancel: CancellationToken::new(),
            walls: None,
        };
        Processes::new(HelperProgram::this_program())
            .run(spec, |_| {})
            .await
    });
    let Ok(finished) = ran else {
        return ExitCode::FAILURE;
    };
    let printed = std::io::stdout().write_all(finished.output.text().as_bytes());
    if printed.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
