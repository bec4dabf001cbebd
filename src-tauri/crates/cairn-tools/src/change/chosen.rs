//! A change of which the person made something else before allowing it. SPEC P4.

use cairn_agent::tool::ToolOutcome;
use cairn_files::diff::{self, Side};
use cairn_files::hash;
use cairn_protocol::HunkChoice;

use super::{Apply, Seen};

impl Apply {
    /// Becomes what the person made of it. SPEC P4.
    pub(super) fn take_only(&mut self, choices: &[HunkChoice]) -> Result<(), Box<ToolOutcome>> {
        let shown = self.change.target.shown.clone();
        let before = self.change.before.as_ref();
        let old = before.map_or(&[][..], |before| &before.bytes);
        let new = self.change.after.as_deref().unwrap_or_default();
        let refused = |why: &dyn std::fmt::Display| {
            let told = format!(
                "{shown} was not changed: the user changed this edit before allowing it, and that could not be made, \
                 because {why}."
            );
            Box::new(ToolOutcome::failed(told))
        };
        let made = diff::choose(old, new, &self.diff, choices).map_err(|error| refused(&error))?;
        if before.is_some() && made.bytes == old {
            return Err(refused(&"nothing is left of it"));
        }
        let hash = hash::of_bytes(&made.bytes);
        let side = |bytes, hash| Side { bytes, hash };
        self.diff = diff::file_diff(
            &shown,
            before.map(|before| side(&before.bytes, &before.hash)),
            Some(side(&made.bytes, &hash)),
        );
        if before.is_some() {
            self.change.seen = Seen::Edited(vec![made.shifts]);
        }
        self.change.told = told_choices(&shown, choices);
        self.change.tells_diff = true;
        self.change.after = Some(made.bytes);
        self.after_hash = Some(hash);
        self.by_person = true;
        Ok(())
    }
}

/// What the person made of an edit, as the model is told it; the difference that was made comes after it.
fn told_choices(shown: &str, choices: &[HunkChoice]) -> String {
    let count = |wanted: fn(&HunkChoice) -> bool| choices.iter().filter(|choice| wanted(choice)).count();
    let taken = count(|choice| *choice == HunkChoice::Take);
    let left = count(|choice| *choice == HunkChoice::Leave);
    let own = choices.len() - taken - left;
    let mut parts = Vec::new();
    for (number, what) in [
        (taken, "made as you proposed"),
        (left, "left as it was in the file"),
        (own, "written anew by the user"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    format!(
        "The user changed your edit of {shown} before allowing it. Of {} changed place{}: {}. Only this was applied",
        choices.len(),
        if choices.len() == 1 { "" } else { "s" },
        parts.join(", ")
    )
}
