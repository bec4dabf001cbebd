//! Stories through the host, headless, against a scripted model over real HTTP and the real tools, store and helper.
//!
//! Each leaves its whole event log in `tests/scenarios/golden`, without what differs from run to run. The page's
//! reducer and its pretended backend are driven by the same files. `CAIRN_WRITE_GOLDEN=1` writes them anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by a panic, and says why on the terminal"
)]

#[path = "support/story.rs"]
mod story;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use cairn_host::{Desk, Project, Window};
use cairn_protocol::{
    ApprovalAnswer, ClientId, CloseWork, Envelope, ErrorCode, Event, EventBody, InboxResult, Mode,
    QuestionAnswer, Request, SessionId, TurnOutcome, WaitingKind,
};
use cairn_testkit::TempProject;
use cairn_testkit::provider::Reply;
use serde_json::{Value, json};
use story::{Says, Story, until};

impl Story {
    /// Compares the whole log with the golden one.
    async fn check(self, name: &str) {
        let events = self.host.store().load(&self.id).await.unwrap().events;
        let lines = plain(&events, &self.project, &self.server.base_url());
        self.host.shutdown().await;
        let path = golden(name);
        if std::env::var_os("CAIRN_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, &lines).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        for (number, (now, then)) in lines.lines().zip(known.lines()).enumerate() {
            assert_eq!(
                now,
                then,
                "event {} of {name}; CAIRN_WRITE_GOLDEN=1 writes the log anew",
                number + 1
            );
        }
        assert_eq!(
            lines.lines().count(),
            known.lines().count(),
            "{name} has another number of events"
        );
    }
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../tests/scenarios/golden/{name}.jsonl"))
}

/// One event per line without what differs from run to run: ids, times, paths, digests, durations.
fn plain(events: &[Event], project: &Project, address: &str) -> String {
    let mut names: Vec<(String, String)> = vec![
        (project.key.0.clone(), "tidewater".to_owned()),
        (project.shown(), "/w/tidewater".to_owned()),
        (project.name(), "tidewater".to_owned()),
        (
            address
                .trim_start_matches("http://")
                .trim_end_matches("/v1")
                .to_owned(),
            "127.0.0.1:1".to_owned(),
        ),
    ];
    if let Some(first) = events.first() {
        names.push((first.session.0.clone(), "session".to_owned()));
    }
    let turns = events.iter().filter_map(|event| match &event.body {
        EventBody::TurnStarted { turn } => Some(turn.id.0.clone()),
        _ => None,
    });
    names.extend(
        turns
            .enumerate()
            .map(|(number, id)| (id, format!("turn{}", number + 1))),
    );
    let mut lines = String::new();
    for event in events {
        let mut value = serde_json::to_value(event).unwrap();
        settle(&mut value, event.seq);
        let mut line = value.to_string();
        for (from, to) in &names {
            line = line.replace(from, to);
        }
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

fn settle(value: &mut Value, seq: u64) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                match key.as_str() {
                    "at" | "created_at" | "updated_at" | "started_at" | "ended_at" if inner.is_number() => {
                        *inner = json!(1_764_500_000_000_u64 + seq * 1_000);
                    }
                    "digest" => *inner = json!("d1"),
                    "elapsed_ms" => *inner = json!(0),
                    "note" if inner.as_str().is_some_and(|note| note.ends_with(" s")) => {
                        *inner = json!("0.1 s");
                    }
                    "input_tokens" | "cached_tokens" | "output_tokens" => *inner = json!(100),
                    _ => settle(inner, seq),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| settle(inner, seq)),
        _ => {}
    }
}

const AXIS: &str = "MARGIN = 24\n\n\ndef left_margin(labels):\n    return MARGIN\n";

fn edit() -> Reply {
    let new = "    return max(MARGIN, max(map(len, labels)) * 7)";
    let arguments = json!({ "path": "src/axis.py", "old_string": "    return MARGIN", "new_string": new });
    Reply::call("edit_file", arguments)
}

fn read() -> Reply {
    Reply::call("read_file", json!({ "path": "src/axis.py" }))
}

fn allow() -> Says {
    Says::Card(ApprovalAnswer::AllowOnce)
}

#[tokio::test]
async fn a_whole_request_reads_searches_looks_plans_asks_edits_and_checks() {
    let picture: &[u8] = include_bytes!("desktop/axis.png");
    let question = json!({ "questions": [{ "question": "Which way?", "options": [{ "label": "Follow the widest" }, { "label": "A wider constant" }] }] });
    let todos = |first: &str, second: &str| json!({ "todos": [{ "content": "Find the margin", "status": first }, { "content": "Make it follow", "status": second }] });
    let replies = vec![
        Reply::pieces(["The labels do not ", "fit. I look at the **axis** first."])
            .and_call("read_file", json!({ "path": "src/axis.py" })),
        // A reply of its own: reads of one reply run side by side, and which ends first is chance.
        Reply::call("grep", json!({ "pattern": "MARGIN" })),
        Reply::call("read_file", json!({ "path": "docs/axis.png" })),
        Reply::call("todo_write", todos("completed", "in_progress")),
        Reply::call("ask_user", question),
        edit(),
        Reply::call(
            "shell",
            json!({ "command": "printf 'checked\\n'", "description": "check it" }),
        ),
        Reply::call("todo_write", todos("completed", "completed")),
        Reply::text("The margin follows the widest label now."),
    ];
    let files: [(&str, &[u8]); 2] = [("src/axis.py", AXIS.as_bytes()), ("docs/axis.png", picture)];
    let mut story = Story::begin(&files, replies).await;
    let picked = Says::Answer(vec![QuestionAnswer::Picked { options: vec![0] }]);
    let outcome = story
        .request(
            "The labels are cut off, see docs/axis.png",
            vec![picked, allow(), Says::Always],
        )
        .await;
    assert_eq!(outcome, TurnOutcome::Done);
    assert!(story.files.text("src/axis.py").unwrap().contains("max(map(len"));
    let asked = story.server.chats();
    assert!(
        asked[3].body.to_string().contains("data:image/png;base64,"),
        "the model sees the picture"
    );
    assert!(
        asked.iter().all(|request| request.refused.is_none()),
        "a strict server refuses nothing"
    );
    let rules = story.host.project_rules(&story.project);
    assert_eq!(rules.list().len(), 1, "the exact line is saved for the project");
    story.check("whole_request").await;
}

#[tokio::test]
async fn what_is_denied_and_skipped_does_not_happen_and_the_model_is_told() {
    let replies = vec![read(), edit(), edit(), Reply::text("I leave it."), edit()];
    let mut story = Story::begin(&[("src/axis.py", AXIS.as_bytes())], replies).await;
    let note = Some("use the constant".to_owned());
    let says = vec![
        Says::Card(ApprovalAnswer::Deny { note }),
        Says::Card(ApprovalAnswer::Skip),
    ];
    assert_eq!(story.request("Make it fit", says).await, TurnOutcome::Done);
    let says = vec![Says::Card(ApprovalAnswer::Deny { note: None })];
    assert_eq!(story.request("Try again", says).await, TurnOutcome::Denied);
    assert_eq!(story.files.text("src/axis.py").unwrap(), AXIS);
    let told = story.server.chats()[3].body.to_string();
    assert!(
        told.contains("use the constant") && told.contains("skipped this call"),
        "{told}"
    );
    story.check("denied_and_skipped").await;
}

#[tokio::test]
async fn a_failing_server_is_said_in_words_and_the_next_message_works() {
    let replies = vec![
        Reply::error(401, "Incorrect API key provided"),
        Reply::text("Here I am."),
    ];
    let mut story = Story::begin(&[("src/axis.py", AXIS.as_bytes())], replies).await;
    let TurnOutcome::Failed { error } = story.request("Hello", vec![]).await else {
        panic!("401 is a failure")
    };
    assert_eq!(error.code, ErrorCode::BadKey);
    assert_eq!(story.request("Again", vec![]).await, TurnOutcome::Done);
    story.check("bad_key").await;
}

#[tokio::test]
async fn stop_closes_every_call_and_the_next_message_works() {
    let replies = vec![read(), edit(), Reply::text("Fine.")];
    let mut story = Story::begin(&[("src/axis.py", AXIS.as_bytes())], replies).await;
    assert_eq!(
        story.request("Make it fit", vec![Says::Stop]).await,
        TurnOutcome::Stopped
    );
    assert_eq!(story.request("Never mind", vec![]).await, TurnOutcome::Done);
    assert_eq!(story.files.text("src/axis.py").unwrap(), AXIS);
    story.check("stopped").await;
}

#[tokio::test]
async fn g8_i1_broken_files_give_text_and_the_session_goes_on() {
    let picture = |path: &str| Reply::call("read_file", json!({ "path": path }));
    let replies = vec![
        picture("fake.png"),
        picture("drawing.svg"),
        picture("cut.png"),
        picture("x.bin"),
        Reply::text("None."),
    ];
    let cut = &include_bytes!("desktop/axis.png")[..200];
    let files: [(&str, &[u8]); 4] = [
        ("fake.png", b"just text\n"),
        ("drawing.svg", b"<svg/>"),
        ("cut.png", cut),
        ("x.bin", b"PK\x03\x04\0\0\0\0"),
    ];
    let mut story = Story::begin(&files, replies).await;
    assert_eq!(story.request("Look", vec![]).await, TurnOutcome::Done);
    let last = story.server.chats().pop().unwrap().body.to_string();
    assert!(
        !last.contains("data:image"),
        "nothing broken goes out as a picture: {last}"
    );
    story.check("broken_files").await;
}

#[tokio::test]
async fn l06_a_key_that_a_tool_comes_across_is_stored_and_sent_nowhere() {
    let replies = vec![
        Reply::call("shell", json!({ "command": "cat notes.txt; env" })),
        Reply::call("read_file", json!({ "path": "notes.txt" })),
        Reply::text("Seen."),
    ];
    let mut story = Story::begin(&[("notes.txt", b"key: sk-test-CANARY-0123456789\n")], replies).await;
    let keep = cairn_protocol::KeepKey::Session;
    story
        .host
        .keep_key("scripted", "sk-test-CANARY-0123456789", keep)
        .await
        .unwrap();
    story
        .host
        .use_profile(&story.session.handle, "scripted")
        .await
        .unwrap();
    story.request("Look at the notes", vec![allow()]).await;
    let events = story.host.store().load(&story.id).await.unwrap().events;
    let stored = serde_json::to_string(&events).unwrap();
    assert!(!stored.contains("CANARY"), "in the database");
    let chats = story.server.chats();
    assert!(
        chats
            .iter()
            .all(|request| !request.body.to_string().contains("CANARY")),
        "sent to the model"
    );
    assert!(
        chats[1]
            .header("authorization")
            .is_some_and(|header| header.contains("CANARY")),
        "the key itself goes along"
    );
}

struct NoDesk;

impl Desk for NoDesk {
    fn open_link(&self, _href: &str) -> Result<(), String> {
        unreachable!()
    }

    fn close(&self, _work: CloseWork) {
        unreachable!()
    }
}

async fn asked(window: &Window, method: &str, params: Value) -> Result<Value, ErrorCode> {
    let request: Request = serde_json::from_value(json!({ "method": method, "params": params })).unwrap();
    let client = ClientId(format!("{method} {params}"));
    let answer = window.request(Envelope { client, request }).await;
    answer.map_err(|error| error.code)
}

#[tokio::test]
async fn w1_a_window_of_another_project_answers_nothing_and_reaches_no_session() {
    let replies = vec![read(), edit(), Reply::text("Done.")];
    let mut story = Story::begin(&[("src/axis.py", AXIS.as_bytes())], replies).await;
    let (host, own) = (story.host.clone(), story.project.clone());
    let elsewhere = TempProject::new([("README.md", "# Other")]).unwrap();
    let other = host.project(Some(elsewhere.root())).await.unwrap();
    let (foreign, _) = Window::new(host.clone(), other, NoDesk);
    let (owner, _) = Window::new(host.clone(), own.clone(), NoDesk);

    let of = |id: &SessionId| json!({ "session": id });
    let message = json!({ "session": story.id, "text": "Make it fit" });
    assert_eq!(
        asked(&foreign, "turn/send", message.clone()).await,
        Err(ErrorCode::NotFound)
    );
    asked(&owner, "turn/send", message).await.unwrap();
    let card = loop {
        let event = tokio::time::timeout(std::time::Duration::from_mins(1), story.events.events.recv());
        let event = event.await.unwrap().unwrap();
        if let EventBody::ApprovalRequested { approval } = &event.body {
            break approval.clone();
        }
    };
    let id = story.id.clone();
    let allow = |digest: &str| json!({ "session": id, "approval": card.id, "digest": digest, "answer": { "kind": "allow_once" } });
    let refused = asked(&foreign, "approval/answer", allow(&card.digest)).await;
    assert_eq!(refused, Err(ErrorCode::NotOwner));
    let answers = json!({ "session": story.id, "question": "q", "answers": [] });
    let refused = asked(&foreign, "question/answer", answers).await;
    assert_eq!(refused, Err(ErrorCode::NotOwner));
    let closed = host.create_session(&own, Mode::Manual).await.unwrap().id;
    for (method, id) in [
        ("session/open", &story.id),
        ("session/open", &closed),
        ("turn/stop", &story.id),
        ("session/delete", &closed),
    ] {
        assert_eq!(
            asked(&foreign, method, of(id)).await,
            Err(ErrorCode::NotFound),
            "{method} {id}"
        );
    }
    assert_eq!(
        asked(&owner, "approval/answer", allow("another")).await,
        Err(ErrorCode::Stale)
    );
    assert_eq!(story.files.text("src/axis.py").unwrap(), AXIS, "nothing ran");

    asked(&owner, "approval/answer", allow(&card.digest))
        .await
        .unwrap();
    assert_eq!(story.until_end(VecDeque::new()).await, TurnOutcome::Done);
    assert!(story.files.text("src/axis.py").unwrap().contains("max(map(len"));
    host.shutdown().await;
}

#[tokio::test]
async fn p4_only_the_chosen_places_are_made_and_u3_the_inbox_leads_there_from_every_window() {
    let lines = numbered(1..=30);
    let edits = json!([
        { "old_string": "line 5\n", "new_string": "LINE 5\n" },
        { "old_string": "line 20\n", "new_string": "LINE 20\n" },
    ]);
    let replies = vec![
        Reply::call("read_file", json!({ "path": "notes.txt" })),
        Reply::call("multi_edit", json!({ "path": "notes.txt", "edits": edits })),
        Reply::text("Half of it is done."),
    ];
    let mut story = Story::begin(&[("notes.txt", lines.as_bytes())], replies).await;
    let (host, own) = (story.host.clone(), story.project.clone());
    let elsewhere = TempProject::new([("README.md", "# Other")]).unwrap();
    let other = host.project(Some(elsewhere.root())).await.unwrap();
    let (foreign, mut told) = Window::new(host.clone(), other, NoDesk);
    let (owner, mut asked_for) = Window::new(host.clone(), own, NoDesk);
    let inbox = async |window: &Window| {
        let answer = asked(window, "inbox/list", json!({})).await.unwrap();
        serde_json::from_value::<InboxResult>(answer).unwrap().waiting
    };
    assert_eq!(inbox(&foreign).await, Vec::new());
    let show = json!({ "session": story.id });
    let nothing = asked(&foreign, "inbox/show", show.clone()).await;
    assert_eq!(nothing, Err(ErrorCode::NotFound));

    let message = json!({ "session": story.id, "text": "Shout" });
    asked(&owner, "turn/send", message).await.unwrap();
    let waiting = until(&mut told, |body| {
        matches!(body, EventBody::InboxChanged { waiting: 1 })
    });
    waiting.await;
    let (far, near) = (inbox(&foreign).await, inbox(&owner).await);
    assert_eq!((far.len(), near.len()), (1, 1));
    assert_eq!((far[0].here, near[0].here), (false, true));
    assert_eq!(
        (far[0].kind, far[0].target[0].text.as_str(), far[0].title.as_str()),
        (WaitingKind::Edit, "notes.txt", "Shout")
    );
    // A client's id is used up by the answer that it got.
    let again = foreign.request(Envelope {
        client: ClientId("again".to_owned()),
        request: serde_json::from_value(json!({ "method": "inbox/show", "params": show })).unwrap(),
    });
    again.await.unwrap();
    until(&mut asked_for, |body| {
        *body
            == EventBody::SessionWanted {
                wanted: story.id.clone(),
            }
    })
    .await;

    until(&mut story.events, |body| {
        matches!(body, EventBody::ApprovalRequested { .. })
    })
    .await;
    let card = story.session.handle.snapshot().await.unwrap().approvals[0].clone();
    let answer = |hunks: Value| {
        json!({ "session": story.id, "approval": card.id, "digest": card.digest,
            "answer": { "kind": "allow_changed", "hunks": hunks } })
    };
    let (take, leave) = (json!({ "kind": "take" }), json!({ "kind": "leave" }));
    let bad = asked(&owner, "approval/answer", answer(json!([leave, leave]))).await;
    assert_eq!(bad, Err(ErrorCode::BadRequest));
    let own = json!({ "kind": "replace", "text": "line 17\nmine\nline 23\n" });
    asked(&owner, "approval/answer", answer(json!([take, own])))
        .await
        .unwrap();
    assert_eq!(story.until_end(VecDeque::new()).await, TurnOutcome::Done);
    let block = numbered(17..=23);
    let expected = lines
        .replace("line 5\n", "LINE 5\n")
        .replace(&block, "line 17\nmine\nline 23\n");
    assert_eq!(story.files.text("notes.txt").unwrap(), expected);
    let last = story.server.chats().last().unwrap().body.to_string();
    assert!(last.contains("The user changed your edit of notes.txt"), "{last}");
    assert!(last.contains("+mine"), "{last}");
    assert_eq!(inbox(&foreign).await, Vec::new());
    host.shutdown().await;
}

#[tokio::test]
async fn u3_what_waits_leaves_the_inbox_when_its_window_closes() {
    let edit = json!({ "path": "new.txt", "content": "x\n" });
    let story = Story::begin(&[], vec![Reply::call("write_file", edit)]).await;
    let (host, own) = (story.host.clone(), story.project.clone());
    let elsewhere = TempProject::new([("README.md", "# Other")]).unwrap();
    let other = host.project(Some(elsewhere.root())).await.unwrap();
    let (foreign, mut told) = Window::new(host.clone(), other, NoDesk);
    let (owner, _asked) = Window::new(host.clone(), own, NoDesk);
    let message = json!({ "session": story.id, "text": "Write" });
    asked(&owner, "turn/send", message).await.unwrap();
    for expected in [1, 0] {
        until(
            &mut told,
            |body| matches!(body, EventBody::InboxChanged { waiting } if *waiting == expected),
        )
        .await;
        let list = asked(&foreign, "inbox/list", json!({})).await.unwrap();
        let list = serde_json::from_value::<InboxResult>(list).unwrap().waiting;
        assert_eq!(list.len(), expected as usize);
        owner.end_sessions().await;
    }
    host.shutdown().await;
}

fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
    let lines: Vec<String> = lines.map(|line| format!("line {line}\n")).collect();
    lines.concat()
}

#[test]
fn a3_every_event_is_documented_by_a_line_that_can_be_read() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../EVENTS.md")).unwrap();
    let examples: Vec<Event> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types = |events: &[Event]| -> std::collections::BTreeSet<String> {
        let name = |event: &Event| {
            serde_json::to_value(event).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        events.iter().map(name).collect()
    };
    let schema =
        std::fs::read_to_string(golden("../../../ui/src/bindings/EventBody").with_extension("ts")).unwrap();
    let known: std::collections::BTreeSet<String> = schema
        .split("\"type\": \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|name| *name != "unknown")
        .map(str::to_owned)
        .collect();
    assert!(known.len() > 10, "the page's types name the events: {known:?}");
    assert_eq!(types(&examples), known);
}
