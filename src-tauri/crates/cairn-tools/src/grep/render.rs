//! Writes what a search found: text for the model, places for the window.

use std::fmt::Write as _;
use std::path::Path;

use cairn_agent::tool::ToolOutcome;
use cairn_protocol::{ContentBlock, FileLocations, LocationLine, Locations, Table};

use super::Output;
use super::collect::{Found, InFile, MOST_MATCHES, Tally};
use super::line::Line;
use crate::prepared::counted;

/// Characters kept for what is said after the list.
const ROOM_FOR_REST: usize = 300;

/// What was asked for, in words.
pub(super) struct Words {
    pub(super) pattern: String,
    /// File or folder as shown, `.` for the project.
    pub(super) place: String,
    pub(super) output: Output,
    pub(super) context: usize,
}

impl Words {
    /// What the card says the search is for.
    pub(super) fn target(&self) -> String {
        if self.place == "." {
            self.pattern.clone()
        } else {
            format!("{} in {}", self.pattern, self.place)
        }
    }
}

/// Writes it. `shown` turns real paths into what model and person read.
pub(super) fn outcome(
    found: Found,
    words: &Words,
    budget: usize,
    shown: &dyn Fn(&Path) -> String,
) -> ToolOutcome {
    let page = match words.output {
        Output::Content => content(&found, words.context, budget, shown),
        Output::Files => files(&found, budget, shown),
        Output::Count => counts(&found, budget, shown),
    };
    let total = if words.output == Output::Files {
        found.with_matches
    } else {
        found.matches
    };
    let in_files = counted(found.with_matches, "file", "files");
    let note = match (found.with_matches, words.output) {
        (0, _) => "no matches".to_owned(),
        (_, Output::Files) => in_files.clone(),
        _ => format!("{} in {in_files}", counted(found.matches, "match", "matches")),
    };
    let mut text = page.text;
    if found.with_matches == 0 {
        write!(text, "No match for `{}`{}", words.pattern, within(words)).ok();
        write!(
            text,
            " ({} searched).",
            counted(found.tally.searched, "file", "files")
        )
        .ok();
    } else if page.shown < total && words.output == Output::Content {
        write!(
            text,
            "[Stopped at {} of {note}. Narrow the pattern, `path` or `glob`, or ask for `output: \"count\"`.]",
            counted(page.shown, "match", "matches")
        )
        .ok();
    } else if page.listed < found.with_matches {
        write!(
            text,
            "[Stopped at {} of {in_files}. Narrow the pattern, `path` or `glob`.]",
            page.listed
        )
        .ok();
    } else {
        write!(text, "[{note}]").ok();
    }
    if let Some(skipped) = skipped(found.tally) {
        write!(text, "\n[skipped: {skipped}]").ok();
    }
    if found.stopped {
        text.push_str("\n[stopped before everything was searched]");
    }
    ToolOutcome {
        ok: !found.stopped,
        note,
        blocks: vec![page.block],
        ..ToolOutcome::ok(text)
    }
}

/// What fits.
struct Page {
    text: String,
    block: ContentBlock,
    /// Matches in it.
    shown: u64,
    /// Files in it.
    listed: u64,
}

/// Text that must not grow beyond a number of characters.
struct Room {
    text: String,
    left: usize,
}

impl Room {
    fn new(budget: usize) -> Self {
        Self {
            text: String::new(),
            left: budget.saturating_sub(ROOM_FOR_REST),
        }
    }

    /// Adds a line; false when it does not fit.
    fn line(&mut self, line: &str) -> bool {
        let length = line.chars().count() + 1;
        if length > self.left {
            return false;
        }
        self.left -= length;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }
}

fn content(found: &Found, context: usize, budget: usize, shown: &dyn Fn(&Path) -> String) -> Page {
    let mut room = Room::new(budget);
    let mut matches = 0;
    let mut files = Vec::new();
    for (path, in_file) in &found.files {
        let path = shown(path);
        let lines = first_lines(in_file, MOST_MATCHES - matches, context);
        let mut listed = Vec::new();
        let mut fits = true;
        for (index, line) in lines.iter().enumerate() {
            // Windows that touch are one; a gap between two is marked, as it is between two files.
            let gap = match index.checked_sub(1).and_then(|before| lines.get(before)) {
                Some(before) => line.number > before.number + 1,
                None => !files.is_empty(),
            };
            let mark = if line.matched { ':' } else { '-' };
            let written = format!("{path}{mark}{}{mark}{}", line.number, line.text);
            fits = (!(gap && context > 0) || room.line("--")) && room.line(&written);
            if !fits {
                break;
            }
            matches += line.counts;
            listed.push(LocationLine {
                line: u32::try_from(line.number).unwrap_or(u32::MAX),
                matched: line.matched,
                spans: line.spans.clone(),
            });
        }
        if !listed.is_empty() {
            files.push(FileLocations { path, lines: listed });
        }
        if !fits || matches >= MOST_MATCHES {
            break;
        }
    }
    let (listed, omitted) = (files.len() as u64, omitted(found.matches, matches));
    Page {
        text: room.text,
        block: ContentBlock::Locations(Locations { files, omitted }),
        shown: matches,
        listed,
    }
}

/// The lines of the first `most` matches with what is around them.
fn first_lines(in_file: &InFile, most: u64, context: usize) -> &[Line] {
    let mut counted = 0;
    let over = in_file.lines.iter().position(|line| {
        let full = counted >= most && line.matched;
        counted += line.counts;
        full
    });
    let Some(at) = over else { return &in_file.lines };
    // Of the lines between the last match and this one, those belong to the last that are near it.
    let before = in_file.lines.get(..at).unwrap_or_default();
    let last = before
        .iter()
        .rev()
        .find(|line| line.matched)
        .map_or(0, |line| line.number);
    let keep = before
        .iter()
        .rposition(|line| line.number <= last + context as u64)
        .map_or(0, |index| index + 1);
    before.get(..keep).unwrap_or_default()
}

fn files(found: &Found, budget: usize, shown: &dyn Fn(&Path) -> String) -> Page {
    let mut room = Room::new(budget);
    let mut files = Vec::new();
    for path in found.files.keys().take(MOST_MATCHES as usize) {
        let path = shown(path);
        if !room.line(&path) {
            break;
        }
        files.push(FileLocations {
            path,
            lines: Vec::new(),
        });
    }
    let listed = files.len() as u64;
    let omitted = omitted(found.with_matches, listed);
    Page {
        text: room.text,
        block: ContentBlock::Locations(Locations { files, omitted }),
        shown: listed,
        listed,
    }
}

fn counts(found: &Found, budget: usize, shown: &dyn Fn(&Path) -> String) -> Page {
    let mut room = Room::new(budget);
    let mut rows = Vec::new();
    let mut matches = 0;
    for (path, in_file) in found.files.iter().take(MOST_MATCHES as usize) {
        let path = shown(path);
        if !room.line(&format!("{path}:{}", in_file.matches)) {
            break;
        }
        matches += in_file.matches;
        rows.push(vec![path, in_file.matches.to_string()]);
    }
    let listed = rows.len() as u64;
    let headers = vec!["File".to_owned(), "Matches".to_owned()];
    Page {
        text: room.text,
        block: ContentBlock::Table(Table { headers, rows }),
        shown: matches,
        listed,
    }
}

fn omitted(total: u64, shown: u64) -> u32 {
    u32::try_from(total.saturating_sub(shown)).unwrap_or(u32::MAX)
}

fn within(words: &Words) -> String {
    if words.place == "." {
        String::new()
    } else {
        format!(" in {}", words.place)
    }
}

/// What was not searched, in words.
fn skipped(tally: Tally) -> Option<String> {
    let parts: Vec<String> = [
        (tally.binary, "binary file", "binary files"),
        (tally.credential, "credential file", "credential files"),
        (
            tally.too_large,
            "file with a line too long to hold",
            "files with lines too long to hold",
        ),
        (
            tally.unreadable,
            "unreadable file or folder",
            "unreadable files or folders",
        ),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| counted(count, one, many))
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
