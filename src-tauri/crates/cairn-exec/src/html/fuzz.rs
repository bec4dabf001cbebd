//! What the HTML helper does, for `./dev fuzz`: in one process, so that it is seen which way the code goes.
//!
//! Owns: nothing. Must never be in a program that is given to anybody; the feature `fuzz` keeps it out.

use url::Url;

use super::ReadPage;
use super::helper::to_markdown;
use super::tame::{Tamed, tame};

/// A page on its way.
pub struct Stages {
    /// What the converter was given.
    pub tamed: String,
    /// What came out in the end.
    pub page: ReadPage,
}

/// Turns a page into Markdown without a helper's limits.
pub fn read_html(html: &str, base: Option<Url>) -> Stages {
    let Tamed {
        html: tamed,
        title,
        is_main_part,
        is_cut,
        hidden,
    } = tame(html, base);
    let page = ReadPage {
        markdown: to_markdown(&tamed),
        title,
        is_main_part,
        is_cut,
        hidden,
    };
    Stages { tamed, page }
}
