//! The repository that a project shares with others as a worktree of it. Must never know: what the walls make of it.

use std::path::{Path, PathBuf};

use super::protected::GIT;

/// Where the project is a worktree of a repository elsewhere: that repository, which a commit has to write to. Only
/// where it names the project as a worktree of its own: what a file in the project says is not enough.
pub(super) fn repository(root: &Path) -> Option<PathBuf> {
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
    Some(common)
}
