//! Choices out of a fuzzer's bytes: as many as there are, then always the same one.
//!
//! Owns: how bytes become choices. Must never know: what is chosen.

/// Bytes that are read from their start.
pub(crate) struct Take<'a>(&'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next byte; 0 when there is none left.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        wide % end
    }

    /// Up to that many bytes.
    pub(crate) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        piece
    }

    /// A text of up to that many bytes.
    pub(crate) fn text(&mut self, most: usize) -> String {
        String::from_utf8_lossy(self.bytes(most)).into_owned()
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}
