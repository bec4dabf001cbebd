//! Server-sent events out of bytes. Owns: lines, fields and event ends, in bounded memory.
//! Must never know: what the events mean, or where the bytes come from.
//!
//! Follows the HTML standard's event stream, and is wider where servers are: an event is also delivered when the
//! stream ends without its blank line, a line `error: …` (llama.cpp) is an event of its own, and lines that are no
//! field at all are kept aside as [`Decoder::stray`], because some servers write a plain error into the stream.

/// Bytes that one event (or one line) may have.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of text outside the protocol that are kept for an error message.
const MAX_STRAY_BYTES: usize = 16 * 1024;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// Its `event:` name; empty where none was given.
    pub name: String,
    /// Its `data:` lines, joined by line feeds.
    pub data: String,
}

/// An event over [`MAX_EVENT_BYTES`]. The stream cannot be followed any further; close it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is over 16 MB")]
pub struct EventTooLarge;

/// Turns byte chunks into events. The same bytes give the same events however they are split.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    after_cr: bool,
    seen_line: bool,
    name: String,
    data: Option<String>,
    stray: String,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and appends the events that they complete.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, tail) = bytes.split_at(end);
            self.keep(head)?;
            self.end_line(events)?;
            // A carriage return at the very end may have its line feed in the next chunk.
            self.after_cr = tail == b"\r";
            bytes = tail
                .strip_prefix(b"\r\n")
                .or_else(|| tail.get(1..))
                .unwrap_or_default();
        }
        self.keep(bytes)
    }

    /// The stream has ended: what stands unfinished is delivered as it is.
    pub fn finish(&mut self, events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        if !self.line.is_empty() {
            self.end_line(events)?;
        }
        self.end_event(events);
        Ok(())
    }

    /// Text that was no part of the protocol, like an error page in the middle of the stream; its first 16 kB.
    pub fn stray(&self) -> &str {
        &self.stray
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > MAX_EVENT_BYTES {
            return Err(EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.seen_line, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            self.end_event(events);
        } else {
            // Whole lines only are decoded, so that a character split between chunks is never seen in halves.
            self.field(&String::from_utf8_lossy(&line), events)?;
        }
        line.clear();
        self.line = line;
        Ok(())
    }

    fn field(&mut self, line: &str, events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                // Lossy decoding may lengthen the text, so the limit is checked on the text as well.
                let held = self.data.as_ref().map_or(0, String::len);
                if held + value.len() > MAX_EVENT_BYTES {
                    return Err(EventTooLarge);
                }
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                }
            }
            "event" => value.clone_into(&mut self.name),
            "error" => {
                self.end_event(events);
                events.push(SseEvent {
                    name: "error".to_owned(),
                    data: value.to_owned(),
                });
            }
            "" | "id" | "retry" => {}
            _ => self.set_aside(line),
        }
        Ok(())
    }

    fn end_event(&mut self, events: &mut Vec<SseEvent>) {
        let name = std::mem::take(&mut self.name);
        if let Some(data) = self.data.take() {
            events.push(SseEvent { name, data });
        }
    }

    fn set_aside(&mut self, line: &str) {
        for character in line.chars().chain(['\n']) {
            if self.stray.len() + character.len_utf8() > MAX_STRAY_BYTES {
                return;
            }
            self.stray.push(character);
        }
    }
}

#[cfg(test)]
mod tests;
