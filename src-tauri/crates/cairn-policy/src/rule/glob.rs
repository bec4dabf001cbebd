//! Path patterns in gitignore syntax, relative to the project.

use std::fmt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::RuleError;

/// Whether letter case counts. Grants are narrow, bars are wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LetterCase {
    /// `Src` is not `src`.
    Counts,
    /// `Src` is `src`.
    Ignored,
}

/// One pattern: `*.rs` at any depth, `/README.md` or `docs/a.md` at that place, `docs/` for all beneath, `**` for
/// everything. A pattern that names a folder covers what is in it. `!` patterns are refused: a rule is no list.
#[derive(Clone, Debug)]
pub struct PathGlob {
    text: String,
    exact: GlobMatcher,
    any_case: GlobMatcher,
    folder_only: bool,
}

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathGlob {}

impl fmt::Display for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PathGlob {
    /// Reads a pattern as it stands after `read:` or `write:`.
    pub(super) fn read(kind: &'static str, value: &str) -> Result<Self, RuleError> {
        let text = trimmed(value);
        if text.is_empty() {
            let example = if kind == "read" {
                "read: fixtures/**"
            } else {
                "write: src/**"
            };
            return Err(RuleError::Empty {
                kind,
                expected: "a path pattern",
                example,
            });
        }
        let wrong = |problem: &str| RuleError::Value {
            value: text.to_owned(),
            expected: "a path pattern relative to the project",
            problem: problem.to_owned(),
        };
        if text.starts_with('!') {
            return Err(wrong(
                "`!` takes away from a list, and a rule is none; write `\\!` for a name that begins with it",
            ));
        }
        if text.split('/').any(|part| matches!(part, ".." | ".")) {
            return Err(wrong(
                "`.` and `..` have no place in a pattern; begin at the project folder",
            ));
        }
        let folder_only = text.ends_with('/') && !text.ends_with("\\/");
        let body = text.trim_end_matches('/');
        if body.is_empty() {
            return Err(wrong("it names no file; write `**` for everything"));
        }
        let pattern = anchored(body);
        let build = |case: LetterCase| {
            GlobBuilder::new(&pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .case_insensitive(case == LetterCase::Ignored)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| wrong(&error.kind().to_string()))
        };
        Ok(Self {
            exact: build(LetterCase::Counts)?,
            any_case: build(LetterCase::Ignored)?,
            folder_only,
            text: text.to_owned(),
        })
    }

    /// The pattern that covers exactly that one path; none for the project folder itself, for one that is not UTF-8,
    /// or whose name a rule cannot hold.
    pub fn of_path(relative: &Path) -> Option<Self> {
        let text = relative.to_str().filter(|text| !text.is_empty())?;
        let mut pattern = String::from("/");
        for (at, c) in text.char_indices() {
            let trailing_blank = c == ' ' && at + 1 == text.len();
            if trailing_blank || matches!(c, '\\' | '*' | '?' | '[' | ']' | '{' | '}') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        Self::read("write", &pattern).ok()
    }

    /// Whether the pattern covers a path relative to the project, or a folder that the path lies in.
    pub(crate) fn covers(&self, relative: &Path, case: LetterCase) -> bool {
        let matcher = if case == LetterCase::Counts {
            &self.exact
        } else {
            &self.any_case
        };
        // The project folder itself is no file: only the patterns for everything cover it.
        if relative.as_os_str().is_empty() {
            return self.covers_everything();
        }
        // A bar on `secrets/` also bars a search that begins at that folder.
        let own = usize::from(self.folder_only && case == LetterCase::Counts);
        relative
            .ancestors()
            .skip(own)
            .take_while(|part| !part.as_os_str().is_empty())
            .any(|part| matcher.is_match(part))
    }

    /// Whether a search of that folder could reach something the pattern names. Wide: a pattern without a fixed
    /// folder can be reached from the project folder and from nowhere else for certain.
    pub(super) fn may_lie_beneath(&self, folder: &Path) -> bool {
        if folder.as_os_str().is_empty() {
            return true;
        }
        let fixed = self.text.trim_start_matches('/');
        let fixed = fixed.split(['*', '?', '[', '\\']).next().unwrap_or_default();
        fixed.contains('/')
            && Path::new(fixed).starts_with(folder)
            && Path::new(fixed.trim_end_matches('/')) != folder
    }

    /// Whether it could cover something in that folder, which it does not cover itself. A pattern that is tied to the
    /// project folder can only do so on the way to its first wildcard and from there on; others can anywhere.
    pub(super) fn may_cover_beneath(&self, folder: &Path) -> bool {
        let body = self.text.trim_end_matches('/');
        if !body.contains('/') {
            return true;
        }
        let body = body.trim_start_matches('/');
        let fixed = body.split(['*', '?', '[', '\\']).next().unwrap_or_default();
        // The last name may go on behind the wildcard.
        let fixed = if fixed.len() == body.len() {
            fixed
        } else {
            fixed.rsplit_once('/').map_or("", |(folders, _)| folders)
        };
        let mut folder = folder.iter().map(|name| name.to_string_lossy().to_lowercase());
        let mut fixed = fixed
            .split('/')
            .filter(|name| !name.is_empty())
            .map(str::to_lowercase);
        loop {
            match (fixed.next(), folder.next()) {
                (None, _) | (_, None) => return true,
                (Some(want), Some(have)) if want != have => return false,
                _ => {}
            }
        }
    }

    /// Whether it names one path without any wildcard.
    pub fn is_literal(&self) -> bool {
        let mut escaped = false;
        let wild = |c: char| matches!(c, '*' | '?' | '[');
        let any_wild = self.text.chars().any(|c| {
            let here = !escaped && wild(c);
            escaped = !escaped && c == '\\';
            here
        });
        !any_wild && !self.folder_only
    }

    pub(super) fn meaning(&self) -> String {
        if self.covers_everything() {
            "any file inside the project".to_owned()
        } else if self.is_literal() && self.text.starts_with('/') {
            format!("{} only", unescaped(self.text.trim_start_matches('/')))
        } else {
            format!("files that match {}", self.text)
        }
    }

    fn covers_everything(&self) -> bool {
        matches!(self.text.as_str(), "**" | "/**" | "*" | "/*" | "**/*")
    }
}

fn unescaped(text: &str) -> String {
    let mut escaped = false;
    text.chars()
        .filter(|c| {
            escaped = *c == '\\' && !escaped;
            !escaped
        })
        .collect()
}

/// Outer blanks do not count, but a trailing one that is escaped does.
fn trimmed(value: &str) -> &str {
    let text = value.trim_matches([' ', '\t']);
    if ends_in_escape(text) && value.trim_start_matches([' ', '\t']).len() > text.len() {
        let start = value.len() - value.trim_start_matches([' ', '\t']).len();
        return value.get(start..start + text.len() + 1).unwrap_or(text);
    }
    text
}

fn ends_in_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

/// The pattern for the matcher, which knows braces where gitignore knows none: a slash at the start or in the middle
/// ties it to the project folder, without one it holds at any depth.
fn anchored(body: &str) -> String {
    let mut pattern = String::new();
    if !body.contains('/') {
        pattern.push_str("**/");
    }
    let mut escaped = false;
    let mut in_class = false;
    for c in body.strip_prefix('/').unwrap_or(body).chars() {
        match c {
            '{' | '}' if !escaped && !in_class => pattern.push('\\'),
            '[' if !escaped && !in_class => in_class = true,
            ']' if !escaped => in_class = false,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        pattern.push(c);
    }
    pattern
}
