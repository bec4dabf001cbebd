//! Walks over the tokens of a page and keeps a stack of what is open: no tree is ever made, and the stack is bounded.
//!
//! Owns: what is open, what nobody sees, and that every opening gets its closing. Must never know: what is written.

use std::collections::BTreeMap;

use html5gum::{DefaultEmitter, HtmlString, Spanned, Token, Tokenizer};

use super::elements::{Role, SHIELDS, element, ended_by, is_foreign};

/// Elements that may be open. SPEC's depth of 128; what lies deeper stands flat.
const DEEPEST: usize = 128;
/// Characters of a title.
const LONGEST_TITLE: usize = 300;

/// Attributes of a tag.
pub(super) struct Attributes<'a>(&'a BTreeMap<HtmlString, Spanned<HtmlString, ()>>);

impl Attributes<'_> {
    /// The value of an attribute, as far as it is text.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.0
            .get(name.as_bytes())
            .map(|value| String::from_utf8_lossy(&value.value).into_owned())
    }

    /// Whether whoever looks at the page does not see the element.
    fn hides(&self) -> bool {
        if self.get("hidden").is_some_and(|value| value != "until-found")
            || self
                .get("aria-hidden")
                .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        {
            return true;
        }
        let Some(style) = self.get("style") else {
            return false;
        };
        let style: String = style
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| c.to_ascii_lowercase())
            .collect();
        [
            "display:none",
            "visibility:hidden",
            "font-size:0;",
            "font-size:0px",
            "opacity:0;",
        ]
        .iter()
        .any(|hiding| style.contains(hiding))
            || style.ends_with("font-size:0")
            || style.ends_with("opacity:0")
    }
}

/// Where in the page something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Within {
    pub(super) main: u32,
    pub(super) article: u32,
    pub(super) chrome: u32,
}

/// Takes what a walk comes by. Only what can be seen comes.
pub(super) trait Visitor {
    /// An element begins; what is answered comes back when it ends. A void element ends at once and is not closed.
    fn open(&mut self, name: &'static str, role: Role, attributes: &Attributes<'_>, within: Within)
    -> Opened;
    /// It ends.
    fn close(&mut self, name: &'static str, opened: Opened);
    /// Text.
    fn text(&mut self, text: &str, within: Within);
    /// Where relative addresses of the page start from.
    fn base(&mut self, href: &str);
}

/// What a visitor made of an element; it gets it back at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Opened {
    /// Nothing was written.
    #[default]
    Nothing,
    /// Something that this tag closes.
    Tag(&'static str),
    /// A table whose rows are written.
    Table,
    /// A row of it.
    Row,
    /// A cell of it.
    Cell,
}

struct Open {
    name: &'static str,
    role: Role,
    opened: Opened,
    /// This element is why nothing is seen.
    drops: bool,
}

/// What a walk found out besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) title: String,
    /// Elements that say themselves that nobody sees them.
    pub(super) hidden: u32,
}

struct Walk<'v, V> {
    visitor: &'v mut V,
    stack: Vec<Open>,
    /// Openings that were beyond the depth and must get their end tags.
    beyond: usize,
    /// Open elements that drop what is in them.
    dropping: usize,
    within: Within,
    found: Found,
    has_title: bool,
}

/// Walks over a page.
pub(super) fn walk<V: Visitor>(html: &str, visitor: &mut V) -> Found {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut walk = Walk {
        visitor,
        stack: Vec::new(),
        beyond: 0,
        dropping: 0,
        within: Within::default(),
        found: Found::default(),
        has_title: false,
    };
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => walk.start(&tag.name, &Attributes(&tag.attributes), tag.self_closing),
            Token::EndTag(tag) => walk.end(&tag.name),
            Token::String(text) => walk.text(&String::from_utf8_lossy(&text.value)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    while !walk.stack.is_empty() {
        walk.pop();
    }
    walk.found.title = one_line(&walk.found.title, LONGEST_TITLE);
    walk.found
}

impl<V: Visitor> Walk<'_, V> {
    fn start(&mut self, name: &[u8], attributes: &Attributes<'_>, self_closing: bool) {
        let Some((name, role)) = element(name) else {
            return;
        };
        if name == "base" {
            if let Some(href) = attributes.get("href") {
                self.visitor.base(&href);
            }
            return;
        }
        let is_in_foreign = self.stack.iter().any(|open| is_foreign(open.name));
        if is_in_foreign {
            // Names of a page end a picture that was never closed; its own parts are not looked at.
            if matches!(role, Role::Inline | Role::Plain | Role::Void | Role::Dropped) {
                return;
            }
            while self.stack.iter().any(|open| is_foreign(open.name)) {
                self.pop();
            }
        }
        self.end_implied(name, role);
        let hides = attributes.hides();
        if role == Role::Void {
            if self.dropping == 0 && !hides {
                self.visitor.open(name, role, attributes, self.within);
            }
            return;
        }
        if is_foreign(name) && self_closing || role == Role::Plain && !hides {
            return;
        }
        if self.stack.len() >= DEEPEST {
            self.beyond += 1;
            return;
        }
        self.push(name, role, attributes, hides);
    }

    fn push(&mut self, name: &'static str, role: Role, attributes: &Attributes<'_>, hides: bool) {
        let drops = hides || role == Role::Dropped;
        if hides && self.dropping == 0 {
            self.found.hidden = self.found.hidden.saturating_add(1);
        }
        let role = if attributes.get("role").is_some_and(|value| value == "main") {
            Role::Main
        } else {
            role
        };
        match role {
            Role::Main => self.within.main += 1,
            Role::Article => self.within.article += 1,
            Role::Chrome => self.within.chrome += 1,
            _ => {}
        }
        self.dropping += usize::from(drops);
        let opened = if self.dropping == 0 {
            self.visitor.open(name, role, attributes, self.within)
        } else {
            Opened::Nothing
        };
        self.stack.push(Open {
            name,
            role,
            opened,
            drops,
        });
    }

    fn end(&mut self, name: &[u8]) {
        let Some((name, role)) = element(name) else {
            return;
        };
        if matches!(role, Role::Void) {
            // `</br>` is a break, `</p>` alone an empty paragraph; neither says anything.
            return;
        }
        if self.beyond > 0 && role != Role::Plain {
            self.beyond -= 1;
            return;
        }
        let mut place = None;
        for (at, open) in self.stack.iter().enumerate().rev() {
            if open.name == name {
                place = Some(at);
                break;
            }
            let is_shielded = match role {
                Role::Inline => SHIELDS.contains(&open.name),
                Role::Table => open.name == "table" && name != "table",
                _ => matches!(open.name, "td" | "th" | "table") && !matches!(role, Role::Table),
            };
            if is_shielded {
                break;
            }
        }
        if let Some(place) = place {
            while self.stack.len() > place {
                self.pop();
            }
        }
    }

    /// Ends what the new element ends without saying so.
    fn end_implied(&mut self, name: &'static str, role: Role) {
        let (ended, shields) = ended_by(name, role);
        if ended.is_empty() {
            return;
        }
        let mut place = None;
        for (at, open) in self.stack.iter().enumerate().rev() {
            if ended.contains(&open.name) {
                place = Some(at);
            } else if shields.contains(&open.name) {
                break;
            }
        }
        if let Some(place) = place {
            while self.stack.len() > place {
                self.pop();
            }
        }
    }

    fn pop(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        if self.dropping == 0 {
            self.visitor.close(open.name, open.opened);
        }
        self.dropping -= usize::from(open.drops);
        match open.role {
            Role::Main => self.within.main -= 1,
            Role::Article => self.within.article -= 1,
            Role::Chrome => self.within.chrome -= 1,
            _ => {}
        }
        if open.name == "title" && !self.found.title.trim().is_empty() {
            self.has_title = true;
        }
    }

    fn text(&mut self, text: &str) {
        let is_title = self.stack.last().is_some_and(|open| open.name == "title");
        if is_title && !self.has_title && self.found.title.len() < 4 * LONGEST_TITLE {
            self.found.title.push_str(text);
        }
        if self.dropping == 0 {
            self.visitor.text(text, self.within);
        }
    }
}

/// A text on one line.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(most)
        .collect()
}
