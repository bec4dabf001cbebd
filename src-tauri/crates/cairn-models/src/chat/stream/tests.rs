use cairn_protocol::{Api, ErrorCode, Prices, Usage};
use proptest::prelude::*;

use super::*;
use crate::reply::StreamContext;
use crate::reply::stream::ReplyStream;
use crate::trying::{Read, context};

fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Read {
    crate::trying::read(Api::Openai, chunks)
}

fn frames(documents: &[Value]) -> String {
    documents.iter().fold(String::new(), |stream, document| {
        stream + &format!("data: {document}\n\n")
    })
}

fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

fn piece(piece: Value) -> Value {
    delta(json!({ "tool_calls": [piece] }))
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// Calls as (id, name, arguments, cut).
fn calls(documents: &[Value]) -> Vec<(String, String, String, bool)> {
    let (events, error) = read([frames(documents).as_bytes()]);
    assert_eq!(error, None);
    events
        .into_iter()
        .filter_map(|event| match event {
            ModelEvent::Call {
                id,
                name,
                arguments,
                from_text,
                cut,
            } => {
                assert!(!from_text);
                Some((id, name, arguments, cut))
            }
            _ => None,
        })
        .collect()
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String, bool) {
    (id.into(), name.into(), arguments.into(), false)
}

fn cut(id: &str, name: &str, arguments: &str) -> (String, String, String, bool) {
    (id.into(), name.into(), arguments.into(), true)
}

fn text(words: &str) -> ModelEvent {
    ModelEvent::Text(words.into())
}

fn thinking(words: &str) -> ModelEvent {
    ModelEvent::Thinking(words.into())
}

#[test]
fn x100_a_normal_reply_is_text_usage_and_its_end() {
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 2,
        "prompt_tokens_details": { "cached_tokens": 4 } } });
    let stream = frames(&[
        delta(json!({ "content": "Hel" })),
        delta(json!({ "content": "lo" })),
        finish("stop"),
        usage,
    ]) + "data: [DONE]\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"after the end\"}}]}\n\n";
    let usage = Usage {
        input_tokens: 9,
        cached_tokens: 4,
        cache_write_tokens: 0,
        output_tokens: 2,
        cost_usd: None,
    };
    let expected = vec![
        text("Hello"),
        ModelEvent::Usage(usage),
        ModelEvent::Finished(FinishReason::Stop),
    ];
    assert_eq!(read([stream.as_bytes()]), (expected, None));
}

#[test]
fn x100_a_call_split_over_frames_is_whole_and_several_keep_their_order() {
    let documents = [
        piece(json!({ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": "" } })),
        piece(json!({ "index": 0, "function": { "arguments": "{\"pa" } })),
        piece(json!({ "index": 1, "id": "b", "function": { "name": "grep", "arguments": "{}" } })),
        piece(json!({ "index": 0, "function": { "arguments": "th\":\"x\"}" } })),
        finish("tool_calls"),
    ];
    assert_eq!(
        calls(&documents),
        [
            call("a", "read_file", "{\"path\":\"x\"}"),
            call("b", "grep", "{}")
        ]
    );
}

#[test]
fn x100_a_missing_done_and_a_bad_frame_lose_nothing() {
    let stream = format!(
        "{}data: {{\"choices\":[{{\"del\n\n{}",
        frames(&[delta(json!({ "content": "a" }))]),
        frames(&[delta(json!({ "content": "b" })), finish("stop")])
    );
    assert_eq!(
        read([stream.as_bytes()]),
        (vec![text("ab"), ModelEvent::Finished(FinishReason::Stop)], None)
    );
}

#[test]
fn t5_equal_indexes_with_different_ids_are_two_calls() {
    let documents = [
        piece(json!({ "index": 0, "id": "call_a", "function": { "name": "f", "arguments": "{\"a\":1}" } })),
        piece(json!({ "index": 0, "id": "call_b", "function": { "name": "f", "arguments": "{\"b\":" } })),
        piece(json!({ "index": 0, "function": { "arguments": "2}" } })),
        finish("tool_calls"),
    ];
    assert_eq!(
        calls(&documents),
        [call("call_a", "f", "{\"a\":1}"), call("call_b", "f", "{\"b\":2}")]
    );
}

#[test]
fn t5_equal_indexes_without_ids_are_two_calls_when_the_first_is_whole() {
    let documents = [
        piece(json!({ "index": 0, "function": { "name": "f", "arguments": "{\"a\":1}" } })),
        piece(json!({ "index": 0, "function": { "name": "f", "arguments": "{\"b\":2}" } })),
        finish("stop"),
    ];
    assert_eq!(
        calls(&documents),
        [
            call("call_s_1", "f", "{\"a\":1}"),
            call("call_s_2", "f", "{\"b\":2}")
        ]
    );
}

#[test]
fn t6_missing_indexes_are_told_apart_by_id() {
    let documents = [
        piece(json!({ "id": "a", "function": { "name": "f" } })),
        piece(json!({ "function": { "arguments": "{\"x\":" } })),
        piece(json!({ "function": { "arguments": "1}" } })),
        piece(json!({ "id": "b", "function": { "name": "g", "arguments": "{" } })),
        piece(json!({ "function": { "arguments": "}" } })),
        finish("tool_calls"),
    ];
    assert_eq!(
        calls(&documents),
        [call("a", "f", "{\"x\":1}"), call("b", "g", "{}")]
    );
}

#[test]
fn whole_calls_without_index_and_id_in_one_frame_are_kept_apart() {
    let documents = [
        delta(json!({ "tool_calls": [
            { "function": { "name": "f", "arguments": {} } },
            { "function": { "name": "f", "arguments": { "path": "a" } } },
        ] })),
        finish("stop"),
    ];
    assert_eq!(
        calls(&documents),
        [
            call("call_s_1", "f", "{}"),
            call("call_s_2", "f", "{\"path\":\"a\"}")
        ]
    );
}

#[test]
fn servers_that_repeat_id_and_name_make_one_call() {
    let documents = [
        piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } })),
        piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": ":1" } })),
        piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "}" } })),
        finish("tool_calls"),
    ];
    assert_eq!(calls(&documents), [call("a", "f", "{\"x\":1}")]);
}

#[test]
fn a_name_in_pieces_and_a_late_id_are_put_together() {
    let documents = [
        piece(json!({ "index": 0, "function": { "name": "read_" } })),
        piece(json!({ "index": 0, "id": "late", "function": { "name": "file" } })),
        piece(json!({ "index": 0, "function": { "name": null, "arguments": "{}" } })),
        finish("tool_calls"),
    ];
    assert_eq!(calls(&documents), [call("late", "read_file", "{}")]);
}

#[test]
fn empty_and_duplicate_ids_are_made_unique() {
    let documents = [
        piece(json!({ "index": 0, "id": "", "function": { "name": "f", "arguments": "{}" } })),
        piece(json!({ "index": 1, "id": "same", "function": { "name": "f", "arguments": "{}" } })),
        piece(json!({ "index": 2, "id": "same", "function": { "name": "f", "arguments": "{}" } })),
        piece(json!({ "index": 3, "id": "used", "function": { "name": "f", "arguments": "{}" } })),
        finish("tool_calls"),
    ];
    let ids: Vec<_> = calls(&documents).into_iter().map(|call| call.0).collect();
    assert_eq!(ids, ["call_s_1", "same", "same_2", "used_2"]);
}

#[test]
fn t9_bad_arguments_come_through_as_they_are() {
    for arguments in [
        r#"{"path": "a" "x"}"#,
        "",
        "null",
        "[1]",
        r#""{\"path\":\"a\"}""#,
        "\u{0}",
        "{}}",
    ] {
        let documents = [
            piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": arguments } })),
            finish("stop"),
        ];
        assert_eq!(calls(&documents), [call("a", "f", arguments)], "{arguments}");
    }
}

#[test]
fn arguments_that_are_no_text_become_text() {
    let table = [
        (json!({ "path": "a" }), "{\"path\":\"a\"}"),
        (json!(null), ""),
        (json!([1]), "[1]"),
    ];
    for (arguments, expected) in table {
        let documents = [
            piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": arguments } })),
            finish("stop"),
        ];
        assert_eq!(calls(&documents), [call("a", "f", expected)]);
    }
}

#[test]
fn e14_a_call_that_stops_in_the_middle_is_cut_whatever_the_reason_says() {
    let open = piece(
        json!({ "index": 0, "id": "a", "function": { "name": "w", "arguments": "{\"content\":\"half" } }),
    );
    for reason in ["stop", "tool_calls", "length", "content_filter", "odd"] {
        assert_eq!(
            calls(&[open.clone(), finish(reason)]),
            [cut("a", "w", "{\"content\":\"half")],
            "{reason}"
        );
    }
    assert_eq!(
        calls(&[open]),
        [cut("a", "w", "{\"content\":\"half")],
        "no reason at all"
    );
}

#[test]
fn e15_the_last_call_of_a_reply_at_its_limit_is_cut_even_when_it_looks_whole() {
    let documents = [
        piece(json!({ "index": 0, "id": "a", "function": { "name": "r", "arguments": "{}" } })),
        piece(json!({ "index": 1, "id": "b", "function": { "name": "w", "arguments": "{\"path\":\"x\"}" } })),
        finish("length"),
    ];
    assert_eq!(
        calls(&documents),
        [call("a", "r", "{}"), cut("b", "w", "{\"path\":\"x\"}")]
    );
}

#[test]
fn t11_a_stream_that_just_ends_keeps_whole_calls_and_cuts_the_rest() {
    let documents = [
        piece(json!({ "index": 0, "id": "a", "function": { "name": "r", "arguments": "{\"path\":\"x\"}" } })),
        piece(json!({ "index": 1, "id": "b", "function": { "name": "r", "arguments": "" } })),
    ];
    assert_eq!(
        calls(&documents),
        [call("a", "r", "{\"path\":\"x\"}"), cut("b", "r", "")]
    );
    let (events, _) = read([frames(&documents).as_bytes()]);
    assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::Unknown)));
}

#[test]
fn thinking_comes_in_any_of_its_fields() {
    let documents = [
        delta(json!({ "reasoning_content": "a", "reasoning": "a" })),
        delta(json!({ "reasoning": "b" })),
        delta(json!({ "thinking": "c", "content": "" })),
        delta(json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "d" }] }] })),
        delta(json!({ "content": [{ "type": "text", "text": "x" }] })),
        delta(json!({ "content": null, "refusal": "y" })),
        finish("stop"),
    ];
    let expected = vec![
        thinking("abcd"),
        text("xy"),
        ModelEvent::Finished(FinishReason::Stop),
    ];
    assert_eq!(read([frames(&documents).as_bytes()]), (expected, None));
}

#[test]
fn errors_inside_the_stream_keep_what_came_before() {
    let start = frames(&[
        delta(json!({ "content": "partial" })),
        piece(json!({ "index": 0, "id": "a", "function": { "name": "w", "arguments": "{\"p" } })),
    ]);
    let table = [
        (
            r#"data: {"error":{"message":"boom","code":500}}"#,
            ErrorCode::ModelServer,
            true,
        ),
        (r#"data: {"error":"boom"}"#, ErrorCode::ModelServer, true),
        (
            r#"error: {"code":500,"message":"boom","type":"server_error"}"#,
            ErrorCode::ModelServer,
            true,
        ),
        ("error: boom", ErrorCode::ModelServer, true),
        (
            "event: error\ndata: {\"message\":\"boom\"}",
            ErrorCode::ModelServer,
            true,
        ),
        (
            r#"data: {"object":"error","message":"boom","code":400}"#,
            ErrorCode::ModelRejected,
            false,
        ),
        (
            r#"data: {"error":{"message":"boom","code":429}}"#,
            ErrorCode::RateLimited,
            true,
        ),
        (
            r#"data: {"error":{"message":"boom: exceeds the available context size","code":400}}"#,
            ErrorCode::TooLong,
            false,
        ),
        (
            r#"data: {"error":{"message":"boom","code":"insufficient_quota"}}"#,
            ErrorCode::NoCredit,
            false,
        ),
    ];
    for (line, code, retryable) in table {
        let stream = format!("{start}{line}\n\ndata: [DONE]\n\n");
        let (events, error) = read([stream.as_bytes()]);
        let error = error.unwrap_or_else(|| panic!("{line} was no error"));
        assert_eq!((error.error.code, error.retryable), (code, retryable), "{line}");
        assert!(error.error.message.contains("boom"), "{error}");
        let call = ModelEvent::Call {
            id: "a".into(),
            name: "w".into(),
            arguments: "{\"p".into(),
            from_text: false,
            cut: true,
        };
        assert_eq!(events, [text("partial"), call], "{line}");
    }
}

#[test]
fn no_error_is_seen_where_there_is_none() {
    let documents =
        [json!({ "error": null, "choices": [{ "delta": { "content": "x" }, "finish_reason": "stop" }] })];
    assert_eq!(read([frames(&documents).as_bytes()]).1, None);
}

#[test]
fn a_message_instead_of_deltas_is_the_reply_and_beside_them_a_repeat() {
    let whole = json!({ "choices": [{ "message": { "content": "hi", "tool_calls": [
        { "id": "a", "function": { "name": "f", "arguments": "{}" } }] }, "finish_reason": "tool_calls" }] });
    let (events, _) = read([frames(std::slice::from_ref(&whole)).as_bytes()]);
    assert_eq!(events.len(), 3, "{events:?}");
    let (events, _) = read([frames(&[delta(json!({ "content": "hi" })), whole]).as_bytes()]);
    assert_eq!(events, [text("hi"), ModelEvent::Finished(FinishReason::Stop)]);
}

#[test]
fn usage_is_cumulative_and_sent_when_it_changes() {
    let usage =
        |output: u64| json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": output } });
    let documents = [
        usage(1),
        usage(1),
        usage(2),
        json!({ "choices": [], "usage": null }),
        finish("stop"),
    ];
    let (events, _) = read([frames(&documents).as_bytes()]);
    let outputs: Vec<u64> = events
        .iter()
        .filter_map(|event| {
            if let ModelEvent::Usage(usage) = event {
                Some(usage.output_tokens)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(outputs, [1, 2]);
}

#[test]
fn x106_usage_carries_its_cost() {
    let mut chat = ReplyStream::new(
        Api::Openai,
        StreamContext {
            prices: Some(Prices {
                input: 1.0,
                cached: 0.1,
                cache_write: None,
                output: 10.0,
            }),
            ..context()
        },
    );
    let mut out = Vec::new();
    let usage = json!({ "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "prompt_cache_hit_tokens": 500 } });
    chat.push_whole(&usage, &mut out).unwrap();
    let [ModelEvent::Usage(usage)] = out.as_slice() else {
        panic!("{out:?}")
    };
    assert!((usage.cost_usd.unwrap() - (500.0 + 50.0 + 1000.0) / 1e6).abs() < 1e-12);
}

#[test]
fn the_reading_of_the_prompt_is_told() {
    let documents =
        [json!({ "choices": [], "prompt_progress": { "total": 12, "processed": 3, "cache": 0 } })];
    let (events, _) = read([frames(&documents).as_bytes()]);
    assert_eq!(events[0], ModelEvent::Reading { done: 3, total: 12 });
}

#[test]
fn t1_an_emoji_in_two_frames_of_halves_stays_whole() {
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\\ud83c\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{\"content\":\"\\udf0cb\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83c\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(read([stream.as_bytes()]).0[0], text("a🌌b\u{fffd}"));
}

/// A stream with everything in it.
fn rich() -> String {
    let mut stream = String::from(": OPENROUTER PROCESSING\r\n\r\n");
    stream += &frames(&[
        delta(json!({ "role": "assistant", "content": "" })),
        delta(json!({ "content": "<thi" })),
        delta(json!({ "content": "nk>那🌌</thi" })),
        delta(json!({ "content": "nk>é < } {" })),
        piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"那\":" } })),
    ])
    .replace('\n', "\r\n");
    stream += "data:{\"choices\":[{\"delta\":{\"content\":\"\\u90a3 \\ud83c\\udf0c\"}}]}\n\nevent: ping\ndata: {}\n\n";
    stream += &frames(&[
        piece(json!({ "index": 0, "function": { "arguments": "1}" } })),
        finish("tool_calls"),
        json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } }),
    ]);
    stream + "data: [DONE]\n\n"
}

#[test]
fn t1_x101_a_rich_stream_is_the_same_split_at_every_byte() {
    let stream = rich();
    let bytes = stream.as_bytes();
    let whole = read([bytes]);
    assert_eq!(whole.0[0], thinking("那🌌"));
    assert_eq!(whole.0[1], text("é < } {那 🌌"));
    assert_eq!(whole.0.len(), 5);
    for at in 0..=bytes.len() {
        let (a, b) = bytes.split_at(at);
        assert_eq!(read([a, b]), whole, "split at {at}");
    }
    assert_eq!(read(bytes.chunks(1)), whole);
}

#[test]
fn a_stream_cut_at_any_byte_never_invents_a_whole_call() {
    let stream = rich();
    let bytes = stream.as_bytes();
    let finished = stream.find("\"finish_reason\":\"tool_calls\"").unwrap();
    for at in 0..bytes.len() {
        let (events, _) = read([&bytes[..at]]);
        for event in events {
            if let ModelEvent::Call { arguments, cut, .. } = event {
                assert!(cut || arguments == "{\"那\":1}", "at {at}: {arguments}");
                assert!(!cut || at < finished + 60, "at {at}");
            }
        }
    }
}

proptest! {
    #[test]
    fn concatenated_text_and_arguments_lose_nothing(
        texts in proptest::collection::vec("[a-z<>/{} 那🌌\n\"]{0,6}", 0..8),
        arguments in proptest::collection::vec("[a-z{}\" 那]{1,6}", 1..6),
        sizes in proptest::collection::vec(1_usize..30, 1..10),
    ) {
        let mut documents: Vec<Value> = texts.iter().map(|text| delta(json!({ "content": text }))).collect();
        documents.extend(arguments.iter().enumerate().map(|(at, piece_of)| {
            let function = if at == 0 { json!({ "name": "f", "arguments": piece_of }) } else { json!({ "arguments": piece_of }) };
            piece(json!({ "index": 0, "function": function }))
        }));
        documents.push(finish("tool_calls"));
        let stream = frames(&documents);
        let whole = read([stream.as_bytes()]);
        let mut chunks = Vec::new();
        let (mut rest, mut turn) = (stream.as_bytes(), 0);
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(sizes[turn % sizes.len()].min(rest.len()));
            chunks.push(head);
            rest = tail;
            turn += 1;
        }
        prop_assert_eq!(&read(chunks), &whole);
        let said: String = whole.0.iter().filter_map(|event| match event {
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => Some(text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!(said, texts.concat());
        let written: Vec<&String> = whole.0.iter().filter_map(|event| match event {
            ModelEvent::Call { arguments, .. } => Some(arguments),
            _ => None,
        }).collect();
        let arguments = arguments.concat();
        prop_assert_eq!(written, vec![&arguments]);
    }

    #[test]
    fn no_frame_panics(documents in proptest::collection::vec(json_value(), 0..6)) {
        let stream = frames(&documents);
        let _ = read([stream.as_bytes()]);
    }
}

/// Any JSON made of the words of the protocol.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        "[a-z{}<]{0,3}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("choices"),
        Just("delta"),
        Just("content"),
        Just("tool_calls"),
        Just("index"),
        Just("id"),
        Just("function"),
        Just("name"),
        Just("arguments"),
        Just("error"),
        Just("usage"),
        Just("finish_reason"),
        Just("prompt_tokens"),
        Just("message"),
        Just("type"),
        Just("text"),
        Just("prompt_progress"),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..4).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}
