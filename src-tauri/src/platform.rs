//! What differs from system to system.

use std::collections::HashMap;

use cairn_host::Environment;
use cairn_host::parts::{inherited, restart};
use tauri::utils::config::{Csp, CspDirectiveSources};
use tauri::{Manager, Runtime, WebviewWindowBuilder};

use crate::start::say;

/// Scheme and host of the page. On Windows custom schemes are hosts.
pub(crate) const PAGE: (&str, &str) = if cfg!(windows) {
    ("http", "tauri.localhost")
} else {
    ("tauri", "localhost")
};

/// Variables at whose word WebKit opens a port, through which anybody on this machine can look into the page and
/// drive it, and the one that lets a page be driven at all.
const REMOTE_CONTROLS: [&str; 3] = [
    "WEBKIT_INSPECTOR_SERVER",
    "WEBKIT_INSPECTOR_HTTP_SERVER",
    "TAURI_WEBVIEW_AUTOMATION",
];

/// Before anything of the window toolkit exists: gives the environment, and sees to it that of its secrets neither the
/// toolkit nor the processes that it starts know. Fails when the program cannot run as it must. Cases W27, L06.
pub(crate) fn prepare() -> Result<Environment, String> {
    let inherited = inherited();
    let environment = Environment::new(inherited.variables);
    let is_controlled = is_remote_controlled(&environment);
    if !is_controlled && inherited.exposed.is_empty() {
        return Ok(environment);
    }
    // The toolkit reads the process's own environment, and a variable cannot be taken from a process that has threads.
    let without: &[&str] = if is_controlled { &REMOTE_CONTROLS } else { &[] };
    let error = restart(without, &inherited.exposed);
    if is_controlled {
        return Err(format!(
            "{} would open the window to other programs, and starting without failed: {error}. Unset it",
            REMOTE_CONTROLS.join(" or ")
        ));
    }
    // A key that the page's own processes could read is better than no window.
    say(&format!(
        "the keys in the environment could not be kept from the window's processes: {error}"
    ));
    Ok(environment)
}

fn is_remote_controlled(environment: &Environment) -> bool {
    // The tests of the window drive a debug build, and say so.
    let is_test = cfg!(debug_assertions) && environment.text("TAURI_WEBVIEW_AUTOMATION") == Some("true");
    !is_test && REMOTE_CONTROLS.iter().any(|name| environment.get(name).is_some())
}

/// What the page's policy needs here beside what it needs everywhere.
pub(crate) fn complete_policy(policy: Csp) -> Csp {
    let mut directives: HashMap<String, CspDirectiveSources> = policy.into();
    if cfg!(windows) {
        // Elsewhere these would be addresses that anybody on this machine can serve.
        for (directive, source) in [
            ("img-src", "http://cairn.localhost"),
            ("connect-src", "http://ipc.localhost"),
        ] {
            directives.entry(directive.to_owned()).or_default().push(source);
        }
    }
    directives.into()
}

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
