use cairn_protocol::{Api, ErrorCode};
use serde_json::json;

use super::*;
use crate::trying::{frames, read};

fn heard(documents: &[Value]) -> Vec<ModelEvent> {
    let (events, error) = read(Api::Responses, [frames(Api::Responses, documents).as_bytes()]);
    assert_eq!(error, None);
    events
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

fn function(id: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "read_file", "arguments": arguments })
}

fn added(index: u64, item: &Value) -> Value {
    json!({ "type": "response.output_item.added", "output_index": index, "item": item })
}

fn done(index: u64, item: &Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn completed(output: &[Value]) -> Value {
    json!({ "type": "response.completed", "response": { "object": "response", "status": "completed", "output": output,
        "usage": { "input_tokens": 9, "input_tokens_details": { "cached_tokens": 4 }, "output_tokens": 2 } } })
}

fn message(text: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
}

#[test]
fn words_thoughts_and_calls_come_in_pieces_once() {
    let thought = json!({ "type": "reasoning", "id": "rs_1", "status": null,
        "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "gA" });
    let output = [thought.clone(), message("yes"), function("a", "{}")];
    let events = heard(&[
        json!({ "type": "response.created", "response": { "object": "response", "status": "in_progress" } }),
        added(0, &json!({ "type": "reasoning" })),
        json!({ "type": "response.reasoning_summary_part.added", "output_index": 0 }),
        json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm" }),
        done(0, &thought),
        added(1, &json!({ "type": "message" })),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "yes" }),
        json!({ "type": "response.output_text.done", "output_index": 1, "text": "yes" }),
        done(1, &message("yes")),
        added(2, &function("a", "")),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}" }),
        json!({ "type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{}" }),
        done(2, &function("a", "{}")),
        completed(&output),
    ]);
    assert_eq!(events[0], ModelEvent::Thinking("hm".into()));
    let ModelEvent::Reasoning(kept) = &events[1] else {
        panic!("{events:?}")
    };
    assert!(kept.json.contains("\"gA\"") && !kept.json.contains("status"));
    assert_eq!(events[2], ModelEvent::Text("yes".into()));
    assert!(
        matches!(&events[3], ModelEvent::Usage(usage) if (usage.input_tokens, usage.cached_tokens) == (9, 4))
    );
    assert_eq!(calls(&events), [("a".into(), "{}".into(), false)]);
    assert_eq!(events.len(), 6);
}

#[test]
fn what_did_not_come_in_pieces_is_told_from_the_items_or_from_the_end() {
    let output = [message("yes"), function("a", "{\"x\":1}")];
    let expected = [("a".into(), "{\"x\":1}".into(), false)];
    for documents in [
        vec![done(0, &output[0]), done(1, &output[1]), completed(&output)],
        vec![completed(&output)],
        vec![completed(&output)["response"].clone()],
        vec![
            added(0, &output[0]),
            done(0, &output[0]),
            added(1, &function("a", "")),
            done(1, &output[1]),
            completed(&[]),
        ],
    ] {
        let events = heard(&documents);
        assert_eq!(events[0], ModelEvent::Text("yes".into()), "{documents:?}");
        assert_eq!(calls(&events), expected, "{documents:?}");
        assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::Stop)));
    }
}

#[test]
fn t6_items_without_numbers_are_told_apart() {
    let mut documents = vec![
        added(0, &function("a", "")),
        json!({ "type": "response.function_call_arguments.delta", "delta": "{}" }),
        added(0, &function("b", "")),
        json!({ "type": "response.function_call_arguments.delta", "delta": "[1]" }),
    ];
    for document in &mut documents {
        document.as_object_mut().unwrap().remove("output_index");
    }
    documents.push(completed(&[]));
    let two = [
        ("a".into(), "{}".into(), false),
        ("b".into(), "[1]".into(), false),
    ];
    assert_eq!(calls(&heard(&documents)), two);
}

#[test]
fn e14_an_incomplete_response_cuts_its_last_call() {
    let documents = [
        added(0, &function("a", "")),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"a\"" }),
        json!({ "type": "response.incomplete", "response": { "object": "response", "status": "incomplete",
            "incomplete_details": { "reason": "max_output_tokens" } } }),
    ];
    let events = heard(&documents);
    assert_eq!(calls(&events), [("a".into(), "{\"a\"".into(), true)]);
    assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::Length)));
    assert_eq!(
        calls(&heard(&documents[..2])),
        [("a".into(), "{\"a\"".into(), true)]
    );
}

#[test]
fn failures_in_the_stream_are_errors_in_either_form() {
    let table = [
        (
            json!({ "type": "response.failed", "response": { "object": "response", "status": "failed",
                "error": { "code": "rate_limit_exceeded", "message": "slow down" } } }),
            ErrorCode::RateLimited,
        ),
        (
            json!({ "type": "error", "code": "server_error", "message": "oops", "param": null }),
            ErrorCode::ModelServer,
        ),
        (
            json!({ "type": "error", "error": { "type": "invalid_request_error", "code": "context_length_exceeded",
                "message": "Your input exceeds the context window of this model." } }),
            ErrorCode::TooLong,
        ),
    ];
    for (document, code) in table {
        let (_, error) = read(
            Api::Responses,
            [frames(Api::Responses, std::slice::from_ref(&document)).as_bytes()],
        );
        assert_eq!(error.unwrap().error.code, code, "{document}");
    }
}

#[test]
fn unknown_frames_and_items_say_nothing() {
    let events = heard(&[
        json!({ "type": "response.web_search_call.searching", "output_index": 0 }),
        added(0, &json!({ "type": "web_search_call", "id": "ws" })),
        done(0, &json!({ "type": "web_search_call", "id": "ws" })),
        json!("x"),
        completed(&[]),
    ]);
    assert_eq!(events.len(), 2, "{events:?}");
}
