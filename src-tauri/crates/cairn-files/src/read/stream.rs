//! Pages of files too large to hold: lines are counted up to the first wanted one and read no further than the last.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use sha2::{Digest as _, Sha256};

use super::{Fill, LINE_WIDTH, Lines, Page, PageRequest, Stamp, Total, text_encoding};
use crate::coverage::{ContentId, Part};
use crate::encoding::{self, Encoding, SAMPLE};
use crate::{hash, lines};

/// Bytes of a line that are kept: enough for the characters shown, whatever they are.
const KEEP: usize = (LINE_WIDTH + 1) * 4;
/// Bytes read at once.
const BUFFER: usize = 128 * 1024;
/// Lines skipped one by one between two looks at whether to stop.
const LINES_BETWEEN: u64 = 1_024;

/// A line that was read: what was kept of it, and how long it was with its end.
struct Line {
    kept: Vec<u8>,
    bytes: u64,
    ended: bool,
}

/// Reads a page of a file above the limit.
pub(super) fn page(
    file: File,
    stamp: Stamp,
    request: &PageRequest,
    stopped: &dyn Fn() -> bool,
) -> io::Result<Lines> {
    // What is added while it is read is not part of it: a file that grows for ever has an end all the same.
    let mut reader = BufReader::with_capacity(BUFFER, file.take(stamp.size));
    let sample = reader.fill_buf()?;
    let sample = sample.get(..SAMPLE).unwrap_or(sample);
    let Some((encoding, bom)) = text_encoding(sample) else {
        return Ok(Lines::Binary { bytes: stamp.size });
    };
    reader.consume(bom);
    let mut fill = Fill::new(request);
    let mut offset = bom as u64;
    offset += skip_lines(&mut reader, encoding, fill.first - 1, stopped)?;
    let start = offset;
    let mut hasher = Sha256::new();
    while fill.lines.len() as u64 != request.count {
        // Hashed only once it is known to be part of the page.
        let before = hasher.clone();
        let line = take_line(&mut reader, encoding, stopped, &mut hasher)?;
        if line.bytes == 0 {
            break;
        }
        let (text, hidden) = show(encoding, &line);
        if !fill.add(text, hidden) {
            hasher = before;
            break;
        }
        offset += line.bytes;
    }
    let file = reader.into_inner().into_inner();
    let after = Stamp::of(&rustix::fs::fstat(&file)?);
    let part = Part {
        start,
        end: offset,
        hash: hash::hex(&hasher.finalize()),
    };
    let next = fill.next;
    Ok(Lines::Text(Page {
        encoding,
        marked: bom > 0,
        lines: fill.lines,
        total: Total::Bytes(stamp.size),
        next: (offset < stamp.size).then_some(next),
        content: (after == stamp).then(|| ContentId::Parts {
            stamp,
            parts: vec![part],
        }),
    }))
}

fn show(encoding: Encoding, line: &Line) -> (String, u64) {
    let (text, _) = encoding::decode_as(encoding, &line.kept);
    // A NUL in the middle of a file that began as text would not survive the way to the model.
    let text = text.replace('\0', "\u{2400}");
    let text = if line.ended {
        lines::without_end(&text)
    } else {
        text.as_str()
    };
    let shown: String = text.chars().take(LINE_WIDTH).collect();
    let cut = line.bytes > KEEP as u64 || text.chars().nth(LINE_WIDTH).is_some();
    let shown_bytes = encoding::encode(encoding, &shown).map_or(shown.len(), |bytes| bytes.len()) as u64;
    let hidden = if cut {
        line.bytes.saturating_sub(shown_bytes).max(1)
    } else {
        0
    };
    (shown, hidden)
}

/// Skips lines, or as many as there are; the number of their bytes.
fn skip_lines(
    reader: &mut impl BufRead,
    encoding: Encoding,
    lines: u64,
    stopped: &dyn Fn() -> bool,
) -> io::Result<u64> {
    let (mut left, mut done) = (lines, 0);
    // Counting the ends in a whole piece is many times faster than looking for one after the other.
    while left > 0 && encoding.unit() == 1 {
        if stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let piece = reader.fill_buf()?;
        let ends: u64 = piece.iter().map(|byte| u64::from(*byte == b'\n')).sum();
        let length = piece.len();
        if length == 0 || ends >= left {
            break;
        }
        reader.consume(length);
        left -= ends;
        done += length as u64;
    }
    for line in 0..left {
        if line % LINES_BETWEEN == 0 && stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match each_chunk(reader, encoding, stopped, |_| {})?.0 {
            0 => break,
            bytes => done += bytes,
        }
    }
    Ok(done)
}

fn take_line(
    reader: &mut impl BufRead,
    encoding: Encoding,
    stopped: &dyn Fn() -> bool,
    hasher: &mut Sha256,
) -> io::Result<Line> {
    let mut kept = Vec::new();
    let (bytes, ended) = each_chunk(reader, encoding, stopped, |chunk| {
        hasher.update(chunk);
        let room = KEEP.saturating_sub(kept.len());
        kept.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
    })?;
    Ok(Line {
        ended: ended && bytes <= KEEP as u64,
        kept,
        bytes,
    })
}

/// Gives the bytes of one line, its end included, piece by piece; how many, and whether it had an end. A hole in a
/// file is one line of any length, so `stopped` is asked within a line, too.
fn each_chunk(
    reader: &mut impl BufRead,
    encoding: Encoding,
    stopped: &dyn Fn() -> bool,
    mut take: impl FnMut(&[u8]),
) -> io::Result<(u64, bool)> {
    let mut done = 0_u64;
    // The byte before, for units of two bytes that lie across two pieces.
    let mut last = None;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok((done, false));
        }
        let end = line_end(buffer, encoding, done, last);
        let chunk = end.and_then(|end| buffer.get(..end)).unwrap_or(buffer);
        take(chunk);
        last = chunk.last().copied();
        let length = chunk.len();
        done += length as u64;
        reader.consume(length);
        if end.is_some() {
            return Ok((done, true));
        }
        if stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
}

/// Where the line that `buffer` goes on with ends in it, its end included. `before` is the number of its bytes so far.
fn line_end(buffer: &[u8], encoding: Encoding, before: u64, last: Option<u8>) -> Option<usize> {
    let (first, second) = match encoding {
        Encoding::Utf8 | Encoding::Legacy => {
            // The standard library looks at many bytes at once here.
            let length = { buffer }.skip_until(b'\n').ok()?;
            return (length > 0 && buffer.get(length - 1) == Some(&b'\n')).then_some(length);
        }
        Encoding::Utf16Le => (b'\n', 0),
        Encoding::Utf16Be => (0, b'\n'),
    };
    let odd = before % 2 == 1;
    if odd && last == Some(first) && buffer.first() == Some(&second) {
        return Some(1);
    }
    let from = usize::from(odd);
    let units = buffer.get(from..)?.as_chunks::<2>().0;
    units
        .iter()
        .position(|unit| *unit == [first, second])
        .map(|at| from + at * 2 + 2)
}

#[cfg(test)]
mod tests;
