//! A text that grows: closed blocks are kept, only the last block is parsed again.

use cairn_protocol::RichBlock;

use super::{Highlight, blocks_with_places};

/// A text that grows.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    /// The part that is parsed again with every piece: the last block, which may still change.
    open: String,
    /// Blocks before it.
    closed: u32,
}

impl Growing {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// More text: blocks from the returned number on are replaced by the returned ones.
    pub(crate) fn push(&mut self, piece: &str) -> (u32, Vec<RichBlock>) {
        self.open.push_str(piece);
        let blocks = blocks_with_places(&self.open, Highlight::WhileShort);
        let keep = self.closed;
        // A block is closed once another one has begun; what comes later cannot change it, but for link definitions,
        // which the exact pass at the end sees.
        if let Some((_, last)) = blocks.last() {
            self.closed += blocks.len() as u32 - 1;
            self.open.drain(..last.start.min(self.open.len()));
        }
        (keep, blocks.into_iter().map(|(block, _)| block).collect())
    }
}
