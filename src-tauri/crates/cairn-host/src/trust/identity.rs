//! Which folder and which repository: by what cannot be taken over by something else of the same name.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::git;

/// A folder and the repository behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    folder: Mark,
    /// What `.git` is or leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<Mark>,
    /// Where a work tree's repository keeps its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    common: Option<Mark>,
}

/// One folder on one disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    /// Its real path.
    path: String,
    /// Numbers in digits: the file has no unsigned ones.
    device: String,
    inode: String,
    /// When it was made, nanoseconds since 1970 in digits; none where the file system does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<String>,
}

impl Identity {
    /// Of a folder by its real path; none when it is not there any more.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let behind = git::behind(folder);
        Some(Self {
            folder: Mark::of(folder)?,
            repository: behind.as_ref().and_then(|(own, _)| Mark::of(own)),
            common: behind.as_ref().and_then(|(_, common)| Mark::of(common)),
        })
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |one: &Option<Mark>, other: &Option<Mark>| match (one, other) {
            (Some(one), Some(other)) => one.is_same(other),
            (None, None) => true,
            _ => false,
        };
        self.folder.is_same(&other.folder)
            && same(&self.repository, &other.repository)
            && same(&self.common, &other.common)
    }
}

impl Mark {
    fn of(folder: &Path) -> Option<Self> {
        let real = folder.canonicalize().ok()?;
        let seen = real.symlink_metadata().ok()?;
        let born = seen
            .created()
            .ok()
            .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
            .map(|since| since.as_nanos().to_string());
        Some(Self {
            path: real.to_string_lossy().into_owned(),
            device: seen.dev().to_string(),
            inode: seen.ino().to_string(),
            born,
        })
    }

    /// Numbers of inodes are given out again, and numbers of devices change from one start of the machine to the next:
    /// where the time of birth is known it says more than the device.
    fn is_same(&self, other: &Self) -> bool {
        self.path == other.path
            && self.inode == other.inode
            && self.born == other.born
            && (self.born.is_some() || self.device == other.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        Mark {
            path: "/w/p".to_owned(),
            device: "1".to_owned(),
            inode: "2".to_owned(),
            born: Some("3".to_owned()),
        }
    }

    #[test]
    fn t09_another_inode_or_birth_is_another_folder_and_another_device_number_is_not() {
        let unborn = || Mark { born: None, ..mark() };
        let table = [
            (
                mark(),
                Mark {
                    path: "/w/q".to_owned(),
                    ..mark()
                },
                false,
            ),
            (
                mark(),
                Mark {
                    inode: "9".to_owned(),
                    ..mark()
                },
                false,
            ),
            (
                mark(),
                Mark {
                    born: Some("4".to_owned()),
                    ..mark()
                },
                false,
            ),
            (mark(), unborn(), false),
            (
                mark(),
                Mark {
                    device: "9".to_owned(),
                    ..mark()
                },
                true,
            ),
            (
                unborn(),
                Mark {
                    device: "9".to_owned(),
                    ..unborn()
                },
                false,
            ),
            (unborn(), unborn(), true),
        ];
        for (one, other, same) in table {
            assert_eq!(one.is_same(&other), same, "{one:?} {other:?}");
        }
    }
}
