//! What rules bar from reading, for walls around commands: one policy for the file tools and for what commands do.

use std::path::Path;

use super::glob::{LetterCase, PathGlob};

/// The files that deny rules keep from being read. SPEC P7.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBars(Vec<PathGlob>);

impl ReadBars {
    pub(super) fn of<'a>(globs: impl Iterator<Item = &'a PathGlob>) -> Self {
        Self(globs.cloned().collect())
    }

    /// Whether nothing is barred.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a file or folder is barred, by its path relative to the project. Letter case does not count.
    pub fn bars(&self, relative: &Path) -> bool {
        self.0
            .iter()
            .any(|glob| glob.covers(relative, LetterCase::Ignored))
    }

    /// Whether something in that folder could be barred: where not, nobody has to look.
    pub fn may_bar_beneath(&self, relative: &Path) -> bool {
        self.0.iter().any(|glob| glob.may_cover_beneath(relative))
    }
}
