//! Gathers what the threads of a search find, bounded, so that the first matches in path order are kept whatever
//! order files were searched in, and everything else is counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::line::Line;

/// Matches shown; files, where only files are asked for.
pub(super) const MOST_MATCHES: u64 = 250;

/// What one file held.
#[derive(Debug, Default)]
pub(super) struct InFile {
    /// Matches in all.
    pub(super) matches: u64,
    /// The first matches and the lines around them; empty where only files or counts are asked for.
    pub(super) lines: Vec<Line>,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files with matches that may be shown, in path order.
    pub(super) files: BTreeMap<PathBuf, InFile>,
    /// Matches in all files.
    pub(super) matches: u64,
    /// Files with matches.
    pub(super) with_matches: u64,
    /// What was looked at and what was not.
    pub(super) tally: Tally,
    /// It ended before everything was searched.
    pub(super) stopped: bool,
    /// Weight of what is in `files`.
    kept: u64,
}

/// What was looked at and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Files searched to their end.
    pub(super) searched: u64,
    /// Skipped because they are not text.
    pub(super) binary: u64,
    /// Skipped because they hold credentials.
    pub(super) credential: u64,
    /// Skipped because a line of theirs, or all of it where matches may span lines, is too long.
    pub(super) too_large: u64,
    /// Could not be read.
    pub(super) unreadable: u64,
}

impl Tally {
    /// Adds another one.
    pub(super) fn add(&mut self, other: Self) {
        self.searched += other.searched;
        self.binary += other.binary;
        self.credential += other.credential;
        self.too_large += other.too_large;
        self.unreadable += other.unreadable;
    }
}

impl Found {
    /// Whether the file comes after everything that can still be shown, so that its lines need not be kept.
    pub(super) fn is_beyond(&self, path: &Path) -> bool {
        self.kept >= MOST_MATCHES
            && self
                .files
                .last_key_value()
                .is_some_and(|(last, _)| path > last.as_path())
    }

    /// Adds a file that has matches.
    pub(super) fn add(&mut self, path: PathBuf, found: InFile) {
        self.matches += found.matches;
        self.with_matches += 1;
        if self.is_beyond(&path) {
            return;
        }
        self.kept += weight(&found);
        self.files.insert(path, found);
        while let Some((_, last)) = self.files.last_key_value() {
            let without = self.kept - weight(last);
            if without < MOST_MATCHES {
                break;
            }
            self.kept = without;
            self.files.pop_last();
        }
    }
}

/// What a file takes of the limit: its matches where they are shown, else one for itself.
fn weight(found: &InFile) -> u64 {
    if found.lines.is_empty() {
        1
    } else {
        found.matches.min(MOST_MATCHES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file(matches: u64) -> InFile {
        InFile {
            matches,
            lines: vec![Line::new(1, true, b"x", &[])],
        }
    }

    proptest::proptest! {
        #[test]
        fn the_first_matches_in_path_order_are_kept_in_whatever_order_files_come(
            counts in proptest::collection::vec(1_u64..120, 1..40), seed in 0_usize..1_000
        ) {
            let mut order: Vec<usize> = (0..counts.len()).collect();
            let turn = seed % order.len();
            order.rotate_left(turn);
            if seed % 2 == 0 { order.reverse(); }
            let mut found = Found::default();
            for index in order {
                found.add(PathBuf::from(format!("{index:03}")), in_file(counts[index]));
            }
            let mut expected = Vec::new();
            let mut sum = 0;
            for (index, count) in counts.iter().enumerate() {
                if sum >= MOST_MATCHES { break; }
                expected.push(PathBuf::from(format!("{index:03}")));
                sum += count;
            }
            proptest::prop_assert_eq!(found.files.keys().cloned().collect::<Vec<_>>(), expected);
            proptest::prop_assert_eq!(found.matches, counts.iter().sum::<u64>());
        }
    }
}
