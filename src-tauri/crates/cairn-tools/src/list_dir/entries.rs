//! Reads the names in a folder, by a handle on the folder, so that nothing that changes meanwhile leads elsewhere.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use cairn_files::{FileError, Kind, Root, Special, name};
use cairn_policy::Place;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType};

use crate::walk::Stop;

/// What is in a folder.
#[derive(Debug)]
pub(super) struct Listing {
    /// The first entries: folders by name, then everything else by name.
    pub(super) entries: Vec<Entry>,
    /// Folders in all.
    pub(super) folders: u64,
    /// Everything else in all.
    pub(super) others: u64,
    /// It ended before all names were read.
    pub(super) stopped: bool,
}

/// One entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name as text, control characters and bytes that are not UTF-8 escaped.
    pub(super) name: String,
    /// What it is.
    pub(super) what: What,
}

/// What an entry is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A folder.
    Folder,
    /// A regular file of that size.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A link.
    Link {
        /// What is written in it.
        target: String,
        /// Where that leads.
        leads: Leads,
    },
    /// A pipe, socket or device.
    Special(Special),
    /// It vanished while it was looked at.
    Unknown,
}

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To something inside the project.
    Inside,
    /// Out of the project.
    Outside,
    /// To nothing, or in a circle.
    Nowhere,
}

impl Leads {
    /// What is said after the target.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Inside => "",
            Self::Outside => " (outside the project)",
            Self::Nowhere => " (leads nowhere)",
        }
    }
}

/// Lists a folder; looks closely only at the `most` entries that are shown.
pub(super) fn list(root: &Root, real: &Path, most: usize, stop: &Stop) -> Result<Listing, FileError> {
    let folder = root.open_folder(real)?;
    let (mut names, stopped) = names(&folder, stop).map_err(|errno| FileError::Io {
        doing: "list",
        shown: root.show(real),
        reason: std::io::Error::from(errno).to_string(),
    })?;
    let folders = names
        .iter()
        .filter(|(kind, _)| *kind == FileType::Directory)
        .count();
    let others = names.len() - folders;
    let order = |left: &(FileType, OsString), right: &(FileType, OsString)| {
        let rank = |kind| u8::from(kind != FileType::Directory);
        rank(left.0)
            .cmp(&rank(right.0))
            .then_with(|| left.1.cmp(&right.1))
    };
    if names.len() > most {
        // Hundreds of thousands of names need no order among themselves when they are only counted.
        names.select_nth_unstable_by(most, order);
        names.truncate(most);
    }
    names.sort_unstable_by(order);
    let entries = names
        .iter()
        .take_while(|_| !stop.is_set())
        .map(|(kind, entry)| Entry {
            name: name::to_text(entry),
            what: look(root, &folder, real, *kind, entry),
        })
        .collect();
    Ok(Listing {
        entries,
        folders: folders as u64,
        others: others as u64,
        stopped: stopped || stop.is_set(),
    })
}

type Names = Vec<(FileType, OsString)>;

fn names(folder: &OwnedFd, stop: &Stop) -> rustix::io::Result<(Names, bool)> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        if stop.is_set() {
            return Ok((names, true));
        }
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell in the listing.
            FileType::Unknown => rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        };
        names.push((kind, OsString::from_vec(bytes.to_vec())));
    }
    Ok((names, false))
}

fn look(root: &Root, folder: &OwnedFd, real: &Path, kind: FileType, entry: &OsStr) -> What {
    match kind {
        FileType::Directory => What::Folder,
        FileType::RegularFile => rustix::fs::statat(folder.as_fd(), entry, AtFlags::SYMLINK_NOFOLLOW)
            .ok()
            .and_then(|stat| u64::try_from(stat.st_size).ok())
            .map_or(What::Unknown, |bytes| What::File { bytes }),
        FileType::Symlink => match rustix::fs::readlinkat(folder.as_fd(), entry, Vec::new()) {
            Ok(target) => What::Link {
                target: name::to_text(OsStr::from_bytes(target.as_bytes())),
                leads: leads(root, &real.join(entry)),
            },
            Err(_) => What::Unknown,
        },
        FileType::Fifo => What::Special(Special::Fifo),
        FileType::Socket => What::Special(Special::Socket),
        FileType::CharacterDevice | FileType::BlockDevice => What::Special(Special::Device),
        FileType::Unknown => What::Unknown,
    }
}

fn leads(root: &Root, link: &Path) -> Leads {
    match root.resolve_path(link) {
        Ok(found) if found.kind == Kind::Missing => Leads::Nowhere,
        Ok(found) if found.place == Place::Outside => Leads::Outside,
        Ok(_) => Leads::Inside,
        // Paths in /proc and /dev are refused, and they are outside; a loop leads nowhere.
        Err(FileError::Refused(_)) => Leads::Outside,
        Err(_) => Leads::Nowhere,
    }
}
