use cairn_protocol::{CallId, ToolResult};
use proptest::prelude::*;

use super::*;

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
    let items: Vec<_> = bodies
        .into_iter()
        .enumerate()
        .map(|(n, (step, body))| item(n, step, body))
        .collect();
    messages(&items, &HashMap::new())
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
    Ok(())
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
    let text = format!("{:?}", messages(&items, &HashMap::new()));
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
        kinds in prop::collection::vec((0u8..5, 0u32..4, "[ab]?", prop::sample::select(vec!["{}", "", "null", "[1]", "{\"a\":1}", "{\"a\""]), prop::bool::ANY), 0..40)
    ) {
        let bodies = kinds.into_iter().map(|(kind, step, id, arguments, answered)| match kind {
            0 => user("words"),
            1 => (Some(step), ItemBody::Assistant { text: "answer".to_owned() }),
            2 => (None, call(&id, arguments, answered.then_some("result"))),
            3 => (Some(step), ItemBody::Thinking { text: "hm".to_owned(), data: None }),
            _ => (Some(step), call(&id, arguments, answered.then_some("result"))),
        }).collect();
        prop_assert_eq!(check(&build(bodies)), Ok(()));
    }
}
