//! `cairn [DIR]`: opens the window by becoming `cairn-desktop` from beside this program. SPEC A1.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use cairn_host::Environment;
use cairn_host::parts::become_program;

use crate::{FAILED, USAGE, out};

/// Only returns when the window's program could not be started.
pub(crate) fn window(folder: Option<&Path>, environment: &Environment) -> u8 {
    // Said here, where somebody reads it: the window's own program would open a window, or fail in its toolkit.
    if let Some(problem) = folder.and_then(problem_of) {
        out::problem(&problem);
        return USAGE;
    }
    let displays = ["DISPLAY", "WAYLAND_DISPLAY"];
    if cfg!(target_os = "linux")
        && displays
            .iter()
            .all(|name| environment.get(name).is_none_or(OsStr::is_empty))
    {
        out::problem(
            "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open. `cairn exec` works \
             without one.",
        );
        return FAILED;
    }
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

/// Why a folder cannot be a project, as far as that is plain without opening it.
fn problem_of(folder: &Path) -> Option<String> {
    let shown = folder.display();
    match folder.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(format!(
            "There is no folder {shown}, and no command of that name. Check the path, or see `cairn --help`."
        )),
        Ok(kind) if !kind.is_dir() => Some(format!(
            "{shown} is a file. Cairn works in folders: give its folder."
        )),
        _ => None,
    }
}
