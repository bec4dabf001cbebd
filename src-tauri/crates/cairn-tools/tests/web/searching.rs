//! Searching with each of the four engines. SPEC T25, cases X120, X122, X123, N59.

use std::os::unix::fs::PermissionsExt as _;

use cairn_tools::web::{Engine, WebConfig};

use crate::fixture::{Bench, answer, text};

/// As the page without scripts looks, with an advertisement and a result of another form.
const DUCKDUCKGO: &str = include_str!("recorded/duckduckgo.html");

fn at(engine: Engine, url: &str) -> WebConfig {
    WebConfig {
        engine,
        url: Some(url.to_owned()),
        key: Some("brave-key".to_owned()),
        command: Vec::new(),
    }
}

#[tokio::test]
async fn x120_duckduckgo_gives_ten_numbered_results_and_the_query_arrives_encoded() {
    let bench = Bench::new(|_, _| answer("200 OK", &[("content-type", "text/html")], DUCKDUCKGO)).await;
    let outcome = bench
        .search(
            at(Engine::DuckDuckGo, "http://ddg.example/html/"),
            "a & b # \"c\" é",
        )
        .await;
    assert!(outcome.ok, "{}", outcome.content);
    assert!(
        outcome
            .content
            .contains("1. Tokio - An asynchronous Rust runtime\n   https://tokio.rs/\n   Tokio is a runtime"),
        "{}",
        outcome.content
    );
    assert!(outcome.content.contains("\n10. ") && !outcome.content.contains("\n11. "));
    assert!(!outcome.content.contains("advertisement"));
    assert_eq!(outcome.note, "10 results");
    let head = bench.server.requests.lock().unwrap()[0].clone();
    assert!(
        head.starts_with("GET /html/?q=a+%26+b+%23+%22c%22+%C3%A9 HTTP"),
        "{head}"
    );
}

#[tokio::test]
async fn x123_an_empty_answer_says_why() {
    let table = [
        (
            "<html><div class=\"anomaly-modal__title\">Unfortunately, bots use DuckDuckGo too.</div>",
            "refused to answer",
            false,
        ),
        (
            "<html><div class=\"no-results\">No results.</div>",
            "found nothing",
            true,
        ),
        (
            "<html><body><div class=\"new-form\">x</div>",
            "answers differently",
            false,
        ),
        ("oops", "what came is no page", false),
        ("", "what came is no page", false),
    ];
    for (page, expected, ok) in table {
        let bench = Bench::new(move |_, _| answer("200 OK", &[("content-type", "text/html")], page)).await;
        let outcome = bench
            .search(at(Engine::DuckDuckGo, "http://ddg.example/html/"), "x")
            .await;
        assert!(
            outcome.ok == ok && outcome.content.contains(expected),
            "{page}: {}",
            outcome.content
        );
    }
    let bench = Bench::new(|_, _| answer("202 Accepted", &[], "<html>")).await;
    let outcome = bench
        .search(at(Engine::DuckDuckGo, "http://ddg.example/html/"), "x")
        .await;
    assert!(
        outcome.content.contains("refused to answer (status 202)"),
        "{}",
        outcome.content
    );
}

#[tokio::test]
async fn searxng_may_be_on_this_machine_because_the_user_says_so() {
    let bench = Bench::new(|path, _| {
        assert!(path.starts_with("/sx/search?q=tokio&format=json"), "{path}");
        text(r#"{"query": "tokio", "results": [{"title": "T", "url": "https://tokio.rs/", "content": "S"}, {"title": "bad", "url": "javascript:x"}]}"#)
    })
    .await;
    let address = format!("http://{}/sx/", bench.server.address);
    let outcome = bench.search(at(Engine::SearXng, &address), "tokio").await;
    assert!(
        outcome.ok && outcome.content.contains("1. T\n   https://tokio.rs/\n   S"),
        "{}",
        outcome.content
    );
    assert_eq!(outcome.note, "1 result");
    let none =
        Bench::new(|_, _| text(r#"{"results": [], "unresponsive_engines": [["google", "captcha"]]}"#)).await;
    let address = format!("http://{}", none.server.address);
    assert!(
        none.search(at(Engine::SearXng, &address), "x")
            .await
            .content
            .contains("refused")
    );
    let forbidden = Bench::new(|_, _| answer("403 Forbidden", &[], "<html>")).await;
    let address = format!("http://{}", forbidden.server.address);
    assert!(
        forbidden
            .search(at(Engine::SearXng, &address), "x")
            .await
            .content
            .contains("status 403")
    );
}

#[tokio::test]
async fn brave_gets_its_key_and_nobody_else_does() {
    let bench = Bench::new(|_, _| {
        text(r#"{"type": "search", "web": {"results": [{"title": "T", "url": "https://tokio.rs/", "description": "S"}]}}"#)
    })
    .await;
    let outcome = bench
        .search(at(Engine::Brave, "http://brave.example/res"), "tokio")
        .await;
    assert!(
        outcome.ok && outcome.content.contains("1. T\n   https://tokio.rs/"),
        "{}",
        outcome.content
    );
    assert!(bench.server.requests.lock().unwrap()[0].contains("x-subscription-token: brave-key"));
    let config = WebConfig {
        key: None,
        ..at(Engine::Brave, "http://brave.example/res")
    };
    assert!(
        bench
            .search(config, "tokio")
            .await
            .content
            .contains("needs a key")
    );
    assert!(!format!("{:?}", at(Engine::Brave, "x")).contains("brave-key"));
}

#[tokio::test]
async fn a_command_of_the_users_gets_the_query_as_one_argument_and_no_shell() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("search");
    let canary = folder.path().join("canary");
    std::fs::write(
        &program,
        "#!/bin/sh\n[ $# = 2 ] || exit 9\n[ \"$2\" = fail ] && { echo broken; exit 3; }\n[ \"$2\" = none ] && exit 0\nprintf '[{\"title\": \"%s\", \"href\": \"https://a.example/\", \"body\": \"S\"}]' \"$1\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bench = Bench::new(|_, _| text("")).await;
    let config = WebConfig {
        engine: Engine::Custom,
        command: vec![program.to_str().unwrap().to_owned(), "first".to_owned()],
        ..WebConfig::default()
    };
    let query = format!("x; touch {} $(touch {0})", canary.display());
    let outcome = bench.search(config.clone(), &query).await;
    assert!(
        outcome.ok && outcome.content.contains("1. first\n   https://a.example/\n   S"),
        "{}",
        outcome.content
    );
    assert!(!canary.exists());
    assert!(
        bench
            .search(config.clone(), "none")
            .await
            .content
            .contains("found nothing")
    );
    let failed = bench.search(config, "fail").await;
    assert!(
        !failed.ok && failed.content.contains("exit code 3: broken"),
        "{}",
        failed.content
    );
    let missing = WebConfig {
        engine: Engine::Custom,
        command: vec!["/nonexistent/program".to_owned()],
        ..WebConfig::default()
    };
    assert!(!bench.search(missing, "x").await.ok);
}

#[tokio::test]
async fn n59_x122_queries_that_must_not_go_out_do_not() {
    let bench = Bench::new(|_, _| text("")).await;
    let long = "x".repeat(401);
    for query in [
        "a\nb",
        "a\rb",
        "",
        " ",
        long.as_str(),
        "password=hunter2",
        "ghp_abcdefghij0123456789abcdefghij",
        "a\u{202e}b",
    ] {
        let outcome = bench
            .search(at(Engine::DuckDuckGo, "http://ddg.example/"), query)
            .await;
        assert!(
            !outcome.ok && outcome.content.starts_with("The search was not made"),
            "{query:?}: {}",
            outcome.content
        );
    }
    assert_eq!(bench.server.count(), 0);
}
