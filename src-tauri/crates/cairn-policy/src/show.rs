//! Text made safe to draw: whatever is invisible, turns the direction or looks like something else becomes a chip.
//!
//! Owns: which characters mislead. Must never know: where the text comes from or how a chip looks. The plain
//! spans hold no control, invisible or direction-changing character; only a tab in code and the line break after
//! its chip in a command are kept, because both are drawn as what they are. SPEC P10, cases U01 to U15.

mod chars;
mod word;

use std::path::Path;

use cairn_protocol::{ShownKind, ShownSpan};

pub use chars::is_unseen;
use chars::{Kind, kind};

/// What the text is; decides what of it is ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A command line or other words on a card: tabs are chips, a line break is a chip and then breaks the line.
    Command,
    /// A line of code or of output: tabs and indentation are ordinary.
    Code,
    /// A path, name, title or address: on one line whatever it holds.
    Name,
}

/// Spaces in a row that become a chip, so that nothing is pushed out of sight (U09).
const RUN_IN_WORDS: usize = 16;

/// The same in code, where deep indentation is ordinary.
const RUN_IN_CODE: usize = 100;

/// Line breaks in a row that become one chip (U10).
const RUN_OF_BREAKS: usize = 4;

/// Marks above or below one letter that are drawn; further ones become chips.
const MARKS_DRAWN: usize = 2;

/// The text in pieces that are safe to draw. Nothing of it is lost: each character is either in a plain span or
/// named by a chip.
pub fn show(text: &str, as_what: Show) -> Vec<ShownSpan> {
    Shower::new(as_what).run(text).0
}

/// A path in pieces that are safe to draw; bytes that are not UTF-8 become chips like `\xff` (F14).
pub fn show_path(path: &Path) -> Vec<ShownSpan> {
    let mut spans = Vec::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        spans.extend(show(chunk.valid(), Show::Name));
        spans.extend(chunk.invalid().iter().map(|byte| chip(format!("\\x{byte:02x}"))));
    }
    spans
}

/// Whether a text holds anything hidden or misleading. A card then warns and never offers *Always allow*. Tabs and
/// single line breaks do not count.
pub fn has_hidden(text: &str) -> bool {
    Shower::new(Show::Command).run(text).1
}

/// The spans as one line of text for a terminal, chips in brackets: `rm ⟨\u{202e}⟩gnp.tset`.
pub fn shown_text(spans: &[ShownSpan]) -> String {
    let mut text = String::new();
    for span in spans {
        if span.kind == ShownKind::Chip {
            text.push('\u{27e8}');
            text.push_str(&span.text);
            text.push('\u{27e9}');
        } else {
            text.push_str(&span.text);
        }
    }
    text
}

fn chip(text: String) -> ShownSpan {
    ShownSpan {
        kind: ShownKind::Chip,
        text,
    }
}

/// Gathers spans while it walks the text word by word.
struct Shower {
    as_what: Show,
    spans: Vec<ShownSpan>,
    plain: String,
    misleading: bool,
}

impl Shower {
    fn new(as_what: Show) -> Self {
        Self {
            as_what,
            spans: Vec::new(),
            plain: String::new(),
            misleading: false,
        }
    }

    fn run(mut self, text: &str) -> (Vec<ShownSpan>, bool) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let len = match first {
                ' ' => self.run_of(rest, ' '),
                '\n' => self.run_of(rest, '\n'),
                _ => {
                    let end = rest.find([' ', '\n']).unwrap_or(rest.len());
                    self.word(rest.get(..end).unwrap_or_default());
                    end
                }
            };
            rest = rest.get(len..).unwrap_or_default();
        }
        self.flush();
        (self.spans, self.misleading)
    }

    /// A run of spaces or of line breaks at the start of the text; gives its length in bytes.
    fn run_of(&mut self, text: &str, what: char) -> usize {
        let count = text.chars().take_while(|c| *c == what).count();
        let (limit, name) = match (what, self.as_what) {
            ('\n', _) => (RUN_OF_BREAKS, "line breaks"),
            (_, Show::Code) => (RUN_IN_CODE, "spaces"),
            _ => (RUN_IN_WORDS, "spaces"),
        };
        if count >= limit {
            self.chip(format!("{count} {name}"), Misleads::Yes);
            if what == '\n' && self.as_what != Show::Name {
                self.plain.push('\n');
            }
        } else if what == ' ' {
            self.plain.extend(std::iter::repeat_n(' ', count));
        } else {
            for _ in 0..count {
                self.chip("\\n".to_owned(), Misleads::No);
                if self.as_what != Show::Name {
                    self.plain.push('\n');
                }
            }
        }
        count
    }

    /// What stands between spaces: its characters, and what can be said about it as a whole.
    fn word(&mut self, word: &str) {
        let mixed = word::mixed_letters(word);
        let mut marks = 0;
        for (at, c) in word.char_indices() {
            let kind = kind(c);
            marks = if kind == Kind::Mark { marks + 1 } else { 0 };
            match kind {
                Kind::Tab | Kind::LookAlike if self.as_what == Show::Code => self.plain.push(c),
                Kind::Tab => self.chip("\\t".to_owned(), Misleads::No),
                Kind::Control => self.chip(control_name(c), Misleads::Yes),
                Kind::Unseen | Kind::LookAlike => self.chip(code_point(c), Misleads::Yes),
                Kind::Mark if marks > MARKS_DRAWN => self.chip(code_point(c), Misleads::Yes),
                Kind::Mark | Kind::Plain => {
                    if mixed.binary_search(&at).is_ok() {
                        self.chip(code_point(c), Misleads::Yes);
                    } else {
                        self.plain.push(c);
                    }
                }
            }
        }
        for host in word::foreign_hosts(word) {
            self.chip(host, Misleads::No);
        }
        if self.as_what == Show::Command && word::is_latin_in_disguise(word) {
            self.chip("not Latin letters".to_owned(), Misleads::Yes);
        }
    }

    fn chip(&mut self, text: String, misleads: Misleads) {
        self.flush();
        self.spans.push(chip(text));
        self.misleading |= misleads == Misleads::Yes;
    }

    fn flush(&mut self) {
        if !self.plain.is_empty() {
            let text = std::mem::take(&mut self.plain);
            self.spans.push(ShownSpan {
                kind: ShownKind::Plain,
                text,
            });
        }
    }
}

/// Whether a chip stands for something that misleads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misleads {
    Yes,
    No,
}

fn control_name(c: char) -> String {
    match c {
        '\r' => "\\r".to_owned(),
        '\0' => "\\0".to_owned(),
        c if (c as u32) < 0x100 => format!("\\x{:02x}", c as u32),
        c => code_point(c),
    }
}

fn code_point(c: char) -> String {
    format!("\\u{{{:x}}}", c as u32)
}

#[cfg(test)]
mod tests;
