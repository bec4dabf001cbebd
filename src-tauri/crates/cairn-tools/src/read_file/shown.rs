//! How what was read is told to the model and drawn for the person.

use std::fmt::Write as _;

use cairn_agent::tool::ToolOutcome;
use cairn_files::encoding::Encoding;
use cairn_files::read::{Page, PageLine, PageRequest, Total, page_of_text};
use cairn_protocol::{CodeBlock, ContentBlock, Picture};

/// Characters of a result that are kept free for what stands at its end.
pub(super) const FOOTER: usize = 260;

/// Lines of a file. `first` is the line that was asked for.
pub(super) fn page(shown: &str, name: &str, page: &Page, first: u64) -> ToolOutcome {
    if page.lines.is_empty() {
        return nothing(shown, page.total, first);
    }
    let mut remarks = Vec::new();
    if page.encoding != Encoding::Utf8 {
        remarks.push(format!("It is written in {}.", page.encoding.name()));
    }
    let mut outcome = lines(&page.lines, page.total, page.next, &remarks);
    outcome.blocks = vec![code_block(name, &page.lines)];
    outcome
}

/// Lines of a result that was cut before.
pub(super) fn output(shown: &str, text: &str, request: &PageRequest) -> ToolOutcome {
    let (found, total, next) = page_of_text(text, request);
    if found.is_empty() {
        return nothing(shown, total, request.first);
    }
    let mut outcome = lines(&found, total, next, &[]);
    outcome.blocks = vec![code_block("", &found)];
    outcome
}

/// A picture, for a model that sees and for one that does not.
pub(crate) fn picture(picture: Picture, vision: bool) -> ToolOutcome {
    let (width, height, bytes) = (picture.width, picture.height, picture.bytes);
    let kind = picture
        .media_type
        .strip_prefix("image/")
        .unwrap_or(&picture.media_type)
        .to_uppercase();
    let what = format!(
        "{} is a {kind} picture, {width} \u{d7} {height} pixels, {bytes} bytes",
        picture.name
    );
    let content = if vision {
        format!("{what}. It is attached.")
    } else {
        format!("{what}. You cannot see pictures; the user sees it in the window and can describe it.")
    };
    ToolOutcome {
        note: format!("{width} \u{d7} {height}"),
        blocks: vec![ContentBlock::Picture(picture.clone())],
        pictures: if vision { vec![picture] } else { Vec::new() },
        ..ToolOutcome::ok(content)
    }
}

fn nothing(shown: &str, total: Total, first: u64) -> ToolOutcome {
    match total {
        Total::Lines(0) => ToolOutcome {
            note: "empty".to_owned(),
            ..ToolOutcome::ok(format!("{shown} is empty (0 bytes of text)."))
        },
        Total::Lines(lines) => {
            ToolOutcome::failed(format!("{shown} has {lines} lines: there is no line {first}."))
        }
        Total::Bytes(bytes) => ToolOutcome::failed(format!(
            "{shown} ends before line {first} (it has {bytes} bytes)."
        )),
    }
}

fn lines(lines: &[PageLine], total: Total, next: Option<u64>, remarks: &[String]) -> ToolOutcome {
    let mut text = String::new();
    let mut cut = 0_usize;
    let unit = if matches!(total, Total::Bytes(_)) {
        "bytes"
    } else {
        "characters"
    };
    for line in lines {
        // Writing to a string cannot fail.
        write!(text, "{}\t{}", line.number, line.text).ok();
        if line.hidden > 0 {
            cut += 1;
            write!(text, " [cut: {} more {unit}]", line.hidden).ok();
        }
        text.push('\n');
    }
    let first = lines.first().map_or(1, |line| line.number);
    let last = lines.last().map_or(first, |line| line.number);
    let of = match total {
        Total::Lines(lines) => format!("of {lines}"),
        Total::Bytes(bytes) => format!("of a file of {bytes} bytes"),
    };
    let go_on = next.map_or_else(
        || "this is the end.".to_owned(),
        |next| format!("go on with offset {next}."),
    );
    write!(text, "[Lines {first} to {last} {of}; {go_on}").ok();
    match cut {
        0 => {}
        1 => text.push_str(" 1 line is shown cut and does not count as seen."),
        _ => drop(write!(
            text,
            " {cut} lines are shown cut and do not count as seen."
        )),
    }
    for remark in remarks {
        text.push(' ');
        text.push_str(remark);
    }
    text.push(']');
    let note = match total {
        Total::Lines(1) => "1 line".to_owned(),
        Total::Lines(total) if first == 1 && next.is_none() => format!("{total} lines"),
        Total::Lines(total) => format!("lines {first}\u{2013}{last} of {total}"),
        Total::Bytes(_) => format!("lines {first}\u{2013}{last}"),
    };
    ToolOutcome {
        note,
        ..ToolOutcome::ok(text)
    }
}

fn code_block(name: &str, lines: &[PageLine]) -> ContentBlock {
    let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let first = lines.first().map_or(1, |line| line.number);
    ContentBlock::Code(CodeBlock {
        language: language(name).to_owned(),
        first_line: u32::try_from(first).unwrap_or(u32::MAX),
        text: text.join("\n"),
    })
}

/// The short name of a file's language by its name; its ending where that is the name anyway, else empty.
fn language(name: &str) -> &str {
    let ending = match name.rsplit_once('.') {
        Some((_, ending)) => ending,
        None => name,
    };
    match ending {
        "rs" => "rust",
        "py" | "pyi" => "python",
        "js" | "mjs" | "cjs" => "javascript",
        "ts" | "mts" | "cts" => "typescript",
        "rb" => "ruby",
        "sh" | "bash" | "zsh" => "bash",
        "yml" => "yaml",
        "md" | "markdown" => "markdown",
        "h" => "c",
        "cc" | "cxx" | "hpp" | "hh" => "cpp",
        "cs" => "csharp",
        "kt" | "kts" => "kotlin",
        "htm" => "html",
        "Makefile" | "makefile" | "mk" => "makefile",
        "Dockerfile" => "dockerfile",
        "txt" | "log" => "",
        _ if ending.len() <= 10 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric()) => ending,
        _ => "",
    }
}
