//! The second walk: writes the few elements that the converter gets, closed in order.
//!
//! Owns: what each element becomes. Tables that hold data are written as rows of Markdown here, because the converter
//! walks nested ones again for each level; those that only arrange a page become its blocks.

use url::Url;

use super::elements::Role;
use super::survey::Parts;
use super::tame::stand_in;
use super::walk::{Attributes, Opened, Visitor, Within, one_line};

/// Bytes of the tamed page.
const MOST_BYTES: usize = 1_000_000;
/// Bytes of an address in it; a longer one is left out.
const LONGEST_ADDRESS: usize = 2_000;
/// Characters of what stands for a picture.
const LONGEST_ALT: usize = 300;
/// Columns that a cell may span, and cells of a row.
const MOST_COLUMNS: usize = 50;

pub(super) struct Writer {
    base: Option<Url>,
    had_base: bool,
    parts: Parts,
    arranges: std::vec::IntoIter<bool>,
    html: String,
    is_full: bool,
    /// The last thing written was a blank, or nothing that a blank may follow.
    after_blank: bool,
    pre: u32,
    code: u32,
    lists: u32,
    tables: Vec<DataTable>,
}

/// A table whose rows are being written.
#[derive(Clone, Copy, Debug, Default)]
struct DataTable {
    rows: u32,
    columns: usize,
    in_cell: bool,
}

impl Writer {
    pub(super) fn new(base: Option<Url>, parts: Parts, arranges: Vec<bool>) -> Self {
        Self {
            base,
            had_base: false,
            parts,
            arranges: arranges.into_iter(),
            html: String::new(),
            is_full: false,
            after_blank: true,
            pre: 0,
            code: 0,
            lists: 0,
            tables: Vec::new(),
        }
    }

    /// Whether something was left out because there was too much.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn finish(self) -> String {
        self.html
    }

    fn shows(&self, within: Within) -> bool {
        match self.parts {
            Parts::All => true,
            Parts::WithoutChrome => within.chrome == 0,
            Parts::Main => within.main > 0,
            Parts::Articles => within.article > 0,
        }
    }

    /// Whether there is room for that many bytes more.
    fn has_room(&mut self, bytes: usize) -> bool {
        self.is_full |= self.html.len() + bytes > MOST_BYTES;
        !self.is_full
    }

    fn tag(&mut self, name: &'static str) -> Opened {
        if !self.has_room(name.len() * 2 + 5) {
            return Opened::Nothing;
        }
        self.html.push('<');
        self.html.push_str(name);
        self.html.push('>');
        Opened::Tag(name)
    }

    /// A tag that begins a line of its own.
    fn block(&mut self, name: &'static str) -> Opened {
        self.after_blank = true;
        self.tag(name)
    }

    fn is_in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.in_cell)
    }

    fn blank(&mut self) {
        if !self.after_blank && self.has_room(1) {
            self.html.push(' ');
            self.after_blank = true;
        }
    }

    fn escaped(&mut self, c: char) {
        match c {
            '&' => self.html.push_str("&amp;"),
            '<' => self.html.push_str("&lt;"),
            '>' => self.html.push_str("&gt;"),
            '"' => self.html.push_str("&quot;"),
            c => self.html.push(c),
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.html.push(' ');
        self.html.push_str(name);
        self.html.push_str("=\"");
        value.chars().for_each(|c| self.escaped(c));
        self.html.push('"');
    }

    fn absolute(&self, address: &str) -> Option<Url> {
        let address = address.trim();
        if address.starts_with('#') || address.is_empty() {
            return None;
        }
        let url = match &self.base {
            Some(base) => base.join(address),
            None => Url::parse(address),
        };
        let url = url.ok().filter(|url| url.as_str().len() <= LONGEST_ADDRESS)?;
        matches!(url.scheme(), "http" | "https" | "mailto").then_some(url)
    }

    fn link(&mut self, attributes: &Attributes<'_>) -> Opened {
        let url = attributes.get("href").and_then(|href| self.absolute(&href));
        let Some(url) = url.filter(|url| self.has_room(url.as_str().len() * 2 + 20)) else {
            return Opened::Nothing;
        };
        // Brackets would end the Markdown; and the converter takes one layer of percent signs off.
        let address = url
            .as_str()
            .replace('(', "%28")
            .replace(')', "%29")
            .replace('%', "%25");
        self.html.push_str("<a");
        self.attribute("href", &address);
        self.html.push('>');
        Opened::Tag("a")
    }

    fn picture(&mut self, attributes: &Attributes<'_>) {
        let alt = one_line(&attributes.get("alt").unwrap_or_default(), LONGEST_ALT);
        if alt.is_empty() {
            return;
        }
        let source = attributes.get("src").and_then(|source| self.absolute(&source));
        let Some(source) =
            source.filter(|source| self.has_room(source.as_str().len() * 2 + alt.len() * 6 + 40))
        else {
            return self.words(&format!("[picture: {alt}]"));
        };
        let source = source.as_str().replace('(', "%28").replace(')', "%29");
        self.html.push_str("<img");
        self.attribute("alt", &alt.replace(['[', ']'], ""));
        self.attribute("src", &source);
        self.html.push('>');
        self.after_blank = false;
    }

    fn words(&mut self, text: &str) {
        let is_plain = self.pre == 0 && self.code == 0;
        for c in text.chars() {
            // The longest form of a character.
            if !self.has_room(6) {
                return;
            }
            if self.pre > 0 && matches!(c, '\n' | '\t' | ' ') {
                self.html.push(c);
                continue;
            }
            if c.is_whitespace() {
                self.blank();
                continue;
            }
            if c.is_control() || matches!(c, '\u{e000}'..='\u{f8ff}') {
                continue;
            }
            if c == '|' && self.is_in_cell() {
                self.html.push(if is_plain { stand_in('\\') } else { '\\' });
            }
            if is_plain {
                let stands = stand_in(c);
                self.escaped(stands);
            } else {
                self.escaped(c);
            }
            self.after_blank = false;
        }
    }

    fn table_part(&mut self, name: &'static str, attributes: &Attributes<'_>) -> Opened {
        if name == "table" {
            // Each table takes its own mark, whether it is shown or not.
            let arranges = self.arranges.next().unwrap_or(true);
            if arranges || self.is_in_cell() {
                return if self.is_in_cell() {
                    Opened::Nothing
                } else {
                    self.block("div")
                };
            }
            self.tables.push(DataTable::default());
            self.block("p");
            return Opened::Table;
        }
        let Some(table) = self.tables.last_mut() else {
            return match name {
                "tr" | "caption" => self.block("div"),
                "td" | "th" => {
                    self.blank();
                    Opened::Nothing
                }
                _ => Opened::Nothing,
            };
        };
        match name {
            "tr" if !table.in_cell => {
                table.columns = 0;
                self.after_blank = true;
                Opened::Row
            }
            "td" | "th" if !table.in_cell => {
                let span = attributes
                    .get("colspan")
                    .and_then(|span| span.trim().parse::<usize>().ok())
                    .unwrap_or(1);
                let span = span.clamp(1, MOST_COLUMNS);
                table.in_cell = true;
                let is_first = table.columns == 0;
                table.columns += span;
                if self.has_room(3 * span + 3) {
                    self.html.push_str(if is_first { "| " } else { " " });
                    // A cell over several columns comes with empty ones before its text.
                    (1..span).for_each(|_| self.html.push_str("| "));
                }
                self.after_blank = true;
                Opened::Cell
            }
            "caption" => {
                table.in_cell = true;
                Opened::Cell
            }
            _ => Opened::Nothing,
        }
    }

    fn end_row(&mut self) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        let columns = table.columns.min(MOST_COLUMNS);
        table.rows += u32::from(columns > 0);
        let is_first = table.rows == 1;
        if columns == 0 || !self.has_room(4 * columns + 20) {
            return;
        }
        self.html.push_str("<br>");
        if is_first {
            self.html.push('|');
            (0..columns).for_each(|_| self.html.push_str("---|"));
            self.html.push_str("<br>");
        }
        self.after_blank = true;
    }

    fn end_cell(&mut self, name: &'static str) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        table.in_cell = false;
        let ending = if name == "caption" { "<br>" } else { " |" };
        if self.has_room(ending.len()) {
            self.html.push_str(ending);
        }
        self.after_blank = true;
    }
}

impl Visitor for Writer {
    fn open(
        &mut self,
        name: &'static str,
        role: Role,
        attributes: &Attributes<'_>,
        within: Within,
    ) -> Opened {
        if !self.shows(within) {
            if name == "table" {
                self.arranges.next();
            }
            return Opened::Nothing;
        }
        if role == Role::Table {
            return self.table_part(name, attributes);
        }
        let is_flat = self.is_in_cell() || self.pre > 0;
        match name {
            "a" if self.pre == 0 => self.link(attributes),
            "img" => {
                self.picture(attributes);
                Opened::Nothing
            }
            "br" if self.pre > 0 => {
                self.html.push('\n');
                Opened::Nothing
            }
            "br" if !is_flat => {
                self.after_blank = true;
                self.tag("br");
                Opened::Nothing
            }
            "hr" if !is_flat => {
                self.block("hr");
                Opened::Nothing
            }
            "b" | "strong" if self.pre == 0 && self.code == 0 => self.tag("strong"),
            "i" | "em" if self.pre == 0 && self.code == 0 => self.tag("em"),
            "s" | "del" | "strike" if self.pre == 0 && self.code == 0 => self.tag("del"),
            "code" | "kbd" | "samp" | "tt" if self.code == 0 => {
                self.code += 1;
                if self.pre > 0 {
                    self.code_in_pre(attributes)
                } else {
                    self.tag("code")
                }
            }
            "pre" if !is_flat => {
                self.pre += 1;
                self.block("pre")
            }
            _ if is_flat && role != Role::Inline => {
                if self.pre == 0 {
                    self.blank();
                }
                Opened::Nothing
            }
            "ul" | "ol" | "menu" => {
                self.lists += 1;
                self.block(name)
            }
            // The converter takes it for granted that an entry is in a list.
            "li" if self.lists == 0 => self.block("div"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "blockquote" => self.block(name),
            _ if role == Role::Paragraph => self.block("p"),
            _ if matches!(role, Role::Block | Role::Article | Role::Main | Role::Chrome) => self.block("div"),
            _ => Opened::Nothing,
        }
    }

    fn close(&mut self, name: &'static str, opened: Opened) {
        match opened {
            Opened::Nothing => return,
            Opened::Row => return self.end_row(),
            Opened::Cell => return self.end_cell(name),
            Opened::Table => {
                self.tables.pop();
                self.html.push_str("</p>");
            }
            Opened::Tag(tag) => {
                match tag {
                    "pre" => self.pre = self.pre.saturating_sub(1),
                    "code" => self.code = self.code.saturating_sub(1),
                    "ul" | "ol" | "menu" => self.lists = self.lists.saturating_sub(1),
                    _ => {}
                }
                // There was room for it when it was opened.
                self.html.push_str("</");
                self.html.push_str(tag);
                self.html.push('>');
                if matches!(tag, "a" | "strong" | "em" | "del" | "code") {
                    return;
                }
            }
        }
        self.after_blank = true;
    }

    fn text(&mut self, text: &str, within: Within) {
        let is_between_cells = self.tables.last().is_some_and(|table| !table.in_cell);
        if self.shows(within) && !(is_between_cells && text.trim().is_empty()) {
            self.words(text);
        }
    }

    fn base(&mut self, href: &str) {
        // The first one counts.
        if self.had_base {
            return;
        }
        self.had_base = true;
        if let Some(url) = self.absolute(href) {
            self.base = Some(url);
        }
    }
}

impl Writer {
    /// `code` within `pre` names its language, which goes on the fence.
    fn code_in_pre(&mut self, attributes: &Attributes<'_>) -> Opened {
        let class = attributes.get("class").unwrap_or_default();
        let language = class
            .split_ascii_whitespace()
            .find_map(|word| {
                word.strip_prefix("language-")
                    .or_else(|| word.strip_prefix("lang-"))
            })
            .filter(|word| {
                (1..=20).contains(&word.len())
                    && word
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "+#-_".contains(c))
            });
        match language {
            Some(language) if self.has_room(60) => {
                self.html.push_str("<code");
                self.attribute("class", &format!("language-{language}"));
                self.html.push('>');
                Opened::Tag("code")
            }
            _ => self.tag("code"),
        }
    }
}
