use cairn_testkit::provider::{Reply, Script, ScriptedServer};
use serde_json::json;

use super::*;

fn config(server: &ScriptedServer, model: &str) -> ModelConfig {
    ModelConfig::new(Api::Openai, server.base_url(), model)
}

fn ollama(parameters: &str, running: &serde_json::Value) -> Script {
    Script {
        context_window: 0,
        ..Script::default()
    }
    .document(
        "/api/tags",
        json!({ "models": [{ "name": "own:8b" }, { "name": "other:1b" }] }),
    )
    .document("/api/ps", json!({ "models": running }))
    .document(
        "/api/show",
        json!({
            "parameters": parameters, "capabilities": ["completion"],
            "model_info": { "own.context_length": 40_960 },
        }),
    )
    .document("/v1/models", json!({ "data": [{ "id": "own:8b" }] }))
}

#[tokio::test]
async fn m5_ollama_with_its_usual_window_is_warned_about() {
    let server = ScriptedServer::start(ollama("stop \"<x>\"", &json!([])))
        .await
        .unwrap();
    let seen = inspect(&config(&server, "own:8b")).await;
    assert_eq!(
        (seen.info.window, seen.info.tools, seen.info.local),
        (Some(4_096), false, true)
    );
    assert_eq!(seen.found.context_window, Some(40_960));
    assert!(
        seen.warnings
            .iter()
            .any(|words| words.contains("only 4,096 tokens of 40,960")),
        "{:?}",
        seen.warnings
    );
    assert!(
        seen.warnings.iter().any(|words| words.contains("no tool calls")),
        "{:?}",
        seen.warnings
    );
}

#[tokio::test]
async fn m5_ollama_told_of_a_larger_window_is_not() {
    for script in [
        ollama("num_ctx                        32768", &json!([])),
        ollama("", &json!([{ "name": "own:8b", "context_length": 32_768 }])),
    ] {
        let server = ScriptedServer::start(script).await.unwrap();
        let seen = inspect(&config(&server, "own:8b")).await;
        assert_eq!(seen.info.window, Some(32_768));
        assert!(
            !seen.warnings.iter().any(|words| words.contains("tokens")),
            "{:?}",
            seen.warnings
        );
    }
}

#[tokio::test]
async fn m5_profile_goes_before_server_before_table() {
    let server = ScriptedServer::start(Script::default()).await.unwrap();
    let seen = inspect(&config(&server, "scripted")).await;
    assert_eq!(
        (seen.info.window, seen.info.vision, seen.info.tools),
        (Some(32_768), true, true)
    );
    let told = ModelConfig {
        context_window: Some(1_000),
        ..config(&server, "scripted")
    };
    assert_eq!(inspect(&told).await.info.window, Some(1_000));
    let silent = ScriptedServer::start(Script {
        context_window: 0,
        ..Script::default()
    })
    .await
    .unwrap();
    assert_eq!(
        inspect(&config(&silent, "gpt-4o")).await.info.window,
        Some(128_000)
    );
    let unknown = ScriptedServer::start(Script {
        context_window: 0,
        model: "x".into(),
        ..Script::default()
    })
    .await
    .unwrap();
    assert_eq!(inspect(&config(&unknown, "nobody-knows")).await.info.window, None);
}

#[tokio::test]
async fn x103_a_hosted_model_of_the_table_is_not_probed() {
    let mut config = ModelConfig::new(Api::Openai, "https://api.openai.com/v1", "gpt-4o");
    let seen = inspect(&config).await;
    assert_eq!(
        (seen.info.window, seen.info.vision, seen.info.local),
        (Some(128_000), true, false)
    );
    config.context_window = Some(9);
    assert_eq!(assume(&config).window, Some(9));
}

#[tokio::test]
async fn the_demo_knows_itself() {
    let config = ModelConfig::new(Api::Demo, "", "demo");
    let seen = inspect(&config).await;
    assert!(seen.info.local && seen.info.vision && seen.info.tools && seen.info.window.is_some());
    assert_eq!(trial(&config).await.unwrap().models.len(), 1);
}

#[tokio::test]
async fn a_trial_of_a_local_server_asks_for_its_models_and_names_a_missing_one() {
    let server = ScriptedServer::start(Script::default()).await.unwrap();
    let good = trial(&config(&server, "scripted")).await.unwrap();
    assert_eq!(
        (good.found.context_window, good.warnings.len()),
        (Some(32_768), 0)
    );
    let missing = trial(&config(&server, "absent")).await.unwrap();
    assert!(
        missing.warnings[0].contains("no model named \"absent\"") && missing.warnings[0].contains("scripted")
    );
    assert_eq!(server.chats().len(), 0, "nothing was loaded");
}

#[tokio::test]
async fn a_trial_tells_what_is_wrong() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let config = ModelConfig::new(Api::Openai, format!("http://127.0.0.1:{closed}/v1"), "m");
    assert_eq!(
        trial(&config).await.unwrap_err().error.code,
        cairn_protocol::ErrorCode::ModelUnreachable
    );
}

#[tokio::test]
async fn a_trial_falls_back_to_a_few_words_where_there_is_no_list() {
    // The base has a path under which only the chat is served.
    let script = Script {
        strict: false,
        ..Script::new([Reply::text("OK"), Reply::error(401, "no")])
    };
    let server = ScriptedServer::start(script).await.unwrap();
    let base = format!("http://127.0.0.1:{}/api/v9", server.port());
    let config = ModelConfig::new(Api::Openai, base, "m");
    assert!(trial(&config).await.is_ok());
    assert_eq!(
        trial(&config).await.unwrap_err().error.code,
        cairn_protocol::ErrorCode::BadKey
    );
}

#[test]
fn numbers_are_grouped() {
    assert_eq!(
        [0, 999, 4_096, 1_000_000].map(grouped),
        ["0", "999", "4,096", "1,000,000"]
    );
}

#[tokio::test]
async fn m5_t13_ollama_in_its_own_protocol_is_told_the_window_and_not_warned_about() {
    let table = [
        (json!([]), None, 16_384),
        (
            json!([{ "name": "own:8b", "context_length": 32_768 }]),
            None,
            32_768,
        ),
        (json!([]), Some(8_192), 8_192),
    ];
    for (running, profile, window) in table {
        let server = ScriptedServer::start(ollama("", &running)).await.unwrap();
        let mut config = ModelConfig::new(Api::Ollama, server.root_url(), "own:8b");
        config.context_window = profile;
        let seen = inspect(&config).await;
        assert_eq!(seen.info.window, Some(window));
        assert_eq!(seen.found.context_window, Some(40_960));
        assert!(
            !seen.warnings.iter().any(|words| words.contains("gives it only")),
            "{:?}",
            seen.warnings
        );
    }
}

#[tokio::test]
async fn m5_anthropic_lists_its_models_with_or_without_the_version_in_the_address() {
    let models = json!({ "data": [{ "type": "model", "id": "claude-x", "max_input_tokens": 150_000,
        "capabilities": { "image_input": { "supported": true } } }] });
    let script = Script {
        context_window: 0,
        ..Script::default()
    }
    .document("/v1/models", models);
    let server = ScriptedServer::start(script).await.unwrap();
    for address in [server.base_url(), server.root_url()] {
        let seen = inspect(&ModelConfig::new(Api::Anthropic, address, "claude-x")).await;
        assert_eq!((seen.info.window, seen.info.vision), (Some(150_000), true));
    }
}

#[tokio::test]
async fn a_trial_speaks_each_protocol() {
    for api in [Api::Openai, Api::Responses, Api::Anthropic, Api::Ollama] {
        let script = Script {
            last: Some(Reply::text("OK")),
            ..Script::default()
        };
        let server = ScriptedServer::start(script).await.unwrap();
        let found = trial(&ModelConfig::new(api, server.base_url(), "scripted"))
            .await
            .unwrap();
        assert!(found.warnings.is_empty(), "{api:?}: {:?}", found.warnings);
    }
}
