//! The difference between two contents of a file, as a person sees it.
//!
//! Always the whole change: only beyond [`LINES_DRAWN`] lines is something left out, and then it is counted.

mod choose;
mod window;
mod words;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use cairn_policy::{Show, show};
use cairn_protocol::{ChangeKind, DiffLine, DiffLineKind, FileDiff, Hunk, ShownKind, ShownSpan};
use similar::algorithms::{Capture, Replace};
use similar::{Algorithm, DiffOp};

use crate::encoding::{self, Decoded};
use crate::lines::{self, LineEnd, LineEnds};

pub use choose::{ChooseError, Chosen, choose, is_divisible};

/// Lines of hunks that are drawn at most.
pub const LINES_DRAWN: usize = 5_000;
/// Unchanged lines around each change.
const CONTEXT: usize = 3;
/// Lines of both sides up to which hunks are moved to where they read best.
const LINES_TIDIED: usize = 50_000;
/// After this long the rest of a file is told as replaced.
const TIME: Duration = Duration::from_millis(400);

/// A content to compare.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its hex SHA-256.
    pub hash: &'a str,
}

/// The difference. `path` is as it is shown; none is a file that is not there.
pub fn file_diff(path: &str, before: Option<Side<'_>>, after: Option<Side<'_>>) -> FileDiff {
    let mut diff = FileDiff {
        path: path.to_owned(),
        change: match (before.is_some(), after.is_some()) {
            (false, _) => ChangeKind::Created,
            (true, true) => ChangeKind::Modified,
            (true, false) => ChangeKind::Deleted,
        },
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        omitted_lines: 0,
        before: before.map(|side| side.hash.to_owned()),
        after: after.map(|side| side.hash.to_owned()),
        notes: Vec::new(),
    };
    let (old, new) = (Text::of(before), Text::of(after));
    if let (Some(old), Some(new)) = (old, new) {
        note_differences(&mut diff, &old, &new, before.is_some() && after.is_some());
        compare(&mut diff, &old, &new);
    } else {
        let size = |side: Option<Side<'_>>| side.map_or(0, |side| side.bytes.len());
        diff.notes.push(format!(
            "binary: {} bytes before, {} bytes after",
            size(before),
            size(after)
        ));
    }
    diff
}

/// The same as unified text for a model.
pub fn unified(diff: &FileDiff) -> String {
    let mut text = String::new();
    for hunk in &diff.hunks {
        let count = |kind| hunk.lines.iter().filter(|line| line.kind != kind).count();
        let (old, new) = (count(DiffLineKind::Added), count(DiffLineKind::Removed));
        // Writing to a string cannot fail.
        writeln!(text, "@@ -{},{old} +{},{new} @@", hunk.old_start, hunk.new_start).ok();
        for line in &hunk.lines {
            text.push(match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            });
            line.spans.iter().for_each(|span| text.push_str(&span.text));
            text.push('\n');
        }
    }
    if diff.omitted_lines > 0 {
        writeln!(text, "({} more lines)", diff.omitted_lines).ok();
    }
    text
}

/// One side, decoded.
struct Text<'a> {
    decoded: Decoded<'a>,
    ends: LineEnds,
}

impl<'a> Text<'a> {
    /// None when it is binary.
    fn of(side: Option<Side<'a>>) -> Option<Self> {
        let decoded = encoding::decode(side.map_or(&[][..], |side| side.bytes))?;
        let ends = lines::ends_of(&decoded.text);
        Some(Self { decoded, ends })
    }

    fn ends_open(&self) -> bool {
        !self.decoded.text.is_empty() && !self.decoded.text.ends_with(['\n', '\r'])
    }
}

fn note_differences(diff: &mut FileDiff, old: &Text<'_>, new: &Text<'_>, both: bool) {
    let notes = &mut diff.notes;
    match (both && old.ends_open(), new.ends_open()) {
        (false, true) => notes.push("the file has no newline at its end".to_owned()),
        (true, false) if !new.decoded.text.is_empty() => {
            notes.push("a newline is added at the end of the file".to_owned());
        }
        _ => {}
    }
    if !both {
        return;
    }
    match (old.decoded.bom > 0, new.decoded.bom > 0) {
        (true, false) => notes.push("the byte order mark is removed".to_owned()),
        (false, true) => notes.push("a byte order mark is added".to_owned()),
        _ => {}
    }
    if old.decoded.encoding != new.decoded.encoding {
        let (from, to) = (old.decoded.encoding.name(), new.decoded.encoding.name());
        notes.push(format!("the encoding changes from {from} to {to}"));
    }
    if let (LineEnds::All(from), LineEnds::All(to)) = (old.ends, new.ends)
        && from != to
    {
        notes.push(format!("line ends change from {} to {}", from.name(), to.name()));
    }
}

fn compare(diff: &mut FileDiff, old: &Text<'_>, new: &Text<'_>) {
    let window = window::of(old, new);
    let (old_lines, new_lines) = (window.old_lines(old.ends), window.new_lines(new.ends));
    let ops = operations(&old_lines, &new_lines);
    for op in &ops {
        if !matches!(op, DiffOp::Equal { .. }) {
            diff.removed = diff.removed.saturating_add(op.old_range().len() as u32);
            diff.added = diff.added.saturating_add(op.new_range().len() as u32);
        }
    }
    // A line end is drawn only where it says something.
    let quiet = [old.ends, new.ends]
        .iter()
        .all(|ends| matches!(ends, LineEnds::None | LineEnds::All(LineEnd::CrLf)));
    let mut draw = Draw {
        old: &old_lines,
        new: &new_lines,
        before: window.lines_before,
        quiet,
        left: LINES_DRAWN,
        omitted: 0,
    };
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let lines = draw.group(&group);
        if let (Some(first), false) = (group.first(), lines.is_empty()) {
            let start = |range: Range<usize>| (range.start + window.lines_before) as u32 + 1;
            diff.hunks.push(Hunk {
                old_start: start(first.old_range()),
                new_start: start(first.new_range()),
                lines,
            });
        }
    }
    diff.omitted_lines = draw.omitted;
}

/// What to do with lines, after equal lines at both ends are set aside and the rest are numbers.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let prefix = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = |lines: &[&str]| lines.len() - prefix;
    let most = rest(old).min(rest(new));
    let suffix = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(old, new)| old == new)
        .count();
    let mut names: HashMap<&str, u32> = HashMap::new();
    let old_ids: Vec<u32> = number(
        old.get(prefix..old.len() - suffix).unwrap_or_default(),
        &mut names,
    );
    let new_ids: Vec<u32> = number(
        new.get(prefix..new.len() - suffix).unwrap_or_default(),
        &mut names,
    );
    let deadline = Instant::now().checked_add(TIME);
    let middle = compare_ids(&old_ids, &new_ids, deadline);
    let mut ops = Vec::with_capacity(middle.len() + 2);
    if prefix > 0 {
        ops.push(DiffOp::Equal {
            old_index: 0,
            new_index: 0,
            len: prefix,
        });
    }
    ops.extend(middle.into_iter().map(|op| moved(op, prefix)));
    if suffix > 0 {
        ops.push(DiffOp::Equal {
            old_index: old.len() - suffix,
            new_index: new.len() - suffix,
            len: suffix,
        });
    }
    ops
}

fn compare_ids(old: &[u32], new: &[u32], deadline: Option<Instant>) -> Vec<DiffOp> {
    if old.len() + new.len() <= LINES_TIDIED {
        return similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline);
    }
    // Moving hunks to where they read best knows no deadline.
    let mut hook = Replace::new(Capture::new());
    match similar::algorithms::diff_slices_deadline(Algorithm::Myers, &mut hook, old, new, deadline) {
        Ok(()) => hook.into_inner().into_ops(),
        Err(never) => match never {},
    }
}

fn number<'a>(lines: &[&'a str], names: &mut HashMap<&'a str, u32>) -> Vec<u32> {
    lines
        .iter()
        .map(|line| {
            let next = names.len() as u32;
            *names.entry(line).or_insert(next)
        })
        .collect()
}

fn moved(op: DiffOp, by: usize) -> DiffOp {
    match op {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => DiffOp::Equal {
            old_index: old_index + by,
            new_index: new_index + by,
            len,
        },
        DiffOp::Delete {
            old_index,
            old_len,
            new_index,
        } => DiffOp::Delete {
            old_index: old_index + by,
            old_len,
            new_index: new_index + by,
        },
        DiffOp::Insert {
            old_index,
            new_index,
            new_len,
        } => DiffOp::Insert {
            old_index: old_index + by,
            new_index: new_index + by,
            new_len,
        },
        DiffOp::Replace {
            old_index,
            old_len,
            new_index,
            new_len,
        } => DiffOp::Replace {
            old_index: old_index + by,
            old_len,
            new_index: new_index + by,
            new_len,
        },
    }
}

/// Draws lines while there is room.
struct Draw<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// Lines of the file before these.
    before: usize,
    quiet: bool,
    left: usize,
    omitted: u32,
}

impl Draw<'_> {
    fn group(&mut self, group: &[DiffOp]) -> Vec<DiffLine> {
        let mut out = Vec::new();
        for op in group {
            let (old, new) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                for (old, new) in old.zip(new) {
                    let text = self.old.get(old).copied().unwrap_or_default();
                    self.push(&mut out, DiffLineKind::Context, Some(old), Some(new), || {
                        words::context(text)
                    });
                }
                continue;
            }
            let pairs = words::Pairs::of(
                self.old.get(old.clone()).unwrap_or_default(),
                self.new.get(new.clone()).unwrap_or_default(),
                self.left,
            );
            for (at, line) in old.enumerate() {
                let text = self.old.get(line).copied().unwrap_or_default();
                self.push(&mut out, DiffLineKind::Removed, Some(line), None, || {
                    pairs.old(at, text)
                });
            }
            for (at, line) in new.enumerate() {
                let text = self.new.get(line).copied().unwrap_or_default();
                self.push(&mut out, DiffLineKind::Added, None, Some(line), || {
                    pairs.new_side(at, text)
                });
            }
        }
        out
    }

    fn push(
        &mut self,
        out: &mut Vec<DiffLine>,
        kind: DiffLineKind,
        old: Option<usize>,
        new: Option<usize>,
        spans: impl FnOnce() -> Vec<ShownSpan>,
    ) {
        if self.left == 0 {
            self.omitted = self.omitted.saturating_add(1);
            return;
        }
        self.left -= 1;
        let number = |index: usize| (index + self.before) as u32 + 1;
        let line = match kind {
            DiffLineKind::Added => new.and_then(|index| self.new.get(index)),
            DiffLineKind::Context | DiffLineKind::Removed => old.and_then(|index| self.old.get(index)),
        };
        let mut spans = spans();
        if !self.quiet && line.is_some_and(|line| line.ends_with("\r\n")) {
            spans.push(ShownSpan {
                kind: ShownKind::Chip,
                text: "\\r".to_owned(),
            });
        }
        out.push(DiffLine {
            kind,
            old: old.map(number),
            new: new.map(number),
            spans,
        });
    }
}

/// A piece of a line made safe to draw; what is plain in it becomes `kind`.
fn draw(text: &str, kind: ShownKind) -> impl Iterator<Item = ShownSpan> {
    show(text, Show::Code).into_iter().map(move |span| {
        if span.kind == ShownKind::Plain {
            ShownSpan {
                kind,
                text: span.text,
            }
        } else {
            span
        }
    })
}

#[cfg(test)]
mod tests;
