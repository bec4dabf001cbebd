//! A real model file run in this process. Not part of the ordinary run: it needs a file and the feature.
//!
//! ```sh
//! CAIRN_MODEL_FILE=/models/small.gguf cargo test -p cairn-models --features local-model --test model_file -- --ignored --nocapture
//! ```

#![cfg(feature = "local-model")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use cairn_agent::model::{
    FinishReason, Message, Model, ModelError, ModelEvent, ModelRequest, Objection, Part, Role,
};
use cairn_models::{ModelConfig, build, inspect};
use cairn_protocol::{Api, ErrorCode, Usage};
use futures_util::StreamExt;

fn tell(text: &str) {
    std::io::stdout()
        .write_all(format!("{text}\n").as_bytes())
        .unwrap();
}

fn file() -> String {
    std::env::var("CAIRN_MODEL_FILE").expect("CAIRN_MODEL_FILE names a model in the GGUF format")
}

async fn model(file: &str, window: Option<u64>) -> Arc<dyn Model> {
    let mut config = ModelConfig::new(Api::Gguf, "", file);
    config.context_window = window;
    build(&config, inspect(&config).await.info).unwrap()
}

fn request(text: &str, limit: u64) -> ModelRequest {
    ModelRequest {
        system: "You are brief.".into(),
        messages: vec![Message {
            role: Role::User,
            parts: vec![Part::Text(text.into())],
        }],
        tools: Vec::new().into(),
        max_output_tokens: Some(limit),
        temperature: Some(0.0),
    }
}

/// What one answer was.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    usage: Option<Usage>,
    finished: Option<FinishReason>,
    failed: Option<ModelError>,
}

async fn ask(model: &Arc<dyn Model>, request: ModelRequest) -> Answer {
    let mut stream = model.stream(request);
    let mut answer = Answer::default();
    while let Some(next) = stream.next().await {
        match next {
            Ok(ModelEvent::Text(text)) => answer.text.push_str(&text),
            Ok(ModelEvent::Usage(usage)) => answer.usage = Some(usage),
            Ok(ModelEvent::Finished(reason)) => answer.finished = Some(reason),
            Ok(_) => {}
            Err(error) => answer.failed = Some(error),
        }
    }
    answer
}

fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test]
#[ignore = "needs a model file, named by CAIRN_MODEL_FILE"]
async fn a_model_file_answers_the_same_twice_and_reads_only_what_is_new() {
    let model = model(&file(), None).await;
    tell(&format!("    {:?}, {} MB before", model.info(), resident_mb()));
    let begin = Instant::now();
    let first = ask(&model, request("Say hello.", 1)).await;
    tell(&format!(
        "    loaded and one token in {:?}, {} MB",
        begin.elapsed(),
        resident_mb()
    ));
    assert_eq!(first.failed, None);
    let begin = Instant::now();
    let long = ask(&model, request("Tell a story of a lighthouse.", 128)).await;
    let seconds = begin.elapsed().as_secs_f64();
    let written = long.usage.unwrap().output_tokens;
    tell(&format!(
        "    {written} tokens in {seconds:.2} s: {:.1} a second, {} MB",
        written as f64 / seconds,
        resident_mb()
    ));
    let again = ask(&model, request("Tell a story of a lighthouse.", 128)).await;
    assert_eq!(again.text, long.text);
    let usage = again.usage.unwrap();
    assert!(
        usage.cached_tokens + 1 >= usage.input_tokens,
        "read anew: {usage:?}"
    );
    assert!(matches!(
        again.finished,
        Some(FinishReason::Stop | FinishReason::Length)
    ));
}

#[tokio::test]
#[ignore = "needs a model file, named by CAIRN_MODEL_FILE"]
async fn who_stops_listening_stops_it_and_the_next_question_is_answered() {
    let model = model(&file(), Some(2_048)).await;
    let mut stream = model.stream(request("Count from one to a thousand.", 1_500));
    while let Some(next) = stream.next().await {
        if matches!(next.unwrap(), ModelEvent::Text(_)) {
            break;
        }
    }
    drop(stream);
    let begin = Instant::now();
    let next = ask(&model, request("Say hello.", 1)).await;
    tell(&format!("    the next answer began after {:?}", begin.elapsed()));
    assert_eq!((next.failed, next.finished), (None, Some(FinishReason::Length)));
}

#[tokio::test]
#[ignore = "needs a model file, named by CAIRN_MODEL_FILE"]
async fn marks_of_turns_in_a_text_are_text() {
    let model = model(&file(), Some(2_048)).await;
    let count = async |text: &str| {
        let usage = ask(&model, request(text, 1)).await.usage.unwrap();
        usage.input_tokens
    };
    let plain = count("x").await;
    // As a mark each of them would be one token.
    let marked = count(&format!("x{}", "<|im_end|>".repeat(20))).await;
    assert!(marked > plain + 40, "{plain} and {marked} tokens");
}

#[tokio::test]
#[ignore = "needs a model file, named by CAIRN_MODEL_FILE"]
async fn what_is_too_long_is_refused_with_the_numbers() {
    let model = model(&file(), Some(512)).await;
    let failed = ask(&model, request(&"word ".repeat(2_000), 8))
        .await
        .failed
        .unwrap();
    assert_eq!(failed.error.code, ErrorCode::TooLong);
    let what = failed.rejected.unwrap().what;
    assert!(
        matches!(what, Objection::TooLong { sent: Some(sent), limit: Some(512) } if sent > 2_000),
        "{what:?}"
    );
    assert_eq!(ask(&model, request("Say hello.", 1)).await.failed, None);
    // The window ends the reply where no other limit does.
    let full = ask(&model, request("Count from one to a thousand.", 100_000)).await;
    assert!(
        matches!(full.finished, Some(FinishReason::Length | FinishReason::Stop)),
        "{full:?}"
    );
}

#[tokio::test]
#[ignore = "needs a model file, named by CAIRN_MODEL_FILE"]
async fn a_damaged_file_is_refused_in_words_and_the_process_lives() {
    let whole = std::fs::read(file()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, length) in [("head", 64), ("metadata", 200_000), ("weights", whole.len() / 2)] {
        let path = folder.path().join(format!("{name}.gguf"));
        std::fs::write(&path, whole.get(..length).unwrap()).unwrap();
        let model = model(path.to_str().unwrap(), None).await;
        let failed = ask(&model, request("Say hello.", 1)).await.failed.unwrap();
        assert_eq!(failed.error.code, ErrorCode::BadConfig, "{name}");
        assert!(failed.error.message.contains("could not load"), "{failed}");
    }
}
