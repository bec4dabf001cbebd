//! What the model and the window get of something that was fetched.
//!
//! Owns: pages, their ends, and the words around them. Must never know: how anything was fetched.

use cairn_agent::tool::{CallContext, ToolOutcome};
use cairn_exec::Processes;
use cairn_policy::{Show, show, shown_text};
use cairn_protocol::ContentBlock;

use crate::picture;
use crate::untrusted::Marks;
use crate::web::Answer;
use crate::web::address::Target;
use crate::web::kind::{self, Kind};
use crate::web::pages::Page;

/// Bytes of one page: 10,000 tokens of four bytes each. SPEC T24.
const PAGE_BYTES: usize = 40_000;
/// Characters kept for what stands around a page.
const AROUND: usize = 1_600;
/// The least that a page has, however little room there is.
const LEAST: usize = 400;
/// Characters of what a host says with a refusal.
const REFUSAL: usize = 1_000;
/// Characters of a title, or of an address of somebody else's, in a sentence.
const NAME: usize = 500;

/// One page of a text, from a character on.
pub(super) fn page(marks: &Marks, page: &Page, offset: usize, budget: usize) -> ToolOutcome {
    let total = page.text.chars().count();
    if total == 0 {
        return ToolOutcome {
            note: "empty".to_owned(),
            ..ToolOutcome::ok(format!("{} is empty: it has no text to read.", page.source))
        };
    }
    if offset >= total {
        let text = format!(
            "{} has {total} characters: there is no offset {offset}.",
            page.source
        );
        return ToolOutcome::failed(text);
    }
    let (piece, length) = piece(&page.text, offset, budget);
    let end = offset + length;
    let wrapped = marks.wrap(&page.source, piece);
    let source: String = page.source.chars().take(NAME).collect();
    let mut content = format!("{source} ({})\n", page.kind);
    let title: String = page.title.chars().take(NAME).collect();
    for remark in page.remarks.iter().filter(|_| offset == 0) {
        content.push_str(remark);
        content.push('\n');
    }
    content.push_str(&wrapped.content);
    if end < total {
        content.push_str(&format!(
            "\n[truncated] Characters {offset} to {end} of {total}; the same `url` with `offset` {end} goes on."
        ));
    }
    let mut blocks: Vec<ContentBlock> = wrapped.findings.block().into_iter().collect();
    let heading = if title.is_empty() || offset > 0 {
        String::new()
    } else {
        format!("{}\n\n", shown_text(&show(&title, Show::Name)))
    };
    blocks.push(ContentBlock::Text {
        text: format!("{heading}{piece}"),
    });
    ToolOutcome {
        note: note(total, offset, end, !wrapped.findings.is_empty()),
        blocks,
        ..ToolOutcome::ok(content)
    }
}

fn note(total: usize, offset: usize, end: usize, is_flagged: bool) -> String {
    let part = if offset == 0 && end == total {
        format!("{total} characters")
    } else {
        format!("{offset} to {end} of {total} characters")
    };
    if is_flagged {
        format!("{part}, flagged")
    } else {
        part
    }
}

/// The piece that fits, and its length in characters. Ends at a line where one ends late enough.
fn piece(text: &str, offset: usize, budget: usize) -> (&str, usize) {
    let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = text.get(start..).unwrap_or_default();
    let most = budget.saturating_sub(AROUND).max(LEAST);
    let mut end = 0;
    let mut length = 0;
    let mut line_end = (0, 0);
    for c in rest.chars() {
        if length == most || end + c.len_utf8() > PAGE_BYTES {
            let late_enough = line_end.1 * 10 >= length * 8;
            let (end, length) = if late_enough { line_end } else { (end, length) };
            return (rest.get(..end).unwrap_or(rest), length);
        }
        end += c.len_utf8();
        length += 1;
        if c == '\n' {
            line_end = (end, length);
        }
    }
    (rest, length)
}

/// The host sends to another one.
pub(super) fn elsewhere(from: &Target, there: &Target) -> ToolOutcome {
    let there: String = there.to_string().chars().take(NAME * 4).collect();
    ToolOutcome {
        note: "redirect".to_owned(),
        ..ToolOutcome::ok(format!(
            "{from} sends to another host, which was not connected to: {there}\nIf that is where you want to go, call \
             `web_fetch` with that address; it asks for itself."
        ))
    }
}

/// An answer that is no success.
pub(super) fn refusal(marks: &Marks, answer: &Answer) -> ToolOutcome {
    let status = answer.status;
    let advice = match status {
        401 | 403 | 407 => {
            "It is not for everybody, and nothing is sent that would prove who asks.".to_owned()
        }
        404 | 410 => "There is no such page; check the address or search for it.".to_owned(),
        408 | 425 | 429 => asks_to_wait(
            answer,
            "It is asked too often; use another source, or try much later.",
        ),
        500.. => asks_to_wait(
            answer,
            "The host has a problem of its own; try later, or another source.",
        ),
        _ => "Check the address.".to_owned(),
    };
    let words = reason(status)
        .map(|words| format!(" ({words})"))
        .unwrap_or_default();
    let mut content = format!("{} answered with status {status}{words}. {advice}", answer.from);
    let content_type = answer.content_type.as_deref();
    let mut blocks = Vec::new();
    if let Kind::Text(_) = kind::kind(content_type, &answer.body) {
        let (text, _) = kind::text(content_type, false, &answer.body);
        let said: String = text.trim().chars().take(REFUSAL).collect();
        if !said.is_empty() {
            let wrapped = marks.wrap(&answer.from.to_string(), &said);
            content.push('\n');
            content.push_str(&wrapped.content);
            blocks.extend(wrapped.findings.block());
        }
    }
    ToolOutcome {
        note: format!("status {status}"),
        blocks,
        ..ToolOutcome::failed(content)
    }
}

fn asks_to_wait(answer: &Answer, otherwise: &str) -> String {
    match answer.asked_wait {
        Some(wait) if wait.as_secs() > 0 => format!("It asks to wait for {} s.", wait.as_secs()),
        _ => otherwise.to_owned(),
    }
}

fn reason(status: u16) -> Option<&'static str> {
    Some(match status {
        400 => "bad request",
        401 => "not authorised",
        403 => "forbidden",
        404 => "not found",
        405 => "method not allowed",
        406 => "not acceptable",
        410 => "gone",
        429 => "too many requests",
        451 => "unavailable for legal reasons",
        500 => "internal error",
        502 => "bad gateway",
        503 => "unavailable",
        504 => "gateway timeout",
        _ => return None,
    })
}

/// What is no text and no picture.
pub(super) fn binary(answer: &Answer) -> ToolOutcome {
    let declared = kind::essence(answer.content_type.as_deref());
    let declared = if declared.is_empty() {
        "no type".to_owned()
    } else {
        declared
    };
    let looks = match picture::sniff(&answer.body) {
        picture::Sniffed::Picture(kind) => format!(", by its first bytes {kind}"),
        picture::Sniffed::Svg | picture::Sniffed::Other => String::new(),
    };
    ToolOutcome {
        note: "not text".to_owned(),
        ..ToolOutcome::failed(format!(
            "{} is neither text nor a picture as it says ({declared}{looks}, {} bytes): there is nothing to read. To work \
             with the file, download it with `shell`, which asks.",
            answer.from,
            answer.body.len()
        ))
    }
}

/// A picture, as `read_file` shows one.
pub(super) async fn picture(
    processes: &Processes,
    context: &CallContext,
    bytes: Vec<u8>,
    name: &str,
) -> ToolOutcome {
    let looked = picture::look(processes, context.journal.as_ref(), bytes, name, &context.cancel).await;
    match looked {
        Ok(picture) => crate::read_file::shown_picture(picture, context.vision),
        Err(problem) => ToolOutcome::failed(format!("{problem}.")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_page(text: &str) -> Page {
        Page {
            source: "https://a.example/".to_owned(),
            title: "A".to_owned(),
            kind: "text".to_owned(),
            text: text.to_owned(),
            remarks: vec!["Remark.".to_owned()],
        }
    }

    #[test]
    fn x120_a_cut_is_marked_and_says_how_to_go_on() {
        let marks = Marks::new();
        let long = text_page(&"line of text\n".repeat(10_000));
        let first = page(&marks, &long, 0, 80_000);
        assert!(
            first
                .content
                .contains("\n[truncated] Characters 0 to 39988 of 130000"),
            "{}",
            &first.content[first.content.len() - 200..]
        );
        assert!(first.content.ends_with("with `offset` 39988 goes on."));
        assert!(first.content.contains("Remark."));
        let last = page(&marks, &long, 129_987, 80_000);
        assert!(!last.content.contains("[truncated]") && !last.content.contains("Remark."));
        assert!(
            page(&marks, &long, 130_000, 80_000)
                .content
                .contains("no offset 130000")
        );
        assert!(
            page(&marks, &text_page(""), 0, 80_000)
                .content
                .contains("is empty")
        );
    }

    proptest! {
        /// Read page by page, a text is whole, whatever is in it and however little room there is.
        #[test]
        fn pages_join_to_the_text(text in "[a-zé日😀\n]{1,3000}", budget in 0_usize..3_000) {
            let mut joined = String::new();
            let mut offset = 0;
            while offset < text.chars().count() {
                let (piece, length) = piece(&text, offset, budget);
                prop_assert!(length > 0 && piece.chars().count() == length);
                joined.push_str(piece);
                offset += length;
            }
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn a_page_fits_its_budget(text in "[a-zé日😀\n]{1,6000}", budget in 2_000_usize..5_000) {
            let outcome = page(&Marks::new(), &text_page(&text), 0, budget);
            prop_assert!(outcome.content.chars().count() <= budget);
        }
    }
}
