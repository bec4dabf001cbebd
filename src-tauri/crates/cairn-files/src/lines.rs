//! Line ends: which a file uses, matching text with them, and writing text with them.

use std::ops::Range;

/// How lines end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
    /// `\r` alone, in files without any `\n`.
    Cr,
}

impl LineEnd {
    /// Its characters.
    pub fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// Its name for model and person.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }
}

/// The line ends of a whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    /// There is none.
    None,
    /// All the same.
    All(LineEnd),
    /// LF and CRLF; the more frequent one.
    Mixed(LineEnd),
}

impl LineEnds {
    /// The one to write where nothing else says.
    pub fn usual(self) -> LineEnd {
        match self {
            Self::None => LineEnd::Lf,
            Self::All(end) | Self::Mixed(end) => end,
        }
    }
}

/// Finds the line ends of a text.
pub fn ends_of(text: &str) -> LineEnds {
    let all = count(text, b'\n');
    // Most texts have none, and looking for one character is many times faster than looking for two.
    let with_cr = if text.contains('\r') {
        text.matches("\r\n").count()
    } else {
        0
    };
    match (with_cr, all - with_cr) {
        (0, 0) if text.contains('\r') => LineEnds::All(LineEnd::Cr),
        (0, 0) => LineEnds::None,
        (0, _) => LineEnds::All(LineEnd::Lf),
        (_, 0) => LineEnds::All(LineEnd::CrLf),
        (crlf, lf) if crlf >= lf => LineEnds::Mixed(LineEnd::CrLf),
        _ => LineEnds::Mixed(LineEnd::Lf),
    }
}

/// A text with `\n` for every line end of its kind.
pub fn to_lf(text: &str, ends: LineEnds) -> String {
    if ends == LineEnds::All(LineEnd::Cr) {
        text.replace('\r', "\n")
    } else {
        text.replace("\r\n", "\n")
    }
}

/// A text of the model's with `\n` for every line end.
pub fn model_text(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A text of the model's as [`to_lf`] writes a text with those ends: in a file whose lines end with `\r`, so may the
/// model's.
pub fn plain(text: &str, ends: LineEnds) -> String {
    let text = model_text(text);
    if ends == LineEnds::All(LineEnd::Cr) {
        text.replace('\r', "\n")
    } else {
        text
    }
}

/// The lines of a text with their ends; the last may have none. An empty text has no line.
pub fn split(text: &str, ends: LineEnds) -> Vec<&str> {
    let last = if ends == LineEnds::All(LineEnd::Cr) {
        '\r'
    } else {
        '\n'
    };
    text.split_inclusive(last).collect()
}

/// A line without its end.
pub fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Number of the line, from 1, in which a byte offset lies.
pub fn line_at(text: &str, offset: usize, ends: LineEnds) -> u64 {
    let last = if ends == LineEnds::All(LineEnd::Cr) {
        b'\r'
    } else {
        b'\n'
    };
    let before = text.get(..text.floor_char_boundary(offset)).unwrap_or(text);
    1 + count(before, last) as u64
}

/// How often an ASCII character occurs; many at once, where the processor can.
pub(crate) fn count(text: &str, byte: u8) -> usize {
    text.bytes().map(|other| usize::from(other == byte)).sum()
}

/// All places of `wanted` in `text`, without overlap, whatever line ends either has.
pub fn find_all(text: &str, wanted: &str, ends: LineEnds) -> Vec<Range<usize>> {
    let wanted = plain(wanted, ends);
    if wanted.is_empty() {
        return Vec::new();
    }
    if !text.contains('\r') {
        return text
            .match_indices(&wanted)
            .map(|(at, found)| at..at + found.len())
            .collect();
    }
    let plain = to_lf(text, ends);
    if ends == LineEnds::All(LineEnd::Cr) {
        // One byte became one byte: the places are the same.
        return plain
            .match_indices(&wanted)
            .map(|(at, found)| at..at + found.len())
            .collect();
    }
    let marks: Vec<usize> = plain
        .match_indices(&wanted)
        .flat_map(|(at, found)| [at, at + found.len()])
        .collect();
    let real = unfold(text, &marks);
    real.as_chunks::<2>()
        .0
        .iter()
        .map(|[start, end]| *start..*end)
        .collect()
}

/// A second place of `wanted` that overlaps the one found, as that of `aa` in `aaa`.
pub fn find_overlapping(
    text: &str,
    wanted: &str,
    found: &Range<usize>,
    ends: LineEnds,
) -> Option<Range<usize>> {
    let place = text.get(found.clone())?;
    // A line end of two characters is one.
    let step = match place.strip_prefix("\r\n") {
        Some(_) => 2,
        None => place.chars().next()?.len_utf8(),
    };
    let from = found.start + step;
    // It begins within the one found, and at most each of its line ends is twice as long as there.
    let until = text.ceil_char_boundary(found.end.saturating_add(place.len() * 2));
    let again = find_all(text.get(from..until)?, wanted, ends)
        .into_iter()
        .next()?;
    (from + again.start < found.end).then(|| from + again.start..from + again.end)
}

/// Places in a text whose CRLFs were folded to LF, as places in the text itself. `marks` ascend.
fn unfold(text: &str, marks: &[usize]) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut folded = 0;
    let mut at = 0;
    let mut found = Vec::with_capacity(marks.len());
    for &mark in marks {
        while folded < mark && at < bytes.len() {
            let pair = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            at += if pair { 2 } else { 1 };
            folded += 1;
        }
        found.push(at);
    }
    found
}

/// `new` with the line ends that the text it replaces has there.
///
/// Where the file mixes them, the n-th line end takes that of the n-th line end replaced; beyond those, the last
/// one replaced; and where none was replaced, the one of the line before or the usual one.
pub fn with_ends_of(new: &str, text: &str, replaced: &Range<usize>, ends: LineEnds) -> String {
    let new = plain(new, ends);
    match ends {
        LineEnds::None | LineEnds::All(LineEnd::Lf) => new,
        LineEnds::All(end) => new.replace('\n', end.text()),
        LineEnds::Mixed(usual) => {
            let old = text.get(replaced.clone()).unwrap_or_default();
            let there: Vec<LineEnd> = old.split_inclusive('\n').filter_map(end_of_line).collect();
            let before = text.get(..replaced.start).unwrap_or_default();
            let nearest = there
                .last()
                .copied()
                .or_else(|| before.rfind('\n').map(|at| end_at(before, at)));
            let rest = nearest.unwrap_or(usual);
            let mut at = 0;
            new.split_inclusive('\n')
                .fold(String::with_capacity(new.len()), |mut out, line| {
                    if let Some(line) = line.strip_suffix('\n') {
                        out.push_str(line);
                        out.push_str(there.get(at).copied().unwrap_or(rest).text());
                        at += 1;
                    } else {
                        out.push_str(line);
                    }
                    out
                })
        }
    }
}

fn end_of_line(line: &str) -> Option<LineEnd> {
    line.ends_with('\n').then(|| end_at(line, line.len() - 1))
}

fn end_at(text: &str, newline: usize) -> LineEnd {
    let crlf = newline > 0 && text.as_bytes().get(newline - 1) == Some(&b'\r');
    if crlf { LineEnd::CrLf } else { LineEnd::Lf }
}

#[cfg(test)]
mod tests;
