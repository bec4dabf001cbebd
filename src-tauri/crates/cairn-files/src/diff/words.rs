//! Which words of a changed line differ from its counterpart.

use std::ops::Range;
use std::time::{Duration, Instant};

use cairn_protocol::{ShownKind, ShownSpan};
use similar::{Algorithm, DiffOp};

use super::draw;
use crate::lines::without_end;

/// Lines of one replaced block that are compared word by word.
const LINES_PAIRED: usize = 400;
/// Bytes of a line up to which it is drawn whole whatever it holds.
const LINE_WHOLE: usize = 4_000;
/// Bytes that are drawn around the changed part of a longer line.
const AROUND: usize = 200;
/// Bytes of the changed part of a longer line that are drawn.
const CHANGED: usize = 100_000;
/// Time for the words of one line.
const TIME: Duration = Duration::from_millis(20);
/// Lines that share less than this are not each other's counterpart.
const ALIKE: f64 = 0.25;

/// The changed bytes of each line, where a counterpart was found.
pub(super) struct Pairs {
    old: Vec<Option<Vec<Range<usize>>>>,
    new: Vec<Option<Vec<Range<usize>>>>,
}

impl Pairs {
    /// Compares the lines of a replaced block in order; `drawn` is how many lines can still be drawn.
    pub(super) fn of(old: &[&str], new: &[&str], drawn: usize) -> Self {
        let count = if drawn == 0 {
            0
        } else {
            old.len().min(new.len()).min(LINES_PAIRED)
        };
        let mut pairs = Self {
            old: Vec::with_capacity(count),
            new: Vec::with_capacity(count),
        };
        for (old, new) in old.iter().zip(new).take(count) {
            let (old, new) = differing(without_end(old), without_end(new)).unzip();
            pairs.old.push(old);
            pairs.new.push(new);
        }
        pairs
    }

    /// The removed line at that place.
    pub(super) fn old(&self, at: usize, line: &str) -> Vec<ShownSpan> {
        marked(line, self.old.get(at).and_then(Option::as_deref))
    }

    /// The added line at that place.
    pub(super) fn new_side(&self, at: usize, line: &str) -> Vec<ShownSpan> {
        marked(line, self.new.get(at).and_then(Option::as_deref))
    }
}

/// An unchanged line.
pub(super) fn context(line: &str) -> Vec<ShownSpan> {
    let line = without_end(line);
    if line.len() <= LINE_WHOLE {
        return draw(line, ShownKind::Plain).collect();
    }
    let head = before(line, AROUND);
    let mut spans: Vec<ShownSpan> = draw(line.get(..head).unwrap_or_default(), ShownKind::Plain).collect();
    spans.push(left_out(line.get(head..).unwrap_or_default(), "unchanged"));
    spans
}

/// A changed line with its changed words marked.
fn marked(line: &str, changed: Option<&[Range<usize>]>) -> Vec<ShownSpan> {
    let line = without_end(line);
    let Some(changed) = changed else {
        return cut(line, 0..line.len(), &[]);
    };
    let whole = match (changed.first(), changed.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    };
    cut(line, whole, changed)
}

/// Draws a line; of a long one only what lies around the part that matters.
fn cut(line: &str, matters: Range<usize>, changed: &[Range<usize>]) -> Vec<ShownSpan> {
    let shown = if line.len() <= LINE_WHOLE {
        0..line.len()
    } else {
        let end = matters.end.min(matters.start + CHANGED);
        before(line, matters.start.saturating_sub(AROUND))..before(line, (end + AROUND).min(line.len()))
    };
    let mut spans = Vec::new();
    if shown.start > 0 {
        spans.push(left_out(line.get(..shown.start).unwrap_or_default(), "unchanged"));
    }
    let mut at = shown.start;
    for range in changed {
        let range = range.start.clamp(at, shown.end)..range.end.clamp(at, shown.end);
        spans.extend(draw(
            line.get(at..range.start).unwrap_or_default(),
            ShownKind::Plain,
        ));
        spans.extend(draw(
            line.get(range.clone()).unwrap_or_default(),
            ShownKind::Changed,
        ));
        at = range.end;
    }
    spans.extend(draw(
        line.get(at..shown.end).unwrap_or_default(),
        ShownKind::Plain,
    ));
    if shown.end < line.len() {
        let rest = line.get(shown.end..).unwrap_or_default();
        spans.push(left_out(
            rest,
            if shown.end < matters.end {
                "not drawn"
            } else {
                "unchanged"
            },
        ));
    }
    spans
}

fn left_out(text: &str, what: &str) -> ShownSpan {
    ShownSpan {
        kind: ShownKind::Chip,
        text: format!("{} characters {what}", text.chars().count()),
    }
}

/// The nearest character boundary at or before a place.
fn before(line: &str, place: usize) -> usize {
    line.floor_char_boundary(place)
}

/// Changed bytes of one line, ascending.
type Marks = Vec<Range<usize>>;

/// The bytes in which two lines differ; none when they have too little in common.
fn differing(old: &str, new: &str) -> Option<(Marks, Marks)> {
    let head = common(
        old.char_indices()
            .zip(new.chars())
            .map(|((at, old), new)| (at + old.len_utf8(), old == new)),
    );
    let (old_rest, new_rest) = (old.get(head..)?, new.get(head..)?);
    let backwards = old_rest.chars().rev().zip(new_rest.chars().rev());
    let tail = backwards
        .take_while(|(old, new)| old == new)
        .map(|(c, _)| c.len_utf8())
        .sum::<usize>();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    if old.len() > LINE_WHOLE || new.len() > LINE_WHOLE {
        let only = |end| std::iter::once(head..end).collect();
        return Some((only(old_end), only(new_end)));
    }
    let (old_words, new_words) = (words(old), words(new));
    let text = |line: &str, words: &[Range<usize>]| -> Vec<String> {
        words
            .iter()
            .map(|word| line.get(word.clone()).unwrap_or_default().to_owned())
            .collect()
    };
    let deadline = Instant::now().checked_add(TIME);
    let (old_texts, new_texts) = (text(old, &old_words), text(new, &new_words));
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &old_texts, &new_texts, deadline);
    let (mut old_marks, mut new_marks) = (Marks::new(), Marks::new());
    let mut same = 0;
    for op in &ops {
        let (old_range, new_range) = (span(&old_words, op.old_range()), span(&new_words, op.new_range()));
        if matches!(op, DiffOp::Equal { .. }) {
            same += old.get(old_range).map_or(0, |text| text.trim().len());
            continue;
        }
        push(&mut old_marks, old_range);
        push(&mut new_marks, new_range);
    }
    let most = old.trim().len().max(new.trim().len()).max(1);
    (same as f64 / most as f64 >= ALIKE).then_some((old_marks, new_marks))
}

fn common(pairs: impl Iterator<Item = (usize, bool)>) -> usize {
    pairs
        .take_while(|(_, same)| *same)
        .last()
        .map_or(0, |(end, _)| end)
}

fn push(marks: &mut Marks, range: Range<usize>) {
    if !range.is_empty() {
        marks.push(range);
    }
}

/// The bytes of a run of words.
fn span(words: &[Range<usize>], run: Range<usize>) -> Range<usize> {
    match words.get(run) {
        Some([first, .., last]) => first.start..last.end,
        Some([only]) => only.clone(),
        _ => 0..0,
    }
}

/// Runs of letters and digits, runs of space, and single other characters.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = Kind::Other;
    for (at, c) in line.char_indices() {
        let kind = match c {
            c if c.is_alphanumeric() || c == '_' => Kind::Word,
            c if c.is_whitespace() => Kind::Space,
            _ => Kind::Other,
        };
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(word) if kind == last && kind != Kind::Other => word.end = end,
            _ => words.push(at..end),
        }
        last = kind;
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Space,
    Other,
}
