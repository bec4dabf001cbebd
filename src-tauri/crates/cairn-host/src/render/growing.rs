//! A text that grows: closed blocks are kept, only the last block is parsed again.

use cairn_protocol::RichBlock;

use super::{Highlight, LONGEST, PARTS, Placed, add_cut, blocks_with_places, cut};

/// An open block longer than this is drawn again only when a part of its length has come: drawing costs as much as it is
/// long, and pieces are short.
const PACED: usize = 16 * 1_024;
/// That part.
const PART: usize = 32;

/// A text that grows.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    /// The part that is parsed again with every piece: the last block, which may still change.
    open: String,
    /// Blocks before it, and the parts they are made of.
    closed: u32,
    parts: usize,
    /// Blocks that were given out and not taken back.
    shown: u32,
    /// Bytes that were drawn, that came since, and that are too much to be drawn.
    taken: usize,
    unseen: usize,
    left_out: usize,
}

impl Growing {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// More text: blocks from the returned number on are replaced by the returned ones.
    pub(crate) fn push(&mut self, piece: &str) -> (u32, Vec<RichBlock>) {
        if self.left_out > 0 {
            self.left_out += piece.len();
            return (self.shown - 1, cut(self.left_out).into_iter().collect());
        }
        let (drawn, rest) = piece.split_at(piece.floor_char_boundary(LONGEST - self.taken));
        self.open.push_str(drawn);
        self.taken += drawn.len();
        self.unseen += drawn.len();
        self.left_out = rest.len();
        if self.left_out == 0 && self.open.len() > PACED && self.unseen < self.open.len() / PART {
            return (self.shown, Vec::new());
        }
        self.unseen = 0;
        let keep = self.closed;
        let mut blocks = self.draw();
        if self.left_out > 0 {
            add_cut(&mut blocks, self.left_out);
            // From now on only this number grows.
            if let Some(RichBlock::Cut { bytes }) = blocks.last() {
                self.left_out = *bytes as usize;
            }
        }
        self.shown = keep + blocks.len() as u32;
        (keep, blocks)
    }

    /// The open part as blocks; those of them that nothing can change any more are closed.
    fn draw(&mut self) -> Vec<RichBlock> {
        let most = PARTS.saturating_sub(self.parts);
        let blocks = blocks_with_places(&self.open, Highlight::WhileShort, most);
        // A block is closed once a blank line and another one follow: then what comes later cannot change it, but for
        // link definitions, which the exact pass at the end sees.
        let after_blank_line = |placed: &Placed| {
            let before = self.open.get(..placed.place.start).unwrap_or_default();
            let rest = self.open.get(placed.place.start..).unwrap_or_default();
            // Half a list marker looks like a paragraph, and with its other half joins the list before it.
            let is_settled =
                rest.contains('\n') || !rest.starts_with(|c: char| c.is_ascii_digit() || "-+*".contains(c));
            // What was left out stands where it was left out of: it begins nothing.
            let begins = !matches!(placed.block, RichBlock::Cut { .. });
            begins && is_settled && before.trim_end_matches([' ', '\t']).ends_with("\n\n")
        };
        if let Some(place) = blocks
            .iter()
            .rposition(after_blank_line)
            .filter(|place| *place > 0)
            && let Some((closed, [first, ..])) = blocks.split_at_checked(place)
        {
            self.closed += place as u32;
            self.parts += closed.iter().map(|placed| placed.parts).sum::<usize>();
            self.open.drain(..first.place.start.min(self.open.len()));
        }
        blocks.into_iter().map(|placed| placed.block).collect()
    }
}
