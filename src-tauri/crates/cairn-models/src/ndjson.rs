//! JSON documents, one a line, out of bytes. Owns: lines, in bounded memory. Must never know: what they mean.

use crate::sse::{EventTooLarge, MAX_EVENT_BYTES, SseEvent};

/// Turns byte chunks into lines. The same bytes give the same lines however they are split.
#[derive(Debug, Default)]
pub struct LineDecoder {
    line: Vec<u8>,
}

impl LineDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and appends the lines that they complete, each as an event without a name. A line that
    /// some proxy turned into an event (`data: …`) is read as well.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = bytes.split_at(end);
            self.keep(head)?;
            self.end_line(events);
            bytes = tail.get(1..).unwrap_or_default();
        }
        self.keep(bytes)
    }

    /// The stream has ended: a last line without its end is delivered as it is.
    pub fn finish(&mut self, events: &mut Vec<SseEvent>) {
        self.end_line(events);
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.line.len() + bytes.len() > MAX_EVENT_BYTES {
            return Err(EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) {
        // Whole lines only are decoded, so that a character split between chunks is never seen in halves.
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim().trim_start_matches('\u{feff}');
        let data = text.strip_prefix("data:").unwrap_or(text).trim();
        if !data.is_empty() && !text.starts_with(':') && !text.starts_with("event:") {
            events.push(SseEvent {
                name: String::new(),
                data: data.to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let mut decoder = LineDecoder::new();
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.push(chunk, &mut events).unwrap();
        }
        decoder.finish(&mut events);
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn lines_are_the_same_split_at_every_byte() {
        let stream = "{\"a\":\"那\"}\r\n\n: comment\ndata: {\"b\":1}\n{\"c\":2}".as_bytes();
        let whole = ["{\"a\":\"那\"}", "{\"b\":1}", "{\"c\":2}"];
        for cut in 0..=stream.len() {
            let (one, two) = stream.split_at(cut);
            assert_eq!(lines(&[one, two]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut decoder = LineDecoder::new();
        let chunk = vec![b'x'; 1024 * 1024];
        let mut events = Vec::new();
        let failed = (0..17).any(|_| decoder.push(&chunk, &mut events).is_err());
        assert!(failed && events.is_empty());
    }
}
