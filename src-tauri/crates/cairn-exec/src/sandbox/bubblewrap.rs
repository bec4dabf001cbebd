//! Walls of namespaces, built by the `bwrap` program, with the filter of system calls on top.
//!
//! Owns: its arguments. Must never know: why something is hidden or kept.
//!
//! It runs without `--die-with-parent`: what a command leaves running lives on in its namespace and is ended by the
//! keeper like everything else. The first process of the namespace ends with the last of the others.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::MemfdFlags;

use super::seccomp::{self, Door, Doors};
use super::{Behind, Built, Confinement, Network, landlock};
use crate::sys;

/// The machine's temporary folder, in whose place the private one stands.
const TEMPORARY: &str = "/tmp";

/// Holds the sockets of everything that runs on the machine.
const RUN: &str = "/run";

/// What of it programs need: where names are looked up, and on NixOS the programs themselves. No sockets that start
/// anything.
pub(super) const SHOWN_OF_RUN: &[&str] = &[
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/run/opengl-driver",
];

/// A command for `bwrap` that starts `program` behind the walls.
pub(super) fn command(
    walls: &Confinement,
    bwrap: &Path,
    program: OsString,
    arguments: Vec<OsString>,
    workdir: &Path,
) -> std::io::Result<Behind> {
    let rules = landlock::scopes_only()?;
    // Without a network namespace and without scopes a nameless socket would lead outside.
    let local = if walls.network == Network::Off || rules.is_some() {
        Door::Open
    } else {
        Door::Shut
    };
    let internet = Door::Open;
    let doors = Doors {
        internet,
        local,
        // It has numbers and processes of its own.
        neighbours: Door::Open,
    };
    let filter = seccomp::filter(doors).ok_or_else(|| std::io::Error::from_raw_os_error(libc::EOPNOTSUPP))?;
    let filter = memory_file(c"filter", &seccomp::bytes(&filter))?;
    let mut list = Vec::new();
    for word in words(walls, workdir) {
        list.extend_from_slice(word.as_bytes());
        list.push(0);
    }
    let list = memory_file(c"arguments", &list)?;
    let report = memory_file(c"report", b"")?;
    let built = Built::Reported(report.try_clone()?.into());
    let mut command = sys::command(bwrap);
    command
        .arg("--json-status-fd")
        .arg(sys::raw(&report).to_string())
        .arg("--args")
        .arg(sys::raw(&list).to_string())
        .arg("--seccomp")
        .arg(sys::raw(&filter).to_string())
        .arg("--")
        .arg(program)
        .args(arguments);
    let entry = sys::Entry {
        rules,
        filter: None,
        keep_open: vec![list, filter, report],
    };
    Ok(Behind {
        command,
        entry,
        built,
    })
}

fn memory_file(name: &std::ffi::CStr, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// All arguments but the program.
fn words(walls: &Confinement, workdir: &Path) -> Vec<OsString> {
    let mut words = Words::default();
    words.plain(&[
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
    ]);
    words.plain(&["--unshare-cgroup-try", "--new-session"]);
    words.plain(&["--cap-drop", "ALL"]);
    if walls.network == Network::Off {
        words.plain(&["--unshare-net"]);
    }
    words.plain(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    words.plain(&["--tmpfs", RUN]);
    for shown in SHOWN_OF_RUN {
        words.plain(&["--ro-bind-try", shown, shown]);
    }
    words.two("--bind", &walls.temporary, Path::new(TEMPORARY));
    let mut sealed = vec![PathBuf::from(RUN)];
    let writable: BTreeSet<&PathBuf> = walls.writable.iter().collect();
    let within = |path: &Path| writable.iter().any(|root| path.starts_with(root));
    let listening = sockets();
    let listening = listening.iter().filter(|path| !within(path));
    let hidden: BTreeSet<&PathBuf> = walls.hidden.iter().chain(listening).collect();
    for path in hidden.iter().filter(|path| !within(path)) {
        // What those stand in for is not shown anyway.
        if !path.starts_with(TEMPORARY) && !path.starts_with(RUN) {
            sealed.extend(words.hide(path, &walls.blank));
        }
    }
    for root in &writable {
        words.two("--bind", root, root);
    }
    for path in around(&walls.kept, &writable) {
        // A folder that is mounted cannot be moved away to make room for another.
        words.two("--bind-try", &path, &path);
    }
    let kept: BTreeSet<&PathBuf> = walls.kept.iter().collect();
    for path in kept {
        words.two("--ro-bind-try", path, path);
    }
    for path in hidden.iter().filter(|path| within(path)) {
        sealed.extend(words.hide(path, &walls.blank));
    }
    for folder in sealed {
        words.one("--remount-ro", &folder);
    }
    words.one("--chdir", workdir);
    words.0
}

/// Sockets by path that something listens at, as the system lists them: a folder that cannot be written keeps nobody
/// from connecting, and some of those who listen start programs.
fn sockets() -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // Seven columns of numbers, then the path; nameless ones have none or begin with `@`.
    let paths = table.lines().filter_map(|line| {
        let (_, path) = line.split_once(" /")?;
        let socket = PathBuf::from(format!("/{path}")).canonicalize().ok()?;
        // A socket may be gone when it is to be hidden, and then nothing starts; the folder of sockets stays.
        let folder = socket.parent().filter(|folder| holds_only_sockets(folder));
        Some(folder.map_or_else(|| socket.clone(), Path::to_owned))
    });
    paths.collect()
}

/// Whether a folder is there for sockets alone.
fn holds_only_sockets(folder: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket())))
    })
}

/// The folders between a writable one and what is kept in it, the outermost first.
fn around(kept: &[PathBuf], writable: &BTreeSet<&PathBuf>) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for path in kept {
        let Some(root) = writable.iter().find(|root| path.starts_with(root)) else {
            continue;
        };
        let between = path
            .ancestors()
            .skip(1)
            .take_while(|folder| *folder != root.as_path());
        folders.extend(between.map(Path::to_owned));
    }
    folders
}

/// Arguments.
#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn plain(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn one(&mut self, option: &str, path: &Path) {
        self.0.extend([option.into(), path.into()]);
    }

    fn two(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([option.into(), from.into(), to.into()]);
    }

    /// Puts nothing in the place of a file or folder; answers the folder that has to be sealed at the end.
    fn hide(&mut self, path: &Path, blank: &Path) -> Option<PathBuf> {
        let metadata = path.symlink_metadata().ok()?;
        if metadata.is_dir() {
            // It may be walked through, to what of ours lies beneath, and not be read.
            self.plain(&["--perms", "0111"]);
            self.one("--tmpfs", path);
            return Some(path.to_owned());
        }
        if !metadata.is_symlink() {
            self.two("--ro-bind", blank, path);
        }
        None
    }
}

#[cfg(test)]
mod tests;
