//! Files that a request changed, one entry for each: what became of it over the whole request. SPEC P13.

use cairn_protocol::{ChangeKind, FileChange};

/// Adds a change to the files of a request, joined with what happened to the same file before.
pub(super) fn merge(files: &mut Vec<FileChange>, mut change: FileChange) {
    let former_name = match &change.change {
        ChangeKind::Moved { from } => from.clone(),
        _ => change.path.clone(),
    };
    let Some(at) = files.iter().position(|known| known.path == former_name) else {
        files.push(change);
        return;
    };
    let known = files.remove(at);
    let joined = match (known.change, change.change) {
        // It came and went: nothing of it is left.
        (ChangeKind::Created, ChangeKind::Deleted) => return,
        (ChangeKind::Created, _) => ChangeKind::Created,
        // What was moved away is gone from the name that it had at first.
        (ChangeKind::Moved { from }, ChangeKind::Deleted) => {
            change.path = from;
            ChangeKind::Deleted
        }
        (ChangeKind::Moved { from }, _) if from == change.path => ChangeKind::Modified,
        (ChangeKind::Moved { from }, _) => ChangeKind::Moved { from },
        (ChangeKind::Deleted, ChangeKind::Created) => ChangeKind::Modified,
        (_, later) => later,
    };
    change.added += known.added;
    change.removed += known.removed;
    change.change = joined;
    files.insert(at, change);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+a` created, `~a` modified, `-a` deleted, `a>b` moved.
    fn after(steps: &[&str]) -> Vec<String> {
        let mut files = Vec::new();
        for step in steps {
            let (path, change) = match (step.split_once('>'), step.split_at(1)) {
                (Some((from, to)), _) => (
                    to,
                    ChangeKind::Moved {
                        from: from.to_owned(),
                    },
                ),
                (_, ("+", path)) => (path, ChangeKind::Created),
                (_, ("-", path)) => (path, ChangeKind::Deleted),
                (_, (_, path)) => (path, ChangeKind::Modified),
            };
            let change = FileChange {
                path: path.to_owned(),
                change,
                added: 1,
                removed: 0,
            };
            merge(&mut files, change);
        }
        files
            .iter()
            .map(|file| {
                let path = &file.path;
                let what = match &file.change {
                    ChangeKind::Created => format!("+{path}"),
                    ChangeKind::Modified => format!("~{path}"),
                    ChangeKind::Deleted => format!("-{path}"),
                    ChangeKind::Moved { from } => format!("{from}>{path}"),
                };
                format!("{what} {}", file.added)
            })
            .collect()
    }

    #[test]
    fn p13_each_file_is_told_once_with_what_became_of_it() {
        for (steps, told) in [
            (&["~a", "~a", "+b"][..], &["~a 2", "+b 1"][..]),
            (&["+a", "~a"], &["+a 2"]),
            (&["+a", "~b", "-a"], &["~b 1"]),
            (&["~a", "-a"], &["-a 2"]),
            (&["-a", "+a"], &["~a 2"]),
            (&["a>b"], &["a>b 1"]),
            (&["~a", "a>b", "~b"], &["a>b 3"]),
            (&["+a", "a>b"], &["+b 2"]),
            (&["a>b", "b>c"], &["a>c 2"]),
            (&["a>b", "b>a"], &["~a 2"]),
            (&["a>b", "-b"], &["-a 2"]),
            (&["a>b", "+a"], &["a>b 1", "+a 1"]),
        ] {
            assert_eq!(after(steps), told, "{steps:?}");
        }
    }
}
