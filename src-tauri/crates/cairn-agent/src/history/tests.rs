use cairn_protocol::{CallId, ItemId, Notice, Summary, SummaryAuthor, SummaryCause, ToolResult};
use proptest::prelude::*;

use super::*;
use crate::context::Marks;

fn item(number: usize, step: Option<u32>, body: ItemBody) -> Item {
    Item {
        id: format!("i{number}").into(),
        turn: "t".into(),
        at: 0,
        state: ItemState::Done,
        step,
        body,
        rendered: None,
    }
}

fn call(id: &str, arguments: &str, answer: Option<&str>) -> ItemBody {
    ItemBody::Tool(Box::new(ToolItem {
        call: CallId::from(id),
        name: "read_file".to_owned(),
        arguments: arguments.to_owned(),
        title: String::new(),
        target: String::new(),
        from_text: false,
        walled: false,
        decided: None,
        started_at: None,
        ended_at: None,
        limit_ms: None,
        note: String::new(),
        blocks: Vec::new(),
        result: answer.map(|content| ToolResult {
            ok: true,
            timed_out: false,
            denied: false,
            content: content.to_owned(),
            pictures: Vec::new(),
            output: None,
        }),
    }))
}

fn build(bodies: Vec<(Option<u32>, ItemBody)>) -> Vec<Message> {
    build_marked(bodies, &Marks::new())
}

fn build_marked(bodies: Vec<(Option<u32>, ItemBody)>, marks: &Marks) -> Vec<Message> {
    let items: Vec<_> = bodies
        .into_iter()
        .enumerate()
        .map(|(n, (step, body))| item(n, step, body))
        .collect();
    messages(&Context::of(&items, marks), &[], &HashMap::new())
}

fn summary(text: &str, from: Option<&str>) -> (Option<u32>, ItemBody) {
    let summary = Summary {
        text: text.to_owned(),
        from: from.map(ItemId::from),
        cause: SummaryCause::Window,
        by: SummaryAuthor::Model,
        before: 0,
        after: 0,
    };
    (None, ItemBody::Summary(summary))
}

fn said(step: u32, text: &str) -> (Option<u32>, ItemBody) {
    let text = text.to_owned();
    (Some(step), ItemBody::Assistant { text })
}

fn user(text: &str) -> (Option<u32>, ItemBody) {
    (
        None,
        ItemBody::User {
            text: text.to_owned(),
            attachments: Vec::new(),
        },
    )
}

/// What every strict provider demands of a conversation.
fn check(messages: &[Message]) -> Result<(), String> {
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let calls: Vec<_> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Call { id, arguments, .. } => Some((id.clone(), arguments)),
                _ => None,
            })
            .collect();
        for (id, arguments) in &calls {
            if !ids.insert(id.clone()) {
                return Err(format!("id {id} twice"));
            }
            serde_json::from_str::<serde_json::Map<_, _>>(arguments).map_err(|e| e.to_string())?;
        }
        let answered: Vec<_> = match messages.get(at + 1) {
            Some(next) if next.role == Role::Tool => next
                .parts
                .iter()
                .filter_map(|part| {
                    if let Part::Result { id, .. } = part {
                        Some(id.clone())
                    } else {
                        None
                    }
                })
                .collect(),
            _ => Vec::new(),
        };
        let asked: Vec<_> = calls.into_iter().map(|(id, _)| id).collect();
        if message.role == Role::Assistant && asked != answered {
            return Err(format!("{asked:?} answered by {answered:?}"));
        }
        if message.role == Role::Tool
            && at
                .checked_sub(1)
                .is_none_or(|b| messages[b].role != Role::Assistant)
        {
            return Err("results without calls".to_owned());
        }
    }
    match messages.first() {
        Some(first) if first.role != Role::User => Err(format!("{:?} begins", first.role)),
        _ => Ok(()),
    }
}

#[test]
fn x110_what_stays_is_word_for_word_what_it_was_and_a_later_summary_stands_alone() {
    let old = || [user("first task"), (Some(1), call("a", "{}", Some("long ago")))];
    let recent = || {
        [
            user("second task"),
            said(1, "I look."),
            (Some(1), call("b", "{\"path\":\"x\"}", Some("now"))),
        ]
    };
    let whole = build(old().into_iter().chain(recent()).collect());
    let cut: Vec<_> = old()
        .into_iter()
        .chain(recent())
        .chain([summary("what was", Some("i2"))])
        .collect();
    let short = build(cut.clone());
    let text = format!("{short:?}");
    assert!(text.contains("what was") && !text.contains("long ago"), "{text}");
    // The summary and the message after it are both the user's and joined.
    assert_eq!(short[0].parts.last(), whole[3].parts.last());
    assert_eq!(short[1..], whole[4..]);
    let again: Vec<_> = cut
        .into_iter()
        .chain([user("third task"), summary("all of it", Some("i6"))])
        .collect();
    let text = format!("{:?}", build(again));
    assert!(
        text.contains("all of it") && text.contains("third task"),
        "{text}"
    );
    assert!(
        !text.contains("what was") && !text.contains("second task"),
        "{text}"
    );
}

#[test]
fn c2_a_summary_whose_first_kept_item_is_gone_or_comes_later_keeps_nothing_from_before() {
    for from in [None, Some("nowhere"), Some("i3")] {
        let messages = build(vec![
            user("old"),
            said(1, "old too"),
            summary("it", from),
            user("new"),
        ]);
        let text = format!("{messages:?}");
        assert!(
            text.contains("new") && !text.contains("old too"),
            "{from:?}: {text}"
        );
        check(&messages).unwrap();
    }
}

#[test]
fn c2_the_plan_is_told_beside_a_summary_and_only_there() {
    let plan = [TodoItem {
        text: "paint it".into(),
        state: TodoState::InProgress,
    }];
    for (bodies, told) in [
        (vec![user("x")], false),
        (vec![user("x"), summary("s", None), user("y")], true),
    ] {
        let items: Vec<_> = bodies
            .into_iter()
            .enumerate()
            .map(|(n, (step, body))| item(n, step, body))
            .collect();
        let marks = Marks::new();
        let messages = messages(&Context::of(&items, &marks), &plan, &HashMap::new());
        assert_eq!(format!("{messages:?}").contains("paint it (in_progress)"), told);
    }
}

#[test]
fn c3_m8_marks_change_what_the_model_gets_and_nothing_else() {
    let bodies = || {
        vec![
            user("SECRET WORDS"),
            said(1, "MY ANSWER"),
            (Some(1), call("a", "{\"q\":\"THE QUERY\"}", Some("THE RESULT"))),
            user("go on"),
        ]
    };
    let aside = |part| Mark::SetAside {
        part,
        reason: "too odd".to_owned(),
    };
    for (id, mark, gone, there) in [
        ("i0", Mark::TakenOut, vec!["SECRET WORDS"], "took a message out"),
        ("i0", aside(AsidePart::Whole), vec!["SECRET WORDS"], "too odd"),
        ("i0", aside(AsidePart::Pictures), vec![], "SECRET WORDS"),
        ("i1", Mark::TakenOut, vec!["MY ANSWER"], "THE RESULT"),
        ("i2", Mark::TakenOut, vec!["THE RESULT"], "took this result out"),
        (
            "i2",
            aside(AsidePart::Whole),
            vec!["THE RESULT", "THE QUERY"],
            "too odd",
        ),
        ("i2", Mark::Pinned, vec![], "THE RESULT"),
    ] {
        let marks = Marks::from([(ItemId::from(id), mark.clone())]);
        let messages = build_marked(bodies(), &marks);
        check(&messages).unwrap();
        let text = format!("{messages:?}");
        assert!(text.contains(there), "{id} {mark:?}: {text}");
        for gone in gone {
            assert!(!text.contains(gone), "{id} {mark:?}: {text}");
        }
    }
}

#[test]
fn c3_a_pinned_item_is_told_as_words_once_it_is_summarised() {
    let bodies = vec![
        user("old"),
        (Some(1), call("a", "{}", Some("THE RESULT"))),
        user("recent"),
        summary("s", Some("i2")),
    ];
    let messages = build_marked(bodies, &Marks::from([(ItemId::from("i1"), Mark::Pinned)]));
    check(&messages).unwrap();
    assert!(
        format!("{messages:?}").contains("`read_file` with {} gave:]\\nTHE RESULT"),
        "{messages:?}"
    );
    assert_eq!(messages.len(), 1, "no call without its reply: {messages:?}");
}

#[test]
fn t11_open_calls_get_an_interrupted_result_each() {
    let messages = build(vec![
        user("look"),
        (
            Some(1),
            ItemBody::Assistant {
                text: "I look.".to_owned(),
            },
        ),
        (Some(1), call("a", "{}", Some("one"))),
        (Some(1), call("b", "{}", None)),
        (Some(1), call("c", "{\"pa", None)),
        user("go on"),
    ]);
    check(&messages).unwrap();
    let Part::Result { text, ok, .. } = &messages[2].parts[2] else {
        panic!("{messages:?}")
    };
    assert!(text.starts_with("Interrupted") && !ok);
    assert_eq!(messages.len(), 4);
}

#[test]
fn two_steps_without_words_stay_two_messages() {
    let messages = build(vec![
        user("x"),
        (Some(1), call("a", "{}", Some("1"))),
        (Some(2), call("a", "{}", Some("2"))),
    ]);
    check(&messages).unwrap();
    assert_eq!(
        messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count(),
        2
    );
}

#[test]
fn words_of_a_failed_try_are_not_sent_again() {
    let mut items = vec![item(0, None, user("x").1)];
    items.push(Item {
        state: ItemState::Failed,
        ..item(1, Some(1), ItemBody::Assistant { text: "half".into() })
    });
    items.push(item(2, Some(1), ItemBody::Assistant { text: "whole".into() }));
    let marks = Marks::new();
    let text = format!(
        "{:?}",
        messages(&Context::of(&items, &marks), &[], &HashMap::new())
    );
    assert!(text.contains("whole") && !text.contains("half"), "{text}");
}

#[test]
fn notices_for_the_model_are_told_and_others_are_not() {
    let notice = |code: &str| {
        ItemBody::Notice(Notice {
            level: cairn_protocol::NoticeLevel::Info,
            code: code.to_owned(),
            text: format!("about {code}"),
        })
    };
    let text = format!(
        "{:?}",
        build(vec![
            user("x"),
            (None, notice("told_plan")),
            (None, notice("history_repaired"))
        ])
    );
    assert!(
        text.contains("about told_plan") && !text.contains("about history_repaired"),
        "{text}"
    );
}

proptest! {
    /// However a session was cut off, what is sent is valid.
    #[test]
    fn x112_any_transcript_makes_a_valid_conversation(
        kinds in prop::collection::vec((0u8..7, 0u32..4, "[ab]?", prop::sample::select(vec!["{}", "", "null", "[1]", "{\"a\":1}", "{\"a\""]), prop::bool::ANY), 0..40)
    ) {
        let marks = kinds.iter().enumerate().filter_map(|(at, (kind, step, ..))| {
            let mark = match step {
                0 => Mark::TakenOut,
                1 => Mark::SetAside { part: AsidePart::Whole, reason: "r".to_owned() },
                2 => Mark::Pinned,
                _ => return None,
            };
            (kind % 2 == 0).then(|| (ItemId::from(format!("i{at}").as_str()), mark))
        }).collect();
        let bodies = kinds.into_iter().map(|(kind, step, id, arguments, answered)| match kind {
            5 => summary("s", Some(&format!("i{}", step * 5))),
            0 => user("words"),
            1 => (Some(step), ItemBody::Assistant { text: "answer".to_owned() }),
            2 => (None, call(&id, arguments, answered.then_some("result"))),
            3 => (Some(step), ItemBody::Thinking { text: "hm".to_owned(), data: None }),
            _ => (Some(step), call(&id, arguments, answered.then_some("result"))),
        }).collect();
        prop_assert_eq!(check(&build_marked(bodies, &marks)), Ok(()));
    }
}
