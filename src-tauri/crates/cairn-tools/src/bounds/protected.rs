//! Which files of a project the walls have to keep or hide. Must never know: what the walls make of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_policy::{Looked, ReadBars, Repository as Judged};

use super::memory::Memory;
use super::{look, shared};
use crate::git::Repository;
use crate::place::RepositoryTrust;

/// Git's own folder.
pub(super) const GIT: &str = ".git";

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

/// What is looked for, and how far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// What the person's rules keep from being read.
    pub(super) bars: Arc<ReadBars>,
    /// Folders that are looked at.
    pub(super) folders: usize,
}

/// What there is of it at one moment. Real paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// By what it was found.
    pub(super) wanted: Wanted,
    /// Protected files and folders.
    pub(super) kept: BTreeSet<PathBuf>,
    /// Files and folders that hold credentials or that rules bar.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// Links with protected names: nothing can be put over a link.
    pub(super) links: BTreeSet<PathBuf>,
    /// Sockets: who listens at one may start programs outside.
    pub(super) sockets: BTreeSet<PathBuf>,
    /// Folders that could not be looked into.
    pub(super) shut: BTreeSet<PathBuf>,
    /// Repositories.
    pub(super) repositories: BTreeSet<PathBuf>,
    /// The repository elsewhere that a commit writes to.
    pub(super) shared: Option<PathBuf>,
    /// Whether that is all.
    pub(super) looked: Looked,
}

impl Found {
    /// Nothing yet.
    pub(super) fn nothing(wanted: Wanted) -> Self {
        Self {
            wanted,
            kept: BTreeSet::new(),
            hidden: BTreeSet::new(),
            links: BTreeSet::new(),
            sockets: BTreeSet::new(),
            shut: BTreeSet::new(),
            repositories: BTreeSet::new(),
            shared: None,
            looked: Looked::Whole,
        }
    }

    /// Looks through a project and what it shares with others.
    pub(super) fn look(root: &Path, wanted: Wanted, memory: &mut Memory) -> Self {
        let mut found = look::through(root, wanted, memory);
        if let Some(common) = shared::repository(root) {
            found.repository(&common, SUBMODULES);
            found.repositories.insert(common.clone());
            found.shared = Some(common);
        }
        if found.looked == Looked::Whole
            && let Some(path) = look::second_name(&found.kept)
        {
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.looked = Looked::InPart(format!(
                "{} has more than one name on the disk. By another one commands can change it in spite of the sandbox.",
                cairn_files::name::to_text(name.as_os_str())
            ));
        }
        found
    }

    /// Whether that is all there is.
    pub fn looked(&self) -> &Looked {
        &self.looked
    }

    /// Git's own folder of a repository in the project.
    pub(super) fn met_repository(&mut self, git: PathBuf) {
        self.repository(&git, SUBMODULES);
        self.repositories.insert(git);
    }

    /// What decides in a repository, in those of its submodules and in its worktrees.
    fn repository(&mut self, git: &Path, depth: usize) {
        self.kept.extend(decides_in(git));
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

/// What there is in a repository that decides which programs git runs.
fn decides_in(git: &Path) -> BTreeSet<PathBuf> {
    let there = OF_GIT.iter().map(|name| git.join(name));
    there.filter(|path| path.symlink_metadata().is_ok()).collect()
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
    // By a second name a later command could still change what is in it.
    if look::second_name(&decides_in(git)).is_some() {
        return false;
    }
    // What it would run by itself if nothing of it had been agreed to.
    let nothing_accepted = RepositoryTrust::Trusted { accepted: Vec::new() };
    matches!(Repository::for_the_gate(work_tree, &nothing_accepted), Judged::Plain { hooks } if hooks.is_empty())
}

#[cfg(test)]
mod tests;
