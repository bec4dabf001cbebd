//! The turn as tables: inputs in, effects out. No async, no doubles.

use std::path::PathBuf;

use cairn_policy::{Approve, Care, Effect as Would, Place, Places, Presence, RuleSet, Sandbox};
use cairn_protocol::{
    ApprovalAnswer, ApprovalSubject, Ask, AskOption, ChangeKind, FileChange, QuestionAnswer, SendWhen,
    Session, TodoItem, TodoState, ToolItem, Usage,
};

use super::*;
use crate::effect::PreparedFacts;
use crate::model::{FinishReason, ModelError, ModelEvent};
use crate::tool::{ToolClass, ToolOutcome};

#[path = "tests/aside.rs"]
mod aside;
#[path = "tests/choices.rs"]
mod choices;
#[path = "tests/outside.rs"]
mod outside;
#[path = "tests/planning.rs"]
mod planning;
#[path = "tests/property.rs"]
mod property;
#[path = "tests/reasoning.rs"]
mod reasoning;
#[path = "tests/rerun.rs"]
mod rerun;
#[path = "tests/stuck.rs"]
mod stuck;
#[path = "tests/summarising.rs"]
mod summarising;
#[path = "tests/together.rs"]
mod together;

struct Bench {
    machine: TurnMachine,
    now: i64,
    fresh: u32,
}

pub(crate) fn session() -> Session {
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
        changes: cairn_protocol::ChangeCount::default(),
        usage: Usage::default(),
        archived: false,
    }
}

fn policy(presence: Presence) -> Policy {
    Policy {
        places: Places {
            root: PathBuf::from("/w/tidewater"),
            home: None,
            own: Vec::new(),
        },
        mode: Mode::Manual,
        rules: RuleSet::default(),
        edits: Edits::AsMode,
        presence,
        sandbox: Sandbox::NotEnforced,
        reading: cairn_policy::Reading::InSandbox,
        taint: cairn_policy::Taint::None,
    }
}

fn tools() -> Vec<ToolFacts> {
    [
        ("read_file", ToolClass::Read),
        ("grep", ToolClass::Read),
        ("web_fetch", ToolClass::Read),
        ("edit_file", ToolClass::Edit),
        ("enter_plan_mode", ToolClass::Own),
        ("exit_plan_mode", ToolClass::Own),
        ("shell", ToolClass::Run),
        ("ask_user", ToolClass::Own),
        ("web_fetch", ToolClass::Read),
    ]
    .map(|(name, class)| ToolFacts {
        name: name.to_owned(),
        class,
    })
    .into()
}

impl Bench {
    fn new() -> Self {
        Self::with(SessionLog::new(session()), Presence::Person, Limits::default())
    }

    fn with(log: SessionLog, presence: Presence, limits: Limits) -> Self {
        let machine = TurnMachine::new(log, policy(presence), limits, tools());
        Self {
            machine,
            now: 1_000,
            fresh: 0,
        }
    }

    fn tell(&mut self, input: Input) -> Vec<Effect> {
        self.now += 1;
        self.machine.step(
            Moment {
                now: self.now,
                chance: 0.5,
            },
            input,
        )
    }

    fn send(&mut self, text: &str) -> Vec<Effect> {
        self.fresh += 1;
        let (turn, queue) = (
            format!("t{}", self.fresh).into(),
            format!("q{}", self.fresh).into(),
        );
        self.tell(Input::Send {
            text: text.to_owned(),
            attachments: Vec::new(),
            when: SendWhen::Queue,
            turn,
            queue,
        })
    }

    fn text(&mut self, text: &str) {
        self.tell(Input::Model(ModelEvent::Text(text.to_owned())));
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) {
        self.tell(Input::Model(ModelEvent::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            from_text: false,
            cut: false,
        }));
    }

    fn end(&mut self, reason: FinishReason) -> Vec<Effect> {
        self.tell(Input::Model(ModelEvent::Finished(reason)))
    }

    fn prepared(&mut self, call: &str, would: Would, digest: &str) -> Vec<Effect> {
        self.tell(Input::Prepared {
            call: call.into(),
            facts: Box::new(facts(would, digest)),
        })
    }

    fn done(&mut self, call: &str, outcome: ToolOutcome) -> Vec<Effect> {
        self.tell(Input::Finished {
            call: call.into(),
            outcome: Box::new(outcome),
        })
    }

    fn answer(&mut self, answer: ApprovalAnswer) -> Vec<Effect> {
        let card = self.machine.log().approvals[0].clone();
        self.machine
            .check_answer(&card.id, &card.digest, &answer)
            .unwrap();
        self.tell(Input::AnswerApproval {
            approval: card.id,
            answer,
        })
    }

    fn tool(&self, call: &str) -> (ItemState, ToolItem) {
        let find = |item: &Item| match &item.body {
            ItemBody::Tool(tool) if tool.call.as_str() == call => Some((item.state, tool.as_ref().clone())),
            _ => None,
        };
        self.machine.log().items().iter().find_map(find).unwrap()
    }

    fn outcome(&self) -> Option<TurnOutcome> {
        self.machine
            .log()
            .last_turn()
            .and_then(|turn| turn.outcome.clone())
    }

    /// A request whose model wants an edit and whose card waits.
    fn with_waiting_edit() -> Self {
        let mut bench = Self::new();
        bench.send("fix it");
        bench.call("c1", "edit_file", "{}");
        bench.end(FinishReason::Stop);
        bench.prepared("c1", write(), "d1");
        assert_eq!(bench.machine.log().approvals.len(), 1);
        bench
    }
}

fn facts(would: Would, digest: &str) -> PreparedFacts {
    let subject = match &would {
        Would::RunCommand { line, .. } => {
            let shown = cairn_policy::show(line, cairn_policy::Show::Command);
            Some(ApprovalSubject::Command {
                shown,
                workdir: String::new(),
            })
        }
        Would::WritePath { .. } => Some(ApprovalSubject::Edit { diffs: Vec::new() }),
        Would::LeavePlan => Some(ApprovalSubject::Plan {
            text: "1. Rename it".to_owned(),
            rendered: None,
        }),
        Would::SearchWeb => Some(ApprovalSubject::Search {
            query: cairn_policy::show("rust", cairn_policy::Show::Name),
            engine: cairn_policy::show("html.duckduckgo.com", cairn_policy::Show::Name),
        }),
        Would::ReachHost { host, .. } => Some(ApprovalSubject::Connect {
            host: cairn_policy::show(host, cairn_policy::Show::Name),
            address: cairn_policy::show(&format!("https://{host}/"), cairn_policy::Show::Name),
        }),
        _ => None,
    };
    PreparedFacts {
        title: "Title".to_owned(),
        target: "target".to_owned(),
        effects: vec![would],
        subject,
        says: None,
        blocks: Vec::new(),
        digest: digest.to_owned(),
        limit: None,
        takes_hunks: false,
        asks: None,
    }
}

fn read() -> Would {
    Would::ReadPath {
        path: "/w/tidewater/a.rs".into(),
        place: Place::Inside,
        care: Care::Plain,
    }
}

fn write() -> Would {
    Would::WritePath {
        path: "/w/tidewater/a.rs".into(),
        place: Place::Inside,
        care: Care::Plain,
        hard_linked: false,
    }
}

fn run() -> Would {
    let workdir = "/w/tidewater".into();
    Would::RunCommand {
        line: "cargo test".to_owned(),
        workdir,
        place: Place::Inside,
        network: false,
        outside: false,
        facts: cairn_policy::CommandFacts::default(),
    }
}

fn executes(effects: &[Effect]) -> Vec<String> {
    let of = |effect: &Effect| match effect {
        Effect::Execute { call, .. } => Some(call.0.clone()),
        _ => None,
    };
    effects.iter().filter_map(of).collect()
}

fn prepares(effects: &[Effect]) -> Vec<String> {
    let of = |effect: &Effect| match effect {
        Effect::Prepare { call, .. } => Some(call.0.clone()),
        _ => None,
    };
    effects.iter().filter_map(of).collect()
}

fn asks_model(effects: &[Effect]) -> bool {
    effects.contains(&Effect::AskModel)
}

#[test]
fn a_plain_answer_ends_the_request_and_names_the_session() {
    let mut bench = Bench::new();
    assert!(asks_model(&bench.send("Where is the axis drawn?\nmore")));
    bench.text("In axis");
    bench.text(".rs.");
    let effects = bench.end(FinishReason::Stop);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
    assert_eq!(bench.machine.log().session.title, "Where is the axis drawn?");
    let synced = |effect: &&Effect| matches!(effect, Effect::Record(_, Durability::Synced));
    assert_eq!(
        effects.iter().filter(synced).count(),
        1,
        "a request costs one sync"
    );
    let answer = &bench.machine.log().items()[1];
    assert_eq!(
        answer.body,
        ItemBody::Assistant {
            text: "In axis.rs.".to_owned()
        }
    );
}

#[test]
fn t4_reads_run_side_by_side_and_anything_else_in_order() {
    let mut bench = Bench::new();
    bench.send("x");
    for (id, name) in [
        ("r1", "read_file"),
        ("r2", "grep"),
        ("e1", "edit_file"),
        ("r3", "read_file"),
    ] {
        bench.call(id, name, &format!("{{\"path\":\"{id}\"}}"));
    }
    assert_eq!(prepares(&bench.end(FinishReason::Stop)), ["r1", "r2"]);
    assert_eq!(executes(&bench.prepared("r2", read(), "d")), ["r2"]);
    assert_eq!(executes(&bench.prepared("r1", read(), "d")), ["r1"]);
    assert!(
        prepares(&bench.done("r2", ToolOutcome::ok("b"))).is_empty(),
        "the edit waits for both"
    );
    assert_eq!(prepares(&bench.done("r1", ToolOutcome::ok("a"))), ["e1"]);
    bench.prepared("e1", write(), "d");
    bench.answer(ApprovalAnswer::AllowOnce);
    bench.prepared("e1", write(), "d");
    assert_eq!(
        prepares(&bench.done("e1", ToolOutcome::ok("e"))),
        ["r3"],
        "a read after an edit sees the edit"
    );
    bench.prepared("r3", read(), "d");
    assert!(asks_model(&bench.done("r3", ToolOutcome::ok("c"))));
}

#[test]
fn an_allowed_edit_is_prepared_again_and_runs_only_when_it_is_still_the_same() {
    let mut bench = Bench::with_waiting_edit();
    assert_eq!(prepares(&bench.answer(ApprovalAnswer::AllowOnce)), ["c1"]);
    assert_eq!(executes(&bench.prepared("c1", write(), "d1")), ["c1"]);
    assert_eq!(bench.tool("c1").1.decided, Some(cairn_protocol::Decided::Person));

    let mut bench = Bench::with_waiting_edit();
    bench.answer(ApprovalAnswer::AllowOnce);
    assert!(
        executes(&bench.prepared("c1", write(), "d2")).is_empty(),
        "x31: the file changed meanwhile"
    );
    let card = &bench.machine.log().approvals[0];
    assert_eq!(card.digest, "d2", "another card takes its place");
}

#[test]
fn u18_an_answer_counts_once_and_only_for_what_was_shown() {
    let mut bench = Bench::with_waiting_edit();
    let card = bench.machine.log().approvals[0].clone();
    let check = |bench: &Bench, digest: &str, answer| bench.machine.check_answer(&card.id, digest, &answer);
    assert_eq!(
        check(&bench, "other", ApprovalAnswer::AllowOnce)
            .unwrap_err()
            .code,
        ErrorCode::Stale
    );
    let invented = ApprovalAnswer::AllowAlways {
        rules: vec!["write: **/x".into()],
        scope: RuleScope::Project,
    };
    assert_eq!(
        check(&bench, "d1", invented).unwrap_err().code,
        ErrorCode::BadRequest
    );
    bench.answer(ApprovalAnswer::AllowOnce);
    assert_eq!(
        check(&bench, "d1", ApprovalAnswer::AllowOnce).unwrap_err().code,
        ErrorCode::Stale
    );
}

#[test]
fn x73_skip_and_deny_each_have_their_own_text_and_end() {
    let mut bench = Bench::with_waiting_edit();
    assert!(
        asks_model(&bench.answer(ApprovalAnswer::Skip)),
        "the agent goes on"
    );
    let (state, tool) = bench.tool("c1");
    assert_eq!(state, ItemState::Skipped);
    assert!(
        tool.result
            .unwrap()
            .content
            .contains("skipped this call: it did not run")
    );

    let mut bench = Bench::with_waiting_edit();
    let note = Some(" use the constant ".to_owned());
    assert!(
        asks_model(&bench.answer(ApprovalAnswer::Deny { note })),
        "with a note the agent goes on"
    );
    let (state, tool) = bench.tool("c1");
    assert_eq!(state, ItemState::Denied);
    assert!(
        tool.result
            .unwrap()
            .content
            .ends_with("The user says: use the constant")
    );

    let mut bench = Bench::with_waiting_edit();
    assert!(!asks_model(&bench.answer(ApprovalAnswer::Deny {
        note: Some("  ".to_owned())
    })));
    assert_eq!(
        bench.outcome(),
        Some(TurnOutcome::Denied),
        "without a note it stops"
    );
    assert_eq!(bench.machine.log().last_turn().unwrap().summary.denied, 1);
}

#[test]
fn edits_accepted_for_a_request_pass_until_it_ends() {
    let mut bench = Bench::with_waiting_edit();
    bench.answer(ApprovalAnswer::AcceptEdits);
    bench.prepared("c1", write(), "d1");
    bench.done("c1", ToolOutcome::ok("done"));
    bench.call("c2", "edit_file", "{\"a\":1}");
    bench.end(FinishReason::Stop);
    assert_eq!(executes(&bench.prepared("c2", write(), "d")), ["c2"]);
    bench.done("c2", ToolOutcome::ok("done"));
    bench.text("Done.");
    bench.end(FinishReason::Stop);
    bench.send("again");
    bench.call("c3", "edit_file", "{\"a\":2}");
    bench.end(FinishReason::Stop);
    assert!(
        executes(&bench.prepared("c3", write(), "d")).is_empty(),
        "the next request asks again"
    );
}

#[test]
fn t25_searching_asks_once_in_a_session_and_a_host_each_time() {
    let reach = || Would::ReachHost {
        host: "docs.rs".to_owned(),
        port: 443,
        carries: cairn_policy::Carries::Little,
        words: cairn_policy::AddressWords::Composed,
    };
    let mut bench = Bench::new();
    for (round, title, asks_again, would) in [
        (0, "Search the web?", false, Would::SearchWeb),
        (1, "Connect to docs.rs?", true, reach()),
    ] {
        bench.send("look it up");
        let [first, second] = [format!("a{round}"), format!("b{round}")];
        bench.call(&first, "grep", "{}");
        bench.end(FinishReason::Stop);
        assert!(executes(&bench.prepared(&first, would.clone(), "d")).is_empty());
        assert_eq!(bench.machine.log().approvals[0].title, title);
        assert!(!bench.machine.log().approvals[0].filled);
        bench.answer(ApprovalAnswer::AllowOnce);
        assert_eq!(
            executes(&bench.prepared(&first, would.clone(), "d")),
            std::slice::from_ref(&first)
        );
        bench.done(&first, ToolOutcome::ok("found"));
        bench.text("Done.");
        bench.end(FinishReason::Stop);
        bench.send("and again");
        bench.call(&second, "grep", "{\"a\":1}");
        bench.end(FinishReason::Stop);
        assert_eq!(
            executes(&bench.prepared(&second, would, "d2")).is_empty(),
            asks_again,
            "{title}"
        );
        if asks_again {
            bench.answer(ApprovalAnswer::Skip);
        } else {
            bench.done(&second, ToolOutcome::ok("found"));
        }
        bench.text("Done.");
        bench.end(FinishReason::Stop);
    }
}

#[test]
fn a_project_rule_is_saved_and_holds_at_once() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.call("c1", "shell", "{\"command\":\"cargo test\"}");
    bench.end(FinishReason::Stop);
    bench.prepared("c1", run(), "d");
    let rule = bench.machine.log().approvals[0].offers[0].rule.clone();
    let effects = bench.answer(ApprovalAnswer::AllowAlways {
        rules: vec![rule.clone()],
        scope: RuleScope::Project,
    });
    assert!(effects.contains(&Effect::SaveRules(vec![rule])));
    bench.prepared("c1", run(), "d");
    bench.done(
        "c1",
        ToolOutcome {
            commands: 1,
            ..ToolOutcome::ok("ok")
        },
    );
    bench.call("c2", "shell", "{\"command\":\"cargo test\"}");
    bench.end(FinishReason::Stop);
    let effects = bench.prepared("c2", run(), "d");
    assert_eq!(executes(&effects), ["c2"]);
    let synced = |effect: &Effect| matches!(effect, Effect::Record(_, Durability::Synced));
    assert!(effects.iter().any(synced), "a command is on disk before it runs");
}

#[test]
fn t11_stop_closes_every_open_call_and_waits_for_what_runs() {
    let mut bench = Bench::new();
    bench.send("x");
    for (id, name) in [("r1", "read_file"), ("r2", "grep"), ("e1", "edit_file")] {
        bench.call(id, name, &format!("{{\"path\":\"{id}\"}}"));
    }
    bench.end(FinishReason::Stop);
    bench.prepared("r1", read(), "d");
    let effects = bench.tell(Input::Stop);
    assert!(effects.contains(&Effect::CancelCalls));
    assert_eq!(bench.outcome(), None, "r1 still runs");
    bench.done(
        "r1",
        ToolOutcome {
            stopped: true,
            ..ToolOutcome::failed("part")
        },
    );
    assert_eq!(bench.outcome(), Some(TurnOutcome::Stopped));
    for id in ["r1", "r2", "e1"] {
        let (state, tool) = bench.tool(id);
        assert_eq!(state, ItemState::Stopped, "{id}");
        assert!(tool.result.is_some(), "{id}");
    }
}

#[test]
fn l4_stop_keeps_what_the_model_said() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.text("Half of");
    assert!(bench.tell(Input::Stop).contains(&Effect::DropModel));
    let item = &bench.machine.log().items()[1];
    assert_eq!(item.state, ItemState::Stopped);
    assert_eq!(
        item.body,
        ItemBody::Assistant {
            text: "Half of".to_owned()
        }
    );
    bench.text(" late words");
    assert_eq!(
        bench.machine.log().items().len(),
        2,
        "what comes late is nobody's"
    );
}

#[test]
fn e14_e15_a_call_cut_by_the_limit_never_runs() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.call("c1", "edit_file", "{\"path\":\"a\"}");
    let effects = bench.end(FinishReason::Length);
    assert!(prepares(&effects).is_empty() && asks_model(&effects));
    assert!(bench.tool("c1").1.result.unwrap().content.contains("cut off"));
}

#[test]
fn x95_l5_an_empty_reply_is_asked_for_twice_more_then_shown() {
    let mut bench = Bench::new();
    bench.send("x");
    assert!(asks_model(&bench.end(FinishReason::Stop)));
    bench.text("  \n");
    assert!(asks_model(&bench.end(FinishReason::Stop)));
    assert!(!asks_model(&bench.end(FinishReason::Stop)));
    let notice = bench.machine.log().items().last().unwrap().clone();
    assert!(matches!(notice.body, ItemBody::Notice(Notice { ref code, .. }) if code == "empty_reply"));
}

#[test]
fn l2_the_step_limit_pauses_and_continue_goes_on_with_the_history() {
    let limits = Limits {
        steps: 2,
        steps_auto: 3,
    };
    let mut bench = Bench::with(SessionLog::new(session()), Presence::Person, limits);
    bench.send("x");
    for step in 0..2 {
        bench.call("r", "read_file", &format!("{{\"n\":{step}}}"));
        bench.end(FinishReason::Stop);
        let call = if step == 0 { "r" } else { "r-2" };
        bench.prepared(call, read(), "d");
        bench.done(call, ToolOutcome::ok("same"));
    }
    assert_eq!(bench.outcome(), Some(TurnOutcome::Paused { steps: 2 }));
    assert!(asks_model(&bench.tell(Input::Continue)));
    assert_eq!(bench.machine.log().turns.len(), 1, "the same request goes on");
    bench.text("Done.");
    bench.end(FinishReason::Stop);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
    assert_eq!(bench.machine.log().last_turn().unwrap().summary.steps, 3);
}

#[test]
fn x90_the_third_same_call_is_refused_before_it_runs() {
    let mut bench = Bench::new();
    bench.send("x");
    for (n, id) in ["r", "r-2", "r-3"].iter().enumerate() {
        bench.call("r", "read_file", "{\"path\":\"a\"}");
        let effects = bench.end(FinishReason::Stop);
        if n == 2 {
            assert!(prepares(&effects).is_empty() && asks_model(&effects));
            assert!(
                bench
                    .tool(id)
                    .1
                    .result
                    .unwrap()
                    .content
                    .contains("did not run again")
            );
        } else {
            bench.prepared(id, read(), "d");
            bench.done(id, ToolOutcome::ok("same"));
        }
    }
}

#[test]
fn l3_asking_again_about_what_changes_by_itself_is_no_repetition() {
    let mut bench = Bench::new();
    bench.send("x");
    for id in ["r", "r-2", "r-3", "r-4"] {
        bench.call("r", "read_file", "{\"path\":\"a\"}");
        assert!(
            !prepares(&bench.end(FinishReason::Stop)).is_empty(),
            "{id} was refused"
        );
        bench.prepared(id, read(), "d");
        let outcome = ToolOutcome {
            unsettled: true,
            ..ToolOutcome::ok("p1 runs.\n(no new output)")
        };
        bench.done(id, outcome);
    }
}

#[test]
fn an_unknown_tool_is_told_the_names() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.call("c", "write_to_moon", "{}");
    assert!(asks_model(&bench.end(FinishReason::Stop)));
    let text = bench.tool("c").1.result.unwrap().content;
    assert!(
        text.contains("no tool `write_to_moon`") && text.contains("edit_file"),
        "{text}"
    );
}

#[test]
fn m4_a_passing_failure_keeps_the_text_waits_and_sends_again() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.text("Half");
    let effects = bench.tell(Input::ModelFailed(ModelError::passing(
        ErrorCode::ModelServer,
        "503",
    )));
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::WakeAt(at) if *at > bench.now))
    );
    assert!(matches!(
        bench.machine.activity(),
        Activity::Retrying { attempt: 1, .. }
    ));
    assert_eq!(
        bench.machine.log().items()[1].state,
        ItemState::Failed,
        "kept and marked"
    );
    assert!(asks_model(&bench.tell(Input::RetryNow)));
    assert!(
        !asks_model(&bench.tell(Input::Woke)),
        "the old alarm wakes nobody"
    );
    bench.text("Whole.");
    bench.end(FinishReason::Stop);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
}

#[test]
fn a_lasting_failure_ends_the_request_and_may_be_tried_again() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.tell(Input::ModelFailed(ModelError::fatal(
        ErrorCode::BadKey,
        "The server refused the key.",
    )));
    assert!(
        matches!(bench.outcome(), Some(TurnOutcome::Failed { error }) if error.code == ErrorCode::BadKey)
    );
    assert!(asks_model(&bench.tell(Input::Continue)));
}

#[test]
fn the_usage_of_every_reply_is_added_to_the_request_and_the_session() {
    let usage = |input_tokens, cost_usd| Usage {
        input_tokens,
        cached_tokens: 1,
        cache_write_tokens: 0,
        output_tokens: 10,
        cost_usd,
    };
    let mut bench = Bench::new();
    bench.send("x");
    bench.call("r", "read_file", "{}");
    bench.tell(Input::Model(ModelEvent::Usage(usage(100, Some(0.25)))));
    bench.end(FinishReason::Stop);
    bench.prepared("r", read(), "d");
    bench.done("r", ToolOutcome::ok("a"));
    bench.text("Done.");
    bench.tell(Input::Model(ModelEvent::Usage(usage(200, None))));
    bench.end(FinishReason::Stop);
    bench.send("y");
    bench.text("Half");
    bench.tell(Input::Model(ModelEvent::Usage(usage(400, Some(0.5)))));
    bench.tell(Input::Stop);
    let totals = |usage: Usage| {
        (
            usage.input_tokens,
            usage.cached_tokens,
            usage.output_tokens,
            usage.cost_usd,
        )
    };
    let log = bench.machine.log();
    let turns: Vec<_> = log.turns.iter().map(|turn| totals(turn.usage)).collect();
    assert_eq!(
        turns,
        [(300, 2, 20, Some(0.25)), (400, 1, 10, Some(0.5))],
        "also of a reply that was stopped"
    );
    assert_eq!(totals(log.session.usage), (700, 3, 30, Some(0.75)));
}

#[test]
fn a_full_window_is_said_with_its_numbers_before_anything_is_sent() {
    let mut bench = Bench::new();
    let info = ModelInfo {
        name: "tiny".to_owned(),
        window: Some(2_000),
        window_assumed: false,
        max_output_tokens: None,
        temperature: None,
        tools: true,
        vision: false,
        local: true,
    };
    bench.tell(Input::SetModel {
        profile: "p".to_owned(),
        info,
    });
    assert!(!asks_model(&bench.send(&"word ".repeat(3_000))));
    let Some(TurnOutcome::Failed { error }) = bench.outcome() else {
        panic!("{:?}", bench.outcome())
    };
    assert!(
        error.code == ErrorCode::TooLong && error.message.contains("tiny holds 2000"),
        "{error}"
    );
}

#[test]
fn l4_messages_queue_while_it_works_and_go_one_after_the_other() {
    let mut bench = Bench::new();
    bench.send("one");
    bench.send("two");
    bench.send("three");
    assert_eq!(bench.machine.log().queue.len(), 2);
    bench.text("ok");
    assert!(bench.end(FinishReason::Stop).contains(&Effect::StartNext));
    assert!(asks_model(
        &bench.tell(Input::NextFromQueue { turn: "n1".into() })
    ));
    assert_eq!(bench.machine.log().queue.len(), 1);
    bench.tell(Input::Stop);
    assert_eq!(
        bench.machine.log().queue.len(),
        1,
        "Stop leaves the queue alone and starts nothing"
    );
    assert_eq!(bench.machine.log().turns.len(), 2);
}

#[test]
fn a_message_sent_now_joins_before_the_next_step() {
    let mut bench = Bench::new();
    bench.send("one");
    let (turn, queue) = ("t9".into(), "q9".into());
    let (text, attachments) = ("wait, two".to_owned(), Vec::new());
    bench.tell(Input::Send {
        text,
        attachments,
        when: SendWhen::Now,
        turn,
        queue,
    });
    bench.text("ok");
    assert!(asks_model(&bench.end(FinishReason::Stop)));
    let last = bench.machine.log().items().last().unwrap().clone();
    assert!(matches!(last.body, ItemBody::User { ref text, .. } if text == "wait, two"));
    assert_eq!(bench.machine.log().turns.len(), 1);
}

fn question(bench: &mut Bench) -> Vec<Effect> {
    bench.send("x");
    bench.call("a1", "ask_user", "{}");
    bench.end(FinishReason::Stop);
    let option = |label: &str| AskOption {
        label: label.to_owned(),
        description: String::new(),
    };
    let asks = vec![Ask {
        text: "Which?".into(),
        options: vec![option("red"), option("blue")],
        multiple: false,
    }];
    let facts = PreparedFacts {
        asks: Some(asks),
        ..facts(Would::Own, "d")
    };
    bench.tell(Input::Prepared {
        call: "a1".into(),
        facts: Box::new(facts),
    })
}

#[test]
fn t30_the_three_kinds_of_answer_are_told_apart() {
    for (answer, says) in [
        (
            QuestionAnswer::Picked { options: vec![1] },
            "The user picked: blue",
        ),
        (
            QuestionAnswer::Own { text: "green".into() },
            "None of the options. In the user's own words: green",
        ),
        (QuestionAnswer::YouDecide, "you decide"),
    ] {
        let mut bench = Bench::new();
        question(&mut bench);
        let id = bench.machine.log().question.clone().unwrap().id;
        assert!(
            bench
                .machine
                .check_answers(&id, &[QuestionAnswer::Picked { options: vec![2] }])
                .is_err()
        );
        bench
            .machine
            .check_answers(&id, std::slice::from_ref(&answer))
            .unwrap();
        assert!(asks_model(&bench.tell(Input::AnswerQuestion {
            question: id,
            answers: vec![answer]
        })));
        assert!(bench.tool("a1").1.result.unwrap().content.contains(says));
        assert!(bench.machine.log().question.is_none());
    }
}

#[test]
fn headless_nobody_is_there_to_answer_or_to_allow() {
    let presence = Presence::Headless {
        approve: Approve::None,
    };
    let mut bench = Bench::with(SessionLog::new(session()), presence, Limits::default());
    assert!(asks_model(&question(&mut bench)));
    assert!(
        bench
            .tool("a1")
            .1
            .result
            .unwrap()
            .content
            .contains("Nobody is there")
    );
    bench.call("c1", "edit_file", "{}");
    bench.end(FinishReason::Stop);
    assert!(
        asks_model(&bench.prepared("c1", write(), "d")),
        "x81: denied, and the model is told"
    );
    assert_eq!(bench.tool("c1").0, ItemState::Denied);
}

/// A new machine over what the first one stored, as after `kill -9`.
fn after_kill(bench: &Bench) -> Bench {
    let mut log = bench.machine.log().clone();
    log.draft = String::new();
    Bench::with(log, Presence::Person, Limits::default())
}

#[test]
fn s2_what_ran_is_interrupted_and_the_request_ends() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.call("r1", "read_file", "{}");
    bench.end(FinishReason::Stop);
    bench.prepared("r1", read(), "d");
    let mut again = after_kill(&bench);
    again.tell(Input::Restore);
    assert_eq!(again.tool("r1").0, ItemState::Interrupted);
    assert_eq!(again.outcome(), Some(TurnOutcome::Interrupted));
    assert!(asks_model(&again.send("go on")), "the next message works");
}

#[test]
fn s2_a_waiting_card_is_shown_again_recomputed_and_needs_a_new_click() {
    let bench = Bench::with_waiting_edit();
    let old = bench.machine.log().approvals[0].id.clone();
    let mut again = after_kill(&bench);
    assert_eq!(prepares(&again.tell(Input::Restore)), ["c1"]);
    assert!(
        again
            .machine
            .check_answer(&old, "d1", &ApprovalAnswer::AllowOnce)
            .is_err(),
        "the old card is void"
    );
    assert!(executes(&again.prepared("c1", write(), "d1")).is_empty());
    let card = again.machine.log().approvals[0].clone();
    assert_ne!(card.id, old);
    again.answer(ApprovalAnswer::AllowOnce);
    assert_eq!(executes(&again.prepared("c1", write(), "d1")), ["c1"]);
}

#[test]
fn s2_a_question_comes_back_open() {
    let mut bench = Bench::new();
    question(&mut bench);
    let asks = bench.machine.log().question.clone().unwrap().asks;
    let mut again = after_kill(&bench);
    assert_eq!(prepares(&again.tell(Input::Restore)), ["a1"]);
    let facts = PreparedFacts {
        asks: Some(asks.clone()),
        ..facts(Would::Own, "d")
    };
    again.tell(Input::Prepared {
        call: "a1".into(),
        facts: Box::new(facts),
    });
    assert_eq!(again.machine.log().question.clone().unwrap().asks, asks);
}

#[test]
fn p13_the_end_counts_from_the_log() {
    let mut bench = Bench::with_waiting_edit();
    bench.answer(ApprovalAnswer::AllowOnce);
    bench.prepared("c1", write(), "d1");
    let change = |added, removed| FileChange {
        path: "a.rs".into(),
        change: ChangeKind::Modified,
        added,
        removed,
    };
    bench.done(
        "c1",
        ToolOutcome {
            changes: vec![change(2, 1)],
            ..ToolOutcome::ok("ok")
        },
    );
    let item = TodoItem {
        text: "a".into(),
        state: TodoState::Pending,
    };
    bench.call("c2", "grep", "{}");
    bench.end(FinishReason::Stop);
    bench.prepared("c2", read(), "d");
    let outcome = ToolOutcome {
        changes: vec![change(3, 0)],
        plan: Some(vec![item]),
        ..ToolOutcome::failed("no")
    };
    bench.done("c2", outcome);
    bench.text("I did everything.");
    bench.end(FinishReason::Stop);
    let summary = bench.machine.log().last_turn().unwrap().summary.clone();
    assert_eq!((summary.done, summary.failed, summary.steps), (1, 1, 3));
    assert_eq!(summary.files, [change(5, 1)]);
    assert_eq!(bench.machine.log().session.changes.added, 5);
    assert_eq!(bench.machine.log().plan.len(), 1);
}

#[test]
fn a_plan_changed_by_the_person_is_told_to_the_model() {
    let mut bench = Bench::new();
    bench.send("x");
    bench.text("ok");
    bench.end(FinishReason::Stop);
    bench.tell(Input::SetPlan(vec![TodoItem {
        text: "paint it".into(),
        state: TodoState::InProgress,
    }]));
    let messages = crate::history::messages(
        &bench.machine.log().context(),
        &[],
        &std::collections::HashMap::new(),
    );
    assert!(format!("{messages:?}").contains("paint it (in_progress)"));
}
