//! Sessions in which everything goes wrong that can, by chance: each goes on, and its next message gets its answer.
//!
//! `CAIRN_STORM=500 cargo test -p cairn-cli --test storm` runs so many; `CAIRN_STORM_SEED=7` runs only that one. A
//! session is made from its seed alone, but for what the clock decides.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by a panic, and says why on the terminal"
)]

#[path = "support/story.rs"]
mod story;

use std::sync::Arc;
use std::time::Duration;

use cairn_host::parts::{Input, Presence, SessionHandle};
use cairn_host::{Host, OpenSession, Project, Subscription};
use cairn_protocol::{
    Activity, ApprovalAnswer, EventBody, ItemBody, Mode, QuestionAnswer, SendWhen, SessionId,
    SessionSnapshot, TurnOutcome,
};
use cairn_testkit::TempProject;
use cairn_testkit::provider::{Reply, Script, ScriptedServer, Step};
use serde_json::json;
use story::start_host;
use tempfile::TempDir;

/// Sessions in an ordinary run; the whole number is for when the loop or a protocol was changed.
const USUAL: u64 = 40;
/// Sessions at the same time.
const AT_ONCE: usize = 4;
/// What no session may take: everything waits for events, so that this is met only where something hangs.
const LONGEST: Duration = Duration::from_secs(90);
/// How long a summary may say nothing before the person stops it.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the model says when nothing is left of the script.
const LAST: &str = "Everything is answered.";
/// Text after which the server says nothing more.
const HANGS: &str = "It hangs here.";

/// Numbers by chance (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

/// A reply that goes well or, mostly, does not.
fn reply(chance: &mut Chance) -> Reply {
    let words = "Some words of the model's, with a \u{1f600} and an ü in them. ";
    let cut = chance.below(900) as usize;
    match chance.below(34) {
        0 | 1 => Reply::text(words),
        2 => Reply::text(&words.repeat(chance.below(400) as usize)),
        3 => Reply::text("").header("x-empty", "yes"),
        4 => Reply::call("read_file", json!({ "path": "notes.txt" })),
        5 => Reply::call("read_file", json!({ "path": format!("missing{cut}.txt") })),
        6 => Reply::call("read_file", json!({ "path": "axis.png" })),
        7 => Reply::call("grep", json!({ "pattern": "word" })).and_call("list_dir", json!({ "path": "." })),
        8 => Reply::call(
            "write_file",
            json!({ "path": format!("new{cut}.txt"), "content": "x\n" }),
        ),
        9 => Reply::call("shell", json!({ "command": "echo out; exit 3" })),
        10 => Reply::call("no_such_tool", json!({ "a": cut })),
        11 => call_with(json!("{\"path\": \"no")),
        12 => call_with(chance.of(&[
            json!("[]"),
            json!("null"),
            json!(""),
            json!("7"),
            json!("\"twice\""),
        ])),
        13 => call_with(json!({ "path": { "deep": [1, 2, { "x": null }] } })),
        14 => doubled(),
        15 => Reply::call(
            "ask_user",
            json!({ "questions": [{ "question": "Which?", "options": [{ "label": "a" }, { "label": "b" }] }] }),
        ),
        16 => Reply::text(
            "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"notes.txt\"}}</tool_call>",
        ),
        17 => Reply::error(400, "messages.3.content: something about it is not liked"),
        18 => Reply::error(429, "slow down").header("retry-after", "0"),
        19 => Reply::error(chance.of(&[500, 502, 503, 529]), "overloaded"),
        20 => Reply::body(200, "text/html", "<html><h1>Sign in</h1></html>"),
        21 => Reply::body(502, "text/html", "<html><h1>Bad gateway</h1></html>"),
        22 => Reply::text(&words.repeat(8)).cut_after(cut),
        23 => Reply::call("read_file", json!({ "path": "notes.txt" })).cut_after(cut),
        24 => Reply::stream(
            "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud800 half\"}}]}\n\ndata: [DONE]\n\n",
        ),
        25 => Reply::stream("\0\u{1}garbage\n\nevent: nothing\ndata:\n\n"),
        26 => Reply::steps([Step::Text(HANGS.to_owned()), Step::Hang]),
        27 => finished(words, "length"),
        28 => finished(words, "content_filter"),
        29 => Reply::error(
            400,
            "This model's maximum context length is 8192 tokens, you sent 9000 tokens",
        ),
        30 => Reply::error(chance.of(&[401, 402, 403, 404, 413, 422]), "not like this"),
        31 => Reply::call(
            "todo_write",
            json!({ "todos": [{ "content": "a", "status": "done-ish" }] }),
        ),
        32 => {
            Reply::call("enter_plan_mode", json!({})).and_call("exit_plan_mode", json!({ "plan": "1. Look" }))
        }
        _ => Reply::steps([
            Step::Thinking("I think".to_owned()),
            Step::Text("and stop".to_owned()),
            Step::Cut,
        ]),
    }
}

fn call_with(arguments: serde_json::Value) -> Reply {
    let mut reply = Reply::call("read_file", json!({}));
    for call in &mut reply.tool_calls {
        call.arguments = arguments.clone();
    }
    reply
}

fn doubled() -> Reply {
    let read = json!({ "path": "notes.txt" });
    let mut reply = Reply::call("read_file", read.clone()).and_call("read_file", read);
    for call in &mut reply.tool_calls {
        call.id = Some("call_twice".to_owned());
    }
    reply
}

fn finished(words: &str, reason: &str) -> Reply {
    Reply {
        finish: Some(reason.to_owned()),
        ..Reply::text(words)
    }
}

/// A session in the storm.
struct Storm {
    seed: u64,
    chance: Chance,
    host: Arc<Host>,
    project: Arc<Project>,
    /// None only while it starts again: a session that is held is not given to another host.
    session: Option<Arc<OpenSession>>,
    id: SessionId,
    events: Subscription,
    server: ScriptedServer,
    files: TempProject,
    home: TempDir,
    /// What happened, for whoever has to mend it.
    told: Vec<String>,
}

const PROFILES: [&str; 4] = ["openai", "responses", "anthropic", "ollama"];

impl Storm {
    async fn begin(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let count = 2 + chance.below(12);
        let replies: Vec<Reply> = (0..count).map(|_| reply(&mut chance)).collect();
        let told = replies.iter().map(|reply| format!("{reply:.300?}")).collect();
        let script = Script {
            last: Some(Reply::text(LAST)),
            holds: chance.of(&[0, 0, 10_000, 14_000]),
            most_pictures: chance.of(&[0, 1, 100]),
            ..Script::new(replies)
        };
        let server = ScriptedServer::start(script).await.unwrap();
        let picture: &[u8] = include_bytes!("desktop/axis.png");
        let notes = "a word of the notes\n".repeat(60);
        let files: [(&str, &[u8]); 2] = [("notes.txt", notes.as_bytes()), ("axis.png", picture)];
        let files = TempProject::new(files).unwrap();
        let home = TempDir::new().unwrap();
        let window = chance.of(&[12_000, 16_000, 32_000, 200_000]);
        let profile = |api: &&str| {
            let address = if *api == "ollama" {
                server.root_url()
            } else {
                server.base_url()
            };
            format!(
                "[profiles.{api}]\napi = \"{api}\"\nbase_url = \"{address}\"\nmodel = \"scripted\"\n\
                 context_window = {window}\n"
            )
        };
        let config = PROFILES.iter().map(profile).collect::<Vec<_>>().concat();
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        let host = start_host(home.path());
        let project = host.project(Some(files.root())).await.unwrap();
        let mode = chance.of(&[Mode::Manual, Mode::AcceptEdits, Mode::Plan]);
        let id = host.create_session(&project, mode).await.unwrap().id;
        let events = host.follow(&project, &id);
        let session = host.open_session(&project, &id, Presence::Person).await.unwrap();
        let profile = chance.of(&PROFILES);
        host.use_profile(&session.handle, profile).await.unwrap();
        Self {
            seed,
            chance,
            host,
            project,
            session: Some(session),
            id,
            events,
            server,
            files,
            home,
            told,
        }
    }

    /// Quits in the middle of whatever happens, and starts again.
    async fn restart(&mut self) {
        self.told.push("restart".to_owned());
        self.host.shutdown().await;
        self.session = None;
        self.host = start_host(self.home.path());
        self.project = self.host.project(Some(self.files.root())).await.unwrap();
        self.events = self.host.follow(&self.project, &self.id);
        let session = self.host.open_session(&self.project, &self.id, Presence::Person);
        self.session = Some(session.await.unwrap());
    }

    fn handle(&self) -> SessionHandle {
        self.session.as_ref().expect("it is open").handle.clone()
    }

    async fn send(&mut self, text: &str) {
        self.told.push(format!("send {text}"));
        let (turn, queue) = (self.host.fresh_id().into(), self.host.fresh_id().into());
        let input = Input::Send {
            text: text.to_owned(),
            attachments: Vec::new(),
            when: SendWhen::Queue,
            turn,
            queue,
        };
        self.handle().step(input).await.unwrap();
    }

    async fn snapshot(&self) -> SessionSnapshot {
        self.handle().snapshot().await.unwrap()
    }

    /// Whether nothing runs and nothing waits: the next message begins a request.
    async fn rests(&self) -> bool {
        let snapshot = self.snapshot().await;
        let over = snapshot.turns.last().is_none_or(|turn| turn.outcome.is_some());
        over && snapshot.activity == Activity::Idle
    }

    /// Answers what is asked until the request is over; now and then stops it, or quits in its middle.
    async fn until_rest(&mut self) {
        let stop_at = self.chance.one_in(5).then(|| 1 + self.chance.below(12));
        let quit_at = self.chance.one_in(8).then(|| 1 + self.chance.below(12));
        let mut seen = 0;
        loop {
            if self.rests().await {
                return;
            }
            let Some(event) = self.next_event().await else {
                continue;
            };
            seen += 1;
            if quit_at == Some(seen) {
                self.restart().await;
                // What waits now was asked before: it is answered from what is there.
                self.answer_what_waits().await;
                continue;
            }
            if stop_at == Some(seen) {
                self.told.push("stop".to_owned());
                self.handle().step(Input::Stop).await.unwrap();
            }
            match &event.body {
                EventBody::ApprovalRequested { .. } | EventBody::QuestionAsked { .. } => {
                    self.answer_what_waits().await;
                }
                EventBody::ActivityChanged {
                    activity: Activity::Retrying { .. },
                } => {
                    self.handle().step(Input::RetryNow).await.ok();
                }
                EventBody::ItemDelta { .. }
                | EventBody::ItemUpdated { .. }
                | EventBody::ItemStarted { .. }
                    if self.hangs().await =>
                {
                    self.told.push("stop what hangs".to_owned());
                    self.handle().step(Input::Stop).await.unwrap();
                }
                _ => {}
            }
        }
    }

    /// The next event. A summary that the server never ends is what a person stops: nothing else ends it, since a local
    /// server may be slow.
    async fn next_event(&mut self) -> Option<Arc<cairn_protocol::Event>> {
        for (patience, at_end) in [(PATIENCE, false), (LONGEST, true)] {
            match tokio::time::timeout(patience, self.events.events.recv()).await {
                Ok(event) => return Some(event.expect("the session is open")),
                Err(_) if at_end => break,
                Err(_) => {
                    let activity = self.snapshot().await.activity;
                    if matches!(activity, Activity::Summarising { .. }) {
                        self.told.push("stop the summary".to_owned());
                        self.handle().step(Input::Stop).await.unwrap();
                        return None;
                    }
                }
            }
        }
        let activity = self.snapshot().await.activity;
        panic!("seed {} hangs: {:#?}\n{activity:#?}", self.seed, self.told);
    }

    async fn hangs(&self) -> bool {
        let snapshot = self.snapshot().await;
        let last = snapshot.items.last().map(|item| &item.body);
        matches!(last, Some(ItemBody::Assistant { text }) if text.contains(HANGS))
            && snapshot.turns.last().is_some_and(|turn| turn.outcome.is_none())
    }

    async fn answer_what_waits(&mut self) {
        let snapshot = self.snapshot().await;
        for card in snapshot.approvals {
            let plan = card.title.contains("plan");
            let answers = if plan {
                vec![
                    ApprovalAnswer::CarryOut {
                        mode: Mode::Manual,
                        plan: None,
                    },
                    ApprovalAnswer::Deny {
                        note: Some("shorter".to_owned()),
                    },
                ]
            } else {
                vec![
                    ApprovalAnswer::AllowOnce,
                    ApprovalAnswer::Skip,
                    ApprovalAnswer::Deny { note: None },
                    ApprovalAnswer::Deny {
                        note: Some("another way".to_owned()),
                    },
                ]
            };
            let answer = self.chance.of(&answers);
            // Another answer may have withdrawn it.
            self.handle().approve(card.id, card.digest, answer).await.ok();
        }
        if let Some(question) = snapshot.question.filter(|question| question.answers.is_none()) {
            let answers = vec![QuestionAnswer::YouDecide; question.asks.len()];
            self.handle().answer(question.id, answers).await.ok();
        }
    }

    async fn between(&mut self) {
        match self.chance.below(6) {
            0 => {
                let profile = self.chance.of(&PROFILES);
                self.told.push(format!("use {profile}"));
                self.host.use_profile(&self.handle(), profile).await.unwrap();
            }
            1 => {
                self.told.push("summarise".to_owned());
                self.handle().step(Input::Summarise).await.ok();
                self.until_rest().await;
            }
            2 => self.restart().await,
            _ => {}
        }
    }
}

/// One session: every message is accepted, and once the script is used up one gets its answer.
async fn run(seed: u64) {
    let mut storm = Storm::begin(seed).await;
    for round in 0..24 {
        storm.between().await;
        storm.send(&format!("Message {round} of the person's")).await;
        storm.until_rest().await;
        let snapshot = storm.snapshot().await;
        let outcome = snapshot.turns.last().and_then(|turn| turn.outcome.clone());
        storm.told.push(format!("{outcome:?}"));
        let answered = snapshot.items.iter().rev().find_map(|item| match &item.body {
            ItemBody::Assistant { text }
                if Some(&item.turn) == snapshot.turns.last().map(|turn| &turn.id) =>
            {
                Some(text.contains(LAST))
            }
            _ => None,
        });
        if outcome == Some(TurnOutcome::Done) && answered == Some(true) {
            let unexpected: Vec<String> = storm
                .server
                .requests()
                .into_iter()
                .filter_map(|request| request.refused)
                .filter(|words| !is_a_limit(words))
                .collect();
            assert!(
                unexpected.is_empty(),
                "seed {seed}: {unexpected:#?}\n{:#?}",
                storm.told
            );
            storm.host.shutdown().await;
            return;
        }
    }
    panic!("seed {seed} never gets its answer: {:#?}", storm.told);
}

/// What the double may refuse: what is too long, and pictures beyond its number.
fn is_a_limit(words: &str) -> bool {
    let words = words.to_lowercase();
    ["too long", "context length", "context size", "image", "picture"]
        .iter()
        .any(|limit| words.contains(limit))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_session_in_the_storm_gets_an_answer_to_its_next_message() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds: Vec<u64> = match number("CAIRN_STORM_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("CAIRN_STORM").unwrap_or(USUAL)).collect(),
    };
    let count = seeds.len();
    let seeds = Arc::new(std::sync::Mutex::new(seeds.into_iter()));
    let mut crew = tokio::task::JoinSet::new();
    for _ in 0..AT_ONCE {
        let seeds = seeds.clone();
        crew.spawn(async move {
            loop {
                let Some(seed) = seeds.lock().unwrap().next() else {
                    return;
                };
                run(seed).await;
            }
        });
    }
    while let Some(ended) = crew.join_next().await {
        ended.unwrap();
    }
    println!("{count} sessions, each got its answer");
}
