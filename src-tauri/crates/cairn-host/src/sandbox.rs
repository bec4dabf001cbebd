//! What holds commands in, in words: for the window and for `cairn doctor`.
//!
//! Owns: the words. Must never know: how walls are tried or built.

use cairn_exec::{Gap, Layer, Walls};
use cairn_protocol::{SandboxLevel, SandboxView};

/// What to do where something is missing.
const REMEDY: &str =
    "Install the package bubblewrap and allow unprivileged user namespaces, then start Cairn again";

/// The walls as they were found.
pub(crate) fn view(walls: &Walls) -> SandboxView {
    let layer = match &walls.layer {
        Some(Layer::Bubblewrap(program)) => format!("bubblewrap ({})", program.display()),
        Some(Layer::Landlock) => "Landlock and a filter of system calls".to_owned(),
        #[cfg(target_os = "macos")]
        Some(Layer::Seatbelt) => "Seatbelt".to_owned(),
        None => String::new(),
    };
    let gap = |gap: &Gap| match gap {
        Gap::InsideWritable => {
            "protected files inside the project not enforced, credential files inside it can be read"
        }
        Gap::Attributes => "rights and times of files outside not enforced",
        Gap::Signals => "signals to your other processes not enforced",
    };
    let level = match (&walls.layer, walls.gaps.is_empty()) {
        (None, _) => SandboxLevel::None,
        (Some(_), true) => SandboxLevel::Whole,
        (Some(_), false) => SandboxLevel::Partly,
    };
    SandboxView {
        level,
        layer,
        gaps: walls.gaps.iter().map(|found| gap(found).to_owned()).collect(),
        why_not: walls.why_not.clone(),
        remedy: if level == SandboxLevel::Whole { "" } else { REMEDY }.to_owned(),
    }
}

/// The same as one line; the first says whether nothing is missing.
pub(crate) fn line(walls: &Walls) -> (bool, String) {
    let view = view(walls);
    let mut found = if view.level == SandboxLevel::None {
        "commands are not sandboxed, so in auto every one of them asks".to_owned()
    } else {
        view.layer
    };
    for more in view.gaps.iter().chain(&view.why_not) {
        found.push_str("; ");
        found.push_str(more);
    }
    if !view.remedy.is_empty() {
        found.push_str(". ");
        found.push_str(&view.remedy);
    }
    (view.level == SandboxLevel::Whole, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walls(layer: Option<Layer>, gaps: Vec<Gap>, why: &str) -> Walls {
        Walls {
            layer,
            gaps,
            why_not: (!why.is_empty()).then(|| why.to_owned()).into_iter().collect(),
        }
    }

    #[test]
    fn p12_what_is_enforced_and_what_is_not_is_said_with_what_to_do() {
        let whole = walls(Some(Layer::Bubblewrap("/usr/bin/bwrap".into())), Vec::new(), "");
        let partly = walls(
            Some(Layer::Landlock),
            vec![Gap::InsideWritable],
            "bubblewrap is not installed",
        );
        let none = walls(None, Vec::new(), "this kernel has no Landlock");
        for (walls, level, line_has, remedy) in [
            (whole, SandboxLevel::Whole, "bubblewrap (/usr/bin/bwrap)", false),
            (
                partly,
                SandboxLevel::Partly,
                "Landlock and a filter of system calls; protected files",
                true,
            ),
            (
                none,
                SandboxLevel::None,
                "not sandboxed, so in auto every one of them asks; this kernel",
                true,
            ),
        ] {
            let view = view(&walls);
            assert_eq!((view.level, !view.remedy.is_empty()), (level, remedy));
            let (fine, text) = line(&walls);
            assert_eq!(fine, level == SandboxLevel::Whole);
            assert!(text.starts_with(line_has) || text.contains(line_has), "{text}");
            assert_eq!(text.contains("Install the package bubblewrap"), remedy, "{text}");
        }
    }
}
