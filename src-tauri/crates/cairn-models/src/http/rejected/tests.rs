//! Bodies as the providers' public API documents, clients and issue threads show them.

use std::time::SystemTime;

use cairn_agent::model::Role;
use cairn_protocol::Api;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use super::*;
use crate::address::Address;
use crate::trying::{call, compose, message, picture, request, result, text, user};

/// Two calls, a picture in the words and one in a result. In chat a system message stands before the others.
fn conversation() -> ModelRequest {
    request(vec![
        user("hi"),
        message(
            Role::Assistant,
            vec![text("I look."), call("call_a"), call("call_b")],
        ),
        message(
            Role::Tool,
            vec![result("call_a", vec![]), result("call_b", vec![picture()])],
        ),
        message(Role::User, vec![text("and this?"), Part::Picture(picture())]),
    ])
}

fn rejected(api: Api, status: u16, body: &str) -> Option<Rejected> {
    let request = conversation();
    let trace = compose(api, &request, |_| {}).trace;
    let address = Address::parse("https://llm.example/v1").unwrap();
    let refusal = Refusal::of_response(
        &address,
        "m",
        status,
        &HeaderMap::new(),
        body.as_bytes(),
        SystemTime::UNIX_EPOCH,
    );
    read(&refusal, &trace, &request)
}

fn openai(message: &str, param: Option<&str>, code: Option<&str>) -> String {
    json!({ "error": { "message": message, "type": "invalid_request_error", "param": param, "code": code } })
        .to_string()
}

fn anthropic(message: &str) -> String {
    json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } }).to_string()
}

fn found(what: Objection, at: Option<Place>) -> Rejected {
    Rejected { what, at }
}

fn too_long(sent: u64, limit: u64) -> Objection {
    Objection::TooLong {
        sent: Some(sent),
        limit: Some(limit),
    }
}

fn pairing(call: &str) -> Objection {
    Objection::Pairing {
        call: Some(call.into()),
    }
}

fn whole(message: usize) -> Place {
    Place { message, part: None }
}

#[test]
fn c2_m8_an_overflow_is_told_with_its_numbers() {
    let llama = json!({ "error": { "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5_000, "n_ctx": 4_096,
        "message": "the request exceeds the available context size, try increasing it" } });
    let mistral = json!({ "object": "error", "type": "invalid_request_prompt", "code": "3051",
        "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length" });
    let gemini = json!([{ "error": { "code": 400, "status": "INVALID_ARGUMENT",
        "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." } }]);
    let vllm = json!({ "object": "error", "type": "BadRequestError", "param": null, "code": 400, "message":
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 \
         in the completion). Please reduce the length of the messages or completion." });
    let litellm = json!({ "error": { "type": null, "param": null, "code": "400", "message":
        "litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - prompt is too long: 208310 tokens > 200000 maximum" } });
    let table = [
        (
            openai(
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please \
                 reduce the length of the messages.",
                Some("messages"),
                Some("context_length_exceeded"),
            ),
            too_long(9_000, 8_192),
        ),
        (
            anthropic("prompt is too long: 208310 tokens > 200000 maximum"),
            too_long(208_310, 200_000),
        ),
        (
            anthropic(
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or \
                    `max_tokens` and try again",
            ),
            too_long(210_000, 200_000),
        ),
        (llama.to_string(), too_long(5_000, 4_096)),
        (mistral.to_string(), too_long(40_000, 32_768)),
        (gemini.to_string(), too_long(1_200_000, 1_048_576)),
        (vllm.to_string(), too_long(5_000, 4_096)),
        (litellm.to_string(), too_long(208_310, 200_000)),
        (
            json!({ "error": "the input length exceeds the context length" }).to_string(),
            Objection::TooLong {
                sent: None,
                limit: None,
            },
        ),
        (
            openai(
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
                Some("input"),
                Some("context_length_exceeded"),
            ),
            Objection::TooLong {
                sent: None,
                limit: None,
            },
        ),
    ];
    for (body, what) in table {
        assert_eq!(
            rejected(Api::Openai, 400, &body),
            Some(found(what, None)),
            "{body}"
        );
    }
}

#[test]
fn i1_i2_i3_i4_m8_a_refused_picture_is_named_with_its_place_and_fault() {
    use PictureFault::{TooLarge, TooMany, Unreadable, Unsupported};
    let in_words = Some(place(3, 1));
    let in_result = Some(place(2, 1));
    let table = [
        (Api::Anthropic, 400, anthropic("messages.2.content.3.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"), TooLarge, in_words),
        (Api::Anthropic, 400, anthropic("messages.2.content.1.tool_result.content.1.image.source.base64.data: The image was specified using the image/jpeg media type, but the image appears to be a image/png image"), Unreadable, in_result),
        (Api::Anthropic, 400, anthropic("messages.2.content.3.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"), TooLarge, in_words),
        (Api::Anthropic, 400, anthropic("Could not process image"), Unreadable, None),
        (Api::Anthropic, 400, anthropic("Too many images and documents: 25 + 0 > 20"), TooMany, None),
        (Api::Openai, 400, openai("You uploaded an unsupported image. Please make sure your image is valid.", None, Some("image_parse_error")), Unreadable, None),
        (Api::Openai, 400, openai("Invalid content type. image_url is only supported by certain models.", Some("messages.[5].content.[1].type"), None), Unsupported, in_result),
        (Api::Responses, 400, openai("The image data you provided does not represent a valid image. Please check your input and try again.", Some("input[6].content[1]"), Some("invalid_image")), Unreadable, in_result),
        (Api::Openai, 500, json!({ "error": { "code": 500, "message": "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "type": "server_error" } }).to_string(), Unsupported, None),
        (Api::Openai, 400, json!({ "error": { "code": 400, "message": "Failed to load image or audio file", "type": "invalid_request_error" } }).to_string(), Unreadable, None),
        (Api::Openai, 400, json!({ "object": "error", "message": "At most 1 image(s) may be provided in one prompt.", "type": "BadRequestError", "code": 400 }).to_string(), TooMany, None),
        (Api::Openai, 400, json!({ "object": "error", "message": "m is not a multimodal model", "type": "BadRequestError", "code": 400 }).to_string(), Unsupported, None),
        (Api::Openai, 404, json!({ "error": { "message": "No endpoints found that support image input", "code": 404 } }).to_string(), Unsupported, None),
        (Api::Openai, 400, json!([{ "error": { "code": 400, "message": "Unable to process input image. Please retry.", "status": "INVALID_ARGUMENT" } }]).to_string(), Unreadable, None),
        (Api::Ollama, 500, json!({ "error": "this model is missing data required for image input" }).to_string(), Unsupported, None),
    ];
    for (api, status, body, fault, at) in table {
        assert_eq!(
            rejected(api, status, &body),
            Some(found(Objection::Picture(fault), at)),
            "{body}"
        );
    }
}

#[test]
fn t11_m8_a_call_without_its_result_is_named_by_our_id() {
    let last_call = Some(place(1, 2));
    let table = [
        (Api::Openai, openai("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_b", Some("messages.[2].role"), None), pairing("call_b"), last_call),
        (Api::Openai, openai("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", Some("messages.[3].role"), None), Objection::Pairing { call: None }, Some(place(2, 0))),
        (Api::Responses, openai("No tool output found for function call call_b.", Some("input"), None), pairing("call_b"), last_call),
        (Api::Responses, openai("No tool call found for function call output with call_id call_a.", Some("input"), None), pairing("call_a"), Some(place(1, 1))),
        (Api::Anthropic, anthropic("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_b. Each `tool_use` block must have a corresponding `tool_result` block in the next message."), pairing("call_b"), last_call),
        (Api::Anthropic, anthropic("messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_x. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."), Objection::Pairing { call: None }, Some(place(2, 0))),
        (Api::Anthropic, anthropic("messages: `tool_use` ids must be unique"), Objection::Pairing { call: None }, None),
        (Api::Anthropic, anthropic("messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"), Objection::Pairing { call: None }, Some(place(1, 1))),
        (Api::Openai, json!({ "object": "error", "message": "Not the same number of function calls and responses", "type": "invalid_request_message_order", "code": "3230" }).to_string(), Objection::Pairing { call: None }, None),
        (Api::Openai, json!([{ "error": { "code": 400, "message": "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", "status": "INVALID_ARGUMENT" } }]).to_string(), Objection::Pairing { call: None }, None),
        (Api::Openai, json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "provider_name": "Anthropic", "raw": anthropic("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_b.") } } }).to_string(), pairing("call_b"), last_call),
    ];
    for (api, body, what, at) in table {
        assert_eq!(rejected(api, 400, &body), Some(found(what, at)), "{body}");
    }
}

#[test]
fn t12_m8_a_foreign_signature_is_told_from_other_faults() {
    let table = [
        (Api::Anthropic, anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"), Some(place(1, 0))),
        (Api::Anthropic, anthropic("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"), Some(place(1, 0))),
        (Api::Responses, openai("The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.", None, Some("invalid_encrypted_content")), None),
        (Api::Responses, openai("Item 'rs_1' of type 'reasoning' was provided without its required following item.", Some("input"), None), None),
        (Api::Openai, json!([{ "error": { "code": 400, "message": "Thought signature is not valid.", "status": "INVALID_ARGUMENT" } }]).to_string(), None),
        (Api::Openai, json!({ "error": { "message": "Missing `reasoning_content` field in the assistant message at message index 2.", "type": "invalid_request_error" } }).to_string(), None),
    ];
    for (api, body, at) in table {
        assert_eq!(
            rejected(api, 400, &body),
            Some(found(Objection::Reasoning, at)),
            "{body}"
        );
    }
}

#[test]
fn m8_roles_tools_fields_and_what_is_not_known_are_told_apart() {
    let field = |name: &str| Objection::Parameter(name.into());
    let table = [
        (Api::Anthropic, 400, anthropic("messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row"), Objection::Shape, None),
        (Api::Anthropic, 400, anthropic("messages.1: all messages must have non-empty content except for the optional final assistant message"), Objection::Shape, Some(whole(1))),
        (Api::Openai, 400, json!({ "object": "error", "message": "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant", "type": "invalid_request_message_order", "code": "3230" }).to_string(), Objection::Shape, None),
        (Api::Openai, 500, json!({ "error": { "code": 500, "message": "Conversation roles must alternate user/assistant/user/assistant/...", "type": "server_error" } }).to_string(), Objection::Shape, None),
        (Api::Openai, 400, openai("Invalid schema for function 'grep': schema must be a JSON Schema of 'type: \"object\"'", Some("tools[0].function.parameters"), Some("invalid_function_parameters")), Objection::Tool { name: Some("grep".into()) }, None),
        (Api::Anthropic, 400, anthropic("tools: Tool names must be unique."), Objection::Tool { name: None }, None),
        (Api::Openai, 400, openai("Unrecognized request argument supplied: made_up", None, None), field("made_up"), None),
        (Api::Responses, 400, openai("Unknown parameter: 'made.up'.", Some("made.up"), Some("unknown_parameter")), field("made.up"), None),
        (Api::Openai, 400, openai("Unsupported parameter: 'temperature' is not supported with this model.", Some("temperature"), Some("unsupported_parameter")), field("temperature"), None),
        (Api::Anthropic, 400, anthropic("made_up: Extra inputs are not permitted"), field("made_up"), None),
        (Api::Ollama, 400, json!({ "error": "registry.ollama.ai/library/gemma:2b does not support tools" }).to_string(), field("tools"), None),
        (Api::Openai, 404, json!({ "error": { "message": "No endpoints found that support tool use.", "code": 404 } }).to_string(), field("tools"), None),
        (Api::Openai, 400, json!({ "error": { "message": "litellm.UnsupportedParamsError: anthropic does not support parameters: ['made_up'], for model=m", "code": "400" } }).to_string(), field("made_up"), None),
        (Api::Openai, 400, openai("Invalid 'messages[2].content': string contains something", Some("messages[2].content"), None), Objection::Unknown, Some(whole(1))),
    ];
    for (api, status, body, what, at) in table {
        assert_eq!(rejected(api, status, &body), Some(found(what, at)), "{body}");
    }
}

#[test]
fn m8_what_is_about_the_server_the_key_or_the_money_sets_nothing_aside() {
    let table = [
        (
            401,
            openai("Incorrect API key provided: image", None, Some("invalid_api_key")),
        ),
        (402, openai("payment required for tool_use.id", None, None)),
        (
            429,
            openai("Rate limit reached for images", None, Some("rate_limit_exceeded")),
        ),
        (503, openai("image service overloaded", None, None)),
        (400, openai("I do not like this.", None, None)),
        (
            404,
            openai("The model `m` does not exist", None, Some("model_not_found")),
        ),
        (502, "<html><title>Bad image gateway</title></html>".to_owned()),
    ];
    for (status, body) in table {
        assert_eq!(rejected(Api::Openai, status, &body), None, "{body}");
    }
    let empty: Value = json!({});
    assert_eq!(rejected(Api::Openai, 400, &empty.to_string()), None);
}
