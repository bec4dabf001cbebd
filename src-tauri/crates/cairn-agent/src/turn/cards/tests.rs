use super::*;

fn diff(path: &str, change: ChangeKind, after: Option<&str>) -> FileDiff {
    FileDiff {
        path: path.to_owned(),
        change,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        omitted_lines: 0,
        before: None,
        after: after.map(ToOwned::to_owned),
        notes: Vec::new(),
    }
}

#[test]
fn t19_a_card_says_what_becomes_of_the_file() {
    let from = "src/old.rs".to_owned();
    for (change, after, says, writes) in [
        (ChangeKind::Modified, Some("h"), "Edit new.rs?", "src/new.rs"),
        (ChangeKind::Created, Some("h"), "Edit new.rs?", "src/new.rs"),
        (ChangeKind::Created, None, "Make the folder new.rs?", "src/new.rs"),
        (ChangeKind::Deleted, None, "Delete new.rs?", "src/new.rs"),
        (
            ChangeKind::Moved { from },
            Some("h"),
            "Move old.rs?",
            "src/old.rs \u{2192} src/new.rs",
        ),
    ] {
        let diff = diff("src/new.rs", change, after);
        assert_eq!(written(&diff), writes);
        let subject = ApprovalSubject::Edit { diffs: vec![diff] };
        assert_eq!(title(&subject, "src/new.rs"), says);
    }
}
