//! What the gate must know about the machine to judge a line: programs, paths, repositories.
//!
//! Owns: finding it out as the shell that runs the line will. Must never know: what the gate makes of it.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use cairn_files::Kind;
use cairn_policy::{Found, RealKind, RealPath, Repository, Surroundings};

use crate::git::Repository as GitRepository;
use crate::place::Workspace;

/// The machine as a command of that project will find it.
pub(crate) struct Machine<'a> {
    /// The project.
    pub(crate) workspace: &'a Workspace,
    /// The `PATH` that the command gets.
    pub(crate) path: &'a OsStr,
}

impl Surroundings for Machine<'_> {
    fn program(&self, name: &str) -> Option<Found> {
        for folder in std::env::split_paths(self.path).filter(|folder| folder.is_absolute()) {
            let file = folder.join(name);
            let runs = file
                .metadata()
                .is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0);
            if !runs {
                continue;
            }
            // A link inside the project leads where it is made to lead at any time: its own place counts.
            let here = folder.canonicalize().ok()?.join(name);
            if here.starts_with(self.workspace.root().path()) {
                return Some(Found::Program(here));
            }
            return file.canonicalize().ok().map(Found::Program);
        }
        Some(Found::Missing)
    }

    fn real(&self, path: &Path) -> Option<RealPath> {
        let found = self.workspace.root().resolve_path(path).ok()?;
        let links = match found.kind {
            Kind::File => found.real.symlink_metadata().ok()?.nlink(),
            _ => 0,
        };
        Some(RealPath {
            kind: match found.kind {
                Kind::Missing => RealKind::Missing,
                Kind::File => RealKind::File,
                Kind::Folder => RealKind::Folder,
                Kind::Special(_) => RealKind::Other,
            },
            path: found.real,
            links,
        })
    }

    fn repository(&self, folder: &Path) -> Option<Repository> {
        Some(GitRepository::for_the_gate(
            folder,
            &self.workspace.repository_trust(),
        ))
    }
}
