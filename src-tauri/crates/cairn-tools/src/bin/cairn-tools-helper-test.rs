//! A program with nothing but the helper role, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    cairn_exec::helper_main(std::env::args_os()).unwrap_or(ExitCode::from(2))
}
