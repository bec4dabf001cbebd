//! The folder `keys/`: one 0600 file per profile whose key is kept in a file by consent, and an empty mark per
//! profile whose key is in the keychain, so that others never wait for the keychain.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{Secret, SecretError};
use crate::folder;

pub(super) struct KeyFolder {
    root: PathBuf,
}

impl KeyFolder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn has_file(&self, profile: &str) -> bool {
        self.path(profile, "key").is_file()
    }

    pub(super) fn is_in_keychain(&self, profile: &str) -> bool {
        self.path(profile, "keychain").is_file()
    }

    pub(super) fn read(&self, profile: &str) -> Result<Option<Secret>, SecretError> {
        let path = self.path(profile, "key");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(Secret::new(&Zeroizing::new(text)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    pub(super) fn write(&self, profile: &str, key: &Secret) -> Result<(), SecretError> {
        self.put(&self.path(profile, "key"), key.expose().as_bytes())
    }

    pub(super) fn remove_file(&self, profile: &str) -> Result<(), SecretError> {
        remove(&self.path(profile, "key"))
    }

    pub(super) fn mark_keychain(&self, profile: &str) -> Result<(), SecretError> {
        self.put(&self.path(profile, "keychain"), b"")
    }

    pub(super) fn unmark_keychain(&self, profile: &str) -> Result<(), SecretError> {
        remove(&self.path(profile, "keychain"))
    }

    /// Whole or not at all, and at no moment readable by others.
    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), SecretError> {
        let temporary = path.with_extension("new");
        let written = folder::make_private(&self.root).and_then(|()| {
            remove_if_there(&temporary)?;
            let mut file: File = folder::new_private_file().open(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, path)?;
            folder::sync_folder(&self.root)
        });
        written.map_err(|error| failed(path, &error))
    }

    fn path(&self, profile: &str, kind: &str) -> PathBuf {
        self.root.join(format!("{}.{kind}", file_name(profile)))
    }
}

/// A profile's name as the name of a file: what is no letter, digit, `-` or `_` is written as `%` and two hex digits.
fn file_name(profile: &str) -> String {
    let mut name = String::with_capacity(profile.len());
    for byte in profile.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            other => {
                name.push('%');
                name.push_str(&crate::blobs::hex(&[other]));
            }
        }
    }
    name
}

fn remove(path: &Path) -> Result<(), SecretError> {
    remove_if_there(path).map_err(|error| failed(path, &error))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed(path: &Path, error: &io::Error) -> SecretError {
    SecretError::File {
        path: path.to_owned(),
        why: error.to_string(),
    }
}
