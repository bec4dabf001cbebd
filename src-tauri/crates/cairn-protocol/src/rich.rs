//! Markdown and code as a typed tree, drawn with text nodes only. No HTML string from a model ever exists.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A block of prose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "t", rename_all = "snake_case")]
#[ts(export)]
pub enum RichBlock {
    /// A paragraph.
    Paragraph {
        /// Its text.
        inlines: Vec<RichInline>,
    },
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its text.
        inlines: Vec<RichInline>,
    },
    /// A fenced or indented block of code.
    Code {
        /// Language as written after the fence; may be empty.
        language: String,
        /// Lines of highlighted pieces.
        lines: Vec<Vec<CodeSpan>>,
    },
    /// A list.
    List {
        /// First number of an ordered list; none for bullets.
        start: Option<u64>,
        /// Its entries.
        items: Vec<ListItem>,
    },
    /// A quotation.
    Quote {
        /// Its content.
        blocks: Vec<RichBlock>,
    },
    /// A table.
    Table {
        /// Alignment per column.
        align: Vec<CellAlign>,
        /// Heading cells.
        head: Vec<Vec<RichInline>>,
        /// Rows of cells.
        rows: Vec<Vec<Vec<RichInline>>>,
    },
    /// A horizontal rule.
    Rule,
    /// What is nested too deep or is HTML: shown as it was written.
    Verbatim {
        /// The source text.
        text: String,
    },
    /// More of the text is there, and is not drawn: so much of it would only make the window slow.
    Cut {
        /// How much, bytes of the source.
        bytes: u64,
    },
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ListItem {
    /// State of a task entry; none for others.
    pub checked: Option<bool>,
    /// Its content.
    pub blocks: Vec<RichBlock>,
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CellAlign {
    /// As the page likes.
    None,
    /// Left.
    Left,
    /// Centre.
    Center,
    /// Right.
    Right,
}

/// A piece of running text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "t", rename_all = "snake_case")]
#[ts(export)]
pub enum RichInline {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// Code in running text.
    Code {
        /// The code.
        text: String,
    },
    /// Emphasis.
    Emphasis {
        /// Its content.
        inlines: Vec<RichInline>,
    },
    /// Strong emphasis.
    Strong {
        /// Its content.
        inlines: Vec<RichInline>,
    },
    /// Struck out.
    Strike {
        /// Its content.
        inlines: Vec<RichInline>,
    },
    /// A link that may be opened outside: http, https or mailto.
    Link {
        /// Where it goes, host in its ASCII form.
        href: String,
        /// Its content.
        inlines: Vec<RichInline>,
    },
    /// A link that is never opened (another scheme), shown as text with its target.
    DeadLink {
        /// Where it would have gone, escaped.
        href: String,
        /// Its content.
        inlines: Vec<RichInline>,
    },
    /// A remote picture that was not loaded.
    BlockedImage {
        /// Its description.
        alt: String,
        /// Where it would have come from, escaped.
        href: String,
    },
    /// A line break.
    Break,
}

/// Role of a piece of code, few on purpose: each has a colour in both themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CodeRole {
    /// Anything else.
    Plain,
    /// A comment.
    Comment,
    /// A keyword.
    Keyword,
    /// A string.
    String,
    /// A number or other constant.
    Constant,
    /// A function's name.
    Function,
    /// A type's name.
    Type,
    /// Punctuation and operators.
    Punctuation,
}

/// A piece of highlighted code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CodeSpan {
    /// Its role.
    pub role: CodeRole,
    /// Its text, without line ends.
    pub text: String,
}
