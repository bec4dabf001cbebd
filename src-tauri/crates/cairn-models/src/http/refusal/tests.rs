use std::time::UNIX_EPOCH;

use reqwest::header::HeaderValue;

use super::*;

fn address() -> Address {
    Address::parse("https://api.openai.com/v1").unwrap()
}

fn judge(status: u16, kind: &'static str, body: &str) -> ModelError {
    let head = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
    Refusal::of_response(&address(), "gpt-x", status, &head, body.as_bytes(), UNIX_EPOCH).into_error()
}

#[test]
fn m4_every_refusal_has_its_kind_and_says_whether_to_try_again() {
    use ErrorCode::{BadKey, ModelGarbage, ModelRejected, ModelServer, NoCredit, RateLimited, TooLong};
    let json = "application/json";
    let table = [
        (
            401,
            json,
            r#"{"error":{"message":"Incorrect API key"}}"#,
            BadKey,
            false,
        ),
        (
            401,
            "text/html",
            "<html><title>Sign in</title></html>",
            BadKey,
            false,
        ),
        (403, json, r#"{"error":"forbidden"}"#, BadKey, false),
        (402, json, "{}", NoCredit, false),
        (
            429,
            json,
            r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#,
            NoCredit,
            false,
        ),
        (
            429,
            json,
            r#"{"error":{"message":"Rate limit reached"}}"#,
            RateLimited,
            true,
        ),
        (429, "text/html", "<html>busy</html>", RateLimited, true),
        (500, json, r#"{"error":{"message":"oops"}}"#, ModelServer, true),
        (
            502,
            "text/html",
            "<html><title>Bad Gateway</title></html>",
            ModelServer,
            true,
        ),
        (503, "text/plain", "unavailable", ModelServer, true),
        (
            529,
            json,
            r#"{"error":{"message":"overloaded"}}"#,
            ModelServer,
            true,
        ),
        (408, json, "{}", ModelServer, true),
        (501, json, "{}", ModelServer, false),
        (
            400,
            json,
            r#"{"error":{"code":"context_length_exceeded","message":"too many"}}"#,
            TooLong,
            false,
        ),
        (
            400,
            json,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
            TooLong,
            false,
        ),
        (413, json, "{}", TooLong, false),
        (
            500,
            json,
            r#"{"error":{"message":"input is longer than the context size"}}"#,
            TooLong,
            false,
        ),
        (
            400,
            json,
            r#"{"error":{"message":"bad tool"}}"#,
            ModelRejected,
            false,
        ),
        (
            422,
            json,
            r#"{"detail":[{"loc":["body"],"msg":"wrong"}]}"#,
            ModelRejected,
            false,
        ),
        (
            404,
            json,
            r#"{"error":{"message":"model 'gpt-x' not found"}}"#,
            ModelRejected,
            false,
        ),
        (
            404,
            "text/html",
            "<!DOCTYPE html><title>404</title>",
            ModelGarbage,
            false,
        ),
        (
            400,
            "text/html",
            "<html><title>Proxy</title>",
            ModelGarbage,
            false,
        ),
        (302, "text/html", "", ModelRejected, false),
        (418, "text/plain", "I am a teapot", ModelRejected, false),
    ];
    for (status, kind, body, code, retryable) in table {
        let error = judge(status, kind, body);
        assert_eq!(
            (error.error.code, error.retryable),
            (code, retryable),
            "{status} {body}: {error}"
        );
        assert!(
            error.error.message.contains("OpenAI at api.openai.com") || code == TooLong,
            "{error}"
        );
    }
}

#[test]
fn the_providers_words_and_numbers_are_kept() {
    let body = r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9001 tokens."}}"#;
    let error = judge(400, "application/json", body);
    assert!(
        error.error.message.contains("8192") && error.error.message.contains("9001"),
        "{error}"
    );
    assert_eq!(
        judge(
            404,
            "application/json",
            r#"{"error":{"message":"model 'gpt-x' not found"}}"#
        )
        .error
        .message,
        "OpenAI at api.openai.com has no model named \"gpt-x\": model 'gpt-x' not found. Choose another model."
    );
    let error = judge(
        401,
        "application/json",
        r#"{"error":{"message":"Incorrect API key."}}"#,
    );
    assert_eq!(
        error.error.message,
        "OpenAI at api.openai.com did not accept the key: Incorrect API key. Enter another key, then retry."
    );
}

#[test]
fn m17_a_page_is_named_by_its_title_as_text_only() {
    let page =
        "<html><head><TITLE lang=de>Please <b>log\nin</b></TITLE></head><script>steal()</script></html>";
    let error = judge(401, "text/html; charset=utf-8", page);
    assert!(error.error.message.contains("(\"Please\")"), "{error}");
    assert!(
        !error.error.message.contains("steal") && !error.error.message.contains('<'),
        "{error}"
    );
}

#[test]
fn long_and_nasty_words_are_cut_and_tamed() {
    let body = format!(
        "{{\"error\":{{\"message\":\"\\u001b[2J\\u202e{}\"}}}}",
        "x".repeat(10_000)
    );
    let error = judge(400, "application/json", &body);
    assert!(error.error.message.chars().count() < 2_200);
    assert!(!error.error.message.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn m17_a_redirect_names_only_the_host() {
    let head = HeaderMap::from_iter([(
        LOCATION,
        HeaderValue::from_static("https://evil.example/x?token=abc"),
    )]);
    let error = Refusal::of_response(&address(), "m", 307, &head, b"", UNIX_EPOCH).into_error();
    assert!(
        error.error.message.contains("evil.example") && !error.error.message.contains("abc"),
        "{error}"
    );
}

#[test]
fn x105_a_refused_field_is_told_from_a_refused_value() {
    let refusal = |body: &str| {
        let head = HeaderMap::new();
        Refusal::of_response(&address(), "m", 400, &head, body.as_bytes(), UNIX_EPOCH)
    };
    let unknown =
        refusal(r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#);
    assert!(unknown.refuses_field("stream_options"));
    let forbidden = refusal(
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#,
    );
    assert!(forbidden.refuses_field("stream_options"));
    let value = refusal(r#"{"error":{"message":"temperature must be at most 2"}}"#);
    assert!(!value.refuses_field("temperature"));
    assert!(!value.refuses_something());
    assert!(refusal(r#"{"error":{"message":"Unknown field in body"}}"#).refuses_something());
}

#[test]
fn x100_retry_after_is_carried_only_where_waiting_helps() {
    let head = HeaderMap::from_iter([(reqwest::header::RETRY_AFTER, HeaderValue::from_static("7"))]);
    let wait = |status| {
        Refusal::of_response(&address(), "m", status, &head, b"{}", UNIX_EPOCH)
            .into_error()
            .retry_after
    };
    assert_eq!(wait(429), Some(Duration::from_secs(7)));
    assert_eq!(wait(503), Some(Duration::from_secs(7)));
    assert_eq!(wait(400), None);
}

#[test]
fn a_success_that_is_no_answer_is_garbage_in_words() {
    let html = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/html"))]);
    let error = garbage(&address(), &html, b"<html><title>Welcome to nginx!</title>");
    assert_eq!(error.error.code, ErrorCode::ModelGarbage);
    assert!(
        error.error.message.contains("\"Welcome to nginx!\"") && error.error.message.contains("/v1"),
        "{error}"
    );
    let empty = garbage(&address(), &HeaderMap::new(), b" \n");
    assert!(
        empty.retryable && empty.error.message.contains("answered with nothing"),
        "{empty}"
    );
}
