//! Judging the entries of one folder after the other by their names.

use std::ffi::OsStr;

use super::{fold, names};

/// How many names the longest entry of a list has: what lies further out does not decide about an entry, as long as
/// nothing further out is on a list itself.
const LONGEST: usize = 3;

/// A folder whose entries are judged one by one. For whoever walks a tree from its top and goes into nothing that is
/// protected or a credential: there it says what [`super::is_protected`] and [`super::is_credential`] say about the
/// whole path, in a fraction of the time.
#[derive(Clone, Debug, Default)]
pub struct FolderNames {
    /// The last names of its path, folded, outermost first.
    last: Vec<String>,
}

/// What the name of an entry says. SPEC P2, P3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameCare {
    /// Writing to it asks everywhere.
    pub protected: bool,
    /// Reading it asks everywhere.
    pub credential: bool,
}

impl FolderNames {
    /// A folder in this one.
    #[must_use]
    pub fn child(&self, name: &OsStr) -> Self {
        let mut last = self.last.clone();
        if last.len() == LONGEST - 1 {
            last.remove(0);
        }
        last.push(fold(name));
        Self { last }
    }

    /// What the name of an entry of this folder says.
    pub fn care(&mut self, name: &OsStr) -> NameCare {
        self.last.push(fold(name));
        let care = NameCare {
            protected: names::is_protected(&self.last),
            credential: names::is_credential(&self.last),
        };
        self.last.pop();
        care
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;
    use crate::path::{is_credential, is_protected};

    /// What a walk that goes into nothing special finds out about a path.
    fn walked(path: &Path) -> NameCare {
        let mut folder = FolderNames::default();
        let mut found = NameCare {
            protected: false,
            credential: false,
        };
        for name in path {
            found = folder.care(name);
            if found.protected || found.credential {
                break;
            }
            folder = folder.child(name);
        }
        found
    }

    proptest! {
        #[test]
        fn a_walk_finds_what_the_whole_path_says(
            names in proptest::collection::vec(
                prop_oneof![
                    "\\.config|gh|git|systemd|\\.GitHub|workflows|actions|\\.cargo|config|config\\.toml|credentials\\.toml",
                    "\\.local|share|keyrings|appdata|Roaming|gcloud|src|a|b|\\.env|\\.ssh|AGENTS\\.md|\\.git|id_rsa",
                ],
                1..7,
            )
        ) {
            let path: PathBuf = names.iter().collect();
            let whole = path.ancestors().any(|part| is_protected(part) || is_credential(part));
            let found = walked(&path);
            prop_assert_eq!(found.protected || found.credential, whole, "{}", path.display());
        }
    }

    #[test]
    fn every_list_is_met_by_a_walk() {
        for place in crate::path::credential_places() {
            assert!(walked(&Path::new("deep/er").join(&place)).credential, "{place:?}");
        }
        for protected in [
            ".github/workflows",
            ".cargo/config.toml",
            "library/launchagents",
            ".git",
        ] {
            assert!(
                walked(&Path::new("deep/er").join(protected)).protected,
                "{protected}"
            );
        }
    }
}
