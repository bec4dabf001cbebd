//! Makes a page harmless and small before anything builds a tree of it, and what comes out of that readable.
//!
//! Owns: the two ends of the converter. What comes out of [`tame`] is closed in order, at most 128 deep, at most 1 MB,
//! and holds only a handful of elements without scripts, styles, comments or attributes that matter.

use url::Url;

use super::survey::{Parts, Survey};
use super::walk::walk;
use super::write::Writer;

/// A page that may be converted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tamed {
    pub(super) html: String,
    pub(super) title: String,
    pub(super) is_main_part: bool,
    pub(super) is_cut: bool,
    pub(super) hidden: u32,
}

/// Tames a page. Two walks over it, both in time proportional to its length.
pub(super) fn tame(html: &str, base: Option<Url>) -> Tamed {
    let survey = Survey::of(html);
    let parts = survey.parts();
    let mut writer = Writer::new(base, parts, survey.arranges);
    let found = walk(html, &mut writer);
    let is_cut = writer.is_full();
    Tamed {
        html: writer.finish(),
        title: found.title,
        is_main_part: parts != Parts::All,
        is_cut,
        hidden: found.hidden,
    }
}

/// Characters that the converter would put a backslash before, and what stands for them while it works: those of the
/// private use area, of which the page's own are dropped.
const STAND_INS: &[(char, char)] = &[
    ('\\', '\u{e000}'),
    ('*', '\u{e001}'),
    ('_', '\u{e002}'),
    ('~', '\u{e003}'),
    ('<', '\u{e004}'),
    ('>', '\u{e005}'),
];

/// What stands for a character while the converter works.
pub(super) fn stand_in(c: char) -> char {
    STAND_INS
        .iter()
        .find(|(plain, _)| *plain == c)
        .map_or(c, |(_, stands)| *stands)
}

/// Makes the converter's Markdown readable: characters as they were, no blanks at the ends of lines, at most one empty
/// line in a row, no links without a text.
pub(super) fn untame(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut empty = 0;
    for line in without_empty_links(markdown).lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty > 1 || empty == 1 && out.is_empty() {
            continue;
        }
        for c in line.chars() {
            let plain = STAND_INS.iter().find(|(_, stands)| *stands == c);
            out.push(plain.map_or(c, |(plain, _)| *plain));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Without `[](address)`, which pictures and icons leave behind.
fn without_empty_links(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("[](") {
        // A picture without a text is written `![](…)`, and its address is all there is.
        let is_picture = before.ends_with('!');
        match after.split_once(')') {
            Some((address, later)) if !is_picture && !address.contains(char::is_whitespace) => {
                out.push_str(before);
                rest = later;
            }
            _ => {
                out.push_str(before);
                out.push_str("[](");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
