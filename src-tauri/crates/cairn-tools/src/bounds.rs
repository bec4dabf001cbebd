//! What commands of a session are held in by: which folders they may change, what stays as it is, what they do not
//! see. SPEC P12.
//!
//! Owns: finding out, before each command, what the walls have to keep on this disk, and what appeared meanwhile that
//! must not stay. Must never know: how walls are built, or whether a command may run. Which names are credentials or
//! protected is the policy's alone, so that the file tools and the commands obey the same lists.

mod aside;
mod home;
mod look;
mod memory;
mod protected;
mod shared;
mod sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_exec::{Confinement, Layer, Network, Walls};
use cairn_policy::{Looked, Places, ReadBars, Sandbox};

pub use aside::Moved;
use memory::Memory;
pub use protected::Found;
use protected::Wanted;

/// Folders of a project that are looked at before each command. More would take longer than the command.
const FOLDERS: usize = 200_000;

/// Variables that name sockets which a command does not reach.
const SOCKETS: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
];

/// Caches that tools cannot do without, by the variable that moves them. The person's own stay readable and as they
/// are: what one command writes there would run in other projects and outside.
const CACHES: &[(&str, &str)] = &[
    ("BUN_INSTALL_CACHE_DIR", "bun"),
    ("CCACHE_DIR", "ccache"),
    ("GOCACHE", "go-build"),
    ("PIP_CACHE_DIR", "pip"),
    ("SCCACHE_DIR", "sccache"),
    ("UV_CACHE_DIR", "uv"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("npm_config_cache", "npm"),
    ("npm_config_store_dir", "pnpm"),
];

/// Stores of downloaded packages. The person's own is used until a command with the network has filled one of ours.
const STORES: &[(&str, &str)] = &[("CARGO_HOME", "cargo"), ("GOMODCACHE", "go-mod")];

/// Tells what rules bar from reading; asked anew for each command, because rules change.
#[derive(Clone)]
struct BarSource(Arc<dyn Fn() -> ReadBars + Send + Sync>);

impl std::fmt::Debug for BarSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BarSource")
    }
}

/// What holds the commands of one session in. Its private temporary folder goes with it.
#[derive(Debug)]
pub struct Bounds {
    layer: Layer,
    sandbox: Sandbox,
    places: Places,
    /// Caches of ours, which commands of this project share.
    caches: PathBuf,
    blank: PathBuf,
    aside: PathBuf,
    temporary: PathBuf,
    bars: BarSource,
    folders: usize,
    /// Sockets that commands made: others may reach them.
    sockets: Mutex<BTreeSet<PathBuf>>,
    memory: Mutex<Memory>,
    /// What the last look saw; none before the first.
    looked: Mutex<Option<Looked>>,
    /// What was there before each command that runs on in the background.
    watched: Mutex<BTreeMap<String, Found>>,
}

impl Bounds {
    /// Walls for commands of a project; none where nothing works. `folder` is what is kept for the project outside of
    /// it. Errors when private folders cannot be made: the person recovers by making room or giving rights.
    pub fn new(walls: &Walls, places: &Places, folder: &Path) -> std::io::Result<Option<Self>> {
        let Some(layer) = walls.layer.clone() else {
            return Ok(None);
        };
        let sandbox = match layer {
            Layer::Bubblewrap(_) => Sandbox::Enforced,
            Layer::Landlock => Sandbox::WithoutProtected,
            #[cfg(target_os = "macos")]
            Layer::Seatbelt => Sandbox::Enforced,
        };
        let make = |folder: &Path| {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
        };
        make(&folder.join("sandbox/caches"))?;
        let folder = folder.canonicalize()?;
        let blank = folder.join("sandbox/blank");
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o0)
            .open(&blank)
            .map(|_| ())
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            })?;
        Ok(Some(Self {
            layer,
            sandbox,
            places: places.clone(),
            caches: folder.join("sandbox/caches"),
            blank,
            aside: folder.join("aside"),
            temporary: private_temporary_folder()?,
            bars: BarSource(Arc::new(ReadBars::default)),
            folders: FOLDERS,
            sockets: Mutex::default(),
            memory: Mutex::default(),
            looked: Mutex::default(),
            watched: Mutex::default(),
        }))
    }

    /// The same with somebody who knows what the person's rules bar from reading: no command reads it either. Asked
    /// before each command; must not take long.
    #[must_use]
    pub fn with_bars(mut self, bars: impl Fn() -> ReadBars + Send + Sync + 'static) -> Self {
        self.bars = BarSource(Arc::new(bars));
        self
    }

    /// The same with another number of folders of the project that are looked at.
    #[must_use]
    pub fn looking_at(mut self, folders: usize) -> Self {
        self.folders = folders;
        self
    }

    /// What the gate may count on.
    pub fn sandbox(&self) -> Sandbox {
        self.sandbox
    }

    /// Whether all of the project can be looked through for what walls have to keep and hide, as far as the last look
    /// saw. Looks at the disk the first time: to be called on a blocking thread.
    pub fn looked(&self) -> Looked {
        let known = lock(&self.looked).clone();
        known.unwrap_or_else(|| self.look((self.bars.0)()).looked)
    }

    fn look(&self, bars: ReadBars) -> Found {
        let wanted = Wanted {
            bars: Arc::new(bars),
            folders: self.folders,
        };
        self.look_for(wanted)
    }

    fn look_for(&self, wanted: Wanted) -> Found {
        // Two looks at once are rare: the second reads everything.
        let mut memory = std::mem::take(&mut *lock(&self.memory));
        let mut found = Found::look(&self.places.root, wanted, &mut memory);
        *lock(&self.memory) = memory;
        // Rules alone keep and hide nothing inside the project, and the session knows: nothing more is missing.
        if self.sandbox == Sandbox::WithoutProtected {
            found.looked = Looked::Whole;
        }
        *lock(&self.looked) = Some(found.looked.clone());
        found
    }

    /// The walls for a command that begins now, and what was there before it. Looks at the disk: to be called on a
    /// blocking thread.
    pub fn around_command(&self, network: Network) -> (Confinement, Found) {
        let found = self.look((self.bars.0)());
        let mut hidden = home::credentials(&self.places);
        hidden.extend(self.places.own.iter().cloned());
        hidden.extend(found.hidden.iter().cloned());
        let mut listening = sockets::told_otherwise();
        // What commands make in their own temporary folder is theirs.
        listening.retain(|path| !path.starts_with(&self.temporary));
        listening.extend(found.sockets.iter().cloned());
        hidden.extend(listening.difference(&lock(&self.sockets)).cloned());
        let kept = found.kept.union(&found.shut).cloned().collect();
        let mut writable = vec![self.places.root.clone(), self.caches.clone()];
        writable.extend(found.shared.clone());
        writable.extend(self.ways_to(&hidden));
        let walls = Confinement {
            layer: self.layer.clone(),
            writable,
            kept,
            hidden,
            temporary: self.temporary.clone(),
            blank: self.blank.clone(),
            network,
        };
        (walls, found)
    }

    /// The folders of the project around what is hidden in it. Each is put up by itself, so that none can be moved: under
    /// another name the next command might find what it holds, and nothing would hide it.
    fn ways_to(&self, hidden: &[PathBuf]) -> BTreeSet<PathBuf> {
        let root = &self.places.root;
        let inside = hidden
            .iter()
            .filter(|path| path.starts_with(root) && *path != root);
        inside
            .flat_map(|path| path.ancestors().skip(1).take_while(move |folder| *folder != root))
            .map(Path::to_owned)
            .collect()
    }

    /// The environment of a command within these walls, made of the one that commands get.
    pub fn environment(&self, given: &[(OsString, OsString)], network: Network) -> Vec<(OsString, OsString)> {
        let mut set: Vec<(&str, PathBuf)> = Vec::new();
        let temporary = match self.layer {
            Layer::Bubblewrap(_) => PathBuf::from("/tmp"),
            Layer::Landlock => self.temporary.clone(),
            #[cfg(target_os = "macos")]
            Layer::Seatbelt => self.temporary.clone(),
        };
        set.extend(["TEMP", "TMP", "TMPDIR"].map(|name| (name, temporary.clone())));
        set.extend(
            CACHES
                .iter()
                .map(|(name, folder)| (*name, self.caches.join(folder))),
        );
        for (name, folder) in STORES {
            let ours = self.caches.join(folder);
            if network == Network::On || ours.is_dir() {
                set.push((name, ours));
            }
        }
        let replaced = |name: &OsString| {
            SOCKETS.iter().any(|socket| name == socket) || set.iter().any(|(other, _)| name == other)
        };
        let mut environment: Vec<_> = given
            .iter()
            .filter(|(name, _)| !replaced(name))
            .cloned()
            .collect();
        environment.extend(set.into_iter().map(|(name, path)| (name.into(), path.into())));
        environment.sort();
        environment
    }

    /// Takes out of the project what appeared since that must not: protected files that no command may make. Looks at
    /// the disk: to be called on a blocking thread. `known` says whether one of our own tools made a file.
    pub fn set_aside(&self, before: &Found, known: &dyn Fn(&Path) -> bool) -> Vec<Moved> {
        let now = self.look_for(before.wanted.clone());
        let made = now.sockets.difference(&before.sockets).cloned();
        lock(&self.sockets).extend(made);
        let new = now
            .kept
            .difference(&before.kept)
            .chain(now.links.difference(&before.links));
        let mut new: Vec<_> = new
            .filter(|path| !known(path) && !protected::is_harmless_repository(path, before))
            .cloned()
            .collect();
        let elsewhere: Vec<_> = new
            .extract_if(.., |path| !path.starts_with(&self.places.root))
            .collect();
        let mut moved = aside::move_out(&self.places.root, &self.aside, &new);
        moved.extend(self.set_aside_elsewhere(before, elsewhere));
        moved
    }

    /// The same for the repository that a worktree shares with others, which may be written. The worktrees that others
    /// make there meanwhile are theirs.
    fn set_aside_elsewhere(&self, before: &Found, mut new: Vec<PathBuf>) -> Vec<Moved> {
        let Some(common) = &before.shared else {
            return Vec::new();
        };
        let worktrees = common.join("worktrees");
        let is_anew = |path: &PathBuf| {
            let beneath = path.strip_prefix(&worktrees).ok()?;
            let own = worktrees.join(beneath.iter().next()?);
            Some(!before.kept.iter().any(|kept| kept.starts_with(&own)))
        };
        new.retain(|path| path.starts_with(common) && is_anew(path) != Some(true));
        let out = aside::move_out(common, &self.aside, &new);
        out.into_iter()
            .map(|one| Moved {
                from: common.join(one.from),
                ..one
            })
            .collect()
    }
}

impl Bounds {
    /// A command runs on in the background; `found` is what was there before it.
    pub fn watch(&self, handle: &str, found: Found) {
        lock(&self.watched).insert(handle.to_owned(), found);
    }

    /// As [`Bounds::set_aside`], for all that run in the background; `runs` says which still do.
    pub fn check_watched(&self, known: &dyn Fn(&Path) -> bool, runs: &dyn Fn(&str) -> bool) -> Vec<Moved> {
        let watched = lock(&self.watched).clone();
        let mut moved = Vec::new();
        for (handle, found) in watched {
            let over = !runs(&handle);
            moved.extend(self.set_aside(&found, known));
            if over {
                lock(&self.watched).remove(&handle);
            }
        }
        moved
    }
}

/// Every change made under a lock here is whole.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Bounds {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.temporary) {
            tracing::debug!(%error, "a temporary folder was not removed");
        }
    }
}

/// A folder of a name that nobody can take beforehand.
fn private_temporary_folder() -> std::io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    let name = format!(
        "cairn-{:016x}-{}",
        u64::from_ne_bytes(bytes),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let folder = std::env::temp_dir().canonicalize()?.join(name);
    std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests;
