//! The part of two texts in which they differ: what is the same before and after it is not gone through by lines.

use super::{CONTEXT, Text};
use crate::lines::{self, LineEnd, LineEnds};

/// Bytes compared at once.
const STEP: usize = 4096;

/// The part that differs, with some unchanged lines around it.
pub(super) struct Window<'a> {
    old: &'a str,
    new: &'a str,
    /// What both texts have before it.
    pub(super) head: &'a str,
    /// What both texts have after it.
    pub(super) tail: &'a str,
    /// Lines of both texts before it.
    pub(super) lines_before: usize,
}

impl<'a> Window<'a> {
    /// Its lines in the old text.
    pub(super) fn old_lines(&self, ends: LineEnds) -> Vec<&'a str> {
        lines::split(self.old, ends)
    }

    /// Its lines in the new text.
    pub(super) fn new_lines(&self, ends: LineEnds) -> Vec<&'a str> {
        lines::split(self.new, ends)
    }
}

/// Finds it.
pub(super) fn of<'a>(old: &'a Text<'_>, new: &'a Text<'_>) -> Window<'a> {
    let (one, other) = (old.decoded.text.as_ref(), new.decoded.text.as_ref());
    let whole = Window {
        old: one,
        new: other,
        head: "",
        tail: "",
        lines_before: 0,
    };
    if [old.ends, new.ends].contains(&LineEnds::All(LineEnd::Cr)) {
        return whole;
    }
    let start = line_start(one, same_at_start(one.as_bytes(), other.as_bytes()));
    let (Some(one_rest), Some(other_rest)) = (one.get(start..), other.get(start..)) else {
        return whole;
    };
    let tail = same_at_end(one_rest.as_bytes(), other_rest.as_bytes());
    let end = whole_lines(one_rest, tail);
    let start = (0..CONTEXT).fold(start, |start, _| line_start(one, start.saturating_sub(1)));
    let cut = |text: &'a str| text.get(start..text.len() - end);
    match (cut(one), cut(other)) {
        (Some(old), Some(new)) => Window {
            old,
            new,
            head: one.get(..start).unwrap_or_default(),
            tail: one.get(one.len() - end..).unwrap_or_default(),
            lines_before: lines::count(one.get(..start).unwrap_or_default(), b'\n'),
        },
        _ => whole,
    }
}

/// Bytes that are the same at the start.
fn same_at_start(one: &[u8], other: &[u8]) -> usize {
    let steps = one
        .chunks(STEP)
        .zip(other.chunks(STEP))
        .take_while(|(one, other)| one == other);
    let same: usize = steps.map(|(one, _)| one.len()).sum();
    let (one, other) = (
        one.get(same..).unwrap_or_default(),
        other.get(same..).unwrap_or_default(),
    );
    same + one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Bytes that are the same at the end.
fn same_at_end(one: &[u8], other: &[u8]) -> usize {
    let steps = one
        .rchunks(STEP)
        .zip(other.rchunks(STEP))
        .take_while(|(one, other)| one == other);
    let same: usize = steps.map(|(one, _)| one.len()).sum();
    let (one, other) = (
        one.get(..one.len() - same).unwrap_or_default(),
        other.get(..other.len() - same).unwrap_or_default(),
    );
    same + one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(one, other)| one == other)
        .count()
}

/// Start of the line in which a place lies.
fn line_start(text: &str, place: usize) -> usize {
    let before = text.get(..text.floor_char_boundary(place)).unwrap_or_default();
    before.rfind('\n').map_or(0, |at| at + 1)
}

/// Of the last `tail` bytes those that are whole lines, after some lines that stay.
fn whole_lines(text: &str, tail: usize) -> usize {
    let mut rest = text
        .get(text.ceil_char_boundary(text.len() - tail)..)
        .unwrap_or_default();
    // The first line of it may have begun before, with other text.
    for _ in 0..=CONTEXT {
        rest = rest
            .find('\n')
            .and_then(|at| rest.get(at + 1..))
            .unwrap_or_default();
    }
    rest.len()
}
