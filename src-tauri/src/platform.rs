//! What differs from system to system.

use cairn_host::Environment;
use tauri::{Manager, Runtime, WebviewWindowBuilder};

/// Before anything of the window toolkit exists.
pub(crate) fn prepare() {}

/// Whether a second start can reach the first: on Linux that goes over the session bus.
pub(crate) fn has_session_bus(environment: &Environment) -> bool {
    !cfg!(target_os = "linux")
        || environment.get("DBUS_SESSION_BUS_ADDRESS").is_some()
        || environment
            .folder("XDG_RUNTIME_DIR")
            .is_some_and(|folder| folder.join("bus").exists())
}

/// The last touch on a window.
pub(crate) fn finish<R: Runtime, M: Manager<R>>(
    builder: WebviewWindowBuilder<'_, R, M>,
) -> WebviewWindowBuilder<'_, R, M> {
    builder
}
