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
        // A block is closed once a blank line and another one follow: then what comes later cannot change it, but for
        // link definitions, which the exact pass at the end sees.
        let after_blank_line = |(_, place): &(RichBlock, std::ops::Range<usize>)| {
            let before = self.open.get(..place.start).unwrap_or_default();
            let rest = self.open.get(place.start..).unwrap_or_default();
            // Half a list marker looks like a paragraph, and with its other half joins the list before it.
            let is_settled =
                rest.contains('\n') || !rest.starts_with(|c: char| c.is_ascii_digit() || "-+*".contains(c));
            is_settled && before.trim_end_matches([' ', '\t']).ends_with("\n\n")
        };
        if let Some(place) = blocks
            .iter()
            .rposition(after_blank_line)
            .filter(|place| *place > 0)
            && let Some((_, range)) = blocks.get(place)
        {
            self.closed += place as u32;
            self.open.drain(..range.start.min(self.open.len()));
        }
        (keep, blocks.into_iter().map(|(block, _)| block).collect())
    }
}
