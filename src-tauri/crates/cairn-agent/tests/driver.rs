//! The driver at its borders: what is stored before it is shown or done, whose answer counts, what never leaves.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cairn_agent::driver::{self, EventSink, SessionHandle, Surface};
use cairn_agent::effect::Input;
use cairn_agent::log::SessionLog;
use cairn_agent::model::{FinishReason, Model, ModelError, ModelEvent, ModelInfo, ModelRequest};
use cairn_agent::prompt::{Surroundings, SurroundingsSource};
use cairn_agent::store::{BeforeImage, Durability, EventStore, Journal, StoreError};
use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_agent::turn::Limits;
use cairn_policy::{Edits, Effect, Place, Places, Policy, Presence, RuleSet, Sandbox};
use cairn_protocol::{
    Approval, ApprovalAnswer, ApprovalSubject, BlobId, CallId, ChangeCount, ChangeKind, CodeBlock,
    ContentBlock, Delta, DiffLine, DiffLineKind, ErrorCode, Event, EventBody, FileDiff, Hunk, HunkChoice,
    ItemBody, ItemId, ItemState, Mode, OutputId, SendWhen, Session, SessionId, SessionState, ShownKind,
    ShownSpan, Table, Usage,
};
use cairn_testkit::{FakeWorld, Recorder};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};

/// What happened outside the driver, in order.
#[derive(Clone, Debug)]
enum Step {
    Stored(Event, Durability),
    /// A piece of a growing text was kept: the item, and where it begins.
    Kept(ItemId, u64),
    Shown(Event),
    /// The tool did its deed.
    Ran,
}

type Trace = Arc<Recorder<Step>>;

/// Lets others go first before it keeps anything, as a disk does.
struct Store(Trace);

impl EventStore for Store {
    fn append(&self, events: Vec<Event>, durability: Durability) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            for event in events {
                self.0.push(Step::Stored(event, durability));
            }
            Ok(())
        })
    }

    fn append_text(
        &self,
        _session: SessionId,
        item: ItemId,
        offset: u64,
        _text: String,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.push(Step::Kept(item, offset));
            Ok(())
        })
    }
}

/// Nothing here keeps files.
struct NoJournal;

fn not_here<T: Send + 'static>() -> BoxFuture<'static, Result<T, StoreError>> {
    Box::pin(std::future::ready(Err(StoreError::Missing("it".to_owned()))))
}

impl Journal for NoJournal {
    fn before_change(&self, _image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        not_here()
    }

    fn after_change(
        &self,
        _call: CallId,
        _path: PathBuf,
        _happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        not_here()
    }

    fn put_blob(&self, _bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        not_here()
    }

    fn get_blob(&self, _blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        not_here()
    }

    fn put_output(&self, _session: SessionId, text: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        // Named by its length, so that it shows whether all of it was kept.
        let id = format!("kept-{}", text.chars().count());
        Box::pin(std::future::ready(Ok(id.as_str().into())))
    }

    fn get_output(
        &self,
        _session: SessionId,
        _output: OutputId,
    ) -> BoxFuture<'_, Result<String, StoreError>> {
        not_here()
    }
}

struct Nowhere;

impl SurroundingsSource for Nowhere {
    fn surroundings(&self) -> BoxFuture<'_, Surroundings> {
        Box::pin(std::future::ready(Surroundings::default()))
    }
}

struct Sink(Trace);

impl EventSink for Sink {
    fn event(&self, event: &Event) {
        self.0.push(Step::Shown(event.clone()));
    }

    fn save_rules(&self, _rules: &[String]) {}
}

/// Gives one reply after the other.
struct Scripted {
    info: ModelInfo,
    replies: Mutex<VecDeque<Vec<ModelEvent>>>,
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, _request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let reply = self.replies.lock().unwrap().pop_front().unwrap();
        stream::iter(reply.into_iter().map(Ok)).boxed()
    }
}

const KEY: &str = "sk-test-CANARY";
const BLOT: &str = "##############";

/// A tool that does what its effect says and comes across a key.
struct Deed {
    spec: ToolSpec,
    effect: Effect,
    says: String,
    trace: Trace,
}

impl Tool for Deed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        _arguments: serde_json::Map<String, serde_json::Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let prepared = Prepared {
            title: format!("Deed {KEY}"),
            target: format!("target {KEY}"),
            effects: vec![self.effect.clone()],
            subject: Some(ApprovalSubject::Edit {
                diffs: vec![beside_a_key("card")],
            }),
            says: Some(format!("says {KEY}")),
            blocks: vec![ContentBlock::Diff(beside_a_key("before"))],
            digest: "d1".to_owned(),
            limit: None,
            action: Action::Execute(Box::new(Doing(self.trace.clone(), self.says.clone()))),
        };
        Box::pin(std::future::ready(Ok(prepared)))
    }
}

/// A change whose marked word lies in the middle of a key.
fn beside_a_key(word: &str) -> FileDiff {
    let spans = [("plain", 7), ("changed", 12), ("plain", 14)]
        .iter()
        .scan(0, |start, (kind, end)| {
            let text = KEY.get(*start..*end).unwrap().to_owned();
            *start = *end;
            let kind = match *kind {
                "changed" => ShownKind::Changed,
                _ => ShownKind::Plain,
            };
            Some(ShownSpan { kind, text })
        });
    let word = ShownSpan {
        kind: ShownKind::Plain,
        text: format!("{word} "),
    };
    FileDiff {
        path: ".env.example".to_owned(),
        change: ChangeKind::Modified,
        added: 1,
        removed: 0,
        hunks: vec![Hunk {
            old_start: 1,
            new_start: 1,
            lines: vec![DiffLine {
                kind: DiffLineKind::Context,
                old: Some(1),
                new: Some(1),
                spans: std::iter::once(word).chain(spans).collect(),
            }],
        }],
        omitted_lines: 0,
        before: None,
        after: None,
        notes: vec![format!("diff note {KEY}")],
    }
}

struct Doing(Trace, String);

impl Execute for Doing {
    fn takes_hunks(&self) -> bool {
        true
    }

    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        self.0.push(Step::Ran);
        context.progress.output(0, &format!("live {KEY}"));
        let code = CodeBlock {
            language: String::new(),
            first_line: 1,
            text: format!("code {KEY}"),
        };
        let table = Table {
            headers: vec![format!("head {KEY}")],
            rows: vec![vec![format!("cell {KEY}")]],
        };
        let outcome = ToolOutcome {
            blocks: vec![
                ContentBlock::Code(code),
                ContentBlock::Diff(beside_a_key("after")),
                ContentBlock::Table(table),
            ],
            note: format!("note {KEY}"),
            ..ToolOutcome::ok(self.1)
        };
        Box::pin(std::future::ready(outcome))
    }
}

fn session() -> Session {
    Session {
        id: "s".into(),
        project: "p".into(),
        project_path: "/w/tidewater".to_owned(),
        title: String::new(),
        created_at: 0,
        updated_at: 0,
        state: SessionState::New,
        mode: Mode::Manual,
        profile: None,
        changes: ChangeCount::default(),
        usage: Usage::default(),
        archived: false,
    }
}

fn policy() -> Policy {
    Policy {
        places: Places {
            root: PathBuf::from("/w/tidewater"),
            home: None,
            own: Vec::new(),
        },
        mode: Mode::Manual,
        rules: RuleSet::default(),
        edits: Edits::AsMode,
        presence: Presence::Person,
        sandbox: Sandbox::NotEnforced,
        reading: cairn_policy::Reading::InSandbox,
        taint: cairn_policy::Taint::None,
    }
}

/// A request whose model does the deed and then says so.
async fn begun(effect: Effect) -> (SessionHandle, Trace) {
    begun_saying(effect, format!("result {KEY}")).await
}

/// The same with that result of the deed.
async fn begun_saying(effect: Effect, says: String) -> (SessionHandle, Trace) {
    let trace = Trace::default();
    let spec = ToolSpec {
        name: "deed".to_owned(),
        description: String::new(),
        schema: serde_json::json!({ "type": "object" }),
        class: ToolClass::Run,
        limit: None,
    };
    let tool = Deed {
        spec,
        effect,
        says,
        trace: trace.clone(),
    };
    let surface = Surface {
        world: Arc::new(FakeWorld::new()),
        store: Arc::new(Store(trace.clone())),
        journal: Arc::new(NoJournal),
        surroundings: Arc::new(Nowhere),
        tools: vec![Arc::new(tool)],
        rules: Arc::new(|| None),
        sink: Arc::new(Sink(trace.clone())),
        settled: Arc::new(|| Box::pin(std::future::ready(()))),
        // As many bytes come out as went in.
        mask_live: Arc::new(|text| text.replace(KEY, BLOT)),
        limits: std::collections::HashMap::new(),
        mask: Arc::new(|text| text.replace(KEY, "[key]")),
    };
    let handle = driver::open(SessionLog::new(session()), policy(), Limits::default(), surface);
    let call = ModelEvent::Call {
        id: "c1".to_owned(),
        name: "deed".to_owned(),
        arguments: "{}".to_owned(),
        from_text: false,
        cut: false,
    };
    let end = || ModelEvent::Finished(FinishReason::Stop);
    let replies = [
        vec![ModelEvent::Text("I do it.".to_owned()), call, end()],
        vec![ModelEvent::Text("Done.".to_owned()), end()],
    ];
    let model = Scripted {
        info: ModelInfo {
            name: "scripted".to_owned(),
            window: None,
            window_assumed: false,
            max_output_tokens: None,
            temperature: None,
            tools: true,
            vision: false,
            local: true,
        },
        replies: Mutex::new(replies.into()),
    };
    handle
        .use_model("scripted".to_owned(), Arc::new(model))
        .await
        .unwrap();
    let send = Input::Send {
        text: "go".to_owned(),
        attachments: Vec::new(),
        when: SendWhen::Queue,
        turn: "t1".into(),
        queue: "q1".into(),
    };
    handle.step(send).await.unwrap();
    (handle, trace)
}

/// All steps up to the end of the request, and what followed from it.
async fn ended(trace: &Trace) -> Vec<Step> {
    let over = |steps: &[Step]| {
        let at = steps.iter().position(
            |step| matches!(step, Step::Shown(event) if matches!(event.body, EventBody::TurnCompleted { .. })),
        );
        at.is_some_and(|at| {
            steps[at..]
                .iter()
                .any(|step| matches!(step, Step::Shown(event) if matches!(event.body, EventBody::SessionChanged { .. })))
        })
    };
    trace.wait_for(over).await.unwrap()
}

async fn card(trace: &Trace) -> Approval {
    let of = |step: &Step| match step {
        Step::Shown(event) => match &event.body {
            EventBody::ApprovalRequested { approval } => Some(approval.clone()),
            _ => None,
        },
        _ => None,
    };
    let steps = trace
        .wait_for(|steps| steps.iter().any(|step| of(step).is_some()))
        .await;
    steps.unwrap().iter().find_map(of).unwrap()
}

fn ran(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Ran)).count()
}

#[tokio::test]
async fn s1_whatever_is_shown_was_stored_before() {
    let (_handle, trace) = begun(Effect::Own).await;
    let steps = ended(&trace).await;
    let (mut events, mut pieces) = (0, 0);
    for (at, step) in steps.iter().enumerate() {
        let Step::Shown(shown) = step else { continue };
        let before = &steps[..at];
        match &shown.body {
            EventBody::ItemDelta {
                item,
                delta: Delta::Text { offset, .. },
            } => {
                let kept = |step: &Step| matches!(step, Step::Kept(of, from) if of == item && from == offset);
                assert!(before.iter().any(kept), "shown before it was kept: {shown:?}");
                pieces += 1;
            }
            body if body.is_stored() => {
                let stored = |step: &Step| matches!(step, Step::Stored(event, _) if event == shown);
                assert!(before.iter().any(stored), "shown before it was stored: {shown:?}");
                events += 1;
            }
            _ => {}
        }
    }
    assert!(events > 10 && pieces == 2, "{events} events, {pieces} pieces");
}

#[tokio::test]
async fn s1_a_command_is_synced_before_it_runs() {
    let (_handle, trace) = begun(Effect::Own).await;
    let steps = ended(&trace).await;
    let runs = steps.iter().position(|step| matches!(step, Step::Ran)).unwrap();
    let begins = |event: &Event| match &event.body {
        EventBody::ItemUpdated { item } => {
            item.state == ItemState::Running && matches!(item.body, ItemBody::Tool(_))
        }
        _ => false,
    };
    let synced = |step: &Step| matches!(step, Step::Stored(event, Durability::Synced) if begins(event));
    assert!(steps[..runs].iter().any(synced), "{:#?}", &steps[..runs]);
}

#[tokio::test]
async fn p10_only_the_answer_to_the_very_card_that_was_shown_runs_anything_and_only_once() {
    let line = "cargo test".to_owned();
    let effect = Effect::RunCommand {
        line,
        workdir: "/w/tidewater".into(),
        place: Place::Inside,
        network: false,
        outside: false,
        facts: cairn_policy::CommandFacts::default(),
    };
    let (handle, trace) = begun(effect).await;
    let card = card(&trace).await;
    let answer = |id: &str, digest: &str| {
        let handle = handle.clone();
        let (id, digest) = (id.into(), digest.to_owned());
        async move { handle.approve(id, digest, ApprovalAnswer::AllowOnce).await }
    };
    let (id, digest) = (card.id.as_str(), card.digest.as_str());
    for (id, digest) in [(id, "d2"), (id, ""), ("another", digest)] {
        let refused = answer(id, digest).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Stale, "{id} {digest}");
    }
    let waits = handle.snapshot().await.unwrap();
    assert_eq!((waits.approvals.len(), ran(&trace.all())), (1, 0));
    answer(id, digest).await.unwrap();
    assert_eq!(answer(id, digest).await.unwrap_err().code, ErrorCode::Stale);
    assert_eq!(ran(&ended(&trace).await), 1);
}

fn told(trace: &Trace) -> Vec<String> {
    let told = |step| match step {
        Step::Stored(event, _) | Step::Shown(event) => Some(serde_json::to_string(&event).unwrap()),
        Step::Kept(..) | Step::Ran => None,
    };
    trace.all().into_iter().filter_map(told).collect()
}

#[tokio::test]
async fn a7_a_key_that_a_tool_brings_is_neither_stored_nor_shown() {
    let (_handle, trace) = begun(Effect::Own).await;
    ended(&trace).await;
    let told = told(&trace);
    let live = format!("live {BLOT}");
    let words = "Deed target before code after head cell note result";
    let kept = words.split(' ').map(|word| format!("{word} [key]"));
    for came in kept.chain([live, "diff note [key]".to_owned()]) {
        assert!(told.iter().any(|event| event.contains(&came)), "{came}");
    }
    let leaked: Vec<_> = told.iter().filter(|event| leaks(event)).collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

/// Whether the key is in it, whole or from any piece that a diff line was cut into.
fn leaks(event: &str) -> bool {
    event.contains(KEY) || event.contains("CANAR")
}

#[tokio::test]
async fn a7_a_key_in_what_a_card_shows_or_the_person_says_is_neither_stored_nor_shown() {
    let asks = Effect::ReadPath {
        path: "/elsewhere/notes.txt".into(),
        place: Place::Outside,
        care: cairn_policy::Care::Plain,
    };
    let (handle, trace) = begun(asks).await;
    let card = card(&trace).await;
    let answer = ApprovalAnswer::Deny {
        note: Some(format!("deny {KEY}")),
    };
    handle.approve(card.id, card.digest, answer).await.unwrap();
    ended(&trace).await;
    handle.step(Input::Rename(format!("title {KEY}"))).await.unwrap();
    let told = told(&trace);
    for came in ["card [key]", "says [key]", "deny [key]", "title [key]"] {
        assert!(told.iter().any(|event| event.contains(came)), "{came}");
    }
    let leaked: Vec<_> = told.iter().filter(|event| leaks(event)).collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

/// The window of the model here is not known: 12,000 characters.
#[tokio::test]
async fn t3_a_result_beyond_its_budget_is_cut_in_the_middle_and_kept_whole_whatever_the_tool() {
    for (length, is_cut) in [(12_000, false), (12_001, true), (1_000_000, true)] {
        let says = format!("head{}tail", "\u{e9}".repeat(length - 8));
        let (_handle, trace) = begun_saying(Effect::Own, says.clone()).await;
        let results = ended(&trace).await.into_iter().filter_map(|step| match step {
            Step::Stored(event, _) => match event.body {
                EventBody::ItemCompleted { item } => match item.body {
                    ItemBody::Tool(tool) => tool.result,
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
        let results: Vec<_> = results.collect();
        let [result] = results.as_slice() else {
            panic!("{results:?}")
        };
        let told = &result.content;
        assert!(told.chars().count() <= 12_000 && told.starts_with("head") && told.ends_with("tail"));
        let names_it = told.contains(&format!("read the whole as `output:kept-{length}`"));
        assert_eq!((names_it, *told == says), (is_cut, !is_cut), "{length}");
    }
}

#[tokio::test]
async fn a7_a_place_that_holds_a_key_can_be_left_but_not_written_anew() {
    let asks = Effect::ReadPath {
        path: "/elsewhere/notes.txt".into(),
        place: Place::Outside,
        care: cairn_policy::Care::Plain,
    };
    let (handle, trace) = begun(asks).await;
    let card = card(&trace).await;
    let answer = |choice: HunkChoice| {
        let (handle, id, digest) = (handle.clone(), card.id.clone(), card.digest.clone());
        async move {
            let hunks = vec![choice];
            handle
                .approve(id, digest, ApprovalAnswer::AllowChanged { hunks })
                .await
        }
    };
    let text = "card [key]\n".to_owned();
    let refused = answer(HunkChoice::Replace { text }).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadRequest);
    assert!(refused.message.contains("holds a key"), "{refused:?}");
    let waits = handle.snapshot().await.unwrap();
    assert_eq!((waits.approvals.len(), ran(&trace.all())), (1, 0));
    answer(HunkChoice::Take).await.unwrap();
    assert_eq!(ran(&ended(&trace).await), 1);
}
