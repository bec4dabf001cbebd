//! `cairn [DIR]`: opens the window by becoming `cairn-desktop` from beside this program. SPEC A1.

use std::ffi::OsString;
use std::path::Path;

use cairn_host::parts::become_program;

use crate::{FAILED, out};

/// Only returns when the window's program could not be started.
pub(crate) fn window(folder: Option<&Path>) -> u8 {
    let name = if cfg!(windows) {
        "cairn-desktop.exe"
    } else {
        "cairn-desktop"
    };
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| own.parent().map(|parent| parent.join(name)));
    let Some(program) = beside.filter(|path| path.is_file()) else {
        out::problem("The window is not installed beside this command. `cairn exec` works without it.");
        return FAILED;
    };
    let arguments: Vec<OsString> = folder
        .map(|folder| folder.as_os_str().to_owned())
        .into_iter()
        .collect();
    let error = become_program(&program, &arguments);
    out::problem(&format!("{} could not be started: {error}", program.display()));
    FAILED
}
