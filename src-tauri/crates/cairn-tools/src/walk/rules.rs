//! Which entries ignore rules leave out, from the top of the tree down.
//!
//! Owns: the order in which rules count and how far each reaches; it is that of ripgrep, whose matcher of single rules
//! is used. Must never know: threads, or what an entry is met for.

mod load;

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_files::Root;
use cairn_files::folder::{Entry, Folder};
use ignore::Match;
use ignore::gitignore::{Gitignore, gitconfig_excludes_path};

use super::Scope;
use load::Source;

/// git's own store, or the file that says where it lies.
pub(super) const GIT: &CStr = c".git";
/// The store of a tool that stands beside git.
const JJ: &CStr = c".jj";
/// Our own ignore file, the strongest.
const OWN: &CStr = c".cairnignore";
/// What searching tools share.
const PLAIN: &CStr = c".ignore";
/// What git obeys.
const GIT_IGNORE: &CStr = c".gitignore";

/// Those names that matter to rules and what has them in one folder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct There {
    git: Option<Entry>,
    jj: Option<Entry>,
    own: Option<Entry>,
    plain: Option<Entry>,
    git_ignore: Option<Entry>,
}

impl There {
    /// Remembers an entry of the folder if it matters.
    pub(super) fn note(&mut self, name: &CStr, kind: Entry) {
        if name.to_bytes().first() != Some(&b'.') || kind == Entry::Other {
            return;
        }
        for (known, slot) in self.slots() {
            if name == known {
                *slot = Some(kind);
            }
        }
    }

    /// Asks for each of them, in a folder that is not listed.
    fn ask(folder: &Folder) -> Self {
        let mut there = Self::default();
        for (known, slot) in there.slots() {
            *slot = Some(folder.entry(known)).filter(|kind| *kind != Entry::Other);
        }
        there
    }

    fn slots(&mut self) -> [(&'static CStr, &mut Option<Entry>); 5] {
        [
            (GIT, &mut self.git),
            (JJ, &mut self.jj),
            (OWN, &mut self.own),
            (PLAIN, &mut self.plain),
            (GIT_IGNORE, &mut self.git_ignore),
        ]
    }
}

/// The rules that hold in one folder. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// The nearest folder with rules of its own.
    nearest: Option<Arc<Level>>,
    all: Arc<All>,
}

/// What holds for the whole walk.
#[derive(Debug)]
struct All {
    base: PathBuf,
    hidden: bool,
    ignored: bool,
    /// git's rules count only inside a repository, as git has it.
    repository: bool,
    /// The user's rules for all repositories.
    global: Gitignore,
}

/// The rules of one folder.
#[derive(Debug)]
struct Level {
    above: Option<Arc<Level>>,
    own: Gitignore,
    plain: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// A repository begins here: git's rules from above end.
    begins: bool,
    /// A repository begins here or above.
    inside: bool,
}

impl Rules {
    /// The rules that hold at the base of a scope, and how many rule files could not be read.
    ///
    /// Inside a git repository the rules of the folders above count, git's own up to the repository's root. Outside of
    /// one nothing above the project may have a say: a `.gitignore` with `*` in somebody's home folder would empty
    /// every search.
    pub(super) fn at(root: &Root, scope: &Scope) -> (Self, usize) {
        let Scope { base, project, .. } = scope;
        let repository = base.ancestors().any(|folder| folder.join(".git").exists());
        let global = if scope.ignored {
            Gitignore::empty()
        } else {
            gitconfig_excludes_path().map_or_else(Gitignore::empty, |path| load::global(root, project, &path))
        };
        let none = Self {
            nearest: None,
            all: Arc::new(All {
                base: base.clone(),
                hidden: scope.hidden,
                ignored: scope.ignored,
                repository,
                global,
            }),
        };
        if scope.ignored || !(repository || base.starts_with(project)) {
            return (none, 0);
        }
        let mut above: Vec<&Path> = base
            .ancestors()
            .skip(1)
            .take_while(|folder| repository || folder.starts_with(project))
            .collect();
        above.reverse();
        none.down(root, &above)
    }

    /// Goes down from folder to folder to the base. Where a rule leaves out one on the way, the base was named and is
    /// meant: the rules above it do not count then.
    fn down(&self, root: &Root, above: &[&Path]) -> (Self, usize) {
        let mut rules = self.clone();
        let mut failed = 0;
        for (index, folder) in above.iter().enumerate() {
            // A folder that may not even be passed through has no rules that could be read.
            if let Ok(handle) = root.passage(folder) {
                let (next, unread) = rules.enter(root, &handle, folder, &There::ask(&handle));
                rules = next;
                failed += unread;
            }
            let below = above.get(index + 1).copied().unwrap_or(&self.all.base);
            if !self.all.repository && rules.leaves_out_on_the_way(below) {
                return (self.clone(), failed);
            }
        }
        (rules, failed)
    }

    fn leaves_out_on_the_way(&self, folder: &Path) -> bool {
        use std::os::unix::ffi::OsStrExt as _;
        let name = folder.file_name().unwrap_or_default().as_bytes();
        name == GIT.to_bytes() || self.leaves_out(folder, name, Entry::Folder)
    }

    /// The rules for what is in a folder, given those for itself, and how many rule files in it could not be read.
    pub(super) fn enter(&self, root: &Root, folder: &Folder, path: &Path, there: &There) -> (Self, usize) {
        if self.all.ignored {
            return (self.clone(), 0);
        }
        let mut source = Source {
            root,
            folder,
            path,
            base: &self.all.base,
            failed: 0,
        };
        let begins = self.all.repository && (there.git.is_some() || there.jj.is_some());
        let level = Level {
            above: self.nearest.clone(),
            own: source.rules(OWN, there.own),
            plain: source.rules(PLAIN, there.plain),
            git: source.rules(GIT_IGNORE, there.git_ignore),
            exclude: source.exclude(there.git),
            begins,
            inside: begins || self.nearest.as_ref().is_some_and(|above| above.inside),
        };
        let failed = source.failed;
        if !begins
            && [&level.own, &level.plain, &level.git, &level.exclude]
                .iter()
                .all(|rules| rules.is_empty())
        {
            return (self.clone(), failed);
        }
        let rules = Self {
            nearest: Some(Arc::new(level)),
            all: Arc::clone(&self.all),
        };
        (rules, failed)
    }

    /// Whether neither hidden nor ignored files are to be left out.
    pub(super) fn wants_everything(&self) -> bool {
        self.all.hidden && self.all.ignored
    }

    /// Whether an entry is left out, by a rule or because it is hidden; a rule that keeps it also keeps a hidden one.
    pub(super) fn leave_out(&self, path: &Path, name: &CStr, kind: Entry) -> bool {
        self.leaves_out(path, name.to_bytes(), kind)
    }

    fn leaves_out(&self, path: &Path, name: &[u8], kind: Entry) -> bool {
        match self.verdict(path, kind == Entry::Folder) {
            Some(left_out) => left_out,
            None => !self.all.hidden && name.first() == Some(&b'.'),
        }
    }

    /// What the strongest rule that speaks of an entry says: true leaves it out, false keeps it. The nearest folder's
    /// word counts within one kind of file; between kinds it is ours, the shared one, git's, its store's, the user's.
    fn verdict(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let inside = !self.all.repository || self.nearest.as_ref().is_some_and(|nearest| nearest.inside);
        let (mut own, mut plain, mut git, mut exclude) = (None, None, None, None);
        let mut passed_root = false;
        let mut next = self.nearest.as_deref();
        while let Some(level) = next {
            own = own.or_else(|| says(&level.own, path, is_folder));
            plain = plain.or_else(|| says(&level.plain, path, is_folder));
            if inside && !passed_root {
                git = git.or_else(|| says(&level.git, path, is_folder));
                exclude = exclude.or_else(|| says(&level.exclude, path, is_folder));
            }
            passed_root |= level.begins;
            next = level.above.as_deref();
        }
        own.or(plain)
            .or(git)
            .or(exclude)
            .or_else(|| inside.then(|| says(&self.all.global, path, is_folder)).flatten())
    }
}

fn says(rules: &Gitignore, path: &Path, is_folder: bool) -> Option<bool> {
    match rules.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}
