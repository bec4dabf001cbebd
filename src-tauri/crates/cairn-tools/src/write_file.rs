//! The `write_file` tool. SPEC T15.
//!
//! Owns: when a whole file may be written, and how its bytes are made. Must never know: how they get onto the disk.

use std::sync::Arc;

use cairn_agent::tool::{Prepared, Tool, ToolError};
use cairn_files::Resolved;
use cairn_files::encoding::{self, Decoded, Encoding};
use cairn_files::lines::{self, LineEnd, LineEnds};
use cairn_files::read::Content;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::change::{Change, Seen, count_lines, explain_gap, nothing_to_do, present};
use crate::editing::Editing;
use crate::place::{Workspace, names_folder};

const NAME: &str = "write_file";
const TITLE: &str = "Write";

/// Write a whole file: a new one, or an existing one of which you have seen every line.
/// Missing folders are made. To change a part of a file use edit_file.
/// A long file is written in parts: the first with this, each further one with append.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file: relative to the project folder, or absolute.
    path: String,
    /// The whole content; with append the lines to add.
    content: String,
    /// Add the content at the end of the file instead of replacing it. Needs no reading before.
    append: Option<bool>,
}

/// Writes files, for one session.
pub fn tool(workspace: Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(Editing::new(NAME, workspace, prepare).parsed_by(parse))
}

/// A call that names a path and no content was cut off on its way; sent again as it is it would be cut again (E15).
fn parse(name: &str, arguments: Map<String, Value>) -> Result<Input, ToolError> {
    if arguments.contains_key("path") && !arguments.contains_key("content") {
        return Err(ToolError::new(
            "`write_file` was not run: `content` is missing, so the call was most likely cut off at the output limit. \
             Write the file in parts: a first part with write_file, then each further part with write_file and \
             `append: true`.",
        ));
    }
    args::parse(name, arguments)
}

fn prepare(workspace: &Arc<Workspace>, input: &Input) -> Result<Prepared, ToolError> {
    let target = workspace.resolve(&input.path)?;
    let before = present(workspace, &target)?;
    let change = match &before {
        None => create(workspace, target, input)?,
        Some(old) if input.append == Some(true) => append(workspace, target, old, &input.content)?,
        Some(old) => overwrite(workspace, target, old, &input.content)?,
    };
    if before
        .as_ref()
        .is_some_and(|before| change.after.as_ref() == Some(&before.bytes))
    {
        let told = format!(
            "{} has exactly this content already: nothing was written.",
            change.target.shown
        );
        return Ok(nothing_to_do(workspace, &change.target, NAME, TITLE, told));
    }
    Ok(change.prepare(NAME, TITLE))
}

fn create(workspace: &Arc<Workspace>, target: Resolved, input: &Input) -> Result<Change, ToolError> {
    if names_folder(&input.path) {
        return Err(ToolError::new(format!(
            "{} was not written: `{}` names a folder. Give the whole path with the file's name, or make the folder \
             with make_dir.",
            target.shown, input.path
        )));
    }
    if workspace.has_existed(&target.real) && !workspace.coverage().saw_whole(&target.real) {
        return Err(ToolError::new(format!(
            "{0} was not written: it was there in this session and has vanished, and you never saw all of it. \
             Deleting or moving a file does not make it new. Put it back first (or ask the user to), read it, and \
             then change it.",
            target.shown
        )));
    }
    let after = input.content.as_bytes().to_vec();
    let told = format!("Created {} with {}", target.shown, counted(count_lines(&after)));
    Ok(Change {
        workspace: Arc::clone(workspace),
        target,
        before: None,
        after: Some(after),
        seen: Seen::Whole,
        told,
        tells_diff: false,
    })
}

fn overwrite(
    workspace: &Arc<Workspace>,
    target: Resolved,
    old: &Content,
    content: &str,
) -> Result<Change, ToolError> {
    workspace
        .coverage()
        .check_overwrite(&target.real, old)
        .map_err(|gap| explain_gap(&gap, &target.shown))?;
    let Some(decoded) = encoding::decode(&old.bytes) else {
        return Err(ToolError::new(format!(
            "{} was not changed: it is a binary file of {} bytes, which text does not replace. Write to another name, \
             or delete it first.",
            target.shown,
            old.bytes.len()
        )));
    };
    let after = in_the_form_of(&decoded, content, &target.shown)?;
    check_reads(&decoded, &after, &target.shown)?;
    let told = format!("Wrote {}, {} now", target.shown, counted(count_lines(&after)));
    Ok(Change {
        workspace: Arc::clone(workspace),
        target,
        before: Some(old.clone()),
        after: Some(after),
        seen: Seen::Whole,
        told,
        tells_diff: true,
    })
}

fn append(
    workspace: &Arc<Workspace>,
    target: Resolved,
    old: &Content,
    section: &str,
) -> Result<Change, ToolError> {
    let Some(decoded) = encoding::decode(&old.bytes) else {
        return Err(ToolError::new(format!(
            "{} was not changed: it is a binary file of {} bytes, text cannot be added to it.",
            target.shown,
            old.bytes.len()
        )));
    };
    let ends = lines::ends_of(&decoded.text);
    let end = ends.usual().text();
    let mut added = String::new();
    // A section always begins a line of its own (X32). A `\r` alone ends one only where all lines end so.
    let is_ended = match ends {
        LineEnds::All(LineEnd::Cr) => decoded.text.ends_with('\r'),
        _ => decoded.text.ends_with('\n'),
    };
    // A mark at the start of a section is meant for the start of the file.
    let section = match section.strip_prefix('\u{feff}') {
        Some(rest) if !old.bytes.is_empty() => rest,
        _ => section,
    };
    if !section.is_empty() && !decoded.text.is_empty() && !is_ended {
        added.push_str(end);
    }
    added.push_str(&lines::model_text(section).replace('\n', end));
    let first = lines::split(&decoded.text, ends).len() as u64 + 1;
    let mut after = old.bytes.clone();
    after.extend_from_slice(&encode(decoded.encoding, &added, &target.shown)?);
    check_reads(&decoded, &after, &target.shown)?;
    let told = format!(
        "Added {} to {}",
        counted(count_lines(added.trim_start_matches(['\r', '\n']).as_bytes())),
        target.shown
    );
    Ok(Change {
        workspace: Arc::clone(workspace),
        target,
        before: Some(old.clone()),
        after: Some(after),
        seen: Seen::Appended(first),
        told,
        tells_diff: false,
    })
}

/// New content with the byte order mark, the encoding and the line ends of what it replaces.
fn in_the_form_of(old: &Decoded, content: &str, shown: &str) -> Result<Vec<u8>, ToolError> {
    let content = lines::model_text(content.strip_prefix('\u{feff}').unwrap_or(content));
    let text = match lines::ends_of(&old.text) {
        LineEnds::None | LineEnds::All(LineEnd::Lf) => content,
        LineEnds::All(end) => content.replace('\n', end.text()),
        ends @ LineEnds::Mixed(_) => with_mixed_ends(&old.text, &content, ends),
    };
    let marked = if old.bom > 0 {
        format!("\u{feff}{text}")
    } else {
        text
    };
    encode(old.encoding, &marked, shown)
}

/// Lines that the old text has too keep the ends that they have there, in order; others get the usual one.
fn with_mixed_ends(old: &str, content: &str, ends: LineEnds) -> String {
    let mut there = lines::split(old, ends).into_iter().peekable();
    content
        .split_inclusive('\n')
        .fold(String::with_capacity(old.len()), |mut out, line| {
            let bare = lines::without_end(line);
            // The next old line with this text, if it is not far: a diff would find the same in ordinary edits.
            let mut ahead = there.clone().take(200);
            let end = match ahead.position(|old| lines::without_end(old) == bare) {
                Some(skip) => there
                    .nth(skip)
                    .and_then(|old| old.strip_prefix(bare))
                    .unwrap_or_default(),
                None => "",
            };
            out.push_str(bare);
            if line.ends_with('\n') {
                out.push_str(if end.is_empty() { ends.usual().text() } else { end });
            }
            out
        })
}

fn encode(encoding: Encoding, text: &str, shown: &str) -> Result<Vec<u8>, ToolError> {
    encoding::encode(encoding, text).map_err(|lost| {
        ToolError::new(format!(
            "{shown} was not changed: it is written in {}, which has no `{}`. Leave that character out, or ask the \
             user whether the file may become UTF-8.",
            encoding.name(),
            lost.0
        ))
    })
}

/// What is written must come out again as it was meant.
fn check_reads(old: &Decoded, after: &[u8], shown: &str) -> Result<(), ToolError> {
    if encoding::reads_the_same(old, after) {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "{shown} was not changed: it is written in {}, and with this content it would not read as that any more. Leave \
         NUL and other control characters out, or ask the user whether the file may become UTF-8.",
        old.encoding.name()
    )))
}

fn counted(lines: u64) -> String {
    if lines == 1 {
        "1 line".to_owned()
    } else {
        format!("{lines} lines")
    }
}
