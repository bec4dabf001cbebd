use std::time::Instant;

use cairn_protocol::Api;
use cairn_testkit::provider::{Reply, Script, ScriptedServer};

use super::*;
use crate::Secret;

#[tokio::test(start_paused = true)]
async fn x102_silence_is_limited_for_hosted_servers_only() {
    let hosted = Limits::of(&Address::parse("https://api.openai.com/v1").unwrap());
    assert_eq!(
        within(hosted.silence, std::future::pending::<()>()).await,
        Err(Duration::from_mins(2))
    );
    assert_eq!(hosted.connect, Duration::from_secs(10));
    assert!(
        hosted.first_byte > hosted.silence,
        "before the first byte more patience is due"
    );
}

#[tokio::test(start_paused = true)]
async fn t14_a_local_model_may_take_as_long_as_it_needs() {
    let local = Limits::of(&Address::parse("http://192.168.1.5:8000/v1").unwrap());
    assert_eq!((local.first_byte, local.silence), (None, None));
    let slow = tokio::time::sleep(Duration::from_mins(11));
    assert_eq!(within(local.silence, slow).await, Ok(()));
}

#[test]
fn x102_silence_before_and_amid_an_answer_are_told_apart() {
    let connection =
        Connection::new(&ModelConfig::new(Api::Openai, "https://api.openai.com/v1", "m")).unwrap();
    let before = connection.no_answer(Duration::from_mins(5)).error.message;
    let amid = connection.fell_silent(Duration::from_mins(2)).error.message;
    assert_eq!(
        before,
        "OpenAI at api.openai.com did not begin to answer within 5 minutes. Retrying may work."
    );
    assert!(
        amid.contains("fell silent for 2 minutes") && amid.contains("kept"),
        "{amid}"
    );
}

#[tokio::test]
async fn m17_a_redirect_is_not_followed_and_the_key_not_sent_on() {
    let other = ScriptedServer::start(Script::default()).await.unwrap();
    let to = format!("{}/chat/completions", other.base_url());
    let first = ScriptedServer::start(Script::new([
        Reply::body(307, "text/plain", "").header("location", &to)
    ]))
    .await
    .unwrap();
    let mut config = ModelConfig::new(Api::Openai, first.base_url(), "m");
    config.key = Some(Secret::new("sk-secret"));
    let connection = Connection::new(&config).unwrap();
    let body = br#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#.to_vec();
    let response = connection
        .post(connection.address.endpoint("chat/completions"), body)
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 307);
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn unusable_keys_and_headers_are_named_without_their_value() {
    let mut config = ModelConfig::new(Api::Openai, "http://127.0.0.1:1/v1", "m");
    config.key = Some(Secret::new("sk-\u{1}letters"));
    let error = Connection::new(&config).unwrap_err();
    assert_eq!(error.error.code, ErrorCode::BadConfig);
    assert!(!error.error.message.contains("letters"), "{error}");
    config.key = None;
    config.headers = vec![("x key".into(), Secret::new("v"))];
    assert!(
        Connection::new(&config)
            .unwrap_err()
            .error
            .message
            .contains("\"x key\"")
    );
    config.headers = vec![("x-key".into(), Secret::new("a\nletters"))];
    let error = Connection::new(&config).unwrap_err();
    assert!(
        error.error.message.contains("x-key") && !error.error.message.contains("letters"),
        "{error}"
    );
}

#[test]
fn an_authorization_header_replaces_the_key() {
    let mut config = ModelConfig::new(Api::Openai, "http://127.0.0.1:1/v1", "m");
    config.key = Some(Secret::new("k"));
    config.headers = vec![("Authorization".into(), Secret::new("Basic x"))];
    let headers = headers(&config).unwrap();
    assert_eq!(headers.get_all(AUTHORIZATION).iter().count(), 1);
    assert_eq!(headers[AUTHORIZATION], "Basic x");
    assert!(headers[AUTHORIZATION].is_sensitive());
}

#[test]
fn a_hosted_address_can_be_prepared() {
    assert!(Connection::new(&ModelConfig::new(Api::Openai, "https://api.openai.com/v1", "m")).is_ok());
}

#[test]
#[ignore = "a measurement, not a fact: run with --run-ignored all --no-capture"]
fn measures_how_long_a_client_takes_to_make() {
    for base in [
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:11434/v1",
        "https://api.openai.com/v1",
    ] {
        let begin = Instant::now();
        Connection::new(&ModelConfig::new(Api::Openai, base, "m")).unwrap();
        println!("{base}: {:?}", begin.elapsed());
    }
}
