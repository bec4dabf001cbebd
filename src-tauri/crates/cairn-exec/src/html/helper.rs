//! The HTML helper: one page in, Markdown out, under limits that the system enforces.
//!
//! Owns: the order of the steps. It reads standard input, writes standard output and ends.

use std::io::Read as _;
use std::process::ExitCode;

use url::Url;

use super::tame::{Tamed, tame, untame};
use super::{ANSWER, Head, HtmlError, MEMORY, PROCESSOR};
use crate::oneshot::{self, Allowance};

/// The role.
pub(crate) fn main() -> ExitCode {
    let (head, markdown) = match work() {
        Ok((head, markdown)) => (Ok(head), markdown),
        Err(error) => (Err(error), String::new()),
    };
    match oneshot::answer::<Result<Head, HtmlError>>(&head, markdown.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work() -> Result<(Head, String), HtmlError> {
    let failed = |error: std::io::Error| HtmlError::Helper(error.to_string());
    let mut input = oneshot::input().map_err(failed)?;
    oneshot::limit(&Allowance {
        memory: MEMORY,
        processor: PROCESSOR,
        answer: ANSWER,
    })
    .map_err(failed)?;
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(failed)?;
    let (base, html) = text.split_once('\n').unwrap_or(("", &text));
    let tamed = tame(html, Url::parse(base).ok());
    let markdown = to_markdown(&tamed.html);
    let Tamed {
        title,
        is_main_part,
        is_cut,
        hidden,
        ..
    } = tamed;
    let head = Head {
        title,
        is_main_part,
        is_cut,
        hidden,
    };
    Ok((head, markdown))
}

/// The text of a tamed page.
pub(super) fn to_markdown(tamed: &str) -> String {
    untame(&html2md::parse_html(tamed))
}
