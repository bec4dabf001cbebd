//! Where the commands of a line may run: `cd` moves on, and where it may have failed both folders count.

use std::path::{Component, Path, PathBuf};

use crate::facts::{RealKind, Surroundings};
use crate::script::Joint;
use crate::{Place, Places};

/// More than so many possible folders are not followed.
const MOST: usize = 4;

/// The folders that the next command may run in.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    now: Vec<PathBuf>,
    /// All that were possible so far: after `;` or `||` an earlier `cd` may have failed or been skipped.
    ever: Vec<PathBuf>,
    /// Nothing but `cd` ran so far, so that what is there now will be there then.
    untouched: bool,
}

impl Folders {
    pub(crate) fn new(workdir: &Path) -> Self {
        Self {
            now: vec![workdir.to_owned()],
            ever: vec![workdir.to_owned()],
            untouched: true,
        }
    }

    /// The folders that are possible.
    pub(crate) fn now(&self) -> &[PathBuf] {
        &self.now
    }

    /// Another command follows in that way.
    pub(crate) fn follow(&mut self, joint: Joint) {
        if matches!(joint, Joint::Then | Joint::Or) && !self.untouched {
            self.now.clone_from(&self.ever);
        }
    }

    /// A command that is no `cd` ran.
    pub(crate) fn ran(&mut self) {
        if self.untouched {
            // What was changed to so far is certain, and where it began is over.
            self.ever.clone_from(&self.now);
        }
        self.untouched = false;
    }

    /// Changes to a folder; the error says why that is not covered without a rule.
    pub(crate) fn change(
        &mut self,
        target: &str,
        joint: Joint,
        places: &Places,
        facts: &dyn Surroundings,
    ) -> Result<(), String> {
        let certain = self.untouched && joint != Joint::Or;
        let mut to = Vec::new();
        let mut problem = None;
        for folder in &self.now {
            let named = folder.join(target);
            let Some(real) = facts.real(&named) else {
                return Err(format!("Where `cd {target}` leads is not known."));
            };
            if places.place(&real.path) == Place::Outside {
                problem = Some(format!(
                    "It changes to {}, outside the project.",
                    places.named(&real.path)
                ));
            } else if real.kind != RealKind::Folder {
                problem = Some(format!("There is no folder {target}."));
            } else if lexical(&named) != real.path {
                // The shell would go back by name, the kernel by place.
                problem = Some(format!("`cd {target}` follows a link."));
            }
            if !to.contains(&real.path) {
                to.push(real.path);
            }
        }
        if joint == Joint::Or {
            // Skipped where the one before it succeeded.
            to.extend(self.now.iter().cloned());
        }
        for folder in &to {
            if !self.ever.contains(folder) {
                self.ever.push(folder.clone());
            }
        }
        self.now = to;
        self.untouched = certain;
        if self.ever.len() > MOST {
            problem = Some("It changes the folder too often to be followed.".to_owned());
        }
        problem.map_or(Ok(()), Err)
    }
}

/// The path with `..` taken by name, as the shell's own `cd` takes it.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
