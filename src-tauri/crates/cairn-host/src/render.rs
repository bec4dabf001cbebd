//! Markdown and code as a typed tree. No HTML string ever comes about: what is HTML in the source stays text.
//!
//! Owns: which Markdown is understood, which links are alive. Must never know: where text comes from or who draws it.

use std::ops::Range;

use cairn_protocol::{CellAlign, CodeSpan, ListItem, RichBlock, RichInline};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

mod code;
mod growing;
mod link;

pub(crate) use growing::Growing;
pub(crate) use link::alive;

/// Blocks nested deeper than this are shown as they were written, and so many bytes of them: a column of a few letters
/// is slow to lay out, and nobody reads it.
const DEPTH: usize = 24;
const DEEP: usize = 2_000;

/// Bytes of a text that are drawn; no model writes more in one go that a person would read.
const LONGEST: usize = 200_000;

/// Rows of a table that are drawn.
const ROWS: usize = 1_000;

/// Bytes of a word that are drawn: the engine's search for a place to break one grows faster than the word.
const WORD: usize = 4_000;

/// Parts of a text that are drawn: blocks, entries, cells, pieces of running text and of code. A page has to hold each.
const PARTS: usize = 20_000;

/// The whole text as a tree, as far as it is drawn.
pub(crate) fn markdown(source: &str) -> Vec<RichBlock> {
    let (drawn, rest) = source.split_at(source.floor_char_boundary(LONGEST));
    let mut blocks: Vec<RichBlock> = blocks_with_places(drawn, Highlight::Always, PARTS)
        .into_iter()
        .map(|placed| placed.block)
        .collect();
    add_cut(&mut blocks, rest.len());
    blocks
}

/// Says at the end that so many bytes more are not drawn.
fn add_cut(blocks: &mut Vec<RichBlock>, more: usize) {
    match blocks.last_mut() {
        Some(RichBlock::Cut { bytes }) => *bytes += more as u64,
        _ => blocks.extend(cut(more)),
    }
}

/// What says that so many bytes are not drawn.
fn cut(bytes: usize) -> Option<RichBlock> {
    (bytes > 0).then_some(RichBlock::Cut { bytes: bytes as u64 })
}

/// Whether code gets its colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Highlight {
    /// Yes, within reason.
    Always,
    /// Only short code: more of it is on its way, and it is drawn again soon.
    WhileShort,
}

/// A block at the top, where in the source it stands, and what it costs.
struct Placed {
    block: RichBlock,
    place: Range<usize>,
    /// Parts that it is made of.
    parts: usize,
}

/// Blocks at the top of a text, made of so many parts at most.
fn blocks_with_places(source: &str, highlight: Highlight, most: usize) -> Vec<Placed> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tree = Tree {
        source,
        events: Parser::new_ext(source, options).into_offset_iter(),
        highlight,
        left_out: 0,
        parts: 0,
        most,
        run: 0,
    };
    let mut blocks: Vec<Placed> = Vec::new();
    while let Some((event, place)) = tree.events.next() {
        let before = tree.parts;
        let full = tree.is_full();
        if full {
            tree.left_out += source.len() - place.start;
        } else if let Some(block) = tree.block(event, &place, 0) {
            blocks.push(Placed {
                block,
                place: place.clone(),
                parts: tree.parts - before,
            });
        }
        let left_out = std::mem::take(&mut tree.left_out);
        match blocks.last_mut().map(|placed| &mut placed.block) {
            Some(RichBlock::Cut { bytes }) => *bytes += left_out as u64,
            _ => blocks.extend(cut(left_out).map(|block| Placed {
                block,
                place,
                parts: 0,
            })),
        }
        if full {
            break;
        }
    }
    blocks
}

struct Tree<'a> {
    source: &'a str,
    events: pulldown_cmark::OffsetIter<'a>,
    highlight: Highlight,
    /// Bytes of rows, parts and words that were left out.
    left_out: usize,
    /// Parts so far, and how many there may be.
    parts: usize,
    most: usize,
    /// Bytes of the word that ends the text which was written last: looked for anew it would cost as much with every
    /// piece.
    run: usize,
}

impl<'a> Tree<'a> {
    fn is_full(&self) -> bool {
        self.parts >= self.most
    }

    fn block(&mut self, event: Event<'a>, place: &Range<usize>, depth: usize) -> Option<RichBlock> {
        if !matches!(event, Event::End(_)) {
            self.parts += 1;
        }
        match event {
            Event::Start(tag) if depth >= DEPTH => {
                self.skip(&tag.to_end());
                let text = self.text(place);
                let (drawn, rest) = text.split_at(text.floor_char_boundary(DEEP));
                self.left_out += rest.len();
                Some(self.verbatim(drawn))
            }
            Event::Start(tag) => Some(self.tagged(tag, place, depth)),
            Event::Rule => Some(RichBlock::Rule),
            Event::Html(text) => Some(self.verbatim(text.trim_end())),
            Event::End(_) => None,
            // Running text directly within a list entry: a paragraph without a tag.
            other => {
                let mut inlines = Vec::new();
                self.inline(other, &mut inlines, depth);
                Some(RichBlock::Paragraph { inlines })
            }
        }
    }

    fn tagged(&mut self, tag: Tag<'a>, place: &Range<usize>, depth: usize) -> RichBlock {
        let end = tag.to_end();
        match tag {
            Tag::Paragraph => RichBlock::Paragraph {
                inlines: self.inlines(&end, depth),
            },
            Tag::Heading { level, .. } => RichBlock::Heading {
                level: level as u8,
                inlines: self.inlines(&end, depth),
            },
            Tag::BlockQuote(_) => RichBlock::Quote {
                blocks: self.blocks(&end, depth + 1),
            },
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',']).next().unwrap_or_default().to_owned()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                let text = self.plain_text(&end);
                let lines = code::lines(&language, &text, self.highlight == Highlight::WhileShort);
                RichBlock::Code {
                    lines: self.bounded(lines),
                    language,
                }
            }
            Tag::List(start) => RichBlock::List {
                start,
                items: self.items(&end, depth + 1),
            },
            Tag::Table(align) => self.table(&align, &end, depth),
            Tag::HtmlBlock => {
                let text = self.plain_text(&end);
                self.verbatim(text.trim_end())
            }
            _ => {
                self.skip(&end);
                self.verbatim(&self.text(place))
            }
        }
    }

    fn blocks(&mut self, end: &TagEnd, depth: usize) -> Vec<RichBlock> {
        let mut blocks: Vec<RichBlock> = Vec::new();
        let mut loose = Vec::new();
        while let Some((event, place)) = self.events.next() {
            let is_inline = !matches!(
                event,
                Event::Start(_) | Event::End(_) | Event::Rule | Event::Html(_)
            ) || matches!(&event, Event::Start(tag) if is_inline_tag(tag));
            if is_inline {
                self.inline(event, &mut loose, depth);
                continue;
            }
            if !loose.is_empty() {
                blocks.push(RichBlock::Paragraph {
                    inlines: std::mem::take(&mut loose),
                });
            }
            if matches!(&event, Event::End(tag) if tag == end) {
                return blocks;
            }
            if self.is_full() && !matches!(event, Event::End(_)) {
                self.leave_out(&event, &place);
            } else {
                blocks.extend(self.block(event, &place, depth));
            }
        }
        blocks
    }

    fn items(&mut self, end: &TagEnd, depth: usize) -> Vec<ListItem> {
        let mut items = Vec::new();
        while let Some((event, place)) = self.events.next() {
            match event {
                Event::Start(Tag::Item) if self.is_full() => self.leave_out(&event, &place),
                Event::Start(tag @ Tag::Item) => {
                    self.parts += 1;
                    let mut blocks = self.blocks(&tag.to_end(), depth);
                    items.push(ListItem {
                        checked: take_mark(&mut blocks),
                        blocks,
                    });
                }
                Event::End(tag) if tag == *end => return items,
                _ => {}
            }
        }
        items
    }

    fn table(&mut self, align: &[Alignment], end: &TagEnd, depth: usize) -> RichBlock {
        let (mut head, mut rows, mut row) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((event, place)) = self.events.next() {
            match event {
                Event::Start(Tag::TableRow) if rows.len() == ROWS || self.is_full() => {
                    self.leave_out(&event, &place);
                }
                Event::Start(Tag::TableCell) if self.is_full() => self.leave_out(&event, &place),
                Event::Start(tag @ Tag::TableCell) => {
                    self.parts += 1;
                    row.push(self.inlines(&tag.to_end(), depth));
                }
                Event::End(TagEnd::TableHead) => head = std::mem::take(&mut row),
                Event::End(TagEnd::TableRow) => rows.push(std::mem::take(&mut row)),
                Event::End(tag) if tag == *end => break,
                _ => {}
            }
        }
        let align = align.iter().map(|align| match align {
            Alignment::None => CellAlign::None,
            Alignment::Left => CellAlign::Left,
            Alignment::Center => CellAlign::Center,
            Alignment::Right => CellAlign::Right,
        });
        RichBlock::Table {
            align: align.collect(),
            head,
            rows,
        }
    }

    fn inlines(&mut self, end: &TagEnd, depth: usize) -> Vec<RichInline> {
        let mut inlines = Vec::new();
        while let Some((event, _)) = self.events.next() {
            if matches!(&event, Event::End(tag) if tag == end) {
                break;
            }
            self.inline(event, &mut inlines, depth);
        }
        inlines
    }

    fn inline(&mut self, event: Event<'a>, out: &mut Vec<RichInline>, depth: usize) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.write(out, &text),
            // Where too much is there the words stay, and their form goes.
            Event::Code(text) if self.is_full() => self.write(out, &text),
            Event::Code(text) => {
                self.parts += 1;
                let mut drawn = String::new();
                self.left_out += push_words(&mut drawn, 0, &text).left_out;
                out.push(RichInline::Code { text: drawn });
            }
            Event::SoftBreak => self.write(out, "\n"),
            Event::HardBreak if self.is_full() => self.write(out, "\n"),
            Event::HardBreak => {
                self.parts += 1;
                out.push(RichInline::Break);
            }
            Event::TaskListMarker(checked) => self.write(out, if checked { CHECKED } else { UNCHECKED }),
            Event::Start(tag) if depth >= DEPTH || self.is_full() => {
                let text = self.plain_text(&tag.to_end());
                self.write(out, &text);
            }
            Event::Start(tag) => {
                self.parts += 1;
                let end = tag.to_end();
                match tag {
                    Tag::Emphasis => out.push(RichInline::Emphasis {
                        inlines: self.inlines(&end, depth + 1),
                    }),
                    Tag::Strong => out.push(RichInline::Strong {
                        inlines: self.inlines(&end, depth + 1),
                    }),
                    Tag::Strikethrough => out.push(RichInline::Strike {
                        inlines: self.inlines(&end, depth + 1),
                    }),
                    Tag::Link { dest_url, .. } => {
                        let inlines = self.inlines(&end, depth + 1);
                        out.push(link::link(&dest_url, inlines));
                    }
                    Tag::Image { dest_url, .. } => {
                        let alt = self.plain_text(&end);
                        out.push(RichInline::BlockedImage {
                            alt,
                            href: link::shown(&dest_url),
                        });
                    }
                    _ => out.extend(self.inlines(&end, depth + 1)),
                }
            }
            _ => {}
        }
    }

    /// Words of everything up to the end of a tag.
    fn plain_text(&mut self, end: &TagEnd) -> String {
        let mut text = String::new();
        let mut inside = 0_usize;
        for (event, _) in self.events.by_ref() {
            match event {
                Event::End(tag) if tag == *end && inside == 0 => break,
                Event::Start(tag) if tag.to_end() == *end => inside += 1,
                Event::End(tag) if tag == *end => inside -= 1,
                Event::Text(words) | Event::Code(words) | Event::Html(words) | Event::InlineHtml(words) => {
                    text.push_str(&words);
                }
                Event::SoftBreak | Event::HardBreak => text.push('\n'),
                _ => {}
            }
        }
        text
    }

    fn skip(&mut self, end: &TagEnd) {
        self.plain_text(end);
    }

    /// Lines of code, as many and with words as long as are drawn.
    fn bounded(&mut self, lines: Vec<Vec<CodeSpan>>) -> Vec<Vec<CodeSpan>> {
        let mut drawn = Vec::with_capacity(lines.len());
        for mut line in lines {
            if self.is_full() {
                self.left_out += line.iter().map(|span| span.text.len()).sum::<usize>() + 1;
                continue;
            }
            self.parts += line.len().max(1);
            for span in line.iter_mut().filter(|span| span.text.len() > WORD) {
                let text = std::mem::take(&mut span.text);
                self.left_out += push_words(&mut span.text, 0, &text).left_out;
            }
            drawn.push(line);
        }
        drawn
    }

    /// Goes past what is too much to be drawn.
    fn leave_out(&mut self, event: &Event<'a>, place: &Range<usize>) {
        if let Event::Start(tag) = event {
            self.skip(&tag.to_end());
        }
        self.left_out += place.len();
    }

    /// Adds words to the text that ends a list, no word longer than [`WORD`].
    fn write(&mut self, out: &mut Vec<RichInline>, words: &str) {
        // A text that is last has been written just before: all else that is said stands between two texts.
        if !matches!(out.last(), Some(RichInline::Text { .. })) {
            self.parts += 1;
            self.run = 0;
            out.push(RichInline::Text { text: String::new() });
        }
        if let Some(RichInline::Text { text }) = out.last_mut() {
            let written = push_words(text, self.run, words);
            self.run = written.run;
            self.left_out += written.left_out;
        }
    }

    fn text(&self, place: &Range<usize>) -> String {
        self.source.get(place.clone()).unwrap_or_default().to_owned()
    }

    /// Text as it was written, without what no line could hold.
    fn verbatim(&mut self, source: &str) -> RichBlock {
        let mut text = String::new();
        self.left_out += push_words(&mut text, 0, source).left_out;
        RichBlock::Verbatim { text }
    }
}

/// How a task mark travels from its event to its entry: private-use characters that no keyboard types.
const CHECKED: &str = "\u{f0001}";
const UNCHECKED: &str = "\u{f0002}";

fn take_mark(blocks: &mut [RichBlock]) -> Option<bool> {
    let Some(RichBlock::Paragraph { inlines }) = blocks.first_mut() else {
        return None;
    };
    let Some(RichInline::Text { text }) = inlines.first_mut() else {
        return None;
    };
    let checked = text.starts_with(CHECKED);
    let rest = text
        .strip_prefix(CHECKED)
        .or_else(|| text.strip_prefix(UNCHECKED))?;
    *text = rest.trim_start().to_owned();
    Some(checked)
}

/// How writing words went.
struct Written {
    /// Bytes of the word that now ends the text.
    run: usize,
    /// Bytes of words that were too long.
    left_out: usize,
}

/// Adds words to a text that ends with so many bytes of a word.
fn push_words(text: &mut String, run: usize, words: &str) -> Written {
    let mut written = Written { run, left_out: 0 };
    for word in words.split_inclusive(char::is_whitespace) {
        let letters = word.trim_end_matches(char::is_whitespace);
        let room = WORD.saturating_sub(written.run);
        let (drawn, rest) = letters.split_at(letters.floor_char_boundary(room));
        text.push_str(drawn);
        written.left_out += rest.len();
        written.run += drawn.len();
        if letters.len() < word.len() {
            text.push_str(word.get(letters.len()..).unwrap_or_default());
            written.run = 0;
        }
    }
    written
}

fn is_inline_tag(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

#[cfg(test)]
#[path = "render/tests.rs"]
mod tests;
