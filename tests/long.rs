//! Long sessions through the host against a strict scripted model: what happens when the window fills up.

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

use cairn_host::parts::Input;
use cairn_protocol::{
    ContextChoice, EventBody, ItemBody, SessionSnapshot, Summary, SummaryAuthor, SummaryCause, TurnOutcome,
};
use cairn_testkit::provider::Reply;
use serde_json::Value;
use story::{Says, Story};

/// A window of a small local model; the reserve is a quarter.
const SMALL: &str = "context_window = 16000";

fn summaries(snapshot: &SessionSnapshot) -> Vec<Summary> {
    let of = |body: &ItemBody| match body {
        ItemBody::Summary(summary) => Some(summary.clone()),
        _ => None,
    };
    snapshot.items.iter().filter_map(|item| of(&item.body)).collect()
}

/// Bodies of the requests so far.
fn bodies(story: &Story) -> Vec<Value> {
    story.server.chats().into_iter().map(|chat| chat.body).collect()
}

fn filler(words: usize) -> Reply {
    Reply::text(&"All of it is written down here. ".repeat(words))
}

#[tokio::test]
async fn c2_a_full_window_is_summarised_the_work_goes_on_and_the_original_stays() {
    let replies = vec![
        filler(200),
        filler(200),
        filler(400),
        Reply::text("## Task\nKeep the tide table right.").when("User: "),
        Reply::text("It goes on."),
    ];
    let mut story = Story::begin_with(&[], replies, SMALL).await;
    for text in ["The first thing", "The second thing", "The third thing", "And on"] {
        assert_eq!(story.request(text, Vec::new()).await, TurnOutcome::Done);
    }
    let snapshot = story.session.handle.snapshot().await.unwrap();
    let summaries = summaries(&snapshot);
    assert_eq!(summaries.len(), 1, "{summaries:?}");
    assert_eq!(
        (summaries[0].cause, summaries[0].by),
        (SummaryCause::Window, SummaryAuthor::Model)
    );
    let bodies = bodies(&story);
    let [.., asked, last] = bodies.as_slice() else {
        panic!()
    };
    assert!(
        asked
            .get("tools")
            .is_none_or(|tools| tools.as_array().is_none_or(Vec::is_empty)),
        "{asked}"
    );
    assert!(asked.to_string().contains("User: The first thing"));
    let last = last.to_string();
    assert!(
        last.contains("Keep the tide table right.") && last.contains("And on"),
        "{last}"
    );
    assert!(!last.contains("The first thing"));
    // Read again from the disk it is the same, and the original is all there.
    let stored = story.host.store().load(&story.id).await.unwrap().events;
    let text = serde_json::to_string(&stored).unwrap();
    assert!(text.contains("The first thing") && text.contains("Keep the tide table right."));
    story.host.shutdown().await;
}

#[tokio::test]
async fn c2_a_server_that_refuses_as_too_long_gets_a_shorter_request_once() {
    let refusal = || {
        Reply::error(
            400,
            "This model's maximum context length is 20480 tokens. However, your messages resulted in 22000 tokens.",
        )
    };
    let replies = vec![
        filler(300),
        filler(300),
        refusal(),
        Reply::text("The gist.").when("User: "),
        Reply::text("Fits now."),
        refusal(),
        Reply::text("The gist again.").when("User: "),
        refusal(),
        Reply::text("Still alive."),
    ];
    let mut story = Story::begin_with(&[], replies, "context_window = 64000").await;
    for text in ["one", "two", "three"] {
        assert_eq!(story.request(text, Vec::new()).await, TurnOutcome::Done, "{text}");
    }
    let snapshot = story.session.handle.snapshot().await.unwrap();
    assert_eq!(summaries(&snapshot)[0].cause, SummaryCause::Overflow);
    // The second refusal of one request is said in words, and nothing loops.
    let before = bodies(&story).len();
    let outcome = story.request("four", Vec::new()).await;
    assert!(matches!(outcome, TurnOutcome::Failed { .. }), "{outcome:?}");
    assert!(bodies(&story).len() <= before + 3);
    story.host.shutdown().await;
}

#[tokio::test]
async fn c6_a_provider_that_refuses_the_summary_too_does_not_end_the_session() {
    let replies = vec![
        filler(600),
        filler(600),
        Reply::error(400, "messages.1: something is invalid").when("User: "),
        Reply::text("On it goes."),
    ];
    let mut story = Story::begin_with(&[], replies, SMALL).await;
    for text in ["one", "two", "three"] {
        assert_eq!(story.request(text, Vec::new()).await, TurnOutcome::Done, "{text}");
    }
    let snapshot = story.session.handle.snapshot().await.unwrap();
    let summaries = summaries(&snapshot);
    assert_eq!(summaries[0].by, SummaryAuthor::Log);
    assert!(
        summaries[0].text.contains("The user wrote: one"),
        "{}",
        summaries[0].text
    );
    story.host.shutdown().await;
}

#[tokio::test]
async fn p12_a_command_that_the_sandbox_stopped_runs_outside_after_an_answer_of_its_own() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let made = folder.path().join("made-outside.txt");
    let command = format!("touch '{}'", made.display());
    let replies = vec![
        Reply::call("shell", serde_json::json!({ "command": command })),
        Reply::text("It cannot be made."),
        Reply::text("Now it is there."),
    ];
    let mut story = Story::begin_with(&[], replies, SMALL).await;
    if !story.walled {
        eprintln!("skipped: no sandbox works on this machine");
        return;
    }
    let allow = || Says::Card(cairn_protocol::ApprovalAnswer::AllowOnce);
    assert_eq!(story.request("make it", vec![allow()]).await, TurnOutcome::Done);
    assert!(!made.exists(), "the sandbox lets nothing be made there");
    let snapshot = story.session.handle.snapshot().await.unwrap();
    let failed = snapshot
        .items
        .iter()
        .find(|item| matches!(&item.body, ItemBody::Tool(tool) if tool.walled));
    let failed = failed.expect("the failure is put down to the sandbox").id.clone();
    let turn = story.host.fresh_id().into();
    story
        .session
        .handle
        .run_outside(failed.clone(), turn)
        .await
        .unwrap();
    assert!(!made.exists(), "a click on the offer runs nothing");
    assert_eq!(story.until_end(vec![allow()].into()).await, TurnOutcome::Done);
    assert!(made.exists());
    let again = story.session.handle.run_outside(failed, "t9".into()).await;
    assert_eq!(again.unwrap_err().code, cairn_protocol::ErrorCode::Stale);
    story.host.shutdown().await;
}

#[tokio::test]
async fn c3_what_the_person_takes_out_is_not_sent_any_more_also_after_a_restart() {
    let replies = vec![
        Reply::text("THE ANSWER"),
        Reply::text("two"),
        Reply::text("three"),
    ];
    let mut story = Story::begin_with(&[], replies, SMALL).await;
    story.request("one", Vec::new()).await;
    let snapshot = story.session.handle.snapshot().await.unwrap();
    let item = snapshot.items[1].id.clone();
    let mark = |choice| Input::Mark {
        item: item.clone(),
        choice,
    };
    story
        .session
        .handle
        .step(mark(ContextChoice::TakeOut))
        .await
        .unwrap();
    story.request("two", Vec::new()).await;
    assert!(!bodies(&story)[1].to_string().contains("THE ANSWER"));
    let loaded = story.host.store().load(&story.id).await.unwrap();
    let marks = loaded
        .events
        .iter()
        .filter(|event| matches!(event.body, EventBody::ItemMarked { .. }));
    assert_eq!(marks.count(), 1);
    story
        .session
        .handle
        .step(mark(ContextChoice::PutBack))
        .await
        .unwrap();
    story.request("three", Vec::new()).await;
    assert!(bodies(&story)[2].to_string().contains("THE ANSWER"));
    story.host.shutdown().await;
}

#[tokio::test]
async fn c2_asked_for_at_rest_a_summary_is_written_and_counted() {
    let replies = vec![
        filler(200),
        Reply::text("The gist.").usage(900, 0, 40).when("User: "),
        Reply::text("two"),
    ];
    let mut story = Story::begin_with(&[], replies, SMALL).await;
    story.request("one", Vec::new()).await;
    story.session.handle.step(Input::Summarise).await.unwrap();
    story
        .until(|body| matches!(body, EventBody::ItemStarted { item } if matches!(item.body, ItemBody::Summary(_))))
        .await;
    let snapshot = story.session.handle.snapshot().await.unwrap();
    assert_eq!(summaries(&snapshot)[0].cause, SummaryCause::Asked);
    assert_eq!(snapshot.turns.len(), 1);
    assert!(snapshot.session.usage.input_tokens >= 900);
    assert_eq!(story.request("two", Vec::new()).await, TurnOutcome::Done);
    assert!(
        !bodies(&story)[2]
            .to_string()
            .contains("All of it is written down")
    );
    story.host.shutdown().await;
}
