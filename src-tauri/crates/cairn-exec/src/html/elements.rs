//! The elements that mean something to a reader, and how they hang together.
//!
//! Owns: names. Everything that is not here is a wrapper that neither nests nor shows (`span`, custom elements).

/// How an element is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Not shown, with all in it.
    Dropped,
    /// Menus and the like: not shown where there is enough beside them.
    Chrome,
    /// Marked as the main part of the page.
    Main,
    /// One article of a page.
    Article,
    /// A part with a line of its own.
    Block,
    /// A paragraph.
    Paragraph,
    /// A heading, a list and the like, that Markdown knows.
    Marked,
    /// A part within a line that Markdown knows.
    Inline,
    /// A table and its parts.
    Table,
    /// Nothing can be in it.
    Void,
    /// A wrapper.
    Plain,
}

/// The name as it is kept, and its role; none for an element that is only a wrapper.
pub(super) fn element(name: &[u8]) -> Option<(&'static str, Role)> {
    let name = std::str::from_utf8(name).ok()?;
    TABLE.iter().find(|(known, _)| *known == name).copied()
}

const TABLE: &[(&str, Role)] = &[
    ("a", Role::Inline),
    ("p", Role::Paragraph),
    ("div", Role::Block),
    ("li", Role::Marked),
    ("ul", Role::Marked),
    ("code", Role::Inline),
    ("br", Role::Void),
    ("img", Role::Void),
    ("td", Role::Table),
    ("tr", Role::Table),
    ("th", Role::Table),
    ("b", Role::Inline),
    ("i", Role::Inline),
    ("em", Role::Inline),
    ("strong", Role::Inline),
    ("script", Role::Dropped),
    ("style", Role::Dropped),
    ("svg", Role::Dropped),
    ("button", Role::Dropped),
    ("input", Role::Void),
    ("meta", Role::Void),
    ("link", Role::Void),
    ("h1", Role::Marked),
    ("h2", Role::Marked),
    ("h3", Role::Marked),
    ("h4", Role::Marked),
    ("h5", Role::Marked),
    ("h6", Role::Marked),
    ("section", Role::Block),
    ("article", Role::Article),
    ("main", Role::Main),
    ("nav", Role::Chrome),
    ("footer", Role::Chrome),
    ("aside", Role::Chrome),
    ("header", Role::Block),
    ("ol", Role::Marked),
    ("menu", Role::Marked),
    ("dl", Role::Block),
    ("dt", Role::Block),
    ("dd", Role::Block),
    ("pre", Role::Marked),
    ("blockquote", Role::Marked),
    ("table", Role::Table),
    ("thead", Role::Table),
    ("tbody", Role::Table),
    ("tfoot", Role::Table),
    ("caption", Role::Table),
    ("colgroup", Role::Dropped),
    ("col", Role::Void),
    ("hr", Role::Void),
    ("wbr", Role::Void),
    ("base", Role::Void),
    ("area", Role::Void),
    ("embed", Role::Void),
    ("source", Role::Void),
    ("track", Role::Void),
    ("param", Role::Void),
    ("title", Role::Dropped),
    ("head", Role::Dropped),
    ("body", Role::Plain),
    ("html", Role::Plain),
    ("figure", Role::Block),
    ("figcaption", Role::Block),
    ("details", Role::Block),
    ("summary", Role::Block),
    ("address", Role::Block),
    ("form", Role::Block),
    ("fieldset", Role::Block),
    ("legend", Role::Block),
    ("center", Role::Block),
    ("hgroup", Role::Block),
    ("search", Role::Block),
    ("s", Role::Inline),
    ("del", Role::Inline),
    ("strike", Role::Inline),
    ("kbd", Role::Inline),
    ("samp", Role::Inline),
    ("tt", Role::Inline),
    ("noscript", Role::Dropped),
    ("template", Role::Dropped),
    ("iframe", Role::Dropped),
    ("frameset", Role::Dropped),
    ("noframes", Role::Dropped),
    ("noembed", Role::Dropped),
    ("object", Role::Dropped),
    ("applet", Role::Dropped),
    ("canvas", Role::Dropped),
    ("audio", Role::Dropped),
    ("video", Role::Dropped),
    ("map", Role::Dropped),
    ("select", Role::Dropped),
    ("option", Role::Dropped),
    ("optgroup", Role::Dropped),
    ("datalist", Role::Dropped),
    ("textarea", Role::Dropped),
    ("dialog", Role::Dropped),
    ("annotation", Role::Dropped),
    ("annotation-xml", Role::Dropped),
    ("span", Role::Plain),
];

/// Elements that stand in the markup of pictures and formulas, where a slash ends an element and most tags of a page end
/// it all.
pub(super) fn is_foreign(name: &str) -> bool {
    name == "svg"
}

/// Which open elements a new one ends, and which ones shield those outside of them (HTML standard, 13.2.6).
pub(super) fn ended_by(name: &str, role: Role) -> (&'static [&'static str], &'static [&'static str]) {
    match name {
        "li" => (&["li"], &["ul", "ol", "menu", "table", "td", "th", "blockquote"]),
        "dt" | "dd" => (&["dt", "dd"], &["dl", "table", "td", "th", "ul", "ol"]),
        "td" | "th" => (&["td", "th"], &["table"]),
        "tr" => (&["tr", "td", "th"], &["table"]),
        "thead" | "tbody" | "tfoot" => (
            &["thead", "tbody", "tfoot", "tr", "td", "th", "caption"],
            &["table"],
        ),
        "option" => (&["option"], &["select", "datalist"]),
        "body" => (&["head"], &[]),
        "a" => (&["a"], &["td", "th", "table", "li"]),
        _ if matches!(role, Role::Inline | Role::Void | Role::Plain | Role::Dropped) => (&[], &[]),
        // A paragraph ends where a block begins; so does a head that was never closed.
        _ => (
            &["p", "head"],
            &[
                "div",
                "section",
                "article",
                "main",
                "li",
                "td",
                "th",
                "table",
                "blockquote",
                "dd",
                "dt",
                "figure",
                "details",
                "form",
                "aside",
                "nav",
                "header",
                "footer",
                "object",
                "button",
                "template",
            ],
        ),
    }
}

/// Elements that an end tag of a part within a line does not reach out of.
pub(super) const SHIELDS: &[&str] = &[
    "td",
    "th",
    "li",
    "table",
    "blockquote",
    "div",
    "section",
    "article",
    "main",
    "p",
];
