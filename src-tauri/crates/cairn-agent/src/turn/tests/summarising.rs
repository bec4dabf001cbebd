//! Making room: when it is time, what follows, and that it never goes round in circles.

use cairn_protocol::{ContextChoice, Mark, Summary, SummaryAuthor, SummaryCause};

use super::*;

fn model(window: u64, max_output: Option<u64>) -> ModelInfo {
    ModelInfo {
        name: "small".to_owned(),
        window: Some(window),
        window_assumed: false,
        max_output_tokens: max_output,
        temperature: None,
        tools: true,
        vision: false,
        local: true,
    }
}

impl Bench {
    pub(super) fn of_window(window: u64, max_output: Option<u64>) -> Self {
        let mut bench = Self::new();
        bench.tell(Input::SetModel {
            profile: "p".to_owned(),
            info: model(window, max_output),
        });
        bench
    }

    /// A request whose answer has that many bytes.
    fn exchange(&mut self, bytes: usize) {
        self.send("tell me");
        self.text(&"x".repeat(bytes));
        self.end(FinishReason::Stop);
    }

    fn summaries(&self) -> Vec<Summary> {
        let of = |item: &Item| match &item.body {
            ItemBody::Summary(summary) => Some(summary.clone()),
            _ => None,
        };
        self.machine.log().items().iter().filter_map(of).collect()
    }

    fn writes_summary(&mut self, text: &str) -> Vec<Effect> {
        self.text(text);
        self.end(FinishReason::Stop)
    }

    fn sent(&self) -> String {
        let messages = crate::history::messages(
            &self.machine.log().context(),
            &self.machine.log().plan,
            &std::collections::HashMap::new(),
        );
        format!("{messages:?}")
    }
}

fn asks_summary(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|effect| matches!(effect, Effect::AskSummary { .. }))
}

fn too_long() -> Input {
    Input::ModelFailed(ModelError::fatal(
        ErrorCode::TooLong,
        "400: context length exceeded",
    ))
}

#[test]
fn x110_only_above_the_threshold_and_then_the_request_goes_on() {
    // 16,000 less a reserve of 4,000: 80 % are 9,600 tokens, 38,400 bytes.
    let mut bench = Bench::of_window(16_000, None);
    assert_eq!(bench.machine.meter().compacts_at, Some(9_600));
    bench.exchange(17_000);
    bench.exchange(17_000);
    assert!(
        asks_model(&bench.send("below")),
        "below the threshold nothing is summarised"
    );
    bench.text(&"x".repeat(6_000));
    bench.end(FinishReason::Stop);
    let effects = bench.send("above");
    assert!(asks_summary(&effects) && !asks_model(&effects), "{effects:?}");
    assert!(matches!(bench.machine.activity(), Activity::Summarising { .. }));
    let effects = bench.writes_summary("## Task\nthe gist");
    assert!(asks_model(&effects), "the request goes on by itself");
    let summaries = bench.summaries();
    let [summary] = summaries.as_slice() else {
        panic!("{summaries:?}")
    };
    assert_eq!(
        (summary.cause, summary.by),
        (SummaryCause::Window, SummaryAuthor::Model)
    );
    assert!(summary.before > 9_600 && summary.after < 5_000, "{summary:?}");
    let sent = bench.sent();
    assert!(sent.contains("the gist") && sent.contains("above"), "{sent}");
    assert_eq!(bench.machine.meter().used, None, "not known until the next reply");
    bench.tell(Input::Model(ModelEvent::Usage(Usage {
        input_tokens: 3_000,
        ..Usage::default()
    })));
    bench.text("ok");
    bench.end(FinishReason::Stop);
    assert!(bench.machine.meter().used.is_some_and(|used| used >= 3_000));
    let shown = bench
        .machine
        .log()
        .items()
        .iter()
        .filter(|item| matches!(&item.body, ItemBody::Assistant { text } if text.contains("the gist")));
    assert_eq!(shown.count(), 0, "a summary is no answer");
}

#[test]
fn x110_the_second_summary_is_made_from_the_first_and_stands_for_it() {
    let mut bench = Bench::of_window(16_000, None);
    for round in 0..2 {
        while !asks_summary(&bench.send("more")) {
            bench.text(&"x".repeat(16_000));
            bench.end(FinishReason::Stop);
        }
        if round == 1 {
            let context = bench.machine.log().context();
            let all = crate::summary::Cut { from: None };
            let transcript = crate::summary::transcript(&context, &all, 10_000);
            assert!(
                transcript.starts_with("Summary of what came before:\ngist 0"),
                "{transcript}"
            );
        }
        bench.writes_summary(&format!("gist {round}"));
        bench.text("ok");
        bench.end(FinishReason::Stop);
    }
    assert_eq!(bench.summaries().len(), 2);
    let sent = bench.sent();
    assert!(sent.contains("gist 1") && !sent.contains("gist 0"), "{sent}");
}

#[test]
fn c1_a_fixed_part_that_cannot_fit_is_one_error_with_its_numbers_and_no_summary() {
    let mut bench = Bench::of_window(65_536, Some(32_000));
    bench.machine.set_prompt_size(43_000, 0);
    let effects = bench.send("hello");
    assert!(!asks_model(&effects) && !asks_summary(&effects), "{effects:?}");
    let Some(TurnOutcome::Failed { error }) = bench.outcome() else {
        panic!("{:?}", bench.outcome())
    };
    assert_eq!(error.code, ErrorCode::TooLong);
    for number in ["43000", "32000", "65536"] {
        assert!(error.message.contains(number), "{error}");
    }
}

#[test]
fn c1_a_window_as_large_as_the_reply_still_works() {
    let mut bench = Bench::of_window(32_768, Some(32_768));
    assert!(asks_model(&bench.send("hello")));
    assert_eq!(bench.machine.most_reply().map(|most| most <= 32_768), Some(true));
}

#[test]
fn c1_what_stays_large_is_not_summarised_at_every_step() {
    let mut bench = Bench::of_window(16_000, None);
    // The fixed part alone is near the threshold.
    bench.machine.set_prompt_size(9_000, 0);
    bench.exchange(16_000);
    assert!(asks_summary(&bench.send("go")));
    assert!(asks_model(&bench.writes_summary("gist")));
    for step in 0..6 {
        let id = format!("c{step}");
        bench.call(&id, "grep", &format!("{{\"n\":{step}}}"));
        bench.end(FinishReason::Stop);
        bench.prepared(&id, read(), "d");
        let effects = bench.done(&id, ToolOutcome::ok("a line"));
        assert!(
            asks_model(&effects) && !asks_summary(&effects),
            "{step}: {effects:?}"
        );
    }
}

#[test]
fn x110_a_refusal_as_too_long_is_summarised_once_and_the_second_one_stands() {
    let mut bench = Bench::of_window(64_000, None);
    bench.exchange(20_000);
    bench.exchange(20_000);
    assert!(asks_model(&bench.send("go")));
    assert!(asks_summary(&bench.tell(too_long())));
    assert!(asks_model(&bench.writes_summary("gist")));
    assert_eq!(bench.summaries()[0].cause, SummaryCause::Overflow);
    let effects = bench.tell(too_long());
    assert!(!asks_summary(&effects) && !asks_model(&effects), "{effects:?}");
    assert!(
        matches!(bench.outcome(), Some(TurnOutcome::Failed { error }) if error.code == ErrorCode::TooLong)
    );
    // Nothing is bricked: the next message is sent, and may be summarised again.
    assert!(asks_model(&bench.send("again")));
}

#[test]
fn c2_a_server_that_counts_more_than_we_do_is_believed_after_its_refusal() {
    let mut bench = Bench::of_window(16_000, None);
    bench.exchange(16_000);
    bench.exchange(12_000);
    bench.send("go");
    let before = bench.machine.meter().used.unwrap();
    assert!(before < 9_600, "by our count there is room: {before}");
    assert!(asks_summary(&bench.tell(too_long())));
    bench.writes_summary("gist");
    let factor = bench.machine.meter.scaled(1_000);
    assert!(
        factor > 1_600,
        "what overflowed took at least the window: {factor}"
    );
}

#[test]
fn c6_without_a_summary_from_the_model_the_log_writes_one() {
    for fails in [
        ModelError::fatal(ErrorCode::ModelServer, "400: messages.3 is invalid"),
        ModelError::fatal(ErrorCode::TooLong, "400: too long"),
    ] {
        let mut bench = Bench::of_window(16_000, None);
        for _ in 0..2 {
            bench.exchange(20_000);
        }
        assert!(asks_summary(&bench.send("go")));
        assert!(asks_model(&bench.tell(Input::ModelFailed(fails))));
        let summary = bench.summaries().remove(0);
        assert_eq!(summary.by, SummaryAuthor::Log);
        assert!(
            summary.text.contains("The user wrote: tell me"),
            "{}",
            summary.text
        );
    }
    let mut bench = Bench::of_window(16_000, None);
    for _ in 0..2 {
        bench.exchange(20_000);
    }
    bench.send("go");
    assert!(asks_model(&bench.writes_summary("  \n")), "an empty one is none");
    assert_eq!(bench.summaries()[0].by, SummaryAuthor::Log);
}

#[test]
fn a_passing_failure_is_waited_out_once_before_the_log_writes_it() {
    let mut bench = Bench::of_window(16_000, None);
    for _ in 0..2 {
        bench.exchange(20_000);
    }
    bench.send("go");
    let busy = || Input::ModelFailed(ModelError::passing(ErrorCode::ModelServer, "503"));
    bench.text("half of a");
    let effects = bench.tell(busy());
    assert!(matches!(
        bench.machine.activity(),
        Activity::Retrying { attempt: 1, .. }
    ));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::WakeAt(_))));
    assert!(asks_summary(&bench.tell(Input::Woke)));
    assert!(asks_model(&bench.writes_summary("whole")));
    assert_eq!(
        bench.summaries()[0].text,
        "whole",
        "what came of the failed try is gone"
    );
}

#[test]
fn asked_for_at_rest_it_changes_no_request_and_what_was_sent_meanwhile_begins_one() {
    let mut bench = Bench::of_window(64_000, None);
    bench.exchange(4_000);
    let turns = bench.machine.log().turns.len();
    assert!(asks_summary(&bench.tell(Input::Summarise)));
    bench.send("meanwhile");
    let effects = bench.writes_summary("gist");
    assert!(effects.contains(&Effect::StartNext), "{effects:?}");
    assert_eq!(bench.summaries()[0].cause, SummaryCause::Asked);
    assert_eq!(bench.machine.log().turns.len(), turns);
    assert!(!bench.machine.is_busy());

    let mut bench = Bench::of_window(64_000, None);
    bench.exchange(10);
    assert!(!asks_summary(&bench.tell(Input::Summarise)));
    let last = &bench.machine.log().items().last().unwrap().body;
    assert!(matches!(last, ItemBody::Notice(notice) if notice.code == "nothing_to_summarise"));
}

#[test]
fn asked_for_while_a_request_runs_it_comes_before_the_next_step() {
    let mut bench = Bench::of_window(64_000, None);
    bench.exchange(4_000);
    bench.send("go");
    bench.call("c1", "grep", "{}");
    assert!(!asks_summary(&bench.tell(Input::Summarise)));
    bench.end(FinishReason::Stop);
    bench.prepared("c1", read(), "d");
    assert!(asks_summary(&bench.done("c1", ToolOutcome::ok("r"))));
    assert!(asks_model(&bench.writes_summary("gist")));
}

#[test]
fn stop_gives_a_summary_up_and_nothing_is_lost() {
    for asked in [true, false] {
        let mut bench = Bench::of_window(16_000, None);
        for _ in 0..2 {
            bench.exchange(20_000);
        }
        if asked {
            bench.tell(Input::Summarise);
        } else {
            bench.send("go");
        }
        bench.text("half");
        let effects = bench.tell(Input::Stop);
        assert!(effects.contains(&Effect::DropModel));
        assert!(!bench.machine.is_busy());
        assert_eq!(bench.summaries(), []);
        let expected = if asked {
            TurnOutcome::Done
        } else {
            TurnOutcome::Stopped
        };
        assert_eq!(bench.outcome(), Some(expected));
    }
}

#[test]
fn x90_a_summary_lets_the_same_call_run_again() {
    let mut bench = Bench::of_window(16_000, None);
    bench.machine.set_prompt_size(3_000, 0);
    bench.send("go");
    for round in 0..2 {
        let id = format!("c{round}");
        bench.call(&id, "grep", "{}");
        bench.end(FinishReason::Stop);
        bench.prepared(&id, read(), "d");
        bench.done(&id, ToolOutcome::ok("x".repeat(18_000)));
    }
    bench.writes_summary("gist");
    bench.call("c9", "grep", "{}");
    assert_eq!(prepares(&bench.end(FinishReason::Stop)), ["c9"]);
}

#[test]
fn c3_what_the_person_marks_is_stored_counted_and_can_be_put_back() {
    let mut bench = Bench::of_window(16_000, None);
    bench.exchange(20_000);
    let id = bench.machine.log().items()[1].id.clone();
    let used = |bench: &Bench| bench.machine.meter().used.unwrap();
    let before = used(&bench);
    let mark = |choice| Input::Mark {
        item: id.clone(),
        choice,
    };
    let effects = bench.tell(mark(ContextChoice::TakeOut));
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Record(body, _) if matches!(body.as_ref(), EventBody::ItemMarked { mark: Some(Mark::TakenOut), .. })
    )));
    assert!(used(&bench) + 4_000 < before);
    assert!(!bench.sent().contains("xxx"));
    bench.tell(mark(ContextChoice::PutBack));
    assert_eq!(used(&bench), before);
    assert!(
        bench.tell(mark(ContextChoice::PutBack)).is_empty(),
        "nothing changes twice"
    );
}

#[test]
fn x111_a_reply_cut_off_by_a_full_window_makes_room_once_and_goes_on() {
    let mut bench = Bench::of_window(16_000, None);
    bench.exchange(20_000);
    bench.send("tell me all of it");
    bench.text(&"x".repeat(30_000));
    let effects = bench.end(FinishReason::Length);
    assert!(asks_summary(&effects), "{effects:?}");
    assert!(asks_model(&bench.writes_summary("gist")));
    assert!(bench.sent().contains("it goes on where it ended"));
    assert_eq!(bench.outcome(), None);
    // Cut off once more, it ends and says so: one request does not go on for ever.
    bench.text(&"x".repeat(40_000));
    let effects = bench.end(FinishReason::Length);
    assert!(!asks_summary(&effects) && !asks_model(&effects), "{effects:?}");
    assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
    assert_eq!(bench.summaries().len(), 1);

    // With room left it is the limit for one reply that cut it: nothing is summarised.
    let mut bench = Bench::of_window(64_000, None);
    bench.send("tell me");
    bench.text("half");
    assert!(!asks_summary(&bench.end(FinishReason::Length)));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
}

#[test]
fn t13_a_server_that_reads_only_a_part_is_named_once() {
    let mut bench = Bench::of_window(32_000, None);
    bench.machine.set_prompt_size(9_000, 0);
    for _ in 0..2 {
        bench.send("hello");
        bench.tell(Input::Model(ModelEvent::Usage(Usage {
            input_tokens: 2_048,
            output_tokens: 5,
            ..Usage::default()
        })));
        bench.text("?");
        bench.end(FinishReason::Stop);
    }
    let said = bench.machine.log().items().iter().filter(|item| {
        matches!(&item.body, ItemBody::Notice(notice) if notice.code == "prompt_cut" && notice.text.contains("2048 of about 90"))
    });
    assert_eq!(said.count(), 1);
}
