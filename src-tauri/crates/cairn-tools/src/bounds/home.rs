//! Which files of the home folder hold credentials. Must never know: what the walls make of them.

use std::collections::HashMap;
use std::ffi::OsString;
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
    let mut listed = Listed::new();
    let mut found: Vec<PathBuf> = credential_places()
        .iter()
        .flat_map(|place| beneath(home, place, &mut listed))
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

/// What of these names lies beneath a folder, whatever the case of its letters: there may be several.
fn beneath(folder: &Path, names: &Path, listed: &mut Listed) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for name in names {
        let wanted = name.to_string_lossy();
        found = found
            .iter()
            .flat_map(|folder| {
                let entries = listed.entry(folder.clone()).or_insert_with(|| entries(folder));
                let same = entries.iter().filter(|(_, folded)| *folded == wanted);
                same.map(|(name, _)| folder.join(name)).collect::<Vec<_>>()
            })
            .collect();
    }
    found
}

/// The entries of folders by their names and those in lower case, read once.
type Listed = HashMap<PathBuf, Vec<(OsString, String)>>;

fn entries(folder: &Path) -> Vec<(OsString, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.take(ENTRIES).map(|entry| entry.file_name());
    names
        .map(|name| {
            let folded = name.to_string_lossy().to_lowercase();
            (name, folded)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is hidden of a home folder with these files, by their names; the project lies in it at `root`.
    fn hidden(root: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in [
            ".ssh/id_ed25519",
            ".AWS/credentials",
            ".Config/GH/hosts.yml",
            ".netrc",
            "server.pem",
            ".config/some.key",
            ".config/plain",
            ".colima/default/docker.sock",
            "vault/gnupg/key",
            "notes",
            ".docker/projects/own/x",
        ] {
            let path = home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("vault/gnupg", home.join(".gnupg")).unwrap();
        // A link that would hide everything.
        std::os::unix::fs::symlink(".", home.join(".azure")).unwrap();
        let places = Places {
            root: home.join(root),
            home: Some(home.clone()),
            own: Vec::new(),
        };
        let name = |path: PathBuf| path.strip_prefix(&home).unwrap().display().to_string();
        credentials(&places).into_iter().map(name).collect()
    }

    #[test]
    fn credentials_are_found_in_any_case_and_behind_links() {
        assert_eq!(
            hidden("notes"),
            [
                ".AWS",
                ".Config/GH",
                ".colima",
                ".config/some.key",
                ".docker",
                ".netrc",
                ".ssh",
                "server.pem",
                "vault/gnupg",
            ]
        );
    }

    #[test]
    fn a_project_in_such_a_folder_is_seen() {
        let there = hidden(".docker/projects/own");
        assert!(!there.contains(&".docker".to_owned()) && there.contains(&".ssh".to_owned()));
    }
}
