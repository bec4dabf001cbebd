use cairn_testkit::provider::{Script, ScriptedServer};
use serde_json::json;

use super::*;

async fn bare(script: Script) -> ScriptedServer {
    ScriptedServer::start(Script {
        context_window: 0,
        ..script
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn a8_each_program_is_asked_in_its_own_way() {
    let ollama = bare(
        Script::default()
            .document(
                "/api/tags",
                json!({ "models": [{ "name": "qwen3:8b", "size": 5_200_000_000_u64 }] }),
            )
            .document("/api/ps", json!({ "models": [] }))
            .document(
                "/api/show",
                json!({
                    "capabilities": ["completion", "tools"],
                    "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
                }),
            ),
    )
    .await;
    let llama = bare(
        Script::default()
            .document(
                "/props",
                json!({
                    "default_generation_settings": { "n_ctx": 8_192 }, "modalities": { "vision": true },
                    "chat_template": "{% for tool in tools %}",
                }),
            )
            .document(
                "/v1/models",
                json!({ "data": [{ "id": "smol.gguf", "meta": { "size": 98_000_000, "n_ctx_train": 9 } }] }),
            ),
    )
    .await;
    let studio = bare(Script::default().document(
        "/api/v0/models",
        json!({ "data": [
        { "id": "gemma", "type": "vlm", "max_context_length": 131_072 },
        { "id": "embed", "type": "embeddings" },
    ] }),
    ))
    .await;
    let vllm = bare(Script::default().document(
        "/v1/models",
        json!({ "data": [{ "id": "m", "max_model_len": 32_768 }] }),
    ))
    .await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let found = discover_at(&[
        ("Ollama", ollama.port()),
        ("llama.cpp", llama.port()),
        ("LM Studio", studio.port()),
        ("vLLM", vllm.port()),
        ("Ollama", closed),
        ("vLLM", ollama.port()),
    ])
    .await;
    let model = |name: &str, window, tools, vision, bytes| FoundModel {
        name: name.into(),
        context_window: window,
        tools,
        vision,
        bytes,
    };
    assert_eq!(
        found[0].models,
        [model(
            "qwen3:8b",
            Some(40_960),
            Some(true),
            Some(false),
            Some(5_200_000_000)
        )]
    );
    assert_eq!(
        found[1].models,
        [model(
            "smol.gguf",
            Some(8_192),
            Some(true),
            Some(true),
            Some(98_000_000)
        )]
    );
    assert_eq!(
        found[2].models,
        [model("gemma", Some(131_072), None, Some(true), None)]
    );
    assert_eq!(found[3].models, [model("m", Some(32_768), None, None, None)]);
    assert_eq!(found[4].problem.as_deref(), Some("connection refused"));
    // Its own protocol is the one in which it can be told the window.
    assert_eq!(found[4].base_url, format!("http://127.0.0.1:{closed}"));
    assert_eq!((found[0].api, found[1].api), (Api::Ollama, Api::Openai));
    assert!(found[..4].iter().all(|server| server.problem.is_none()));
}

#[tokio::test]
async fn something_else_on_a_port_is_said_so() {
    let other = bare(Script::default().document("/v1/models", json!({ "hello": 1 }))).await;
    let found = discover_at(&[("vLLM", other.port()), ("Ollama", other.port())]).await;
    assert_eq!(found[0].problem.as_deref(), Some("something else answers there"));
    assert_eq!(found[1].problem.as_deref(), Some("it answers with status 404"));
}

#[tokio::test]
async fn a_port_that_says_nothing_is_left_after_300_ms() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let found = discover_at(&[("vLLM", silent.local_addr().unwrap().port())]).await;
    assert_eq!(found[0].problem.as_deref(), Some("no answer within 300 ms"));
}

#[tokio::test]
async fn ollama_without_a_model_is_found_empty() {
    let ollama = bare(Script::default().document("/api/tags", json!({ "models": [] }))).await;
    let found = discover_at(&[("Ollama", ollama.port())]).await;
    assert_eq!((found[0].models.len(), found[0].problem.clone()), (0, None));
}

#[test]
fn ollama_names_without_a_tag_are_latest() {
    assert!(ollama::is_same("qwen3", "qwen3:latest") && !ollama::is_same("qwen3", "qwen3:8b"));
}
