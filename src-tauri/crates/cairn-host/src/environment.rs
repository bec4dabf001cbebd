//! The process's environment, read once by `main` and handed down: nothing below reads it again.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Variables of the process, as they were at start.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: HashMap<OsString, OsString>,
}

impl Environment {
    /// From pairs of name and value.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: variables.into_iter().collect(),
        }
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// The same as text; none when it is no text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// The same as an absolute path; a relative one counts as not set, as the XDG specification wants it.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.get(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.folder(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
    }

    /// All of it, for the environment of commands.
    pub fn all(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.variables
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
    }

    /// All that is text.
    pub fn texts(&self) -> HashMap<String, String> {
        let text = |(name, value): (&OsString, &OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        self.variables.iter().filter_map(text).collect()
    }
}
