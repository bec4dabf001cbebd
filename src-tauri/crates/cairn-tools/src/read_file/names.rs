//! Names that resemble one that is not there.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cairn_agent::tool::ToolError;
use cairn_files::{Resolved, name};
use cairn_policy::Place;

use crate::place::Workspace;
use crate::walk::{Met, Scope, Stop, Visit, walk_alone};

/// Names told.
const TOLD: usize = 3;
/// Names of the project that are compared; time is short, and the first ones are the nearest to its top.
const COMPARED: usize = 20_000;

/// Says that a file is not there, what paths are relative to, and up to three names that resemble it.
pub(crate) fn explain_missing(workspace: &Workspace, target: &Resolved) -> ToolError {
    let folder = name::to_text(workspace.root().path().as_os_str());
    let mut text = format!(
        "{} does not exist. Paths are relative to the project folder {folder}.",
        target.shown
    );
    // Names outside the project are not gone through: nobody asked for that.
    if target.place == Place::Inside {
        let similar = similar(workspace, &target.real);
        if !similar.is_empty() {
            text.push_str(" Similar names: ");
            text.push_str(&similar.join(", "));
            text.push('.');
        }
    }
    ToolError::new(text)
}

fn similar(workspace: &Workspace, missing: &Path) -> Vec<String> {
    let root = workspace.root();
    let scope = Scope {
        base: root.path().to_owned(),
        project: root.path().to_owned(),
        hidden: true,
        ignored: false,
        depth: None,
    };
    let all = Mutex::new(Vec::new());
    walk_alone(root, &scope, &Stop::default(), &|| Resembling {
        workspace,
        missing,
        wanted: lower(missing),
        wanted_path: root.show(missing).to_lowercase(),
        left: COMPARED,
        own: Vec::new(),
        all: &all,
    });
    let mut found = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    found.iter().take(TOLD).map(|(_, path)| root.show(path)).collect()
}

/// Gathers paths that resemble one, each with how far it is from it.
struct Resembling<'a> {
    workspace: &'a Workspace,
    missing: &'a Path,
    /// The name that is not there, in small letters, and its path.
    wanted: String,
    wanted_path: String,
    /// Names that may still be compared.
    left: usize,
    own: Vec<(usize, PathBuf)>,
    all: &'a Mutex<Vec<(usize, PathBuf)>>,
}

impl Visit for Resembling<'_> {
    fn visit(&mut self, met: &Met<'_>, stop: &Stop) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            stop.set();
        }
        let name = lower(met.path);
        let far = if name == self.wanted {
            0
        } else if self.missing.parent() == Some(met.within) {
            distance(&name, &self.wanted)
        } else {
            let path = self.workspace.root().show(met.path).to_lowercase();
            distance(&path, &self.wanted_path)
        };
        let most = if name == self.wanted {
            usize::MAX
        } else {
            (self.wanted.chars().count() / 3).max(1)
        };
        if far <= most {
            self.own.push((far, met.path.to_owned()));
        }
    }

    fn done(self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(self.own);
    }
}

fn lower(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// Characters to insert, delete or replace to make one text of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    // Lengths that differ much need no look at the letters.
    let length = one.chars().count();
    if length.abs_diff(other.len()) > length / 2 + 2 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, c) in one.chars().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, d) in row.iter_mut().skip(1).zip(&other) {
            let cost = diagonal + usize::from(c != *d);
            diagonal = *cell;
            left = cost.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_letters_between_two_names() {
        for (one, other, far) in [
            ("a", "a", 0),
            ("kitten", "sitting", 3),
            ("axis.rs", "axes.rs", 1),
            ("", "ab", 2),
        ] {
            assert_eq!(distance(one, other), far, "{one} {other}");
        }
    }
}
