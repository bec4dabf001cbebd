use cairn_protocol::Api;

use super::*;
use crate::trying::{frames, read};

fn heard(documents: &[Value]) -> Vec<ModelEvent> {
    let (events, error) = read(Api::Ollama, [frames(Api::Ollama, documents).as_bytes()]);
    assert_eq!(error, None);
    events
}

fn say(message: Value) -> Value {
    json!({ "model": "m", "message": message, "done": false })
}

fn done(reason: &str) -> Value {
    json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": reason,
        "prompt_eval_count": 12, "eval_count": 3 })
}

#[test]
fn a_reply_is_thinking_words_calls_and_counts() {
    let call = json!({ "function": { "name": "read_file", "arguments": { "path": "a" } } });
    let events = heard(&[
        say(json!({ "role": "assistant", "content": "", "thinking": "hm" })),
        say(json!({ "role": "assistant", "content": "I look." })),
        say(json!({ "role": "assistant", "content": "", "tool_calls": [call, call] })),
        say(
            json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "read_file", "arguments": "{}" } }] }),
        ),
        done("stop"),
    ]);
    let ids: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Call { id, cut: false, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["call_s_1", "call_s_2", "call_s_3"], "{events:?}");
    assert_eq!(events[0], ModelEvent::Thinking("hm".into()));
    assert_eq!(events[1], ModelEvent::Text("I look.".into()));
    assert!(
        matches!(&events[2], ModelEvent::Usage(usage) if (usage.input_tokens, usage.output_tokens) == (12, 3))
    );
    assert!(matches!(&events[3], ModelEvent::Reasoning(data) if data.json == "{\"thinking\":\"hm\"}"));
    assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::Stop)));
}

#[test]
fn the_limit_and_an_end_without_a_word_are_told_apart() {
    let words = say(json!({ "role": "assistant", "content": "half" }));
    let limit = heard(&[words.clone(), done("length")]);
    assert_eq!(limit.last(), Some(&ModelEvent::Finished(FinishReason::Length)));
    assert_eq!(
        heard(&[words]).last(),
        Some(&ModelEvent::Finished(FinishReason::Unknown))
    );
}

#[test]
fn an_error_line_ends_the_reply() {
    let documents = [
        say(json!({ "content": "half" })),
        json!({ "error": "model runner has unexpectedly stopped" }),
    ];
    let (events, error) = read(Api::Ollama, [frames(Api::Ollama, &documents).as_bytes()]);
    assert_eq!(events, [ModelEvent::Text("half".into())]);
    assert!(error.unwrap().error.message.contains("unexpectedly stopped"));
}
