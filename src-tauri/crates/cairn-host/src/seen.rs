//! What a session has seen of the project's files, kept so that it survives a restart. SPEC T20.
//!
//! Kept after each tool call, whole or not at all. Losing it only makes the model read again, so it is not synced.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cairn_files::coverage::Coverage;
use cairn_protocol::SessionId;
use cairn_tools::place::Workspace;

/// Larger files than this are not read back: they would cost more than reading the project's files again.
const MOST: u64 = 32 * 1024 * 1024;

/// The file that keeps one session's coverage.
#[derive(Clone, Debug)]
pub(crate) struct SeenFiles {
    path: PathBuf,
    kept: Arc<Mutex<Coverage>>,
}

impl SeenFiles {
    /// The file of a session in its project's folder.
    pub(crate) fn new(project: &Path, session: &SessionId) -> Self {
        let path = project.join("seen").join(format!("{session}.json"));
        Self {
            path,
            kept: Arc::default(),
        }
    }

    /// What was kept; nothing when there is none or it cannot be read.
    pub(crate) fn load(&self) -> Coverage {
        let small = std::fs::metadata(&self.path).is_ok_and(|kind| kind.is_file() && kind.len() <= MOST);
        let text = small.then(|| std::fs::read(&self.path).ok()).flatten();
        let coverage: Coverage = text
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = coverage.clone();
        coverage
    }

    /// Forgets what was kept: the session is deleted.
    pub(crate) fn forget(&self) {
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "what a deleted session had seen of the project's files stays");
        }
    }

    /// Keeps what the session has seen by now, if that has changed.
    pub(crate) fn keep(&self, workspace: &Workspace) {
        let now = workspace.coverage().clone();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if *kept == now {
            return;
        }
        let written = serde_json::to_string(&now)
            .map_err(|error| error.to_string())
            .and_then(|text| {
                crate::files::write_private_unsynced(&self.path, &text).map_err(|error| error.message)
            });
        match written {
            Ok(()) => *kept = now,
            Err(error) => tracing::warn!(error, "what was seen of the project's files is not kept"),
        }
    }
}

#[cfg(test)]
mod tests {
    use cairn_files::Root;

    use super::*;

    #[test]
    fn t20_coverage_survives_a_restart_and_a_broken_file_is_as_good_as_none() {
        let project = tempfile::tempdir().unwrap();
        let data = tempfile::tempdir().unwrap();
        let root = Arc::new(Root::open(project.path()).unwrap());
        let workspace = Workspace::new(root, Vec::new());
        workspace
            .coverage()
            .note_whole(&project.path().join("a.rs"), "hash", 3);
        let seen = SeenFiles::new(data.path(), &"s1".into());
        seen.keep(&workspace);
        let again = SeenFiles::new(data.path(), &"s1".into());
        assert_eq!(again.load(), *workspace.coverage());
        assert_eq!(
            SeenFiles::new(data.path(), &"s2".into()).load(),
            Coverage::default()
        );
        std::fs::write(data.path().join("seen/s1.json"), "{").unwrap();
        assert_eq!(again.load(), Coverage::default());
    }
}
