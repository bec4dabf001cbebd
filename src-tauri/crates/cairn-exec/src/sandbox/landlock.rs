//! Walls of access rules alone: what is not allowed is refused (landlock(7)), together with the filter.
//!
//! Owns: which rights are given where. Must never know: why something is hidden.
//!
//! Rules only ever give: what is hidden is given by nobody, so the folders around it are given entry by entry. In a
//! folder that may be written everything may be read and written: that is why protected files are not kept there.

use std::collections::BTreeSet;
use std::fs::FileType;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::seccomp::{self, Door, Doors};
use super::{Confinement, Network};
use crate::sys;

/// The oldest version of the rules that keeps files from being cut short from outside the walls.
pub(super) const OLDEST: i32 = 3;

/// The version since which signals and nameless sockets stay inside.
pub(super) const SCOPES: i32 = 6;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_FOLDER: u64 = 1 << 3;
const MAKE_CHARACTER_DEVICE: u64 = 1 << 6;
const MAKE_BLOCK_DEVICE: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const DEVICE_CONTROL: u64 = 1 << 15;

const READ: u64 = EXECUTE | READ_FILE | READ_FOLDER;
/// Rights that a rule about a file may hold.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL;

/// Devices that commands use.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// Folders that hold sockets, terminals or other people's temporary files. What of `/run` programs need is shown.
const CLOSED: &[&str] = &["/dev", "/run", "/var/run", "/tmp"];

/// Entries of a folder around something hidden; more would be no home folder.
const ENTRIES: usize = 5_000;

/// Every right that this version of the rules knows.
fn all_rights(version: i32) -> u64 {
    let known = match version {
        ..=1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    (1 << known) - 1
}

/// The rules and the filter of a command, ready to be put on.
pub(super) fn entry(walls: &Confinement) -> std::io::Result<sys::Entry> {
    let version = sys::landlock_version();
    if version < OLDEST {
        return Err(std::io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    let handled = all_rights(version);
    let rules = sys::landlock_rules(handled, scopes(version))?;
    let allow = |path: &Path, rights: u64| {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let Ok(handle) = rustix::fs::open(path, flags, Mode::empty()) else {
            return Ok(());
        };
        give(&rules, &handle, rights & handled)
    };
    // Names may be listed everywhere; only content is kept back. SPEC P2.
    allow(Path::new("/"), READ_FOLDER)?;
    for path in readable(walls) {
        allow(&path, READ)?;
    }
    for device in DEVICES {
        allow(
            Path::new(device),
            READ_FILE | WRITE_FILE | TRUNCATE | DEVICE_CONTROL,
        )?;
    }
    let write = !(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE | DEVICE_CONTROL);
    for path in walls.writable.iter().chain([&walls.temporary]) {
        allow(path, write)?;
    }
    let filter = seccomp::filter(doors(walls.network))
        .ok_or_else(|| std::io::Error::from_raw_os_error(libc::EOPNOTSUPP))?;
    Ok(sys::Entry {
        rules: Some(rules),
        filter: Some(filter),
        keep_open: Vec::new(),
    })
}

/// Rules that hold nothing in but signals and nameless sockets, as a second wall; none where the system has none.
pub(super) fn scopes_only() -> std::io::Result<Option<OwnedFd>> {
    match scopes(sys::landlock_version()) {
        0 => Ok(None),
        scopes => sys::landlock_rules(0, scopes).map(Some),
    }
}

/// Signals and nameless sockets, where the system can keep them in.
fn scopes(version: i32) -> u64 {
    if version >= SCOPES { 0b11 } else { 0 }
}

/// Without namespaces a socket by path leads to whatever listens there, like the bus that starts programs outside.
fn doors(network: Network) -> Doors {
    Doors {
        internet: match network {
            Network::On => Door::Open,
            Network::Off => Door::Shut,
        },
        local: Door::Shut,
        neighbours: Door::Shut,
    }
}

fn give(rules: &OwnedFd, handle: &OwnedFd, rights: u64) -> std::io::Result<()> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(handle)?.st_mode);
    let rights = if kind.is_dir() { rights } else { rights & OF_FILES };
    if rights == 0 || kind.is_symlink() {
        return Ok(());
    }
    sys::landlock_allow(rules, handle, rights)
}

/// All that may be read beside what may be written: everything but what is hidden or closed.
fn readable(walls: &Confinement) -> Vec<PathBuf> {
    let closed = CLOSED.iter().map(PathBuf::from);
    let hidden: BTreeSet<PathBuf> = walls.hidden.iter().cloned().chain(closed).collect();
    let mut found = Vec::new();
    around(Path::new("/"), &hidden, &mut found);
    found.extend(super::bubblewrap::SHOWN_OF_RUN.iter().map(PathBuf::from));
    found
}

/// The entries of a folder that are not hidden, and of those that hold something hidden, theirs.
fn around(folder: &Path, hidden: &BTreeSet<PathBuf>, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten().take(ENTRIES) {
        let path = entry.path();
        if hidden.contains(&path) || entry.file_type().is_ok_and(|kind: FileType| kind.is_symlink()) {
            continue;
        }
        let holds_hidden = hidden
            .range(path.clone()..)
            .next()
            .is_some_and(|next| next.starts_with(&path));
        if holds_hidden {
            around(&path, hidden, found);
        } else {
            found.push(path);
        }
    }
}
