//! One stream per protocol, with everything that servers put into one, cut and ended at every byte.

use std::collections::HashSet;

use cairn_agent::model::{FinishReason, ModelEvent};
use cairn_protocol::Api;
use proptest::prelude::*;

use crate::support::{APIS, read};

/// A stream as it goes over the wire: thinking, words with characters of several bytes, two calls, usage, an end; with
/// comments, pings, CRLF, data without a space, an event in two data lines and a type that nobody knows.
fn recording(api: Api) -> &'static str {
    match api {
        Api::Openai | Api::Gguf | Api::Demo => concat!(
            ": OPENROUTER PROCESSING\r\n\r\n:\n\n",
            "data:{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"h那m\"}}]}\r\n\r\n",
            "event: ping\ndata: {}\n\n",
            "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"Ja 🌌 \\ud83c\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"\\udf0c.\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":\\\"é\\\"}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"used\",\"function\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"b\"}}}]}}]}\n\n",
            "data: {\"something\":\"new\"}\n\ndata: no json\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n",
            "data: [DONE]\n\n",
        ),
        Api::Responses => concat!(
            ": comment\n\nevent: response.created\r\ndata:{\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"status\":\"in_progress\"}}\r\n\r\n",
            "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"reasoning\"}}\n\n",
            "data: {\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"h那m\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"h那m\"}],\"encrypted_content\":\"gA\"}}\n\n",
            "data: {\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"type\":\"message\"}}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\ndata: \"output_index\":1,\"delta\":\"Ja 🌌 \\ud83c\"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"\\udf0c.\"}\n\n",
            "data: {\"type\":\"response.something_new\",\"x\":1}\n\nevent: ping\ndata: {}\n\n",
            "data: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"a\",\"name\":\"read_file\",\"arguments\":\"\"}}\n\n",
            "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"{\\\"path\\\"\"}\n\n",
            "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\":\\\"é\\\"}\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"é\\\"}\"}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":3,\"item\":{\"type\":\"function_call\",\"call_id\":\"used\",\"name\":\"read_file\",\"arguments\":{\"path\":\"b\"}}}\n\n",
            "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\",\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}}\n\n",
        ),
        Api::Anthropic => concat!(
            ": comment\n\nevent: message_start\r\ndata:{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\r\n\r\n",
            "event: ping\ndata: {\"type\": \"ping\"}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"h那m\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"sig\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":1,\ndata: \"delta\":{\"type\":\"text_delta\",\"text\":\"Ja 🌌 \\ud83c\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\udf0c.\"}}\n\n",
            "data: {\"type\":\"something_new\"}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"read_file\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"path\\\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":\\\"é\\\"}\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"used\",\"name\":\"read_file\",\"input\":{\"path\":\"b\"}}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n",
        ),
        Api::Ollama => concat!(
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h那m\"},\"done\":false}\r\n\n",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Ja 🌌 \\ud83c\"},\"done\":false}\n",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\\udf0c.\"},\"done\":false}\n",
            "{\"something\":\"new\"}\nno json\n",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"é\"}}}]},\"done\":false}\n",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"used\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"b\\\"}\"}}]},\"done\":false}\n",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":2}\n",
        ),
    }
}

fn calls(events: &[ModelEvent]) -> Vec<(&str, &str, bool)> {
    events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Call {
                id, arguments, cut, ..
            } => Some((id.as_str(), arguments.as_str(), *cut)),
            _ => None,
        })
        .collect()
}

fn words(events: &[ModelEvent], thoughts: bool) -> String {
    events.iter().fold(String::new(), |words, event| match event {
        ModelEvent::Text(text) if !thoughts => words + text,
        ModelEvent::Thinking(text) if thoughts => words + text,
        _ => words,
    })
}

#[test]
fn m2_every_protocol_says_the_same() {
    for api in APIS {
        let (events, error) = read(api, [recording(api).as_bytes()]);
        assert_eq!(error, None, "{api:?}");
        assert_eq!(words(&events, false), "Ja 🌌 🌌.", "{api:?}");
        assert_eq!(words(&events, true), "h那m", "{api:?}");
        let two = [
            ("a", "{\"path\":\"é\"}", false),
            ("used_2", "{\"path\":\"b\"}", false),
        ];
        assert_eq!(calls(&events), two, "{api:?}");
        let usage = events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
            _ => None,
        });
        assert_eq!(usage, Some((9, 2)), "{api:?}");
        assert!(
            events
                .iter()
                .any(|event| matches!(event, ModelEvent::Reasoning(_))),
            "{api:?}"
        );
        assert_eq!(
            events.last(),
            Some(&ModelEvent::Finished(FinishReason::Stop)),
            "{api:?}"
        );
    }
}

#[test]
fn t1_t2_t4_m2_every_recording_says_the_same_cut_at_every_byte() {
    for api in APIS {
        let bytes = recording(api).as_bytes();
        let whole = read(api, [bytes]);
        for cut in 0..=bytes.len() {
            let (one, two) = bytes.split_at(cut);
            assert_eq!(read(api, [one, two]), whole, "{api:?} cut at {cut}");
        }
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(
                read(api, bytes.chunks(size)),
                whole,
                "{api:?} in pieces of {size}"
            );
        }
    }
}

#[test]
fn t11_m2_every_recording_that_ends_early_has_an_outcome_and_no_call_that_was_not_written() {
    for api in APIS {
        let bytes = recording(api).as_bytes();
        let (whole, _) = read(api, [bytes]);
        let complete = calls(&whole);
        for end in 0..bytes.len() {
            let (events, error) = read(api, [&bytes[..end]]);
            assert!(
                error.is_some() || matches!(events.last(), Some(ModelEvent::Finished(_))),
                "{api:?} ended at {end}"
            );
            assert!(words(&whole, false).starts_with(words(&events, false).trim_end_matches('\u{fffd}')));
            for call in calls(&events).iter().filter(|call| !call.2) {
                assert!(complete.contains(call), "{api:?} ended at {end}: {call:?}");
            }
        }
    }
}

/// A change of a recording: where, how many bytes go, and what comes instead.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, &'static str)> {
    let instead = prop::sample::select(vec![
        "",
        "\n",
        "\r\n\r\n",
        "{",
        "}",
        "\"",
        "[",
        "null",
        "0",
        "-1",
        "1e308",
        "\\ud83d",
        "那",
        "data:",
        "error: x\n",
        "\"index\":0,",
        "\"id\":\"a\",",
        "\"type\":\"tool_use\",",
        "\"done\":true,",
        "<think>",
        "<tool_call>",
        "\0",
    ]);
    (any::<prop::sample::Index>(), 0_usize..40, instead)
}

proptest! {
    #[test]
    fn m2_a_spoilt_recording_has_an_outcome_and_says_the_same_however_it_is_cut(
        which in 0_usize..4,
        changes in prop::collection::vec(change(), 1..6),
        size in 1_usize..50,
    ) {
        let api = APIS[which];
        let mut bytes = recording(api).as_bytes().to_vec();
        for (at, gone, instead) in changes {
            let at = at.index(bytes.len());
            let end = (at + gone).min(bytes.len());
            bytes.splice(at..end, instead.bytes());
        }
        let (events, error) = read(api, [bytes.as_slice()]);
        prop_assert_eq!(read(api, bytes.chunks(size)), (events.clone(), error.clone()));
        let ended = events.iter().filter(|event| matches!(event, ModelEvent::Finished(_))).count();
        prop_assert_eq!(ended, usize::from(error.is_none()));
        let mut ids = HashSet::from(["used"]);
        for event in &events {
            if let ModelEvent::Call { id, .. } = event {
                prop_assert!(!id.is_empty() && ids.insert(id), "{} is there twice", id);
            }
        }
    }
}
