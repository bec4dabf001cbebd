use std::process::ExitStatus;
use std::sync::Arc;

use cairn_agent::model::{Message, Part, Role};
use cairn_agent::tool::{ToolClass, ToolSpec};
use cairn_testkit::TempProject;
use serde_json::{Value, json};

use super::*;

fn spec() -> ToolSpec {
    ToolSpec {
        name: "read_file".into(),
        description: String::new(),
        schema: json!({ "type": "object" }),
        class: ToolClass::Read,
        limit: None,
    }
}

/// A conversation as the agent would hold it, with tools that are played.
struct Stage {
    messages: Vec<Message>,
    play: fn(&str, &Value) -> (String, bool),
}

impl Stage {
    fn new(play: fn(&str, &Value) -> (String, bool)) -> Self {
        Self {
            messages: Vec::new(),
            play,
        }
    }

    /// Says something and plays until the demo calls nothing more; its words and its calls.
    async fn say(&mut self, text: &str) -> (String, Vec<(String, Value)>) {
        self.messages.push(Message {
            role: Role::User,
            parts: vec![Part::Text(text.into())],
        });
        let (mut words, mut made) = (String::new(), Vec::new());
        for _ in 0..20 {
            let (said, calls) = self.reply().await;
            words.push_str(&said);
            if calls.is_empty() {
                return (words, made);
            }
            made.extend(calls);
        }
        panic!("the demo does not end: {words}");
    }

    async fn reply(&mut self) -> (String, Vec<(String, Value)>) {
        let request = ModelRequest {
            system: "rules".into(),
            messages: self.messages.clone(),
            tools: Arc::from([spec()]),
            max_output_tokens: None,
            temperature: None,
        };
        let events: Vec<_> = DemoModel::new(Pace::INSTANT).stream(request).collect().await;
        assert_eq!(events.last(), Some(&Ok(ModelEvent::Finished(FinishReason::Stop))));
        let (mut words, mut parts, mut results, mut calls) =
            (String::new(), Vec::new(), Vec::new(), Vec::new());
        for event in events {
            match event.unwrap() {
                ModelEvent::Text(text) => words.push_str(&text),
                ModelEvent::Call {
                    id, name, arguments, ..
                } => {
                    let value: Value = serde_json::from_str(&arguments).unwrap();
                    let (text, ok) = (self.play)(&name, &value);
                    results.push(Part::Result {
                        id: id.clone(),
                        text,
                        pictures: vec![],
                        ok,
                    });
                    calls.push((name.clone(), value));
                    parts.push(Part::Call { id, name, arguments });
                }
                _ => {}
            }
        }
        parts.insert(0, Part::Text(words.clone()));
        self.messages.push(Message {
            role: Role::Assistant,
            parts,
        });
        if !results.is_empty() {
            self.messages.push(Message {
                role: Role::Tool,
                parts: results,
            });
        }
        (words, calls)
    }
}

fn names(calls: &[(String, Value)]) -> Vec<&str> {
    calls.iter().map(|(name, _)| name.as_str()).collect()
}

fn file(path: &str) -> &'static str {
    let bytes = sample().iter().find(|(name, _)| *name == path).unwrap().1;
    std::str::from_utf8(bytes).unwrap()
}

fn allowed(name: &str, arguments: &Value) -> (String, bool) {
    match name {
        "list_dir" => (
            "data/\ndocs/\ntests/\ntidewater/\nREADME.md\ncheck.sh".into(),
            true,
        ),
        "read_file" if arguments["path"] == script::SOURCE => (file(script::SOURCE).into(), true),
        "ask_user" => ("Picked: Follow the widest label".into(), true),
        "shell" => ("Ran 5 tests\nOK\nexit code 0".into(), true),
        _ => ("done".into(), true),
    }
}

fn nothing_allowed(name: &str, arguments: &Value) -> (String, bool) {
    match name {
        "edit_file" => ("The person skipped this call; it did not run.".into(), false),
        "shell" => ("The person denied this call; it did not run.".into(), false),
        "ask_user" => ("The person lets you decide.".into(), true),
        _ => allowed(name, arguments),
    }
}

fn widened(name: &str, arguments: &Value) -> (String, bool) {
    if name == "ask_user" {
        ("Picked: A wider fixed margin".into(), true)
    } else {
        allowed(name, arguments)
    }
}

fn mended(name: &str, arguments: &Value) -> (String, bool) {
    match name {
        "read_file" => ("return max(MARGIN_LEFT, widest + LABEL_GAP)".into(), true),
        _ => allowed(name, arguments),
    }
}

fn elsewhere(name: &str, _: &Value) -> (String, bool) {
    if name == "list_dir" {
        ("src/\nCargo.toml".into(), true)
    } else {
        panic!("{name} in a foreign project")
    }
}

const WHOLE_TOUR: [&str; 9] = [
    "list_dir",
    "read_file",
    "grep",
    "read_file",
    "todo_write",
    "ask_user",
    "edit_file",
    "shell",
    "todo_write",
];

#[tokio::test]
async fn a8_the_tour_goes_through_every_room_and_says_that_it_is_a_script() {
    let mut stage = Stage::new(allowed);
    let (words, calls) = stage.say("What can you do?").await;
    assert_eq!(names(&calls), WHOLE_TOUR);
    assert!(words.contains("a script, not a model"), "{words}");
    assert!(
        words.contains("was changed, as you allowed it") && words.contains("all of them pass"),
        "{words}"
    );
    let todo = &calls.last().unwrap().1["todos"];
    assert!(
        todo.as_array()
            .unwrap()
            .iter()
            .all(|item| item["status"] == "completed")
    );
    let (words, calls) = stage.say("Please write me a parser").await;
    assert!(
        calls.is_empty() && words.contains("I cannot understand") && words.contains("Settings"),
        "{words}"
    );
    let (_, calls) = stage.say("the tour again").await;
    assert_eq!(names(&calls), WHOLE_TOUR);
}

#[tokio::test]
async fn the_tour_takes_a_no_for_a_no() {
    let (words, calls) = Stage::new(nothing_allowed).say("hi").await;
    assert_eq!(names(&calls), WHOLE_TOUR);
    assert!(
        words.contains("The edit did not happen") && words.contains("No file was changed"),
        "{words}"
    );
    assert!(!words.contains("all of them pass"), "{words}");
    assert!(words.contains("cannot follow free words"), "{words}");
}

#[tokio::test]
async fn the_answer_decides_the_edit() {
    let (_, calls) = Stage::new(widened).say("hi").await;
    let edit = &calls.iter().find(|(name, _)| name == "edit_file").unwrap().1;
    assert_eq!(edit["new_string"], "MARGIN_LEFT = 48\n");
}

#[tokio::test]
async fn a_project_that_is_mended_is_not_edited_again() {
    let (words, calls) = Stage::new(mended).say("hi").await;
    assert_eq!(
        names(&calls),
        [
            "list_dir",
            "read_file",
            "grep",
            "read_file",
            "todo_write",
            "shell",
            "todo_write"
        ]
    );
    assert!(words.contains("mended already"), "{words}");
}

#[tokio::test]
async fn a_foreign_project_is_only_listed() {
    let (words, calls) = Stage::new(elsewhere).say("hi").await;
    assert_eq!(names(&calls), ["list_dir"]);
    assert!(words.contains("not the sample project"), "{words}");
}

#[tokio::test]
async fn a_stopped_tour_waits_and_goes_on_when_asked() {
    let mut stage = Stage::new(allowed);
    stage.messages.push(Message {
        role: Role::User,
        parts: vec![Part::Text("hi".into())],
    });
    stage.reply().await;
    let (words, calls) = stage.say("who are you?").await;
    assert!(calls.is_empty() && words.contains("go on"), "{words}");
    let (_, calls) = stage.say("go on").await;
    assert_eq!(names(&calls), WHOLE_TOUR[1..]);
}

#[tokio::test]
async fn a_request_without_tools_gets_a_title() {
    let request = ModelRequest {
        system: String::new(),
        messages: vec![Message {
            role: Role::User,
            parts: vec![Part::Text("Name this".into())],
        }],
        tools: Arc::from([]),
        max_output_tokens: None,
        temperature: None,
    };
    let events: Vec<_> = DemoModel::new(Pace::INSTANT).stream(request).collect().await;
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Ok(ModelEvent::Call { .. })))
    );
}

#[tokio::test(start_paused = true)]
async fn the_demo_speaks_at_its_pace() {
    let request = ModelRequest {
        system: String::new(),
        messages: vec![Message {
            role: Role::User,
            parts: vec![Part::Text("hi".into())],
        }],
        tools: Arc::from([spec()]),
        max_output_tokens: None,
        temperature: None,
    };
    let begin = tokio::time::Instant::now();
    let mut stream = DemoModel::new(Pace::READABLE).stream(request);
    stream.next().await;
    assert!(begin.elapsed() >= Pace::READABLE.word && begin.elapsed() < Pace::READABLE.word * 3);
}

#[test]
fn every_edit_of_the_tour_fits_the_sample_exactly_once() {
    let source = file(script::SOURCE);
    for old in ["    return MARGIN_LEFT\n", "MARGIN_LEFT = 24\n"] {
        assert_eq!(source.matches(old).count(), 1, "{old}");
    }
    assert!(sample().is_sorted_by_key(|(path, _)| *path));
    let picture = sample()
        .iter()
        .find(|(path, _)| *path == script::PICTURE)
        .unwrap()
        .1;
    assert!(picture.starts_with(b"\x89PNG") && picture.len() < 16_384);
}

/// The project's own check, as the tour runs it.
#[allow(clippy::disallowed_methods)] // a test of the sample's script itself; nothing of the product starts here
fn check(project: &TempProject) -> ExitStatus {
    std::process::Command::new("sh")
        .arg("check.sh")
        .current_dir(project.root())
        .output()
        .unwrap()
        .status
}

#[test]
fn the_sample_fails_before_either_edit_and_passes_after() {
    let edits = [
        (
            "    return MARGIN_LEFT\n",
            "    widest = max(text_width(text) for text in labels)\n    return max(MARGIN_LEFT, widest + LABEL_GAP)\n",
        ),
        ("MARGIN_LEFT = 24\n", "MARGIN_LEFT = 48\n"),
    ];
    for (old, new) in edits {
        let project = TempProject::new(sample().iter().copied()).unwrap();
        assert!(!check(&project).success());
        project
            .write(script::SOURCE, file(script::SOURCE).replace(old, new))
            .unwrap();
        assert!(check(&project).success());
        let mut expected: Vec<&str> = sample().iter().map(|(path, _)| *path).collect();
        expected.sort_unstable();
        assert_eq!(
            project.files().unwrap(),
            expected,
            "the check leaves nothing behind"
        );
    }
}
