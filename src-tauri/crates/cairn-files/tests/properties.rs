//! What holds for any file, any edit and any order of things.

// The whole crate is a test; clippy only knows functions marked as tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect
)]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use cairn_files::coverage::{ContentId, Coverage, Gap, LineRange};
use cairn_files::edit::{self, Occurrences, Replacement};
use cairn_files::encoding::{self, Encoding};
use cairn_files::read::{self, Content, EDIT_LIMIT, Stamp};
use cairn_files::swap::{Expected, Swap};
use cairn_files::{Root, hash};
use proptest::prelude::*;

/// How a file is written.
#[derive(Clone, Copy, Debug)]
struct Form {
    encoding: Encoding,
    mark: &'static [u8],
}

fn forms() -> impl Strategy<Value = Form> {
    let form = |encoding, mark| Just(Form { encoding, mark });
    prop_oneof![
        form(Encoding::Utf8, &b""[..]),
        form(Encoding::Utf8, b"\xEF\xBB\xBF"),
        form(Encoding::Utf16Le, b"\xFF\xFE"),
        form(Encoding::Utf16Be, b"\xFE\xFF"),
        // Not UTF-8 whatever else is in it.
        form(Encoding::Legacy, b"\x99\xE9\xFC\xDF\xA7"),
    ]
}

impl Form {
    fn write(self, text: &str) -> Vec<u8> {
        encoding::encode(self.encoding, text).unwrap()
    }
}

/// Lines with ends of any kind, the last perhaps without one.
fn lines() -> impl Strategy<Value = Vec<(String, &'static str)>> {
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    proptest::collection::vec(("[ab \t$1]{0,6}", end), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Random encodings and line ends: what is not replaced stays byte for byte, what is put there has only line ends
    /// that the file has, and is else exactly what was given.
    #[test]
    fn x12_e7_bytes_outside_the_edit_stay_over_random_encodings_and_endings(
        form in forms(),
        lines in lines(),
        at in any::<prop::sample::Index>(),
        new in "[ab\u{e9}$&\\\\\n]{0,8}",
        model_ends in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let at = at.index(lines.len());
        let text = |lines: &[(String, &str)]| lines.iter().map(|(line, end)| format!("{line}{end}")).collect::<String>();
        let head = [form.mark.to_vec(), form.write(&text(&lines[..at]))].concat();
        let tail = form.write(&text(&lines[at..]));
        let bytes = [head.clone(), form.write("<<here>>"), tail.clone()].concat();
        let sent = new.replace('\n', model_ends);
        let replacement = Replacement { old: "<<here>>", new: &sent, occurrences: Occurrences::Once };
        let edited = edit::apply(&bytes, &[replacement]).unwrap().bytes;
        prop_assert!(edited.starts_with(&head), "what is before it changed");
        prop_assert!(edited.ends_with(&tail), "what is after it changed");
        let middle = edited.get(head.len()..edited.len() - tail.len()).unwrap();
        let (middle, damaged) = encoding::decode_as(form.encoding, middle);
        prop_assert!(damaged.is_empty());
        prop_assert_eq!(middle.replace("\r\n", "\n"), new.clone());
        let kinds = |text: &str| (text.matches("\r\n").count() > 0, text.replace("\r\n", "").contains('\n'));
        let (file_crlf, file_lf) = kinds(&text(&lines));
        let (new_crlf, new_lf) = kinds(&middle);
        prop_assert!(!new_crlf || file_crlf, "a CRLF came into a file that had none");
        prop_assert!(!new_lf || file_lf, "an LF came into a file that had only CRLF");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Any edits on the disk, then the before-images from the last to the first: the file is what it was.
    #[test]
    fn x116_edit_then_undo_is_the_identity(
        form in forms(),
        lines in lines(),
        edits in proptest::collection::vec(("[ab \t$1\n]{1,3}", "[abc\n]{0,4}"), 1..5),
        mode in prop_oneof![Just(0o644), Just(0o755), Just(0o600), Just(0o2750)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let path = root.path().join("f");
        let text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        let start = [form.mark.to_vec(), form.write(&text)].concat();
        std::fs::write(&path, &start).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut images = Vec::new();
        for (old, new) in &edits {
            let before = read::whole(&root, &path, EDIT_LIMIT).unwrap();
            let replacement = Replacement { old, new, occurrences: Occurrences::Every };
            let Ok(edited) = edit::apply(&before.bytes, &[replacement]) else { continue };
            let swap = Swap::new(&root, &path, Expected::Content(before.hash)).unwrap();
            let after = swap.write(&root, &edited.bytes).unwrap().hash.unwrap();
            images.push((before.bytes, after));
        }
        for (before, after) in images.into_iter().rev() {
            Swap::new(&root, &path, Expected::Content(after)).unwrap().write(&root, &before).unwrap();
        }
        prop_assert_eq!(std::fs::read(&path).unwrap(), start);
        prop_assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, mode);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// What can happen to a file and to what is known of it.
#[derive(Clone, Debug)]
enum Step {
    Read {
        first: usize,
        count: usize,
    },
    Edit {
        first: usize,
        count: usize,
        new: usize,
    },
    Append {
        new: usize,
    },
    Overwrite {
        new: usize,
    },
    /// Somebody else: changes a line, adds one, or brings back what was there first.
    Outside {
        kind: usize,
        at: usize,
    },
    Restart,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8_usize, 1..6_usize).prop_map(|(first, count)| Step::Read { first, count }),
        3 => (0..8_usize, 1..4_usize, 0..4_usize).prop_map(|(first, count, new)| Step::Edit { first, count, new }),
        1 => (1..3_usize).prop_map(|new| Step::Append { new }),
        1 => (0..4_usize).prop_map(|new| Step::Overwrite { new }),
        1 => (0..3_usize, 0..8_usize).prop_map(|(kind, at)| Step::Outside { kind, at }),
        1 => Just(Step::Restart),
    ]
}

/// The plain truth: each line that is known, with whether it was seen.
#[derive(Default)]
struct Truth {
    disk: Vec<String>,
    known: Option<Vec<(String, bool)>>,
    read: bool,
    made: usize,
}

impl Truth {
    fn fresh(&mut self, count: usize) -> Vec<String> {
        let from = self.made;
        self.made += count;
        (from..self.made)
            .map(|number| format!("line {number}\n"))
            .collect()
    }

    fn content(&self) -> Content {
        let bytes = self.disk.concat().into_bytes();
        Content {
            hash: hash::of_bytes(&bytes),
            stamp: Stamp {
                size: bytes.len() as u64,
                // The same in every second: times say nothing, only the content does.
                modified: 0,
                changed: 0,
                inode: 1,
                device: 1,
            },
            bytes,
            mode: 0o644,
            links: 1,
        }
    }

    fn holds(&self) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.iter().map(|(line, _)| line).eq(&self.disk))
    }

    fn edit(&self) -> Result<(), Gap> {
        match (self.known.is_some() && self.read, self.holds()) {
            (false, _) => Err(Gap::NeverRead),
            (true, false) => Err(Gap::Changed),
            (true, true) => Ok(()),
        }
    }

    fn overwrite(&self) -> Result<(), Gap> {
        let Some(known) = &self.known else {
            return Err(Gap::NeverRead);
        };
        if !self.holds() {
            return Err(if self.read { Gap::Changed } else { Gap::NeverRead });
        }
        let mut ranges: Vec<LineRange> = Vec::new();
        for (number, _) in (1_u64..).zip(known).filter(|(_, (_, seen))| !seen) {
            match ranges.last_mut() {
                Some(range) if range.last + 1 == number => range.last = number,
                _ => ranges.push(LineRange {
                    first: number,
                    last: number,
                }),
            }
        }
        if ranges.is_empty() {
            Ok(())
        } else {
            Err(Gap::Unseen { ranges })
        }
    }

    fn apply(&mut self, step: &Step, coverage: &mut Coverage, path: &Path) {
        let before = self.content();
        match *step {
            Step::Read { first, count } => {
                if !self.holds() {
                    self.known = Some(self.disk.iter().map(|line| (line.clone(), false)).collect());
                }
                self.read = true;
                let known = self.known.as_mut().unwrap();
                let last = (first + count).min(known.len());
                let shown: Vec<LineRange> = (first < last)
                    .then(|| LineRange {
                        first: first as u64 + 1,
                        last: last as u64,
                    })
                    .into_iter()
                    .collect();
                for line in known.iter_mut().take(last).skip(first) {
                    line.1 = true;
                }
                let total = known.len() as u64;
                coverage.note_read(path, ContentId::Whole { hash: before.hash }, &shown, Some(total));
            }
            Step::Edit { first, count, new } => {
                let last = (first + count).min(self.disk.len());
                if first >= last || coverage.check_edit(path, &before).is_err() {
                    return;
                }
                let new = self.fresh(new);
                let (old, put) = (self.disk[first..last].concat(), new.concat());
                let replacement = Replacement {
                    old: &old,
                    new: &put,
                    occurrences: Occurrences::Once,
                };
                let edited = edit::apply(&before.bytes, &[replacement]).unwrap();
                let known = self.known.as_mut().unwrap();
                let seen = known[first..last].iter().all(|(_, seen)| *seen);
                known.splice(first..last, new.iter().map(|line| (line.clone(), seen)));
                self.disk.splice(first..last, new);
                let after = self.content();
                assert_eq!(after.bytes, edited.bytes);
                coverage.note_edited(path, &after.hash, &edited.shifts[0], self.disk.len() as u64);
            }
            Step::Append { new } => {
                let known = if self.holds() {
                    self.known.take().unwrap()
                } else {
                    self.read = false;
                    self.disk.iter().map(|line| (line.clone(), false)).collect()
                };
                let new = self.fresh(new);
                let added = LineRange {
                    first: self.disk.len() as u64 + 1,
                    last: (self.disk.len() + new.len()) as u64,
                };
                self.known = Some(
                    known
                        .into_iter()
                        .chain(new.iter().map(|line| (line.clone(), true)))
                        .collect(),
                );
                self.disk.extend(new);
                coverage.note_appended(path, &before, &self.content().hash, added);
            }
            Step::Overwrite { new } => {
                if coverage.check_overwrite(path, &before).is_err() {
                    return;
                }
                self.disk = self.fresh(new);
                self.known = Some(self.disk.iter().map(|line| (line.clone(), true)).collect());
                self.read = true;
                coverage.note_whole(path, &self.content().hash, self.disk.len() as u64);
            }
            Step::Outside { kind, at } => {
                let fresh = self.fresh(1);
                match kind {
                    0 if at < self.disk.len() => self.disk[at] = fresh.concat(),
                    1 => self.disk.extend(fresh),
                    _ => self.disk = (0..6).map(|line| format!("first {line}\n")).collect(),
                }
            }
            Step::Restart => {
                let kept = serde_json::to_string(&*coverage).unwrap();
                *coverage = serde_json::from_str(&kept).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    /// Random reads, edits, outside changes and restarts: what may be edited and overwritten is what was seen, line by
    /// line, of exactly what is there now.
    #[test]
    fn t20_x1_x2_x3_coverage_is_what_was_really_seen(steps in proptest::collection::vec(steps(), 1..25)) {
        let path = Path::new("/p/f");
        let mut truth = Truth {
            disk: (0..6).map(|line| format!("first {line}\n")).collect(),
            ..Truth::default()
        };
        let mut coverage = Coverage::default();
        for step in &steps {
            truth.apply(step, &mut coverage, path);
            let now = truth.content();
            prop_assert_eq!(coverage.check_edit(path, &now), truth.edit(), "after {:?}", step);
            prop_assert_eq!(coverage.check_overwrite(path, &now), truth.overwrite(), "after {:?}", step);
        }
    }
}
