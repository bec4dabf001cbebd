//! A project: one folder, by its real path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_files::Root;
use cairn_protocol::{ApiError, ErrorCode, ProjectKey};
use sha2::{Digest, Sha256};

/// Where a project configures itself.
pub(crate) const OWN_CONFIG: &str = ".cairn/config.toml";
/// Larger files than this configure nothing.
const OWN_MOST: u64 = 262_144;

/// A folder that a window or a request works in.
#[derive(Debug)]
pub struct Project {
    /// Derived from the real path: every spelling of a folder is one project, every other folder another.
    pub key: ProjectKey,
    /// The folder, held open.
    pub root: Arc<Root>,
    /// Whether it is the demo's sample project.
    pub demo: Demo,
}

/// Whether a project is the demo's sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demo {
    /// It is.
    Yes,
    /// It is somebody's own folder.
    No,
}

impl Project {
    /// Opens a folder. Errors say what is there instead.
    pub(crate) fn open(folder: &Path, home: Option<PathBuf>, demo: Demo) -> Result<Self, ApiError> {
        let shown = folder.display();
        let bad = |text: String| ApiError::new(ErrorCode::BadFolder, text);
        match folder.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(bad(format!(
                    "There is no folder {shown}. Check the path, or make the folder first."
                )));
            }
            Err(error) => {
                return Err(bad(format!(
                    "Could not open {shown}: {}. Check its permissions.",
                    crate::files::plain(&error)
                )));
            }
            Ok(kind) if !kind.is_dir() => {
                let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
                let advice = parent.map_or_else(String::new, |parent| {
                    format!(", for example {}", parent.display())
                });
                return Err(bad(format!(
                    "{shown} is a file. Cairn works in folders: give its folder{advice}."
                )));
            }
            Ok(_) => {}
        }
        if let Err(error) = std::fs::read_dir(folder) {
            return Err(bad(format!(
                "Could not read {shown}: {}. Check its permissions.",
                crate::files::plain(&error)
            )));
        }
        let root = Root::open(folder)
            .map_err(|error| bad(format!("Could not open {shown}: {error}")))?
            .with_home(home);
        Ok(Self {
            key: key_of(root.path()),
            root: Arc::new(root),
            demo,
        })
    }

    /// Its real path.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Name of the folder.
    pub fn name(&self) -> String {
        self.path()
            .file_name()
            .map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Text of its own configuration, [`OWN_CONFIG`]; none when there is none. What is there and cannot be read is an
    /// error, for it may have said that something asks.
    pub(crate) fn own_config(&self) -> Result<Option<String>, String> {
        self.own_text(OWN_CONFIG)
    }

    /// Text of a file of the project that configures something. The error names the file and the reason.
    pub(crate) fn own_text(&self, name: &str) -> Result<Option<String>, String> {
        let bad = |why: &str| Err(format!("{name} of this folder cannot be read: {why}."));
        let found = match self.root.resolve(name) {
            Ok(found) if found.kind == cairn_files::Kind::Missing => {
                // A link that leads nowhere may lead somewhere at any time.
                let is_there = self.path().join(name).symlink_metadata().is_ok();
                return if is_there {
                    bad("it is a link that leads nowhere")
                } else {
                    Ok(None)
                };
            }
            Ok(found) => found,
            Err(error) => return bad(&error.to_string()),
        };
        if !found.real.starts_with(self.path()) {
            return bad("it leads out of the folder");
        }
        match cairn_files::read::whole(&self.root, &found.real, OWN_MOST) {
            Ok(content) => match String::from_utf8(content.bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => bad("it is not UTF-8 text"),
            },
            Err(error) => bad(&error.to_string()),
        }
    }

    /// Its real path for display.
    pub fn shown(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }
}

/// The name of the folder, so that a person finds it, and a hash of the whole path, so that it is one of a kind.
fn key_of(real: &Path) -> ProjectKey {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(24)
        .collect();
    let hash = Sha256::digest(real.as_os_str().as_encoded_bytes());
    let short = hash
        .iter()
        .take(8)
        .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    ProjectKey(format!("{}-{short:016x}", plain.trim_matches('-')))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn open(path: &Path) -> Result<Project, ApiError> {
        Project::open(path, None, Demo::No)
    }

    #[test]
    fn d6_x115_every_spelling_is_one_project_and_similar_names_are_not() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["a-b", "a_b", "a.b", "A-b"] {
            fs::create_dir(temp.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink(temp.path().join("a-b"), temp.path().join("link")).unwrap();
        let key = |name: &str| open(&temp.path().join(name)).unwrap().key;
        assert_eq!(key("a-b"), key("link"));
        assert_eq!(key("a-b"), key("./a_b/../a-b/"));
        let all: std::collections::HashSet<_> = ["a-b", "a_b", "a.b", "A-b"].map(key).into();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_missing_folder_and_a_file_are_told_apart() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file.rs"), "").unwrap();
        let missing = open(&temp.path().join("nope")).unwrap_err();
        assert!(
            missing.code == ErrorCode::BadFolder && missing.message.contains("There is no folder"),
            "{missing}"
        );
        assert!(
            open(&temp.path().join("file.rs"))
                .unwrap_err()
                .message
                .contains("is a file")
        );
    }
}
