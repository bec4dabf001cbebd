//! Which files of a project the walls have to keep or hide. Must never know: what the walls make of them.

use std::collections::{BTreeSet, VecDeque};
use std::fs::FileType;
use std::path::{Path, PathBuf};

use cairn_policy::{Repository as Judged, is_credential, is_protected};

use crate::git::Repository;
use crate::place::RepositoryTrust;

/// Folders of a project that are looked at for protected files; what lies further down in a larger one is not found.
const FOLDERS: usize = 20_000;

/// Folders of installed or built things: nobody opens them as projects, and tools replace them as a whole.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".gradle",
    ".next",
];

/// Git's own folder.
const GIT: &str = ".git";

/// What of it decides which programs git runs. The rest is its data, which commits change.
const OF_GIT: &[&str] = &[
    "config",
    "config.worktree",
    "hooks",
    "info/attributes",
    "commondir",
    "gitdir",
];

/// How deep repositories of submodules are looked for.
const SUBMODULES: usize = 6;

/// What there is of it at one moment. Real paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Protected files and folders.
    pub(super) kept: BTreeSet<PathBuf>,
    /// Credential files and folders.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// Links with protected names: nothing can be put over a link.
    pub(super) links: BTreeSet<PathBuf>,
    /// Repositories.
    repositories: BTreeSet<PathBuf>,
}

impl Found {
    /// Looks through a project, the outermost folders first.
    pub fn look(root: &Path) -> Self {
        let mut found = Self::default();
        let mut waiting = VecDeque::from([root.to_owned()]);
        let mut looked = 0;
        while let Some(folder) = waiting.pop_front() {
            looked += 1;
            if looked > FOLDERS {
                tracing::info!(
                    "the project has more than {FOLDERS} folders; protected files in the others are not kept"
                );
                break;
            }
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                found.meet(root, entry.path(), kind, &mut waiting);
            }
        }
        found
    }

    fn meet(&mut self, root: &Path, path: PathBuf, kind: FileType, waiting: &mut VecDeque<PathBuf>) {
        let name = path.file_name().unwrap_or_default();
        if name.eq_ignore_ascii_case(GIT) {
            if kind.is_dir() {
                self.repository(&path, SUBMODULES);
                self.repositories.insert(path);
            } else {
                self.kept.insert(path);
            }
            return;
        }
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let protected = is_protected(relative);
        if kind.is_symlink() {
            if protected {
                self.links.insert(path);
            }
        } else if protected {
            if is_credential(relative) {
                self.hidden.insert(path.clone());
            }
            self.kept.insert(path);
        } else if is_credential(relative) {
            self.hidden.insert(path);
        } else if kind.is_dir() && !PASSED_OVER.iter().any(|passed| name == *passed) {
            waiting.push_back(path);
        }
    }

    /// What decides in a repository, in those of its submodules and in its worktrees.
    fn repository(&mut self, git: &Path, depth: usize) {
        let there = OF_GIT.iter().map(|name| git.join(name));
        self.kept
            .extend(there.filter(|path| path.symlink_metadata().is_ok()));
        if depth == 0 {
            return;
        }
        for holder in ["modules", "worktrees"] {
            let Ok(entries) = std::fs::read_dir(git.join(holder)) else {
                continue;
            };
            for entry in entries
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            {
                self.repository(&entry.path(), depth - 1);
                // A submodule `a/b` has its repository in `modules/a/b`.
                self.nested(&entry.path(), depth - 1);
            }
        }
    }

    fn nested(&mut self, folder: &Path, depth: usize) {
        if depth == 0 || folder.join("HEAD").exists() {
            return;
        }
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        {
            self.repository(&entry.path(), depth - 1);
            self.nested(&entry.path(), depth - 1);
        }
    }
}

/// Whether a path belongs to a repository that was made meanwhile and runs nothing: `git init` and `git clone` are
/// ordinary work.
pub(super) fn is_harmless_repository(path: &Path, before: &Found) -> bool {
    let Some(git) = path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == GIT))
    else {
        return false;
    };
    if git == path || before.repositories.contains(git) {
        return false;
    }
    let Some(work_tree) = git.parent() else {
        return false;
    };
    // What it would run by itself if nothing of it had been agreed to.
    let nothing_accepted = RepositoryTrust::Trusted { accepted: Vec::new() };
    matches!(Repository::for_the_gate(work_tree, &nothing_accepted), Judged::Plain { hooks } if hooks.is_empty())
}

/// The repository that a worktree shares with others.
pub(super) struct Shared {
    pub(super) writable: Vec<PathBuf>,
    pub(super) kept: Vec<PathBuf>,
}

/// Where the project is a worktree of a repository elsewhere: that repository, which a commit has to write to. Only
/// where it names the project as a worktree of its own: what a file in the project says is not enough.
pub(super) fn shared_repository(root: &Path) -> Option<Shared> {
    let pointer = root.join(GIT);
    if !pointer.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = std::fs::read_to_string(&pointer).ok()?;
    let own = PathBuf::from(text.strip_prefix("gitdir:")?.trim());
    let own = root.join(own).canonicalize().ok()?;
    let back = std::fs::read_to_string(own.join("gitdir")).ok()?;
    if Path::new(back.trim()).canonicalize().ok()? != pointer.canonicalize().ok()? {
        return None;
    }
    let common = std::fs::read_to_string(own.join("commondir")).ok()?;
    let common = own.join(common.trim()).canonicalize().ok()?;
    if own.parent()?.file_name()? != "worktrees" || own.parent()?.parent()? != common {
        return None;
    }
    let mut found = Found::default();
    found.repository(&common, SUBMODULES);
    Some(Shared {
        writable: vec![common],
        kept: found.kept.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests;
