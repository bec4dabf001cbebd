//! Where a path lies and what is known of it: from the text a model wrote to effects the gate understands. SPEC T6.
//!
//! Owns: what all tools of one session share about files. Must never know: what the gate makes of an effect.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use cairn_agent::tool::ToolError;
use cairn_files::coverage::Coverage;
use cairn_files::{FileError, Resolved, Root};
use cairn_policy::{Effect, Places};

use crate::bounds::Bounds;
use crate::walk::{Met, Scope, Stop, Visit, walk_alone};

/// What git may do by itself in a project's repository. SPEC P11, W3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RepositoryTrust {
    /// Nothing: the person does not trust the folder.
    #[default]
    Untrusted,
    /// It may read, also where these lines of its configuration make it run something: the person saw them.
    Trusted {
        /// The lines, as [`crate::git::custom_lines`] lists them.
        accepted: Vec<String>,
    },
}

/// Tells what git may do now; asked anew for each call, because a folder changes and trust is withdrawn.
#[derive(Clone)]
struct TrustSource(Arc<dyn Fn() -> RepositoryTrust + Send + Sync>);

impl std::fmt::Debug for TrustSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TrustSource")
    }
}

/// Names remembered before the first command of a session; a larger project is remembered in part.
const NAMES_KEPT: usize = 300_000;

/// The project as the tools of one session share it.
#[derive(Debug)]
pub struct Workspace {
    root: Arc<Root>,
    places: Places,
    coverage: Mutex<Coverage>,
    existed: Mutex<HashSet<u64>>,
    names: Once,
    bounds: Option<Arc<Bounds>>,
    trust: TrustSource,
}

impl Workspace {
    /// The project with nothing seen of it yet, not trusted. `own` are Cairn's own folders, real paths.
    pub fn new(root: Arc<Root>, own: Vec<PathBuf>) -> Self {
        let home = root.home().and_then(|home| home.canonicalize().ok());
        let places = Places {
            root: root.path().to_owned(),
            home,
            own,
        };
        Self {
            root,
            places,
            coverage: Mutex::default(),
            existed: Mutex::default(),
            names: Once::new(),
            bounds: None,
            trust: TrustSource(Arc::new(RepositoryTrust::default)),
        }
    }

    /// The same with what holds commands in.
    #[must_use]
    pub fn with_bounds(mut self, bounds: Option<Arc<Bounds>>) -> Self {
        self.bounds = bounds;
        self
    }

    /// What holds commands in; none where nothing does.
    pub fn bounds(&self) -> Option<&Arc<Bounds>> {
        self.bounds.as_ref()
    }

    /// The same with somebody to ask whether the folder is trusted. Asked often; must not take long.
    #[must_use]
    pub fn with_trust(mut self, trust: impl Fn() -> RepositoryTrust + Send + Sync + 'static) -> Self {
        self.trust = TrustSource(Arc::new(trust));
        self
    }

    /// What git may do by itself right now.
    pub fn repository_trust(&self) -> RepositoryTrust {
        (self.trust.0)()
    }

    /// The same with what an earlier run of the session had seen.
    #[must_use]
    pub fn with_coverage(mut self, coverage: Coverage) -> Self {
        self.coverage = Mutex::new(coverage);
        self
    }

    /// The project folder.
    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// What paths are judged against.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// What the session has seen. Held only for a moment, never while a file is read or written.
    pub fn coverage(&self) -> MutexGuard<'_, Coverage> {
        // A panic elsewhere leaves at most a file too few in it.
        self.coverage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a path that the model wrote leads; the error names the project folder.
    pub fn resolve(&self, text: &str) -> Result<Resolved, ToolError> {
        let found = self.root.resolve(text).map_err(|error| self.explain(&error))?;
        if found.kind != cairn_files::Kind::Missing {
            self.note_existing(&found.real);
        }
        Ok(found)
    }

    /// An error about a file as the model is told it: with the folder that paths are relative to, where that helps.
    pub fn explain(&self, error: &FileError) -> ToolError {
        match error {
            FileError::Missing(_) | FileError::NotAFolder(_) => ToolError::new(format!(
                "{error}. Paths are relative to the project folder {}",
                cairn_files::name::to_text(self.root.path().as_os_str())
            )),
            _ => ToolError::new(error.to_string()),
        }
    }

    /// The effect of reading that file's content or searching that folder.
    pub fn reads(&self, real: &Path) -> Effect {
        self.places.read(real)
    }

    /// The effect of writing that file; `links` is its number of hard links, 0 for one that is not there.
    pub fn writes(&self, real: &Path, links: u64) -> Effect {
        self.places.write(real, links)
    }

    /// Remembers that something is there, so that it does not count as new once it has vanished.
    pub fn note_existing(&self, real: &Path) {
        self.existed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name_hash(real));
    }

    /// A tool took it away, after it had been seen and kept: what comes in its place is new.
    pub fn note_gone(&self, real: &Path) {
        self.existed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&name_hash(real));
    }

    /// Whether something was there at any time the session looked. SPEC T15.
    pub fn has_existed(&self, real: &Path) -> bool {
        self.existed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&name_hash(real))
    }

    /// Remembers every file of the project that is not ignored. To be called on a blocking thread before the first
    /// command runs: only commands can make files vanish behind the tools' backs. Later calls do nothing.
    pub fn note_names_before_command(&self) {
        self.names.call_once(|| {
            let scope = Scope {
                base: self.root.path().to_owned(),
                project: self.root.path().to_owned(),
                hidden: true,
                ignored: false,
                depth: None,
            };
            let stop = Stop::default();
            walk_alone(&self.root, &scope, &stop, &|| Names {
                workspace: self,
                left: NAMES_KEPT,
                stop: &stop,
            });
        });
    }
}

impl Drop for Workspace {
    /// The session ends: what its commands in the background made since the last look does not stay either.
    fn drop(&mut self) {
        if let Some(bounds) = &self.bounds {
            let moved = bounds.check_watched(&|path| self.coverage().saw_whole(path), &|_| false);
            for one in moved {
                tracing::info!(from = %one.from.display(), to = ?one.to, "a protected file was set aside");
            }
        }
    }
}

/// Remembers what is met, until it is enough.
struct Names<'a> {
    workspace: &'a Workspace,
    left: usize,
    stop: &'a Stop,
}

impl Names<'_> {
    fn note(&mut self, path: &Path) {
        self.workspace.note_existing(path);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.stop.set();
        }
    }
}

impl Visit for Names<'_> {
    fn visit(&mut self, met: &Met<'_>, _stop: &Stop) {
        self.note(met.path);
    }

    fn folder(&mut self, path: &Path) {
        self.note(path);
    }

    fn done(self) {}
}

/// Eight bytes instead of a path; two paths with the same ones are told as known, which only asks for care.
fn name_hash(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// Whether a path as it was written can only mean a folder: it ends with `/`, `.` or `..`.
pub(crate) fn names_folder(text: &str) -> bool {
    matches!(text.rsplit('/').next(), Some("" | "." | ".."))
}
