//! The window's program. See `src-tauri/ARCHITECTURE.md`.

// A release on Windows opens no console beside the window.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

mod bridge;
mod closing;
mod instance;
mod links;
mod platform;
mod scheme;
mod start;
mod window;

fn main() -> ExitCode {
    // A helper is this program started again: it must not touch a window toolkit, so it is looked for first.
    if let Some(code) = cairn_host::parts::helper_main(std::env::args_os()) {
        return code;
    }
    start::run()
}
