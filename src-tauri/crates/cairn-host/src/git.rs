//! Branch and state of a repository, read from `.git` in this process. Git itself is never run for it: a repository's
//! configuration can make git run anything.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::files;

/// Larger files than this are no HEAD and no gitdir link.
const MOST: u64 = 4_096;
/// How many parents of the project are looked at for its repository.
const PARENTS: usize = 12;

/// What a repository is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitState {
    /// Branch, or the short commit of a detached HEAD.
    pub(crate) branch: String,
    /// `merging`, `rebasing` …; none when nothing is going on.
    pub(crate) going_on: Option<&'static str>,
}

/// State of the repository that a folder belongs to.
pub(crate) fn state(folder: &Path) -> Option<GitState> {
    let git = folder.ancestors().take(PARENTS).find_map(git_folder)?;
    let head = small_file(&git.join("HEAD"))?;
    let head = head.trim();
    let branch = match head.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
        }
        None if head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            head.get(..8).unwrap_or(head).to_owned()
        }
        None => return None,
    };
    let doing = [
        ("rebase-merge", "rebasing"),
        ("rebase-apply", "rebasing"),
        ("MERGE_HEAD", "merging"),
        ("CHERRY_PICK_HEAD", "cherry-picking"),
        ("REVERT_HEAD", "reverting"),
        ("BISECT_LOG", "bisecting"),
    ];
    let going_on = doing
        .iter()
        .find(|(name, _)| git.join(name).symlink_metadata().is_ok())
        .map(|(_, word)| *word);
    Some(GitState { branch, going_on })
}

/// The repository behind a folder: what its `.git` is or leads to, and where that keeps its configuration.
pub(crate) fn behind(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = folder.ancestors().take(PARENTS).find_map(git_folder)?;
    let common = match small_file(&git.join("commondir")) {
        Some(text) => git.join(text.trim()),
        None => git.clone(),
    };
    Some((git, common))
}

fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let kind = git.metadata().ok()?;
    if kind.is_dir() {
        return Some(git);
    }
    let text = kind.is_file().then(|| small_file(&git)).flatten()?;
    let target = PathBuf::from(text.strip_prefix("gitdir:")?.trim());
    Some(if target.is_absolute() {
        target
    } else {
        folder.join(target)
    })
}

fn small_file(path: &Path) -> Option<String> {
    // Looked at first, and opened without waiting: a FIFO has no end, and opening one has none either.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let file = files::open_at_once(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn reads_branch_detached_head_worktree_and_what_is_going_on() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("p");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join("sub/deep")).unwrap();
        let head = |text: &str| fs::write(project.join(".git/HEAD"), text).unwrap();
        head("ref: refs/heads/chart-axis\n");
        let on = |branch: &str| GitState {
            branch: branch.to_owned(),
            going_on: None,
        };
        assert_eq!(state(&project), Some(on("chart-axis")));
        assert_eq!(
            state(&project.join("sub/deep")),
            Some(on("chart-axis")),
            "a folder within a repository"
        );
        fs::write(project.join(".git/MERGE_HEAD"), "x").unwrap();
        assert_eq!(state(&project).unwrap().going_on, Some("merging"));
        head("0123456789abcdef0123456789abcdef01234567\n");
        assert_eq!(state(&project).unwrap().branch, "01234567");
        head("<html>");
        assert_eq!(state(&project), None);
        let worktree = temp.path().join("w");
        fs::create_dir_all(&worktree).unwrap();
        fs::write(worktree.join(".git"), "gitdir: ../p/.git\n").unwrap();
        head("ref: refs/heads/main\n");
        assert_eq!(state(&worktree).unwrap().branch, "main");
        assert_eq!(state(temp.path()), None, "no git here");
    }

    #[test]
    fn g01_a_fifo_or_a_huge_head_is_not_read() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join(".git/HEAD")).unwrap();
        assert_eq!(state(temp.path()), None);
    }
}
