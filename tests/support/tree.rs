//! The repository's files, as the tests about its shape read them.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    here.canonicalize().expect("the repository is there")
}

/// One text file: its path from the repository's folder, with `/`, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Folders that are made, not written.
const MADE: &[&str] = &[
    ".git",
    "target",
    "gen",
    "node_modules",
    "dist",
    "gallery-dist",
    "test-results",
];

/// All text files beneath a folder of the repository, in order, with one of these endings; all endings when none is
/// named. Files that are no text are left out. Fails when there is none: a rule about nothing always holds.
pub(crate) fn sources(folder: &str, endings: &[&str]) -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    let mut open = vec![root.join(folder)];
    while let Some(next) = open.pop() {
        let Ok(entries) = fs::read_dir(&next) else {
            continue;
        };
        for entry in entries {
            let entry = entry.expect("a readable folder");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            // In a second working tree `.git` is a file.
            if MADE.contains(&name.as_str()) {
                continue;
            }
            if entry.file_type().expect("a file type").is_dir() {
                open.push(path);
            } else if endings.is_empty() || endings.iter().any(|ending| name.ends_with(ending)) {
                let Ok(text) = fs::read_to_string(&path) else {
                    continue;
                };
                let relative = path
                    .strip_prefix(&root)
                    .expect("beneath the root")
                    .to_string_lossy()
                    .replace('\\', "/");
                found.push(Source { path: relative, text });
            }
        }
    }
    assert!(
        !found.is_empty(),
        "nothing to look at beneath {folder:?}: was it moved?"
    );
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// Whether a Rust file holds nothing but tests: a `tests` module's file, a crate's `tests/` folder or `tests/` itself.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// The lines of a Rust file in front of its first test module.
pub(crate) fn production(text: &str) -> Vec<&str> {
    text.lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .collect()
}

/// Fails with all that was found, one a line, after a sentence that says what to do.
pub(crate) fn none_found(what_to_do: &str, found: &[String]) {
    assert!(found.is_empty(), "{what_to_do}\n  {}\n", found.join("\n  "));
}
