//! A part of a change: of its places some are made, some left out, some written anew by the person. SPEC P4.
//!
//! Owns: how the choices of a person become bytes. Must never know: who chose, or what is told about it.

use cairn_protocol::{FileDiff, HunkChoice};
use similar::DiffOp;

use super::{CONTEXT, Side, Text, operations, window};
use crate::edit::Shift;
use crate::encoding;
use crate::lines::{self, LineEnds};

/// What the choices come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// The places where it differs from what was there, ascending, each with the lines around it.
    pub shifts: Vec<Shift>,
}

/// Why the choices cannot be followed. Nothing is written; the person recovers with other choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    /// The change cannot be taken apart; see [`is_divisible`].
    #[error("it can be made only as a whole")]
    Indivisible,
    /// The places are not those that were shown.
    #[error("its places are not those that were shown")]
    OtherPlaces,
    /// The encoding of the file has no such character.
    #[error("the file is written in {encoding}, which has no `{character}`")]
    Unencodable {
        /// Name of the encoding.
        encoding: &'static str,
        /// The character.
        character: char,
    },
    /// With this text the file would no longer read as what it is.
    #[error("with this text it would not read as {encoding} any more")]
    Unreadable {
        /// Name of the encoding.
        encoding: &'static str,
    },
}

/// Whether places of a change can be made one by one: it is text on both sides, in one encoding that loses nothing, and
/// every place of it is shown. A file that is not there is empty.
pub fn is_divisible(before: &[u8], after: &[u8], shown: &FileDiff) -> bool {
    !shown.hunks.is_empty() && shown.omitted_lines == 0 && sides(before, after).is_some()
}

/// Makes of a change what was chosen: one choice for each place of `shown`, which is the difference of the two.
pub fn choose(
    before: &[u8],
    after: &[u8],
    shown: &FileDiff,
    choices: &[HunkChoice],
) -> Result<Chosen, ChooseError> {
    let (old, new) = sides(before, after).ok_or(ChooseError::Indivisible)?;
    let window = window::of(&old, &new);
    let (old_lines, new_lines) = (window.old_lines(old.ends), window.new_lines(new.ends));
    let ops = operations(&old_lines, &new_lines);
    let groups = similar::group_diff_ops(ops, CONTEXT);
    if shown.omitted_lines > 0 || groups.len() != shown.hunks.len() || groups.len() != choices.len() {
        return Err(ChooseError::OtherPlaces);
    }
    let mut made = Made {
        text: window.head.to_owned(),
        shifts: Vec::new(),
        done: 0,
        before: window.lines_before,
    };
    for ((group, hunk), choice) in groups.iter().zip(&shown.hunks).zip(choices) {
        let place = Place::of(group, &old_lines, &new_lines);
        let starts = |lines: usize| (lines + window.lines_before) as u32 + 1;
        let same = (starts(place.old_start), starts(place.new_start)) == (hunk.old_start, hunk.new_start);
        if !same || place.drawn != hunk.lines.len() {
            return Err(ChooseError::OtherPlaces);
        }
        made.keep(&old_lines, place.old_start);
        made.put(&place, choice, new.ends);
    }
    made.keep(&old_lines, old_lines.len());
    made.text.push_str(window.tail);
    let bytes = encoded(&new, &made.text)?;
    Ok(Chosen {
        bytes,
        shifts: made.shifts,
    })
}

/// Both sides as text, when one encoding holds them and nothing of them is lost in it.
fn sides<'a>(before: &'a [u8], after: &'a [u8]) -> Option<(Text<'a>, Text<'a>)> {
    let text = |bytes| Text::of(Some(Side { bytes, hash: "" }));
    let (old, new) = (text(before)?, text(after)?);
    let whole = old.decoded.damaged.is_empty() && new.decoded.damaged.is_empty();
    let alike = before.is_empty()
        || (old.decoded.encoding == new.decoded.encoding && old.decoded.bom == new.decoded.bom);
    (whole && alike).then_some((old, new))
}

fn encoded(new: &Text<'_>, text: &str) -> Result<Vec<u8>, ChooseError> {
    let encoding = new.decoded.encoding;
    let mark = if new.decoded.bom > 0 { "\u{feff}" } else { "" };
    let bytes =
        encoding::encode(encoding, &format!("{mark}{text}")).map_err(|lost| ChooseError::Unencodable {
            encoding: encoding.name(),
            character: lost.0,
        })?;
    if encoding::reads_the_same(&new.decoded, &bytes) {
        Ok(bytes)
    } else {
        Err(ChooseError::Unreadable {
            encoding: encoding.name(),
        })
    }
}

/// One changed place with the lines around it.
struct Place<'a> {
    old_start: usize,
    new_start: usize,
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// Lines that a drawing of it has.
    drawn: usize,
}

impl<'a> Place<'a> {
    fn of(group: &[DiffOp], old: &'a [&'a str], new: &'a [&'a str]) -> Self {
        let ends = |range: &dyn Fn(&DiffOp) -> std::ops::Range<usize>| {
            let start = group.first().map_or(0, |op| range(op).start);
            start..group.last().map_or(start, |op| range(op).end)
        };
        let (olds, news) = (ends(&DiffOp::old_range), ends(&DiffOp::new_range));
        let drawn = group.iter().map(|op| match op {
            DiffOp::Equal { len, .. } => *len,
            changed => changed.old_range().len() + changed.new_range().len(),
        });
        Self {
            old_start: olds.start,
            new_start: news.start,
            old: old.get(olds).unwrap_or_default(),
            new: new.get(news).unwrap_or_default(),
            drawn: drawn.sum(),
        }
    }
}

/// What came together so far.
struct Made {
    text: String,
    shifts: Vec<Shift>,
    /// Old lines of the window that are dealt with.
    done: usize,
    /// Lines of the file before the window.
    before: usize,
}

impl Made {
    /// Old lines up to that one stay.
    fn keep(&mut self, old: &[&str], to: usize) {
        for line in old.get(self.done..to).unwrap_or_default() {
            self.text.push_str(line);
        }
        self.done = self.done.max(to);
    }

    fn put(&mut self, place: &Place<'_>, choice: &HunkChoice, ends: LineEnds) {
        let lines = match choice {
            // They are kept with what follows.
            HunkChoice::Leave => return,
            HunkChoice::Take => {
                place.new.iter().for_each(|line| self.text.push_str(line));
                place.new.len()
            }
            HunkChoice::Replace { text } => {
                let text = written(text, place, ends);
                self.text.push_str(&text);
                lines::split(&text, ends).len()
            }
        };
        let first = (self.before + place.old_start) as u64 + 1;
        self.shifts.push(Shift {
            first,
            last: first + (place.old.len() as u64).max(1) - 1,
            delta: lines as i64 - place.old.len() as i64,
        });
        self.done = place.old_start + place.old.len();
    }
}

/// The person's lines with the ends that the proposed ones have; the last has one wherever a line may follow.
fn written(text: &str, place: &Place<'_>, ends: LineEnds) -> String {
    let proposed = place.new.concat();
    let mut text = lines::with_ends_of(text, &proposed, &(0..proposed.len()), ends);
    let closed = |line: &&str| line.ends_with(['\n', '\r']);
    let closes = [place.new.last(), place.old.last()]
        .into_iter()
        .flatten()
        .any(closed);
    match (text.is_empty(), text.ends_with(['\n', '\r']), closes) {
        (false, false, true) => text.push_str(ends.usual().text()),
        (false, true, false) => text.truncate(lines::without_end(&text).len()),
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests;
