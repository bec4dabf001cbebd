//! Whether the rules of a project changed since they were last read, whoever changed them. Case T16.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cairn_policy::RuleSet;

use crate::host::Host;
use crate::project::{OWN_CONFIG, Project};

/// Looks at the files that rules come from. A few looks cost a few microseconds; the files are read only when one of
/// them is another.
pub(crate) struct RulesWatch {
    host: Weak<Host>,
    project: Arc<Project>,
    files: [PathBuf; 3],
    seen: Mutex<Option<Seen>>,
}

/// How the files were, and what was read then.
struct Seen {
    marks: [Option<Mark>; 3],
    /// Trust hangs on more files than these, so rules that need it are looked at each time.
    needs_trust: bool,
}

type Mark = (i64, i64, u64, u64);

impl RulesWatch {
    pub(crate) fn new(host: &Arc<Host>, project: &Arc<Project>) -> Self {
        Self {
            files: [
                host.rules_file(project),
                host.trust_file(project),
                project.path().join(OWN_CONFIG),
            ],
            host: Arc::downgrade(host),
            project: project.clone(),
            seen: Mutex::default(),
        }
    }

    /// All rules of the project, where they may be others than at the last ask.
    pub(crate) fn changed(&self) -> Option<RuleSet> {
        let host = self.host.upgrade()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Before they are read: what changes while they are is read again the next time.
        let marks = self.files.each_ref().map(|file| mark(file));
        if seen
            .as_ref()
            .is_some_and(|seen| seen.marks == marks && !seen.needs_trust)
        {
            return None;
        }
        let rules = host.rules_of(&self.project);
        let needs_trust = rules
            .allow
            .iter()
            .any(|granted| granted.origin == cairn_policy::RuleOrigin::Project);
        *seen = Some(Seen { marks, needs_trust });
        Some(rules)
    }
}

fn mark(file: &Path) -> Option<Mark> {
    let kind = file.metadata().ok()?;
    Some((kind.ctime(), kind.ctime_nsec(), kind.size(), kind.ino()))
}
