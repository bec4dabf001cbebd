//! What a command prints becomes text that a model and a person can read, in bounded memory.
//!
//! Owns: SPEC T21's "head and tail kept", "ANSI removed", "carriage-return progress keeps the last frame". Must never
//! know: processes, pipes or time.

mod cleaner;

use crate::command::Output;
use cleaner::{Cleaner, Erase, Sink};

/// Bytes kept of the beginning.
const HEAD: usize = 64 << 10;

/// Bytes kept of the end.
const TAIL: usize = 256 << 10;

/// Bytes of an open line that can still be drawn anew; a longer line is kept as it comes.
const OPEN_LINE: usize = 16 << 10;

/// Bytes of one live piece at most; of more only the end is shown.
const LIVE: usize = 16 << 10;

/// Takes the bytes of one command in any pieces and keeps what matters of them.
#[derive(Default)]
pub(crate) struct Screen {
    cleaner: Cleaner,
    lines: Lines,
    printed: u64,
}

impl Screen {
    /// Takes bytes as they came.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.printed += bytes.len() as u64;
        self.cleaner.feed(bytes, &mut self.lines);
    }

    /// What was added since the last time, with its offset; none when nothing was.
    pub(crate) fn live(&mut self) -> Option<(u64, String)> {
        self.lines.live()
    }

    /// What is kept so far; an incomplete character waits for its rest.
    pub(crate) fn so_far(&self) -> Output {
        self.lines.output(self.printed)
    }

    /// What is kept in the end: nothing more comes.
    pub(crate) fn output(&mut self) -> Output {
        self.cleaner.finish(&mut self.lines);
        self.so_far()
    }

    /// Bytes that came.
    pub(crate) fn printed(&self) -> u64 {
        self.printed
    }
}

/// Lines: the open one, which may be drawn anew, and those that are done.
#[derive(Default)]
struct Lines {
    /// The open line, or its end once it is longer than [`OPEN_LINE`].
    open: String,
    /// The open line's beginning has been kept already.
    long: bool,
    /// A carriage return came: the next text draws the line anew.
    anew: bool,
    /// Characters of the open line that the cursor went back over: the next text is drawn over them.
    back: usize,
    kept: Kept,
    live: Live,
}

impl Sink for Lines {
    fn text(&mut self, run: &str) {
        if self.anew && !run.starts_with('\n') {
            self.clear();
        }
        self.anew = false;
        let run = self.draw_over(run);
        if let Some((done, rest)) = run.rsplit_once('\n') {
            let open = std::mem::take(&mut self.open);
            self.keep(&open);
            self.keep(done);
            self.keep("\n");
            self.long = false;
            self.open.push_str(rest);
        } else {
            self.open.push_str(run);
        }
        while self.open.len() > OPEN_LINE {
            let rest = self.open.split_off(self.open.floor_char_boundary(OPEN_LINE));
            let full = std::mem::replace(&mut self.open, rest);
            self.keep(&full);
            self.long = true;
        }
    }

    fn carriage_return(&mut self) {
        self.anew = true;
        self.back = 0;
    }

    fn backspace(&mut self) {
        if !self.anew && self.back < self.open.len() {
            self.back += 1;
        }
    }

    fn erase_line(&mut self, erase: Erase) {
        if erase == Erase::Whole || self.anew {
            self.clear();
        } else {
            self.open.truncate(self.cursor());
            self.back = 0;
        }
    }
}

impl Lines {
    /// Where the cursor stands in the open line.
    fn cursor(&self) -> usize {
        match self.back {
            0 => self.open.len(),
            back => self
                .open
                .char_indices()
                .rev()
                .nth(back - 1)
                .map_or(0, |(at, _)| at),
        }
    }

    /// Draws over what the cursor went back over; gives the rest of the run.
    fn draw_over<'a>(&mut self, run: &'a str) -> &'a str {
        if self.back == 0 {
            return run;
        }
        let at = self.cursor();
        let over = self.open.get(at..).unwrap_or_default().chars().count();
        let line = run.split('\n').next().unwrap_or_default();
        let drawn = line.char_indices().nth(over).map_or(line.len(), |(end, _)| end);
        let (drawn, rest) = run.split_at(drawn);
        let covered = drawn.chars().count();
        let end = self
            .open
            .get(at..)
            .and_then(|old| old.char_indices().nth(covered))
            .map_or(self.open.len(), |(end, _)| at + end);
        self.open.replace_range(at..end, drawn);
        self.back = if rest.is_empty() { over - covered } else { 0 };
        rest
    }

    /// The open line is drawn anew. What was kept of it stays, as a line of its own.
    fn clear(&mut self) {
        self.open.clear();
        self.back = 0;
        if std::mem::take(&mut self.long) {
            self.keep("\n");
        }
    }

    fn keep(&mut self, text: &str) {
        self.kept.push(text);
        self.live.push(text);
    }

    fn live(&mut self) -> Option<(u64, String)> {
        let mut text = std::mem::take(&mut self.live.text);
        let mut offset = self.live.from;
        text.push_str(&self.open);
        self.live.from = self.kept.total;
        // Only what is new is sent when the line that was open the last time only grew.
        let shown = std::mem::replace(&mut self.live.open, self.open.clone());
        let was_at = std::mem::replace(&mut self.live.open_at, self.kept.total);
        if was_at == offset && text.starts_with(&shown) {
            offset += shown.len() as u64;
            text.drain(..shown.len());
            if text.is_empty() {
                return None;
            }
        }
        if text.len() > LIVE {
            let cut = text.ceil_char_boundary(text.len() - LIVE);
            offset += cut as u64;
            text.drain(..cut);
        }
        Some((offset, text))
    }

    fn output(&self, printed: u64) -> Output {
        let mut kept = self.kept.clone();
        kept.push(&self.open);
        Output {
            stable: self.kept.total,
            ..kept.output(printed)
        }
    }
}

/// What was kept since the last live piece.
#[derive(Default)]
struct Live {
    /// Its end, at most twice [`LIVE`].
    text: String,
    /// Offset of its first byte.
    from: u64,
    /// The open line as it was sent.
    open: String,
    /// Offset of that line.
    open_at: u64,
}

impl Live {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * LIVE {
            let cut = self.text.ceil_char_boundary(self.text.len() - LIVE);
            self.text.drain(..cut);
            self.from += cut as u64;
        }
    }
}

/// Beginning and end of a text of any length.
#[derive(Clone, Default)]
struct Kept {
    head: String,
    /// The beginning is full: what follows is the end.
    full: bool,
    /// At least the last [`TAIL`] bytes, at most twice as many.
    tail: Vec<u8>,
    /// Bytes in all.
    total: u64,
}

impl Kept {
    fn push(&mut self, text: &str) {
        self.total += text.len() as u64;
        let mut rest = text;
        if !self.full {
            let (head, tail) = text.split_at(text.floor_char_boundary(HEAD - self.head.len()));
            self.head.push_str(head);
            rest = tail;
            self.full = !rest.is_empty();
        }
        let bytes = rest.as_bytes();
        let end = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        if self.tail.len() + end.len() > 2 * TAIL {
            let surplus = (self.tail.len() + end.len())
                .saturating_sub(TAIL)
                .min(self.tail.len());
            self.tail.drain(..surplus);
        }
        self.tail.extend_from_slice(end);
    }

    fn output(self, printed: u64) -> Output {
        let mut tail = self
            .tail
            .get(self.tail.len().saturating_sub(TAIL)..)
            .unwrap_or_default();
        // The end may begin within a character.
        while tail.first().is_some_and(|byte| byte & 0xC0 == 0x80) {
            tail = tail.get(1..).unwrap_or_default();
        }
        let tail = String::from_utf8_lossy(tail).into_owned();
        let omitted = self.total.saturating_sub((self.head.len() + tail.len()) as u64);
        Output {
            head: self.head,
            tail,
            omitted,
            printed,
            stable: self.total,
        }
    }
}

#[cfg(test)]
mod tests;
