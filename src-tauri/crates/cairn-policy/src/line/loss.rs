//! What a command loses for good. Case G14, SPEC T23.

use super::programs::base_name;

/// What kind of thing is lost; decides whether a saved line may cover it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// Work or history in git: asks every time, and `--approve all` does not cover it.
    Git,
    /// Files or devices.
    Files,
}

/// What a command line would lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// What kind of thing.
    pub kind: LossKind,
    /// A sentence for the card.
    pub sentence: &'static str,
}

/// The first loss among the commands, git's before others because it binds more.
pub(super) fn of<'a>(commands: impl Iterator<Item = &'a [String]>) -> Option<Loss> {
    let mut files = None;
    for command in commands {
        let Some((program, arguments)) = command.split_first() else {
            continue;
        };
        let name = base_name(program);
        if let Some(sentence) = of_git(&name, arguments) {
            return Some(Loss {
                kind: LossKind::Git,
                sentence,
            });
        }
        files = files.or_else(|| of_files(&name, arguments));
    }
    files.map(|sentence| Loss {
        kind: LossKind::Files,
        sentence,
    })
}

fn of_files(program: &str, arguments: &[String]) -> Option<&'static str> {
    let has = |options: &[&str]| has_option(arguments, options);
    match program {
        "rm" if has(&["-r", "-R", "--recursive"]) => Some("Whole folders are deleted for good."),
        "rm" | "unlink" if !arguments.is_empty() => Some("Files are deleted for good."),
        "rmdir" | "del" | "erase" | "rd" | "remove-item" if !arguments.is_empty() => {
            Some("Files are deleted for good.")
        }
        "find" | "fd" if has(&["-delete"]) => Some("All files it finds are deleted for good."),
        "rsync" if arguments.iter().any(|a| a.starts_with("--delete")) => {
            Some("Files missing at the source are deleted at the target.")
        }
        "shred" | "srm" | "wipe" => Some("Files are overwritten and cannot be brought back."),
        "truncate" => Some("What is cut off a file is lost."),
        "dd" if arguments.iter().any(|a| a.starts_with("of=")) => Some("What it writes over is lost."),
        name if name.starts_with("mkfs") || matches!(name, "wipefs" | "blkdiscard" | "fdisk" | "parted") => {
            Some("All data on that device is lost.")
        }
        _ => None,
    }
}

/// Options of git itself that take the next word.
const GIT_TAKES_WORD: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--super-prefix",
];

fn of_git(program: &str, arguments: &[String]) -> Option<&'static str> {
    if program != "git" {
        return None;
    }
    let mut rest = arguments;
    while let Some((option, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        let taken = usize::from(GIT_TAKES_WORD.contains(&option.as_str()));
        rest = after.get(taken..).unwrap_or_default();
    }
    let (command, arguments) = rest.split_first()?;
    of_git_command(command, arguments)
}

fn of_git_command(command: &str, arguments: &[String]) -> Option<&'static str> {
    let has = |options: &[&str]| has_option(arguments, options);
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    let forced_ref = arguments
        .iter()
        .any(|a| a.starts_with('+') || (a.starts_with(':') && a.len() > 1));
    match command {
        "reset" if has(&["--hard", "--merge", "--keep"]) => Some("Uncommitted changes are lost."),
        "clean" if !has(&["-n", "--dry-run"]) => Some("Untracked files are deleted for good."),
        "push"
            if forced_ref
                || has(&[
                    "-f",
                    "--force",
                    "--force-with-lease",
                    "--force-if-includes",
                    "--mirror",
                    "--delete",
                    "-d",
                    "--prune",
                ]) =>
        {
            Some("Commits or branches on the server are overwritten or deleted.")
        }
        "checkout"
            if has(&["-f", "--force", "--", "-p", "--patch", "-B", "--ours", "--theirs"])
                || arguments.iter().any(|a| looks_like_path(a)) =>
        {
            Some("Uncommitted changes in those files are lost.")
        }
        "switch" if has(&["-f", "--force", "--discard-changes", "-C", "--force-create"]) => {
            Some("Uncommitted changes are lost.")
        }
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
            Some("Uncommitted changes in those files are lost.")
        }
        "branch" if has(&["-D", "-M", "-C", "-f", "--force"]) => {
            Some("Commits that only this branch holds are lost.")
        }
        "branch" if has(&["-d", "--delete"]) => Some("The branch is deleted."),
        "tag" if has(&["-d", "--delete", "-f", "--force"]) => Some("The tag is deleted or moved."),
        "stash" if matches!(first, "drop" | "clear" | "pop") => {
            Some("The stashed changes are removed from the stash.")
        }
        "commit" if has(&["--amend"]) => Some("The last commit is replaced: history is rewritten."),
        "rebase" | "filter-branch" | "filter-repo" | "replace" => Some("History is rewritten."),
        "pull" if has(&["--rebase", "-r", "-f", "--force"]) => Some("History is rewritten."),
        "reflog" if matches!(first, "expire" | "delete") => {
            Some("The record that lost commits are found by is deleted.")
        }
        "gc" if has(&["--prune"]) => Some("Commits that nothing points to are deleted for good."),
        "prune" => Some("Commits that nothing points to are deleted for good."),
        "update-ref" => Some("A branch is moved or deleted without a check."),
        "worktree" if first == "remove" || first == "prune" => {
            Some("A worktree and what is uncommitted in it are deleted.")
        }
        "submodule" if first == "deinit" => Some("Changes in the submodule are lost."),
        "rm" if !has(&["--cached", "-n", "--dry-run"]) => Some("Files are deleted."),
        "read-tree" if has(&["-u", "--reset"]) => Some("Uncommitted changes are lost."),
        "checkout-index" if has(&["-f", "--force"]) => Some("Uncommitted changes are lost."),
        _ => None,
    }
}

/// Whether one of the options is there: alone, with `=value`, as a letter of a cluster, or as an abbreviation that git
/// accepts (`--har`, `--forc`).
fn has_option(arguments: &[String], options: &[&str]) -> bool {
    let is = |argument: &str, option: &str| {
        let bare = argument.split('=').next().unwrap_or_default();
        if bare == option {
            return true;
        }
        match (bare.strip_prefix("--"), option.strip_prefix("--")) {
            (Some(have), Some(want)) => have.len() >= 3 && want.starts_with(have),
            (None, None) => {
                let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
                let cluster = bare
                    .strip_prefix('-')
                    .filter(|letters| letters.bytes().all(|b| b.is_ascii_alphabetic()));
                matches!((letter, cluster), (Some(letter), Some(cluster)) if cluster.contains(letter))
            }
            _ => false,
        }
    };
    arguments
        .iter()
        .any(|argument| options.iter().any(|option| is(argument, option)))
}

/// `git checkout .` and `git checkout src/a.rs` throw changes away; a branch may look like the latter, and then the
/// card says too much rather than too little.
fn looks_like_path(argument: &str) -> bool {
    matches!(argument, "." | "..")
        || argument.starts_with("./")
        || argument.starts_with("../")
        || argument.starts_with(':')
        || argument.contains(['*', '?'])
        || argument.rsplit('/').next().is_some_and(|last| {
            last.rsplit_once('.').is_some_and(|(stem, end)| {
                !stem.is_empty()
                    && (1..=4).contains(&end.len())
                    && end.bytes().any(|b| b.is_ascii_alphabetic())
            })
        })
}
