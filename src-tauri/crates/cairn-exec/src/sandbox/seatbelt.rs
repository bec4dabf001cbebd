//! Walls of macOS: a profile for `sandbox-exec`, as text.
//!
//! Owns: the profile. Must never know: why something is hidden or kept. Later rules win over earlier ones.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{Confinement, Network};

/// The program that puts a profile on.
#[cfg(target_os = "macos")]
const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Sockets by path that every program needs: names are looked up there.
const RESOLVER: &str = "/private/var/run/mDNSResponder";

/// What starts programs outside when it is asked to, by its name on the bus of the system.
const LAUNCHERS: &[&str] = &[
    "com.apple.coreservices.launchservicesd",
    "com.apple.coreservices.quarantine-resolver",
    "com.apple.securityd.xpc",
    "com.apple.SecurityServer",
    "com.apple.pasteboard.1",
];

/// A command for `program` within the profile.
#[cfg(target_os = "macos")]
pub(super) fn command(
    walls: &Confinement,
    program: std::ffi::OsString,
    arguments: Vec<std::ffi::OsString>,
) -> std::io::Result<super::Behind> {
    let profile = profile(walls)
        .ok_or_else(|| std::io::Error::other("a folder's name is no text, so no profile can name it"))?;
    let mut command = crate::sys::command(PROGRAM);
    command.arg("-p").arg(profile).arg(program).args(arguments);
    let entry = crate::sys::Entry {
        rules: None,
        filter: None,
        keep_open: Vec::new(),
    };
    Ok(super::Behind {
        command,
        entry,
        built: super::Built::Always,
    })
}

/// The profile; none when a path cannot be written in it. A wall that cannot be described must not be left out.
pub(super) fn profile(walls: &Confinement) -> Option<String> {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    for device in ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper"] {
        let _written = writeln!(text, "(allow file-write* (literal \"{device}\"))");
    }
    for folder in walls.writable.iter().chain([&walls.temporary]) {
        let _written = writeln!(text, "(allow file-write* (subpath {}))", quoted(folder)?);
    }
    for path in &walls.kept {
        let _written = writeln!(text, "(deny file-write* (subpath {}))", quoted(path)?);
        // A folder around it that could be moved away would make room for another.
        for folder in between(path, walls) {
            let _written = writeln!(text, "(deny file-write-unlink (literal {}))", quoted(folder)?);
        }
    }
    for path in walls.hidden.iter().filter(|path| !within_ours(path, walls)) {
        let _written = writeln!(
            text,
            "(deny file-read-data file-write* (subpath {}))",
            quoted(path)?
        );
    }
    // What of ours lies beneath something hidden is open again.
    for folder in walls
        .writable
        .iter()
        .filter(|folder| within_hidden(folder, walls))
    {
        let _written = writeln!(
            text,
            "(allow file-read-data file-write* (subpath {}))",
            quoted(folder)?
        );
    }
    text.push_str(
        "(deny process-info* (target others))\n(deny signal (target others))\n(allow signal (target pgrp))\n",
    );
    text.push_str("(deny mach-priv-task-port)\n(deny system-socket)\n");
    for name in LAUNCHERS {
        let _written = writeln!(text, "(deny mach-lookup (global-name \"{name}\"))");
    }
    match walls.network {
        Network::Off => text.push_str("(deny network*)\n"),
        Network::On => {
            text.push_str("(deny network-outbound (remote unix-socket))\n");
            let _written = writeln!(text, "(allow network-outbound (literal \"{RESOLVER}\"))");
        }
    }
    Some(text)
}

/// The folders between a writable one and what is kept in it.
fn between<'a>(path: &'a Path, walls: &'a Confinement) -> impl Iterator<Item = &'a Path> {
    let root = walls.writable.iter().find(|root| path.starts_with(root));
    path.ancestors()
        .skip(1)
        .take_while(move |folder| root.is_some_and(|root| *folder != root.as_path()))
}

fn within_hidden(folder: &Path, walls: &Confinement) -> bool {
    walls.hidden.iter().any(|hidden| folder.starts_with(hidden))
}

/// Whether a hidden path is the very folder that has to be written.
fn within_ours(path: &Path, walls: &Confinement) -> bool {
    walls.writable.iter().any(|folder| folder == path)
}

/// A path as a string of the profile's language; none when it is no text or holds what no string can.
fn quoted(path: &Path) -> Option<String> {
    let text = std::str::from_utf8(path.as_os_str().as_bytes()).ok()?;
    if text.chars().any(char::is_control) {
        return None;
    }
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Layer;
    use std::ffi::OsStr;
    use std::path::PathBuf;

    fn walls(network: Network) -> Confinement {
        Confinement {
            layer: Layer::Landlock,
            writable: vec!["/Users/u/p".into(), "/Users/u/own/caches".into()],
            kept: vec!["/Users/u/p/.git/config".into()],
            hidden: vec![
                "/Users/u/.ssh".into(),
                "/Users/u/own".into(),
                "/Users/u/p/.env".into(),
            ],
            temporary: "/private/tmp/cairn-1".into(),
            blank: "/Users/u/own/blank".into(),
            network,
        }
    }

    /// Whether the profile has these lines in this order.
    fn has(profile: &str, lines: &[&str]) -> bool {
        let mut rest = profile.lines();
        lines.iter().all(|line| rest.any(|there| there == *line))
    }

    #[test]
    fn what_is_kept_and_hidden_comes_after_what_may_be_written() {
        let profile = profile(&walls(Network::Off)).unwrap();
        assert!(
            has(
                &profile,
                &[
                    "(deny file-write*)",
                    "(allow file-write* (subpath \"/Users/u/p\"))",
                    "(deny file-write* (subpath \"/Users/u/p/.git/config\"))",
                    "(deny file-write-unlink (literal \"/Users/u/p/.git\"))",
                    "(deny file-read-data file-write* (subpath \"/Users/u/p/.env\"))",
                    "(deny network*)",
                ],
            ),
            "{profile}"
        );
        assert!(
            has(
                &profile,
                &[
                    "(deny file-read-data file-write* (subpath \"/Users/u/own\"))",
                    "(allow file-read-data file-write* (subpath \"/Users/u/own/caches\"))",
                ],
            ),
            "{profile}"
        );
    }

    #[test]
    fn an_approved_network_reaches_no_socket_by_path() {
        let profile = profile(&walls(Network::On)).unwrap();
        assert!(!profile.contains("(deny network*)"));
        assert!(profile.contains("(deny network-outbound (remote unix-socket))"));
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let mut odd = walls(Network::Off);
        odd.writable = vec!["/p\") (allow default) (\"".into(), "/p\\".into()];
        let profile = profile(&odd).unwrap();
        assert!(
            profile.contains(r#"(subpath "/p\") (allow default) (\""))"#),
            "{profile}"
        );
        assert!(profile.contains(r#"(subpath "/p\\"))"#), "{profile}");
        for bad in [PathBuf::from("/a\nb"), PathBuf::from(OsStr::from_bytes(b"/\xff"))] {
            odd.hidden = vec![bad];
            assert_eq!(super::profile(&odd), None);
        }
    }
}
