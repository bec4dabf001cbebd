//! The repository behind a project, and whether its configuration is plain. Cases G02b, G11, G12.
//!
//! Git is not asked: it would read the configuration to tell. A line that is not on the list below, in a form that is
//! read here, makes the configuration a custom one; git's own grammar is never guessed at.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::place::RepositoryTrust;

/// A configuration larger than this is not read: it counts as custom.
const MOST: u64 = 262_144;
/// How many parents of the project are looked at for its repository.
const PARENTS: usize = 12;

/// Keys that run nothing, by section; `*` stands for any key.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "bare",
            "filemode",
            "repositoryformatversion",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "quotepath",
        ],
    ),
    ("remote", &["url", "fetch", "pushurl", "tagopt"]),
    ("branch", &["*"]),
    ("user", &["name", "email"]),
    ("submodule", &["url", "active"]),
    ("extensions", &["objectformat"]),
    ("pull", &["*"]),
    ("push", &["default", "autosetupremote"]),
    ("init", &["defaultbranch"]),
    ("advice", &["*"]),
    ("color", &["*"]),
];

/// A repository as it lies on the disk.
#[derive(Debug)]
pub(crate) struct Repository {
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_tree: PathBuf,
}

impl Repository {
    /// The repository that a folder belongs to: its own or a parent's.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        // The nearest `.git` decides, whatever it is: a parent's repository never answers for one that is not read here.
        let folder = folder
            .ancestors()
            .take(PARENTS)
            .find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
        let git = folder.join(".git");
        let git_dir = match std::fs::symlink_metadata(&git).ok()? {
            kind if kind.is_dir() => git,
            kind if kind.is_file() => {
                let target = small(&git)?;
                folder.join(target.strip_prefix("gitdir:")?.trim())
            }
            _ => return None,
        };
        let common_dir = match small(&git_dir.join("commondir")) {
            Some(text) => git_dir.join(text.trim()),
            None => git_dir.clone(),
        };
        Some(Self {
            git_dir,
            common_dir,
            work_tree: folder.to_owned(),
        })
    }

    /// What git would run by itself when a command starts it in that folder. It looks upwards itself, and takes a
    /// folder that is laid out like a repository for one. Case G12.
    pub(crate) fn for_the_gate(folder: &Path, trust: &RepositoryTrust) -> cairn_policy::Repository {
        let is_bare = |folder: &Path| {
            folder.join("HEAD").symlink_metadata().is_ok()
                && folder.join("objects").is_dir()
                && folder.join("refs").symlink_metadata().is_ok()
        };
        let own = folder
            .ancestors()
            .take_while(|folder| folder.join(".git").symlink_metadata().is_err());
        let mut looked_at = 0;
        for folder in own {
            looked_at += 1;
            if is_bare(folder) {
                return cairn_policy::Repository::Custom("a bare repository among the files".to_owned());
            }
        }
        let Some(repository) = Self::of(folder) else {
            // Nothing there, or something that was not understood.
            return if looked_at == folder.ancestors().count() {
                cairn_policy::Repository::None
            } else {
                cairn_policy::Repository::Custom("a .git that cannot be read".to_owned())
            };
        };
        let RepositoryTrust::Trusted { accepted } = trust else {
            return cairn_policy::Repository::Untrusted;
        };
        match repository.custom(accepted) {
            Some(line) => cairn_policy::Repository::Custom(line),
            None if super::index::may_hold_repositories(&repository.git_dir) => {
                cairn_policy::Repository::Custom("a repository inside it, which has its own".to_owned())
            }
            None => cairn_policy::Repository::Plain {
                hooks: repository.hooks(),
            },
        }
    }

    /// Names of the hooks that would run.
    fn hooks(&self) -> Vec<String> {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(entries) = std::fs::read_dir(self.common_dir.join("hooks")) else {
            return Vec::new();
        };
        let runs = |entry: &std::fs::DirEntry| {
            entry
                .path()
                .metadata()
                .is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
        };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(runs)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.ends_with(".sample"))
            .collect();
        names.sort();
        names
    }

    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    pub(super) fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// What is not plain about it and was not accepted, in a few words; none when git may read it unasked.
    pub(super) fn custom(&self, accepted: &[String]) -> Option<String> {
        let custom = self.all_custom();
        let unseen = |line: &String| !accepted.contains(line);
        custom.other.or_else(|| custom.lines.into_iter().find(unseen))
    }

    fn all_custom(&self) -> Custom {
        match self.configuration() {
            Ok(lines) => Custom { lines, other: None },
            Err(other) => Custom {
                lines: Vec::new(),
                other: Some(other),
            },
        }
    }

    /// The lines that are not plain, or what nobody can be shown whole.
    fn configuration(&self) -> Result<Vec<String>, String> {
        if let Some(lent) = self.lent() {
            return Err(lent);
        }
        for folder in [&self.git_dir, &self.common_dir] {
            let attributes = folder.join("info/attributes");
            if attributes.symlink_metadata().is_ok_and(|kind| kind.len() > 0) {
                return Err("info/attributes".to_owned());
            }
            if folder.join("config.worktree").symlink_metadata().is_ok() {
                return Err("config.worktree".to_owned());
            }
        }
        let config = self.common_dir.join("config");
        match small(&config) {
            Some(text) => not_plain(&text),
            None if config.symlink_metadata().is_ok() => {
                Err("a configuration that cannot be read".to_owned())
            }
            None => Ok(Vec::new()),
        }
    }
}

/// What of a repository's configuration may run something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Custom {
    /// Lines of its configuration, each with its section, as in `[core] fsmonitor = ./x`.
    pub lines: Vec<String>,
    /// What cannot be shown line by line, and so can never be accepted: a file that is included, attributes, a
    /// repository that is really another's.
    pub other: Option<String>,
}

/// What of the configuration of the repository behind a folder is not plain; none where there is no repository. Runs no
/// git.
pub fn custom_lines(folder: &Path) -> Option<Custom> {
    Repository::of(folder).map(|repository| repository.all_custom())
}

impl Repository {
    /// What of it is really another repository's, which the folder merely points at: reading it would show files
    /// that nobody gave this project. A work tree that its repository knows is its own. Case G11.
    fn lent(&self) -> Option<String> {
        let git = self.work_tree.join(".git");
        if self.git_dir != git {
            let known = small(&self.git_dir.join("gitdir"))
                .is_some_and(|text| is_same(&self.git_dir.join(text.trim()), &git))
                && self
                    .git_dir
                    .canonicalize()
                    .is_ok_and(|real| real.parent().is_some_and(|all| self.keeps_trees_in(all)));
            if !known {
                return Some(".git names a repository that does not know this folder".to_owned());
            }
        } else if self.git_dir.join("commondir").symlink_metadata().is_ok() {
            return Some("commondir".to_owned());
        }
        let objects = self.common_dir.join("objects");
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|kind| kind.is_symlink());
        if is_link(&objects) {
            return Some("objects is a link".to_owned());
        }
        for lists in ["info/alternates", "info/http-alternates"] {
            if objects.join(lists).symlink_metadata().is_ok() {
                return Some(format!("objects/{lists}"));
            }
        }
        let inner = [&objects, &objects.join("pack"), &objects.join("info")];
        let links = inner.into_iter().filter_map(|folder| folder.read_dir().ok());
        links
            .flatten()
            .filter_map(Result::ok)
            .find(|entry| is_link(&entry.path()))
            .map(|entry| format!("{} in objects is a link", entry.file_name().to_string_lossy()))
    }

    fn keeps_trees_in(&self, folder: &Path) -> bool {
        is_same(&self.common_dir.join("worktrees"), folder)
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize()
        .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// The lines that are not known to be plain, each with the heading above it; an error where others are drawn in.
fn not_plain(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut section = None;
    let mut above = "";
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.contains('[') && line.to_ascii_lowercase().contains("include") {
            return Err(line.to_owned());
        }
        if let Some(name) = heading(line) {
            section = PLAIN.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
            above = line;
            continue;
        }
        let key = key_of(line);
        let known = key.zip(section).is_some_and(|(key, (_, keys))| {
            keys.iter()
                .any(|known| *known == "*" || key.eq_ignore_ascii_case(known))
        });
        if !known {
            found.push(format!("{above} {line}").trim().to_owned());
        }
    }
    Ok(found)
}

/// The section of `[name]` or `[name "sub"]`, alone on its line.
fn heading(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match inner.split_once(' ') {
        None if is_name(inner) => Some(inner),
        Some((name, sub)) if is_name(name) => {
            let sub = sub.trim().strip_prefix('"')?.strip_suffix('"')?;
            (!sub.contains(['"', '\\', '[', ']'])).then_some(name)
        }
        _ => None,
    }
}

/// The key of `key = value`. A value that goes on in the next line, or is quoted over its end, is not read.
fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (is_key && !value.contains(['\\', '"'])).then_some(key)
}

/// Text of a small regular file; no link is followed.
fn small(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = File::open(path).ok()?;
    let read = file.take(MOST + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= MOST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g02b_a_plain_configuration_is_what_git_itself_writes() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = git@x.example:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n; a comment\n[user]\n\tname = Ada\n";
        assert_eq!(not_plain(plain), Ok(Vec::new()));
    }

    #[test]
    fn g02b_everything_else_is_custom() {
        for line in [
            "[core]\n\tfsmonitor = x",
            "[core]\n\tFSMonitor = x",
            "[core] fsmonitor = x",
            "[core]\n\tbare = false \\\n\tfsmonitor = x",
            "[core]\n\tbare = \"false\n",
            "[core]\n\tsshCommand = x",
            "[core]\n\tbare",
            "[include]\n\tpath = x",
            "[includeIf \"gitdir:/\"]\n\tpath = x",
            "[filter \"y\"]\n\tclean = x",
            "[diff]\n\texternal = x",
            "[diff \"x\"]\n\ttextconv = x",
            "[alias]\n\tst = !x",
            "[extensions]\n\tworktreeConfig = true",
            "[remote \"origin\"]\n\tuploadpack = x",
            "[remote \"a\\\"]\n[core]\nfsmonitor=x",
            "[user]\n\tsigningkey = x",
            "fsmonitor = x",
            "[core.x]\n\tbare = true",
            "\u{feff}[core]\n\tbare = true",
        ] {
            assert_ne!(not_plain(line), Ok(Vec::new()), "{line}");
        }
    }

    #[test]
    fn g02b_each_line_is_listed_with_its_section_and_what_is_drawn_in_is_never_accepted() {
        let text = "[core]\n\tbare = false\n\tfsmonitor = ./x\n[filter \"y\"]\n\tclean = ./y\n\trequired\n";
        assert_eq!(
            not_plain(text).unwrap(),
            [
                "[core] fsmonitor = ./x",
                "[filter \"y\"] clean = ./y",
                "[filter \"y\"] required"
            ]
        );
        for drawn in [
            "[include]\n\tpath = x",
            "[includeIf \"gitdir:/\"]\npath=x",
            "[Include] path = x",
        ] {
            assert!(not_plain(drawn).is_err(), "{drawn}");
        }
    }

    #[test]
    fn g11_a_git_file_leads_to_where_git_itself_would_look() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().join("repo/.git");
        let tree = temp.path().join("tree");
        std::fs::create_dir_all(real.join("worktrees/tree")).unwrap();
        std::fs::create_dir_all(tree.join("src")).unwrap();
        std::fs::write(
            tree.join(".git"),
            format!("gitdir: {}\n", real.join("worktrees/tree").display()),
        )
        .unwrap();
        std::fs::write(real.join("worktrees/tree/commondir"), "../..\n").unwrap();
        std::fs::write(real.join("config"), "[core]\n\tbare = false\n").unwrap();
        let backwards = format!("{}\n", tree.join(".git").display());
        std::fs::write(real.join("worktrees/tree/gitdir"), backwards).unwrap();
        let found = Repository::of(&tree.join("src")).unwrap();
        assert_eq!(found.work_tree(), tree);
        assert_eq!(found.custom(&[]), None);
        std::fs::write(real.join("config"), "[core]\n\tfsmonitor = x\n").unwrap();
        let line = "[core] fsmonitor = x".to_owned();
        assert_eq!(found.custom(&[]), Some(line.clone()));
        assert_eq!(found.custom(&[line]), None, "the person saw it");
        std::fs::write(real.join("config"), "[core]\n\tbare = false\n").unwrap();
        std::fs::create_dir_all(real.join("info")).unwrap();
        std::fs::write(real.join("info/attributes"), "* filter=y\n").unwrap();
        let accepted = ["info/attributes".to_owned()];
        assert_eq!(found.custom(&accepted).as_deref(), Some("info/attributes"));
    }
}
