//! What must be known about the machine to judge a command line: which program a name starts, where a path leads,
//! what a repository makes git run.
//!
//! Owns: the questions, and the answers as values that a judgement can be repeated on. Must never know: how they are
//! found out; whoever runs commands implements [`Surroundings`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::study::Study;
use crate::{Place, Places, Sandbox};

/// What a name starts, looked for in the folders of the child's own `PATH`, in order, as its shell does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// That program, by its real path.
    Program(PathBuf),
    /// Nothing.
    Missing,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RealPath {
    /// All links resolved; a missing leaf through its nearest existing parent.
    pub path: PathBuf,
    /// What is there.
    pub kind: RealKind,
    /// Number of hard links of a file; 0 for what is not there.
    pub links: u64,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealKind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, socket or device.
    Other,
}

/// What git would run by itself in a folder. Cases G01 to G12.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Repository {
    /// There is none.
    None,
    /// Its configuration runs nothing; these of its hooks would run on a commit, merge, checkout or push.
    Plain {
        /// Names of the hooks, like `pre-commit`.
        hooks: Vec<String>,
    },
    /// Its configuration may run something: that line of it, or what cannot be read.
    Custom(String),
    /// The person does not trust the folder: git runs nothing of it unasked. SPEC P11.
    Untrusted,
}

/// Whether all of the project was looked through for what walls around a command have to keep or hide in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Looked {
    /// All of it, or there are no walls.
    #[default]
    Whole,
    /// Not all of it: why, a sentence for the person. What lies there is neither kept nor hidden. SPEC P12.
    InPart(String),
}

/// Answers about the machine. What cannot be found out is answered by none, and then the command asks.
pub trait Surroundings {
    /// What a bare name starts. Relative folders in `PATH` count as not there.
    fn program(&self, name: &str) -> Option<Found>;

    /// Where an absolute path leads, links followed one after the other as the kernel does.
    fn real(&self, path: &Path) -> Option<RealPath>;

    /// What git would run by itself in that folder.
    fn repository(&self, folder: &Path) -> Option<Repository>;
}

/// The answers that judging one line needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandFacts {
    programs: BTreeMap<String, Found>,
    paths: BTreeMap<PathBuf, RealPath>,
    repositories: BTreeMap<PathBuf, Repository>,
    looked: Looked,
}

impl CommandFacts {
    /// The same with what is known of the walls.
    #[must_use]
    pub fn with_looked(mut self, looked: Looked) -> Self {
        self.looked = looked;
        self
    }

    /// Whether the walls keep and hide all that they should.
    pub fn looked(&self) -> &Looked {
        &self.looked
    }

    /// What holds this command in where that holds the session's in.
    pub fn held_by(&self, sandbox: Sandbox) -> Sandbox {
        match (sandbox, &self.looked) {
            (Sandbox::Enforced, Looked::InPart(_)) => Sandbox::WithoutProtected,
            _ => sandbox,
        }
    }

    /// Asks all that judging `line` in `workdir` (a real path) will need.
    pub fn gather(line: &str, workdir: &Path, places: &Places, surroundings: &dyn Surroundings) -> Self {
        let recorder = Recorder {
            surroundings,
            facts: std::cell::RefCell::default(),
        };
        // Only what it asks matters here; the judgement is made again from the answers.
        let _study = Study::of(line, workdir, places, &recorder);
        recorder.facts.into_inner()
    }
}

impl Surroundings for CommandFacts {
    fn program(&self, name: &str) -> Option<Found> {
        self.programs.get(name).cloned()
    }

    fn real(&self, path: &Path) -> Option<RealPath> {
        self.paths.get(path).cloned()
    }

    fn repository(&self, folder: &Path) -> Option<Repository> {
        self.repositories.get(folder).cloned()
    }
}

/// Passes questions on and keeps the answers.
struct Recorder<'a> {
    surroundings: &'a dyn Surroundings,
    facts: std::cell::RefCell<CommandFacts>,
}

impl Surroundings for Recorder<'_> {
    fn program(&self, name: &str) -> Option<Found> {
        let found = self.surroundings.program(name)?;
        self.facts
            .borrow_mut()
            .programs
            .insert(name.to_owned(), found.clone());
        Some(found)
    }

    fn real(&self, path: &Path) -> Option<RealPath> {
        let real = self.surroundings.real(path)?;
        self.facts
            .borrow_mut()
            .paths
            .insert(path.to_owned(), real.clone());
        Some(real)
    }

    fn repository(&self, folder: &Path) -> Option<Repository> {
        let repository = self.surroundings.repository(folder)?;
        self.facts
            .borrow_mut()
            .repositories
            .insert(folder.to_owned(), repository.clone());
        Some(repository)
    }
}

/// Whether a program by name is the one the person means: found, and not inside the project.
pub(crate) fn is_outside_project(found: &Found, places: &Places) -> bool {
    matches!(found, Found::Program(path) if places.place(path) == Place::Outside)
}
