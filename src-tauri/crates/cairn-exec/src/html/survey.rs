//! A first walk over a page: where its text is, and which of its tables hold data.

use super::elements::Role;
use super::walk::{Attributes, Opened, Visitor, Within, walk};

/// Characters that a main part must have to stand for the page.
const ENOUGH: usize = 200;

/// What the first walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    all: usize,
    main: usize,
    article: usize,
    chrome: usize,
    /// For each table in order: whether it only arranges the page.
    pub(super) arranges: Vec<bool>,
    open_tables: Vec<OpenTable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenTable {
    number: usize,
    has_heads: bool,
    has_blocks: bool,
    has_tables: bool,
}

/// Which parts of a page are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// All.
    All,
    /// Not menus and the like.
    WithoutChrome,
    /// What is marked as the main part.
    Main,
    /// The articles.
    Articles,
}

impl Survey {
    pub(super) fn of(html: &str) -> Self {
        let mut survey = Self::default();
        walk(html, &mut survey);
        survey
    }

    pub(super) fn parts(&self) -> Parts {
        if self.main >= ENOUGH {
            Parts::Main
        } else if self.article >= ENOUGH && self.article * 2 >= self.all {
            Parts::Articles
        } else if self.chrome > 0 && self.all - self.chrome >= ENOUGH {
            Parts::WithoutChrome
        } else {
            Parts::All
        }
    }
}

impl Visitor for Survey {
    fn open(&mut self, name: &'static str, role: Role, _: &Attributes<'_>, _: Within) -> Opened {
        if name == "table" {
            if let Some(outer) = self.open_tables.last_mut() {
                outer.has_tables = true;
            }
            self.open_tables.push(OpenTable {
                number: self.arranges.len(),
                has_heads: false,
                has_blocks: false,
                has_tables: false,
            });
            self.arranges.push(false);
        } else if let Some(table) = self.open_tables.last_mut() {
            table.has_heads |= name == "th";
            table.has_blocks |= matches!(role, Role::Block | Role::Article | Role::Main | Role::Chrome)
                || matches!(
                    name,
                    "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "pre" | "hr" | "blockquote"
                );
        }
        Opened::Nothing
    }

    fn close(&mut self, name: &'static str, _: Opened) {
        if name == "table"
            && let Some(table) = self.open_tables.pop()
            && let Some(arranges) = self.arranges.get_mut(table.number)
        {
            *arranges = table.has_tables || table.has_blocks && !table.has_heads;
        }
    }

    fn text(&mut self, text: &str, within: Within) {
        let length = text.chars().filter(|c| !c.is_whitespace()).count();
        self.all += length;
        if within.main > 0 {
            self.main += length;
        }
        if within.article > 0 {
            self.article += length;
        }
        if within.chrome > 0 {
            self.chrome += length;
        }
    }

    fn base(&mut self, _: &str) {}
}
