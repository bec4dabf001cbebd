//! Exact edits of a file's bytes: what matches is replaced, every other byte stays. Pure.

pub mod nearest;

use std::borrow::Cow;
use std::ops::Range;

use crate::encoding::{self, Decoded, Encoding};
use crate::lines::{self, LineEnds};
use nearest::Nearest;

/// Line numbers that an ambiguous edit names.
const LINES_NAMED: usize = 5;

/// How often a text may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrences {
    /// Exactly once.
    Once,
    /// At least once; all are replaced.
    Every,
}

/// One replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// The text to find, exactly.
    pub old: &'a str,
    /// The text to put there, literally.
    pub new: &'a str,
    /// How often `old` may occur.
    pub occurrences: Occurrences,
}

/// A file after its edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Per edit: what was replaced, ascending; empty when old and new are the same.
    pub shifts: Vec<Vec<Shift>>,
}

/// One place where lines were replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// First line touched, from 1, as numbered before the edit.
    pub first: u64,
    /// Last line touched, as numbered before the edit.
    pub last: u64,
    /// By how much later lines moved.
    pub delta: i64,
}

/// Why an edit cannot be made. The model recovers: it sends a text that is there, once, and can be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Nothing to find.
    #[error(
        "old_string is empty, so there is nothing to replace. To add at the end of a file use write_file with append; to make a new file use write_file"
    )]
    EmptyOld,
    /// Not text.
    #[error("the file is binary ({bytes} bytes) and cannot be edited as text")]
    Binary {
        /// Its size.
        bytes: usize,
    },
    /// It is not there.
    #[error("old_string was not found. {}", describe(nearest.as_deref()))]
    NotFound {
        /// What comes nearest.
        nearest: Option<Box<Nearest>>,
    },
    /// It is there more than once.
    #[error(
        "old_string was found {count} times, on lines {lines}. Add lines around it until it is unique, or set replace_all"
    )]
    Ambiguous {
        /// How often.
        count: usize,
        /// The first lines, in words.
        lines: String,
    },
    /// The file's encoding has no such character.
    #[error("the file is written in {encoding}, which has no `{lost}` (U+{:04X}); every other byte would stay, this one cannot be written. Use characters that are already in the file", u32::from(*lost))]
    Unencodable {
        /// The encoding's name.
        encoding: &'static str,
        /// The character.
        lost: char,
    },
    /// What would be there is no text, or another one in the encoding that it then seems to have.
    #[error(
        "afterwards the file would not read as {encoding} any more, and new_string would come out as something else. Leave NUL and other control characters out of new_string, or ask the user whether the file may become UTF-8"
    )]
    Unreadable {
        /// The encoding's name.
        encoding: &'static str,
    },
    /// The match covers bytes that are no text.
    #[error(
        "old_string covers bytes that are not valid {encoding} (shown as \u{fffd}), so they could not be kept. Choose a text without them"
    )]
    Damaged {
        /// The encoding's name.
        encoding: &'static str,
    },
}

/// Applies edits in order, each to the result of those before it; with the index of the one that fails.
pub fn apply(bytes: &[u8], edits: &[Replacement<'_>]) -> Result<Edited, (usize, EditError)> {
    let mut now = Cow::Borrowed(bytes);
    let mut shifts = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        match apply_one(&now, edit).map_err(|error| (index, error))? {
            Some((bytes, moved)) => {
                now = Cow::Owned(bytes);
                shifts.push(moved);
            }
            None => shifts.push(Vec::new()),
        }
    }
    Ok(Edited {
        bytes: now.into_owned(),
        shifts,
    })
}

/// The bytes after one edit and where lines moved; nothing when old and new are the same.
fn apply_one(bytes: &[u8], edit: &Replacement<'_>) -> Result<Option<(Vec<u8>, Vec<Shift>)>, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::EmptyOld);
    }
    if lines::model_text(edit.old) == lines::model_text(edit.new) {
        return Ok(None);
    }
    let decoded = encoding::decode(bytes).ok_or(EditError::Binary { bytes: bytes.len() })?;
    let ends = lines::ends_of(&decoded.text);
    let mut found = lines::find_all(&decoded.text, edit.old, ends);
    if let (Occurrences::Once, [only]) = (edit.occurrences, found.as_slice()) {
        let again = lines::find_overlapping(&decoded.text, edit.old, only, ends);
        found.extend(again);
    }
    if found.is_empty() {
        let wanted = lines::plain(edit.old, ends);
        let nearest = nearest::find(&lines::to_lf(&decoded.text, ends), &wanted);
        return Err(EditError::NotFound {
            nearest: nearest.map(Box::new),
        });
    }
    if found.len() > 1 && edit.occurrences == Occurrences::Once {
        return Err(EditError::Ambiguous {
            count: found.len(),
            lines: name_lines(&decoded.text, &found, ends),
        });
    }
    if found.iter().any(|range| decoded.is_damaged(range)) {
        return Err(EditError::Damaged {
            encoding: decoded.encoding.name(),
        });
    }
    let after = splice(bytes, &decoded, &found, edit.new, ends)?;
    if !encoding::reads_the_same(&decoded, &after) {
        return Err(EditError::Unreadable {
            encoding: decoded.encoding.name(),
        });
    }
    Ok(Some((after, shifts(&decoded.text, &found, edit, ends))))
}

fn shifts(text: &str, found: &[Range<usize>], edit: &Replacement<'_>, ends: LineEnds) -> Vec<Shift> {
    let (old, new) = (lines::plain(edit.old, ends), lines::plain(edit.new, ends));
    let inner = old.strip_suffix('\n').unwrap_or(&old).matches('\n').count() as u64;
    let breaks = |text: &str| text.matches('\n').count() as i64;
    let delta = breaks(&new) - breaks(&old);
    // What stands after the match loses its line break to what stands before it, and the two become one line.
    let joins = |range: &Range<usize>| {
        let begins_line = text
            .get(..range.start)
            .is_none_or(|before| before.is_empty() || before.ends_with(['\n', '\r']));
        let keeps_lines = new.ends_with('\n') || (new.is_empty() && begins_line);
        old.ends_with('\n') && !keeps_lines && range.end < text.len()
    };
    number_lines(text, found, ends)
        .into_iter()
        .zip(found)
        .map(|(first, range)| Shift {
            first,
            last: first + inner + u64::from(joins(range)),
            delta,
        })
        .collect()
}

/// Puts `new` in place of the ranges; every byte outside them is copied as it is.
fn splice(
    bytes: &[u8],
    decoded: &Decoded<'_>,
    found: &[Range<usize>],
    new: &str,
    ends: LineEnds,
) -> Result<Vec<u8>, EditError> {
    let marks: Vec<usize> = found.iter().flat_map(|range| [range.start, range.end]).collect();
    let places = decoded.byte_offsets(&marks);
    let mut out = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for (range, [start, end]) in found.iter().zip(places.as_chunks::<2>().0) {
        let new = lines::with_ends_of(new, &decoded.text, range, ends);
        out.extend_from_slice(bytes.get(copied..*start).unwrap_or_default());
        out.extend_from_slice(&encode(decoded.encoding, &new)?);
        copied = *end;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    Ok(out)
}

fn encode(encoding: Encoding, text: &str) -> Result<Vec<u8>, EditError> {
    encoding::encode(encoding, text).map_err(|lost| EditError::Unencodable {
        encoding: encoding.name(),
        lost: lost.0,
    })
}

/// Lines of ascending places, counted in one pass.
fn number_lines(text: &str, found: &[Range<usize>], ends: LineEnds) -> Vec<u64> {
    let mut line = 1;
    let mut from = 0;
    found
        .iter()
        .map(|range| {
            line += lines::line_at(text.get(from..).unwrap_or_default(), range.start - from, ends) - 1;
            from = range.start;
            line
        })
        .collect()
}

fn name_lines(text: &str, found: &[Range<usize>], ends: LineEnds) -> String {
    let head = found.get(..LINES_NAMED).unwrap_or(found);
    let mut named: Vec<String> = number_lines(text, head, ends)
        .iter()
        .map(u64::to_string)
        .collect();
    if found.len() > LINES_NAMED {
        named.push("...".to_owned());
    }
    named.join(", ")
}

fn describe(nearest: Option<&Nearest>) -> String {
    nearest.map_or_else(
        || "Nothing in the file comes near it. Read the file again and copy the text exactly".to_owned(),
        Nearest::describe,
    )
}

#[cfg(test)]
mod tests;
