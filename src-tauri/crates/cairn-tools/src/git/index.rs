//! Whether a repository's index names another repository inside it.
//!
//! Git looks into such a folder by itself, with that one's own configuration, so a planted `sub/.git/config` would run
//! what it likes on a mere `git status`. Only the modes of the entries are read; whatever is not understood counts as
//! such a folder. Format: gitformat-index(5), versions 2 to 4.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// An index larger than this is not read.
const MOST: u64 = 64 * 1024 * 1024;
/// Bytes of an entry in front of its name, and where the mode and the flags stand in them.
const FIXED: usize = 62;
const MODE: usize = 24;
const FLAGS: usize = 60;
/// The mode of another repository.
const GITLINK: u32 = 0o160_000;
/// A flag: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;

/// Whether the index in that git folder names another repository, or cannot be read well enough to say no.
pub(super) fn may_hold_repositories(git_dir: &Path) -> bool {
    let index = git_dir.join("index");
    let Ok(kind) = index.symlink_metadata() else {
        // No index: nothing was ever added.
        return false;
    };
    if !kind.is_file() || kind.len() > MOST {
        return true;
    }
    let mut bytes = Vec::new();
    let read = File::open(&index).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    read.is_err() || holds_gitlink(&bytes).unwrap_or(true)
}

fn holds_gitlink(bytes: &[u8]) -> Option<bool> {
    let (head, mut rest) = bytes.split_at_checked(12)?;
    let word = |at: usize| head.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let version = word(4)?;
    if head.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    for _ in 0..word(8)? {
        let entry = rest.get(..FIXED)?;
        let mode = u32::from_be_bytes(entry.get(MODE..MODE + 4)?.try_into().ok()?);
        if mode == GITLINK {
            return Some(true);
        }
        let flags = u16::from_be_bytes(entry.get(FLAGS..FLAGS + 2)?.try_into().ok()?);
        let fixed = if flags & EXTENDED == 0 { FIXED } else { FIXED + 2 };
        let mut at = fixed;
        if version == 4 {
            // How much of the last name is dropped, seven bits a byte.
            while rest.get(at)? & 0x80 != 0 {
                at += 1;
            }
            at += 1;
        }
        at += rest.get(at..)?.iter().position(|byte| *byte == 0)?;
        let size = if version == 4 { at + 1 } else { (at + 8) & !7 };
        rest = rest.get(size..)?;
    }
    // A split index keeps the other entries in a file of their own, which an extension names.
    let split = rest.get(..4) == Some(b"link");
    Some(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2, 3 or 4 with these modes and names.
    fn index(version: u32, entries: &[(u32, &str)]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((entries.len() as u32).to_be_bytes());
        for (mode, name) in entries {
            let start = bytes.len();
            let mut entry = vec![0; FIXED];
            entry[MODE..MODE + 4].copy_from_slice(&mode.to_be_bytes());
            if version == 3 {
                entry[FLAGS] = 0x40;
                entry.extend([0, 0]);
            }
            bytes.extend(entry);
            if version == 4 {
                bytes.extend([0x80, 0x01]);
            }
            bytes.extend(name.as_bytes());
            bytes.push(0);
            if version < 4 {
                while !(bytes.len() - start).is_multiple_of(8) {
                    bytes.push(0);
                }
            }
        }
        bytes.extend([0; 20]);
        bytes
    }

    #[test]
    fn g12_a_repository_inside_is_found_in_every_version() {
        for version in 2..=4 {
            let plain = index(
                version,
                &[
                    (0o100_644, "a"),
                    (0o100_755, "some/longer/name"),
                    (0o120_000, "l"),
                ],
            );
            assert_eq!(holds_gitlink(&plain), Some(false), "version {version}");
            let linked = index(version, &[(0o100_644, "a"), (GITLINK, "sub"), (0o100_644, "z")]);
            assert_eq!(holds_gitlink(&linked), Some(true), "version {version}");
        }
    }

    #[test]
    fn what_is_no_index_counts_as_one_that_holds_a_repository() {
        let whole = index(2, &[(0o100_644, "a"), (0o100_644, "b")]);
        for cut in [0, 3, 12, 40, 80] {
            assert_eq!(holds_gitlink(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(holds_gitlink(b"DIRC\0\0\0\x09\0\0\0\0"), None);
        let mut split = index(2, &[]);
        split.splice(12..12, *b"link");
        assert_eq!(holds_gitlink(&split), Some(true));
        assert!(!may_hold_repositories(tempfile::tempdir().unwrap().path()));
    }
}
