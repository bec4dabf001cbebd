//! The text of a file that comes nearest to one that is not there, and how the two differ.
//!
//! It is only told, never used: replacing what merely resembles would change what nobody asked for.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Lines of a file that are compared when no line is the same.
const LINES_COMPARED: usize = 20_000;
/// Lines of a file that are looked at.
const LINES_LOOKED_UP: usize = 300_000;
/// Lines of the nearest text that are shown.
const LINES_SHOWN: usize = 20;
/// Characters of a line that are shown.
const WIDTH: usize = 200;
/// Characters shown before a difference that lies far into a line.
const BEFORE: usize = 60;
/// How alike two lines must be to be worth naming, of 1.
const ALIKE: f64 = 0.5;

/// The nearest text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its first line, from 1.
    pub first_line: usize,
    /// Its lines, without ends.
    pub lines: Vec<String>,
    /// What differs, in words.
    pub differs: String,
}

impl Nearest {
    /// What the model is told.
    pub fn describe(&self) -> String {
        let last = self.first_line + self.lines.len().saturating_sub(1);
        let place = if self.lines.len() == 1 {
            format!("line {}", self.first_line)
        } else {
            format!("lines {} to {last}", self.first_line)
        };
        let mut text = format!("The nearest text is at {place}:\n");
        for (number, line) in (self.first_line..).zip(self.lines.iter().take(LINES_SHOWN)) {
            // Writing to a string cannot fail.
            writeln!(text, "{number}\t{}", cut(line)).ok();
        }
        if self.lines.len() > LINES_SHOWN {
            writeln!(text, "({} more lines)", self.lines.len() - LINES_SHOWN).ok();
        }
        text.push_str(&self.differs);
        text.push_str(". Nothing was changed; send old_string exactly as the file has it");
        text
    }
}

/// Finds what comes nearest to `wanted`. Both have LF line ends.
pub fn find(text: &str, wanted: &str) -> Option<Nearest> {
    let have: Vec<&str> = text.lines().take(LINES_LOOKED_UP).collect();
    let want: Vec<&str> = wanted.trim_matches('\n').split('\n').collect();
    let first = by_equal_lines(&have, &want).or_else(|| by_likeness(&have, &want))?;
    let lines = have.get(first..(first + want.len()).min(have.len()))?;
    Some(Nearest {
        first_line: first + 1,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        differs: difference(lines, &want, first + 1),
    })
}

/// Where most lines are the same but for the space around them.
fn by_equal_lines(have: &[&str], want: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in want
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        places.entry(line.trim()).or_default().push(at);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in have.iter().enumerate() {
        for place in places.get(line.trim()).into_iter().flatten().take(8) {
            if let Some(start) = at.checked_sub(*place) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    votes
        .into_iter()
        .max_by_key(|(start, count)| (*count, usize::MAX - start))
        .map(|(start, _)| start)
}

/// Where one line is most like the longest wanted one.
fn by_likeness(have: &[&str], want: &[&str]) -> Option<usize> {
    let (place, longest) = want
        .iter()
        .enumerate()
        .max_by_key(|(_, line)| line.trim().len())?;
    let wanted = pairs(longest);
    if wanted.is_empty() {
        return None;
    }
    let mut best: Option<(f64, usize)> = None;
    for (at, line) in have.iter().take(LINES_COMPARED).enumerate().skip(place) {
        let pairs = pairs(line);
        let both = pairs.intersection(&wanted).count();
        let likeness = 2.0 * both as f64 / (pairs.len() + wanted.len()).max(1) as f64;
        if likeness > best.map_or(ALIKE, |(most, _)| most) {
            best = Some((likeness, at - place));
        }
    }
    best.map(|(_, start)| start)
}

/// Pairs of neighbouring characters, space left out.
fn pairs(line: &str) -> HashSet<(char, char)> {
    let line: String = line.chars().filter(|c| !c.is_whitespace()).take(400).collect();
    line.chars().zip(line.chars().skip(1)).collect()
}

fn difference(have: &[&str], want: &[&str], first_line: usize) -> String {
    for (number, (have, want)) in (first_line..).zip(have.iter().zip(want)) {
        if have == want {
            continue;
        }
        let kind = if have.trim() == want.trim() {
            if have.trim_start() == want.trim_start() {
                "differs in the space at its start"
            } else {
                "differs in the space at its start or end"
            }
        } else if have.split_whitespace().eq(want.split_whitespace()) {
            "differs only in space (tabs, spaces)"
        } else if have.to_lowercase() == want.to_lowercase() {
            "differs in upper and lower case"
        } else {
            "differs"
        };
        let at = have
            .chars()
            .zip(want.chars())
            .take_while(|(have, want)| have == want)
            .count();
        return format!(
            "Line {number} {kind}: the file has `{}`, old_string has `{}`{}",
            visible(from(have, at)),
            visible(from(want, at)),
            alike(have, want, at)
        );
    }
    if have.len() < want.len() {
        return format!(
            "The file ends after it, old_string has {} more lines",
            want.len() - have.len()
        );
    }
    "They differ in empty lines before or after it".to_owned()
}

/// The part of a line in which a difference at that character is in view.
fn from(line: &str, at: usize) -> &str {
    let skipped = if at > WIDTH - BEFORE { at - BEFORE } else { 0 };
    let start = line
        .char_indices()
        .nth(skipped)
        .map_or(line.len(), |(start, _)| start);
    line.get(start..).unwrap_or(line)
}

/// Names the first characters that differ where they may look the same: one letter composed in two ways, a dash or
/// blank of another kind, a letter of another script.
fn alike(have: &str, want: &str, at: usize) -> String {
    let pair = have.chars().nth(at).zip(want.chars().nth(at));
    match pair {
        Some((have, want)) if !have.is_ascii() || !want.is_ascii() => format!(
            " (character {}: U+{:04X} in the file, U+{:04X} in old_string)",
            at + 1,
            u32::from(have),
            u32::from(want)
        ),
        _ => String::new(),
    }
}

/// A line with its tabs and other invisible characters made visible, cut.
fn visible(line: &str) -> String {
    cut(line).chars().fold(String::new(), |mut text, c| {
        if c.is_control() || (c.is_whitespace() && c != ' ') || ('\u{200b}'..='\u{200f}').contains(&c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}

fn cut(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let mut text: String = line.chars().take(WIDTH).collect();
    text.push_str("...");
    text
}
