use cairn_protocol::{CallId, ItemState, ToolItem, ToolResult};
use proptest::prelude::*;

use super::*;
use crate::context::Marks;

fn item(number: usize, turn: usize, step: Option<u32>, body: ItemBody) -> Item {
    Item {
        id: format!("i{number}").as_str().into(),
        turn: format!("t{turn}").as_str().into(),
        at: 0,
        state: ItemState::Done,
        step,
        body,
        rendered: None,
    }
}

fn user(text: String) -> ItemBody {
    ItemBody::User {
        text,
        attachments: Vec::new(),
    }
}

fn call(number: usize, content: String) -> ItemBody {
    ItemBody::Tool(Box::new(ToolItem {
        call: CallId(format!("c{number}")),
        name: "shell".to_owned(),
        arguments: "{}".to_owned(),
        title: "Run".to_owned(),
        target: "cargo test".to_owned(),
        from_text: false,
        walled: false,
        decided: None,
        started_at: None,
        ended_at: None,
        limit_ms: None,
        note: String::new(),
        blocks: Vec::new(),
        result: Some(ToolResult {
            ok: false,
            timed_out: false,
            denied: false,
            content,
            pictures: Vec::new(),
            output: None,
        }),
    }))
}

/// Requests of so many replies, each of two calls whose results have so many bytes.
fn session(requests: &[(usize, usize)]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (turn, (replies, bytes)) in requests.iter().enumerate() {
        items.push(item(items.len(), turn, None, user(format!("task {turn}"))));
        for step in 1..=*replies {
            for _ in 0..2 {
                let body = call(items.len(), "x".repeat(*bytes));
                items.push(item(items.len(), turn, Some(step as u32), body));
            }
        }
    }
    items
}

fn cut_at(items: &[Item], keep: u64) -> Option<String> {
    let marks = Marks::new();
    cut(&Context::of(items, &marks), keep).map(|cut| cut.from.unwrap().0)
}

#[test]
fn whole_requests_stay_where_they_fit_and_else_whole_replies() {
    // Each reply takes about 2,000 tokens: two results of 4,000 bytes.
    let items = session(&[(2, 4_000), (2, 4_000), (1, 4_000)]);
    for (keep, from) in [
        // The last request and the one before it: 1 + 2 replies.
        (7_000, "i5"),
        // Only the last one fits whole.
        (5_000, "i10"),
        (2_200, "i10"),
        // Not even that: its only reply stays, as the last piece always does.
        (10, "i11"),
    ] {
        assert_eq!(cut_at(&items, keep).as_deref(), Some(from), "{keep}");
    }
    // One long request: it is cut between two of its replies.
    let items = session(&[(9, 4_000)]);
    assert_eq!(cut_at(&items, 4_500).as_deref(), Some("i15"));
}

#[test]
fn what_is_not_worth_a_summary_is_not_cut() {
    for items in [vec![], session(&[(0, 0)]), session(&[(1, 40), (1, 40)])] {
        assert_eq!(cut_at(&items, 0), None, "{} items", items.len());
    }
    let items = session(&[(3, 4_000)]);
    assert_eq!(cut_at(&items, u64::MAX), None, "all of it may stay");
}

#[test]
fn c6_the_transcript_is_plain_words_in_the_room_there_is() {
    let mut items = session(&[(40, 30_000)]);
    items.push(item(items.len(), 1, None, user("the newest".to_owned())));
    let marks = Marks::from([("i1".into(), Mark::TakenOut)]);
    let context = Context::of(&items, &marks);
    let cut = Cut {
        from: items.last().map(|item| item.id.clone()),
    };
    for room in [500, 4_000, 200_000] {
        let text = transcript(&context, &cut, room);
        assert!(
            text.chars().count() as u64 <= room * 4 + 200,
            "{room}: {}",
            text.len()
        );
        assert!(text.starts_with("User: task 0"), "{room}");
        assert!(!text.contains("the newest"), "what stays is not summarised");
    }
    let all = transcript(&context, &cut, 2_000_000);
    assert_eq!(all.matches("Call of shell").count(), 79, "one was taken out");
}

#[test]
fn without_a_model_the_log_tells_what_was_asked_and_how_it_went() {
    let mut items = session(&[(1, 10)]);
    let words = "I am stuck.".to_owned();
    items.push(item(9, 0, Some(2), ItemBody::Assistant { text: words }));
    let marks = Marks::new();
    let text = from_log(&Context::of(&items, &marks), &Cut { from: None }, &[], &[], 1_000);
    for part in ["The user wrote: task 0", "Run cargo test: failed", "I am stuck."] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

proptest! {
    #[test]
    fn a_reply_is_never_split_and_the_last_piece_always_stays(
        requests in prop::collection::vec((0usize..5, 0usize..6_000), 1..8), keep in 0u64..12_000
    ) {
        let items = session(&requests);
        let marks = Marks::new();
        let context = Context::of(&items, &marks);
        let pieces = context.pieces();
        if let Some(Cut { from: Some(from) }) = cut(&context, keep) {
            let at = items.iter().position(|item| item.id == from).unwrap();
            prop_assert!(pieces.contains(&at), "{at} is in the middle of {pieces:?}");
            prop_assert!(at > 0 && at <= *pieces.last().unwrap());
            let kept: u64 = items[at..].iter().map(|item| item_tokens(item, None)).sum();
            prop_assert!(kept <= keep || at == *pieces.last().unwrap(), "{kept} of {keep}");
        }
    }
}
