//! Edits that the person changes before allowing them: what is written is what was chosen, and the model is told. SPEC P4.

use cairn_protocol::{ContentBlock, HunkChoice};
use serde_json::json;

use super::fixture::{Project, execute, runtime};
use HunkChoice::{Leave, Take};

fn numbered() -> String {
    use std::fmt::Write as _;
    (1..=30).fold(String::new(), |mut text, line| {
        writeln!(text, "line {line}").unwrap();
        text
    })
}

fn two_edits() -> serde_json::Value {
    json!({"path": "a.txt", "edits": [
        {"old_string": "line 5\n", "new_string": "LINE 5\n"},
        {"old_string": "line 20\n", "new_string": "LINE 20\n"},
    ]})
}

fn choose(
    project: &Project,
    tool: &str,
    arguments: serde_json::Value,
    choices: &[HunkChoice],
) -> cairn_agent::tool::ToolOutcome {
    let action = execute(project.prepare(tool, arguments).unwrap());
    assert!(action.takes_hunks());
    let mut context = project.context();
    context.hunks = Some(choices.to_vec());
    runtime().block_on(action.execute(context))
}

#[test]
fn only_the_chosen_places_are_written_and_the_model_is_told_which() {
    let project = Project::with("a.txt", numbered());
    project.read("a.txt");
    let outcome = choose(&project, "multi_edit", two_edits(), &[Leave, Take]);
    assert!(outcome.ok, "{}", outcome.content);
    assert_eq!(
        project.text("a.txt"),
        numbered().replace("line 20\n", "LINE 20\n")
    );
    let told = &outcome.content;
    assert!(
        told.contains("Of 2 changed places: 1 made as you proposed, 1 left as it was"),
        "{told}"
    );
    assert!(told.contains("+LINE 20") && !told.contains("LINE 5\n"), "{told}");
    assert_eq!(outcome.note, "+1 \u{2212}1, changed by you");
    let [ContentBlock::Diff(diff)] = outcome.blocks.as_slice() else {
        panic!("{:?}", outcome.blocks)
    };
    assert_eq!((diff.added, diff.removed, diff.hunks.len()), (1, 1, 1));
    // What undo needs is what was there.
    let images = project.journal.before_images();
    assert_eq!(images[0].before.as_deref(), Some(numbered().as_bytes()));
}

#[test]
fn the_words_of_the_person_are_written_and_told() {
    let project = Project::with("a.txt", "one\r\ntwo\r\n");
    project.read("a.txt");
    let own = HunkChoice::Replace {
        text: "one\nmine\n".to_owned(),
    };
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "theirs"});
    let outcome = choose(&project, "edit_file", edit, &[own]);
    assert_eq!(project.text("a.txt"), "one\r\nmine\r\n");
    assert!(
        outcome.content.contains("1 written anew by the user"),
        "{}",
        outcome.content
    );
    assert!(outcome.content.contains("+mine"), "{}", outcome.content);
    // It knows the file as it is now and can go on.
    let next = json!({"path": "a.txt", "old_string": "mine", "new_string": "ours"});
    assert!(project.run("edit_file", next).ok);
    assert_eq!(project.text("a.txt"), "one\r\nours\r\n");
}

#[test]
fn a_new_file_can_be_written_otherwise() {
    let project = Project::new();
    let own = HunkChoice::Replace {
        text: "mine".to_owned(),
    };
    let outcome = choose(
        &project,
        "write_file",
        json!({"path": "n.txt", "content": "a\nb\n"}),
        &[own],
    );
    assert!(outcome.ok, "{}", outcome.content);
    assert_eq!(project.text("n.txt"), "mine\n");
    assert!(
        project
            .run("write_file", json!({"path": "n.txt", "content": "all new\n"}))
            .ok
    );
}

#[test]
fn what_cannot_be_made_changes_nothing_and_says_why() {
    let legacy = b"caf\xe9 one\nb\n";
    let project = Project::with("a.txt", legacy);
    project.read("a.txt");
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    for (text, why) in [
        ("\u{1f980}\n", "which has no"),
        ("a\0b\n", "would not read as"),
        ("caf\u{e9} one\nb\n", "nothing is left of it"),
    ] {
        let own = HunkChoice::Replace {
            text: text.to_owned(),
        };
        let outcome = choose(&project, "edit_file", edit.clone(), &[own]);
        assert!(
            !outcome.ok && outcome.content.contains(why),
            "{}",
            outcome.content
        );
        assert!(outcome.changes.is_empty());
    }
    let outcome = choose(&project, "edit_file", edit, &[Take, Take]);
    assert!(
        outcome.content.contains("not those that were shown"),
        "{}",
        outcome.content
    );
    assert_eq!(project.bytes("a.txt"), legacy);
    assert_eq!(project.names(), ["a.txt"]);
}

#[test]
fn what_is_no_difference_of_text_is_made_as_a_whole() {
    let project = Project::with("a.txt", "one\n");
    project.read("a.txt");
    let prepared = project.prepare("delete_file", json!({"path": "a.txt"})).unwrap();
    assert!(!execute(prepared).takes_hunks());
}
