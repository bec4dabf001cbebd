//! What the last look saw, so that the next one only reads the folders that changed. Must never know: what it is for.
//!
//! A folder is known again by its inode and the time of its last change, which the kernel alone sets: whoever adds,
//! removes or renames an entry changes it. It is only believed on file systems of this machine, which are known to keep
//! it, and only where it was old when the folder was read: of two changes within one tick of the clock the second would
//! not show.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cairn_policy::ReadBars;

/// How old a change has to be when a folder is read. No clock of a file system here ticks as slowly.
const SETTLED: Duration = Duration::from_secs(2);

/// File systems that keep the time of change as it is needed here.
#[cfg(target_os = "linux")]
const KNOWN: &[u64] = &[
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0x0102_1994, // tmpfs
    0x2FC1_2FC1, // ZFS
    0xF2F5_2010, // F2FS
    0xCA45_1A4E, // bcachefs
];

/// What an entry of a folder is to whoever looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It holds credentials, or a rule bars it.
    Hidden,
    /// It is protected.
    Kept,
    /// A link of a protected name.
    Link,
    /// A socket.
    Socket,
    /// Git's own folder.
    Repository,
    /// A folder to be looked into for everything.
    Folder,
    /// A folder to be looked into for what rules bar.
    FolderOfBarred,
}

/// The entries of a folder that matter.
pub(super) type Marks = Arc<[(OsString, Mark)]>;

/// Which state of a folder was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether a change from now on would show.
    fn is_settled(&self, now: SystemTime) -> bool {
        let changed = u64::try_from(self.changed.0).ok().map(Duration::from_secs);
        let since = changed.and_then(|changed| now.duration_since(UNIX_EPOCH + changed).ok());
        since.is_some_and(|since| since > SETTLED)
    }
}

/// Folders as they were read, by their paths: what a name means depends on the names around it.
#[derive(Debug, Default)]
pub(super) struct Memory {
    bars: Arc<ReadBars>,
    /// The device whose times of change are believed.
    device: Option<u64>,
    last: HashMap<PathBuf, (Stamp, Marks)>,
    next: HashMap<PathBuf, (Stamp, Marks)>,
}

impl Memory {
    /// A look begins. What was read for other rules says nothing.
    pub(super) fn begin(&mut self, root: &Path, bars: &Arc<ReadBars>) {
        self.device = believed_device(root);
        self.last = std::mem::take(&mut self.next);
        if self.bars != *bars {
            self.last.clear();
            self.bars = Arc::clone(bars);
        }
    }

    /// What a folder in that state holds, where it is known.
    pub(super) fn recall(&mut self, folder: &Path, stamp: Stamp) -> Option<Marks> {
        if self.device != Some(stamp.device) {
            return None;
        }
        let (path, (known, marks)) = self.last.remove_entry(folder)?;
        if known != stamp {
            return None;
        }
        self.next.insert(path, (known, Arc::clone(&marks)));
        Some(marks)
    }

    /// A folder was read; `stamp` was taken before that, at `now`.
    pub(super) fn keep(&mut self, folder: &Path, stamp: Stamp, now: SystemTime, marks: &Marks) {
        if self.device == Some(stamp.device) && stamp.is_settled(now) {
            self.next.insert(folder.to_owned(), (stamp, Arc::clone(marks)));
        }
    }

    /// The look is over.
    pub(super) fn end(&mut self) {
        self.last = HashMap::new();
    }
}

#[cfg(target_os = "linux")]
fn believed_device(root: &Path) -> Option<u64> {
    let kind = u64::try_from(rustix::fs::statfs(root).ok()?.f_type).ok()?;
    let device = root.symlink_metadata().ok()?.dev();
    KNOWN.contains(&kind).then_some(device)
}

#[cfg(not(target_os = "linux"))]
fn believed_device(_root: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(name: &str) -> Marks {
        [(name.into(), Mark::Kept)].into()
    }

    fn stamp(device: u64, seconds: i64, nanoseconds: i64) -> Stamp {
        Stamp {
            device,
            inode: 7,
            changed: (seconds, nanoseconds),
        }
    }

    /// A memory that read `/w` at second 1,000 in that state.
    fn memory(read: Stamp) -> Memory {
        let mut memory = Memory {
            device: Some(1),
            ..Memory::default()
        };
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        memory.keep(Path::new("/w"), read, now, &marks("a"));
        memory.last = std::mem::take(&mut memory.next);
        memory
    }

    #[test]
    fn a_folder_is_known_again_in_the_very_state_in_which_it_was_read_and_in_no_other() {
        let read = stamp(1, 900, 5);
        assert_eq!(memory(read).recall(Path::new("/w"), read), Some(marks("a")));
        let other_inode = Stamp { inode: 8, ..read };
        for other in [stamp(1, 900, 6), stamp(1, 901, 5), other_inode] {
            assert_eq!(memory(read).recall(Path::new("/w"), other), None);
        }
        assert_eq!(memory(read).recall(Path::new("/w/x"), read), None);
    }

    #[test]
    fn what_changed_just_before_it_was_read_or_lies_on_another_disk_is_not_remembered() {
        for (read, known) in [
            (stamp(1, 990, 0), true),
            (stamp(1, 999, 0), false),
            (stamp(1, 1_000, 0), false),
            // A clock that is ahead.
            (stamp(1, 2_000, 0), false),
            (stamp(2, 900, 0), false),
        ] {
            let recalled = memory(read).recall(Path::new("/w"), read);
            assert_eq!(recalled.is_some(), known, "{read:?}");
        }
    }

    #[test]
    fn other_rules_begin_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = memory(stamp(1, 900, 0));
        memory.next = std::mem::take(&mut memory.last);
        memory.begin(folder.path(), &Arc::default());
        assert_eq!(memory.last.len(), 1);
        memory.next = std::mem::take(&mut memory.last);
        let granted = cairn_policy::Granted {
            rule: "read: secrets".parse().unwrap(),
            scope: cairn_protocol::RuleScope::Project,
            origin: cairn_policy::RuleOrigin::Settings,
            at: 0,
        };
        let rules = cairn_policy::RuleSet {
            deny: vec![granted],
            ..Default::default()
        };
        memory.begin(folder.path(), &Arc::new(rules.read_bars()));
        assert!(memory.last.is_empty());
    }
}
