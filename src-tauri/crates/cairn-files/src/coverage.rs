//! Read coverage: which lines of which content the model has seen. SPEC T20.
//!
//! Keyed by real path. What was seen of one content says nothing of another: when the content changes, whoever
//! changed it, the coverage is gone. It can be kept over a restart: it is compared with the disk when it is used.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::edit::Shift;
use crate::hash;
use crate::read::{Content, Stamp};

/// Lines, both ends included, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// A run of bytes that was shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset after its last byte.
    pub end: u64,
    /// Hex SHA-256 of it.
    pub hash: String,
}

/// Which content it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ContentId {
    /// The hash of the whole of it.
    Whole {
        /// Hex SHA-256.
        hash: String,
    },
    /// Of a large file: what the file system says, and the hashes of what was shown.
    Parts {
        /// Size, times and inode.
        stamp: Stamp,
        /// What was shown.
        parts: Vec<Part>,
    },
}

/// What is missing for a change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It was never read.
    NeverRead,
    /// It is not what was read.
    Changed,
    /// Some lines were never shown whole.
    Unseen {
        /// Those lines, as far as known.
        ranges: Vec<LineRange>,
    },
}

/// What was seen of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    content: ContentId,
    /// Merged and ascending.
    ranges: Vec<LineRange>,
    /// Lines of the file, where they were counted.
    total: Option<u64>,
    /// False when the model only ever appended to it.
    read: bool,
}

/// What a session has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct Coverage {
    files: BTreeMap<PathBuf, Seen>,
}

/// One file as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    path: String,
    /// The path as it is, where that is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
    #[serde(flatten)]
    seen: Seen,
}

impl From<Vec<Entry>> for Coverage {
    fn from(entries: Vec<Entry>) -> Self {
        Self {
            files: entries
                .into_iter()
                .map(|entry| {
                    let name = entry.bytes.map(OsString::from_vec);
                    (name.map_or_else(|| entry.path.into(), PathBuf::from), entry.seen)
                })
                .collect(),
        }
    }
}

impl From<Coverage> for Vec<Entry> {
    fn from(coverage: Coverage) -> Self {
        let entry = |(path, seen): (PathBuf, Seen)| Entry {
            bytes: path
                .to_str()
                .is_none()
                .then(|| path.as_os_str().as_bytes().to_vec()),
            path: path.to_string_lossy().into_owned(),
            seen,
        };
        coverage.files.into_iter().map(entry).collect()
    }
}

impl Coverage {
    /// Lines were shown whole. `total` is the number of lines of the file, where known.
    pub fn note_read(&mut self, path: &Path, content: ContentId, shown: &[LineRange], total: Option<u64>) {
        let seen = match self.files.get_mut(path) {
            Some(seen) if same(&seen.content, &content) => {
                join_parts(&mut seen.content, content);
                seen
            }
            _ => {
                let fresh = Seen {
                    content,
                    ranges: Vec::new(),
                    total,
                    read: true,
                };
                self.files.entry(path.to_owned()).insert_entry(fresh).into_mut()
            }
        };
        seen.read = true;
        seen.total = total.or(seen.total);
        seen.ranges.extend_from_slice(shown);
        merge(&mut seen.ranges);
    }

    /// The model wrote the whole of a file, or was given it whole.
    pub fn note_whole(&mut self, path: &Path, hash: &str, lines: u64) {
        let ranges = if lines == 0 {
            Vec::new()
        } else {
            vec![LineRange {
                first: 1,
                last: lines,
            }]
        };
        let content = ContentId::Whole {
            hash: hash.to_owned(),
        };
        self.files.insert(
            path.to_owned(),
            Seen {
                content,
                ranges,
                total: Some(lines),
                read: true,
            },
        );
    }

    /// The model edited a file that it had read: what it saw moves with the lines, and what it wrote in place of
    /// lines it had seen counts as seen. `shifts` ascend and are numbered as before the edit.
    pub fn note_edited(&mut self, path: &Path, hash: &str, shifts: &[Shift], lines: u64) {
        let Some(seen) = self.files.get_mut(path) else {
            return;
        };
        seen.ranges = moved(&seen.ranges, shifts);
        merge(&mut seen.ranges);
        seen.content = ContentId::Whole {
            hash: hash.to_owned(),
        };
        seen.total = Some(lines);
    }

    /// The model added lines `first..=last` at the end of what was `before`. Counts those as seen and no others,
    /// unless it had seen `before`.
    pub fn note_appended(&mut self, path: &Path, before: &Content, hash: &str, added: LineRange) {
        let kept = match self.files.remove(path) {
            Some(seen) if matches(&seen.content, before) => Some((seen.ranges, seen.read)),
            _ => None,
        };
        let (mut ranges, read) = kept.unwrap_or_default();
        ranges.push(added);
        merge(&mut ranges);
        let content = ContentId::Whole {
            hash: hash.to_owned(),
        };
        self.files.insert(
            path.to_owned(),
            Seen {
                content,
                ranges,
                total: Some(added.last),
                read,
            },
        );
    }

    /// Whether a file may be edited: some of what is on the disk now was read.
    pub fn check_edit(&self, path: &Path, now: &Content) -> Result<(), Gap> {
        let seen = self
            .files
            .get(path)
            .filter(|seen| seen.read)
            .ok_or(Gap::NeverRead)?;
        if matches(&seen.content, now) {
            Ok(())
        } else {
            Err(Gap::Changed)
        }
    }

    /// Whether a file may be overwritten: every line of what is on the disk now was seen.
    pub fn check_overwrite(&self, path: &Path, now: &Content) -> Result<(), Gap> {
        let seen = self.files.get(path).ok_or(Gap::NeverRead)?;
        if !matches(&seen.content, now) {
            return Err(if seen.read { Gap::Changed } else { Gap::NeverRead });
        }
        let total = seen.total.unwrap_or(u64::MAX);
        let ranges = unseen(&seen.ranges, total);
        if ranges.is_empty() {
            Ok(())
        } else {
            Err(Gap::Unseen { ranges })
        }
    }

    /// Whether every line of the last known content was seen, whatever is on the disk now.
    pub fn saw_whole(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|seen| {
            seen.read
                && seen
                    .total
                    .is_some_and(|total| unseen(&seen.ranges, total).is_empty())
        })
    }

    /// Lines seen whole, merged; whether they still hold is for the checks to say.
    pub fn seen(&self, path: &Path) -> &[LineRange] {
        self.files.get(path).map_or(&[], |seen| seen.ranges.as_slice())
    }

    /// A file has another name: what was seen of it goes along.
    pub fn follow_move(&mut self, from: &Path, to: &Path) {
        match self.files.remove(from) {
            Some(seen) => drop(self.files.insert(to.to_owned(), seen)),
            None => self.forget(to),
        }
    }

    /// Nothing of that file counts as seen any more.
    pub fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

/// Whether both are of the same content, as far as they say.
fn same(one: &ContentId, other: &ContentId) -> bool {
    match (one, other) {
        (ContentId::Whole { hash: one }, ContentId::Whole { hash: other }) => one == other,
        (ContentId::Parts { stamp: one, .. }, ContentId::Parts { stamp: other, .. }) => one == other,
        _ => false,
    }
}

/// Whether the content that was seen is what is there now.
fn matches(seen: &ContentId, now: &Content) -> bool {
    match seen {
        ContentId::Whole { hash } => *hash == now.hash,
        ContentId::Parts { stamp, parts } => {
            *stamp == now.stamp
                && parts.iter().all(|part| {
                    let range = usize::try_from(part.start)
                        .ok()
                        .zip(usize::try_from(part.end).ok());
                    let bytes = range.and_then(|(start, end)| now.bytes.get(start..end));
                    bytes.is_some_and(|bytes| hash::of_bytes(bytes) == part.hash)
                })
        }
    }
}

fn join_parts(kept: &mut ContentId, more: ContentId) {
    if let (ContentId::Parts { parts, .. }, ContentId::Parts { parts: more, .. }) = (kept, more) {
        parts.extend(more);
        parts.sort();
        parts.dedup();
    }
}

/// Sorts, and joins what overlaps or touches.
fn merge(ranges: &mut Vec<LineRange>) {
    ranges.retain(|range| range.first <= range.last);
    ranges.sort_unstable();
    let mut merged: Vec<LineRange> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match merged.last_mut() {
            Some(last) if range.first <= last.last.saturating_add(1) => last.last = last.last.max(range.last),
            _ => merged.push(range),
        }
    }
    *ranges = merged;
}

/// What of `1..=total` is in none of the merged ranges.
fn unseen(ranges: &[LineRange], total: u64) -> Vec<LineRange> {
    let mut gaps = Vec::new();
    let mut next = 1;
    for range in ranges.iter().take_while(|range| range.first <= total) {
        if range.first > next {
            gaps.push(LineRange {
                first: next,
                last: range.first - 1,
            });
        }
        next = range.last.saturating_add(1);
    }
    if next <= total {
        gaps.push(LineRange {
            first: next,
            last: total,
        });
    }
    gaps
}

/// Merged ranges as they are numbered after the edit.
fn moved(ranges: &[LineRange], shifts: &[Shift]) -> Vec<LineRange> {
    let mut out = Vec::new();
    let mut delta = 0_i64;
    // First old line that is not dealt with yet.
    let mut next = 1_u64;
    let shift = |line: u64, delta: i64| line.saturating_add_signed(delta);
    let mut edits = shifts.iter().peekable();
    while let Some(edit) = edits.next() {
        let (mut last, mut change) = (edit.last, edit.delta);
        // Edits of one line stand or fall together: what none of them put there may be in it still.
        while let Some(more) = edits.next_if(|more| more.first <= last) {
            last = last.max(more.last);
            change += more.delta;
        }
        keep(&mut out, ranges, next, edit.first.saturating_sub(1), delta);
        let whole = ranges
            .iter()
            .any(|range| range.first <= edit.first && last <= range.last);
        if whole {
            out.push(LineRange {
                first: shift(edit.first, delta),
                last: shift(last, delta + change),
            });
        }
        delta += change;
        next = next.max(last + 1);
    }
    keep(&mut out, ranges, next, u64::MAX, delta);
    out
}

/// Adds what of the ranges lies in `first..=last`, moved by `delta`.
fn keep(out: &mut Vec<LineRange>, ranges: &[LineRange], first: u64, last: u64, delta: i64) {
    for range in ranges {
        let (first, last) = (range.first.max(first), range.last.min(last));
        if first <= last {
            out.push(LineRange {
                first: first.saturating_add_signed(delta),
                last: last.saturating_add_signed(delta),
            });
        }
    }
}

#[cfg(test)]
mod tests;
