//! Which files of the home folder hold credentials. Must never know: what the walls make of them.

use std::path::{Path, PathBuf};

use cairn_policy::{Places, credential_places, is_credential};

/// Folders of a home folder whose entries are looked at one by one.
const LOOKED_INTO: &[&str] = &["", ".config"];

/// Sockets of programs that start others, beneath the home folder.
const SOCKETS: &[&str] = &[".colima", ".lima", ".rd", ".orbstack"];

/// Entries of a folder that are looked at.
const ENTRIES: usize = 5_000;

/// What of the home folder no command reads, and sockets there that would lead outside.
pub(super) fn credentials(places: &Places) -> Vec<PathBuf> {
    let Some(home) = &places.home else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = credential_places()
        .iter()
        .filter_map(|place| beneath(home, place))
        .chain(SOCKETS.iter().map(|name| home.join(name)))
        .collect();
    for folder in LOOKED_INTO {
        let folder = home.join(folder);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        let names = entries.flatten().take(ENTRIES).map(|entry| entry.file_name());
        found.extend(
            names
                .filter(|name| is_credential(Path::new(name)))
                .map(|name| folder.join(name)),
        );
    }
    found.retain(|path| path.symlink_metadata().is_ok() && !places.root.starts_with(path));
    // A link is followed to what it stands for: the content is what counts.
    let mut found: Vec<PathBuf> = found.iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.retain(|path| !home.starts_with(path));
    found.sort();
    found.dedup();
    found
}

/// The entry of that name beneath a folder, whatever the case of its letters.
fn beneath(folder: &Path, names: &Path) -> Option<PathBuf> {
    let mut at = folder.to_owned();
    for name in names {
        let exact = at.join(name);
        if exact.symlink_metadata().is_ok() {
            at = exact;
            continue;
        }
        let wanted = name.to_string_lossy();
        let entries = std::fs::read_dir(&at).ok()?.flatten().take(ENTRIES);
        let entry = entries
            .map(|entry| entry.file_name())
            .find(|name| name.to_string_lossy().to_lowercase() == wanted)?;
        at = at.join(entry);
    }
    Some(at)
}
