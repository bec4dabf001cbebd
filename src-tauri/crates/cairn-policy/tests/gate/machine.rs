//! A machine that is only described, for tests and figures.

use std::path::{Component, Path, PathBuf};

use cairn_policy::{Found, RealKind, RealPath, Repository, Surroundings};

/// A machine without surprises, for tests and figures: these programs in `/usr/bin`, files as they are named, no
/// links, no repository's own configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainMachine {
    /// Names that start something.
    pub(crate) programs: Option<Vec<String>>,
    /// Folders that are there.
    pub(crate) folders: Vec<PathBuf>,
    /// Files that are there; what is neither is missing.
    pub(crate) files: Vec<PathBuf>,
    /// Paths that are links, and where they lead.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Programs that are found inside the project.
    pub(crate) shadowed: Vec<(String, PathBuf)>,
    /// What git would run.
    pub(crate) repository: Option<Repository>,
}

impl Surroundings for PlainMachine {
    fn program(&self, name: &str) -> Option<Found> {
        if let Some((_, path)) = self.shadowed.iter().find(|(shadowed, _)| shadowed == name) {
            return Some(Found::Program(path.clone()));
        }
        let there = self
            .programs
            .as_ref()
            .is_none_or(|names| names.iter().any(|known| known == name));
        Some(if there {
            Found::Program(Path::new("/usr/bin").join(name))
        } else {
            Found::Missing
        })
    }

    fn real(&self, path: &Path) -> Option<RealPath> {
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => {
                    real.pop();
                }
                Component::CurDir => {}
                part => real.push(part),
            }
            if let Some((_, to)) = self.links.iter().find(|(link, _)| *link == real) {
                real.clone_from(to);
            }
        }
        let kind = if self.folders.contains(&real) {
            RealKind::Folder
        } else if self.files.contains(&real) {
            RealKind::File
        } else {
            RealKind::Missing
        };
        Some(RealPath {
            path: real,
            kind,
            links: u64::from(kind == RealKind::File),
        })
    }

    fn repository(&self, _folder: &Path) -> Option<Repository> {
        Some(
            self.repository
                .clone()
                .unwrap_or(Repository::Plain { hooks: Vec::new() }),
        )
    }
}
