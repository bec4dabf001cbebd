use cairn_protocol::{Api, ErrorCode, ReasoningData, Usage};

use super::*;
use crate::trying::{ORIGIN, frames, read};

fn heard(documents: &[Value]) -> Vec<ModelEvent> {
    let (events, error) = read(Api::Anthropic, [frames(Api::Anthropic, documents).as_bytes()]);
    assert_eq!(error, None);
    events
}

fn start(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]
}

fn tool_use(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "read_file", "input": {} })
}

fn piece(index: u64, json: &str) -> Value {
    delta(index, json!({ "type": "input_json_delta", "partial_json": json }))
}

fn calls(events: &[ModelEvent]) -> Vec<(String, String, bool)> {
    events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Call {
                id, arguments, cut, ..
            } => Some((id.clone(), arguments.clone(), *cut)),
            _ => None,
        })
        .collect()
}

#[test]
fn m7_a_signed_thought_is_kept_whole_and_a_redacted_one_without_words() {
    let mut documents = vec![
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "hm" })),
        delta(0, json!({ "type": "signature_delta", "signature": "si" })),
        delta(0, json!({ "type": "signature_delta", "signature": "gn" })),
        stop(0),
        start(1, json!({ "type": "redacted_thinking", "data": "xyz" })),
        stop(1),
        start(2, json!({ "type": "text", "text": "" })),
        delta(2, json!({ "type": "text_delta", "text": "yes" })),
        stop(2),
    ];
    documents.extend(end("end_turn"));
    let kept = |json: Value| {
        ModelEvent::Reasoning(ReasoningData {
            origin: ORIGIN.into(),
            json: json.to_string(),
        })
    };
    let usage = Usage {
        output_tokens: 7,
        ..Usage::default()
    };
    assert_eq!(
        heard(&documents),
        [
            ModelEvent::Thinking("hm".into()),
            kept(json!({ "type": "thinking", "thinking": "hm", "signature": "sign" })),
            kept(json!({ "type": "redacted_thinking", "data": "xyz" })),
            ModelEvent::Text("yes".into()),
            ModelEvent::Usage(usage),
            ModelEvent::Finished(FinishReason::Stop),
        ]
    );
}

#[test]
fn m6_cached_tokens_are_counted_among_the_prompt() {
    let documents = [
        json!({ "type": "message_start", "message": { "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 60, "output_tokens": 1 } } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 5 } }),
    ];
    let last = heard(&documents).into_iter().rev().find_map(|event| match event {
        ModelEvent::Usage(usage) => Some(usage),
        _ => None,
    });
    let expected = Usage {
        input_tokens: 100,
        cached_tokens: 60,
        cache_write_tokens: 30,
        output_tokens: 5,
        cost_usd: None,
    };
    assert_eq!(last, Some(expected));
}

#[test]
fn t5_t6_calls_are_told_apart_whatever_their_numbers() {
    let whole = |documents: Vec<Value>| {
        let mut documents = documents;
        documents.extend(end("tool_use"));
        calls(&heard(&documents))
    };
    let two = [
        ("a".into(), "{}".into(), false),
        ("b".into(), "{\"x\":1}".into(), false),
    ];
    let interleaved = whole(vec![
        start(0, tool_use("a")),
        start(1, tool_use("b")),
        piece(1, "{\"x\""),
        piece(0, "{}"),
        piece(1, ":1}"),
        stop(0),
        stop(1),
    ]);
    assert_eq!(interleaved, two);
    let same_number = whole(vec![
        start(0, tool_use("a")),
        piece(0, "{}"),
        start(0, tool_use("b")),
        piece(0, "{\"x\":1}"),
    ]);
    assert_eq!(same_number, two);
    let mut unnumbered = vec![
        start(0, tool_use("a")),
        piece(0, "{}"),
        stop(0),
        start(0, tool_use("b")),
        piece(0, "{\"x\":1}"),
        stop(0),
    ];
    for frame in &mut unnumbered {
        frame.as_object_mut().unwrap().remove("index");
    }
    assert_eq!(whole(unnumbered), two);
    let given_whole = json!({ "type": "tool_use", "id": "b", "name": "read_file", "input": { "x": 1 } });
    assert_eq!(
        whole(vec![
            start(0, tool_use("a")),
            piece(0, "{}"),
            start(1, given_whole)
        ]),
        two
    );
    assert_eq!(
        whole(vec![start(0, tool_use("used"))]),
        [("used_2".into(), String::new(), false)]
    );
}

#[test]
fn e14_a_call_at_the_limit_or_without_its_end_is_cut() {
    let begun = [start(0, tool_use("a")), piece(0, "{\"path\":\"a")];
    let cut = [("a".into(), "{\"path\":\"a".into(), true)];
    assert_eq!(calls(&heard(&begun)), cut);
    let mut limited = begun.to_vec();
    limited.push(stop(0));
    limited.extend(end("max_tokens"));
    let events = heard(&limited);
    assert_eq!(calls(&events), cut);
    assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::Length)));
}

#[test]
fn t2_pings_unknown_frames_and_unknown_blocks_say_nothing() {
    let mut documents = vec![
        json!({ "type": "ping" }),
        json!({ "type": "something_new", "delta": { "text": "x" } }),
        json!(17),
        json!(["x"]),
        start(
            0,
            json!({ "type": "server_tool_use", "id": "s", "name": "web", "input": {} }),
        ),
        piece(0, "{\"q\":1}"),
        stop(0),
        start(1, json!({ "type": "text" })),
        delta(1, json!({ "type": "citations_delta", "citation": {} })),
        delta(1, json!({ "type": "text_delta", "text": "yes" })),
    ];
    documents.extend(end("end_turn"));
    let events = heard(&documents);
    assert!(calls(&events).is_empty());
    assert_eq!(events[0], ModelEvent::Text("yes".into()));
}

#[test]
fn an_error_in_mid_stream_keeps_what_came_and_says_whether_to_wait() {
    let documents = [
        start(0, json!({ "type": "text", "text": "half" })),
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
    ];
    let (events, error) = read(Api::Anthropic, [frames(Api::Anthropic, &documents).as_bytes()]);
    assert_eq!(events, [ModelEvent::Text("half".into())]);
    let error = error.unwrap();
    assert_eq!(
        (error.error.code, error.retryable),
        (ErrorCode::ModelServer, true)
    );
}

#[test]
fn a_reply_that_came_whole_is_the_same() {
    let document = json!({ "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        { "type": "thinking", "thinking": "hm", "signature": "s" }, { "type": "text", "text": "yes" },
        { "type": "tool_use", "id": "a", "name": "read_file", "input": { "path": "x" } } ],
        "usage": { "input_tokens": 3, "output_tokens": 4 } });
    let events = heard(&[document]);
    assert_eq!(events.len(), 6, "{events:?}");
    assert_eq!(calls(&events), [("a".into(), "{\"path\":\"x\"}".into(), false)]);
}
