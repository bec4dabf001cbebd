use cairn_protocol::{Api, ProfileParams, SettingsSetParams};

use super::*;

const FILE: &str = r#"# my settings
future_key = "kept" # by a newer build

[profiles.zed]
base_url = "http://127.0.0.1:11434/v1/"
model = "qwen3:8b"   # the small one
headers = { "x-team" = "sk-secret" }

[profiles.alpha]
base_url = "https://api.example.com/v1"
model = "big"
api = "openai"

[permissions]
default_mode = "auto"
deny = ["run: rm"]

[tools]
glob = false

[tools.shell]
pass_env = ["CI_TOKEN"]
"#;

fn none() -> Environment {
    Environment::default()
}

fn written(text: &str) -> (tempfile::TempDir, Config) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    let config = Config::load(&path, &none());
    (temp, config)
}

#[test]
fn p6_reading_commands_run_outside_a_sandbox_only_where_the_person_wrote_it_down() {
    let reading = |text: &str| written(text).1;
    assert_eq!(reading("").reading, cairn_policy::Reading::InSandbox);
    let wanted = reading("[permissions]\nreading = \"everywhere\"\n");
    assert_eq!(wanted.reading, cairn_policy::Reading::Everywhere);
    let broken = reading("[permissions]\nreading = \"always\"\n");
    assert!(broken.broken().is_some());
    assert_eq!(broken.reading, cairn_policy::Reading::InSandbox);
}

#[test]
fn reads_what_is_there_in_the_order_of_the_file() {
    let (_temp, config) = written(FILE);
    assert_eq!(config.broken(), None);
    let names: Vec<_> = config
        .profiles
        .iter()
        .map(|profile| profile.name.as_str())
        .collect();
    assert_eq!(names, ["zed", "alpha"]);
    assert_eq!(
        config.profiles[0].base_url, "http://127.0.0.1:11434/v1",
        "x141: a trailing slash does not matter"
    );
    assert_eq!(
        config.default_mode,
        Mode::Manual,
        "p8: never auto for a new session"
    );
    assert_eq!(
        (config.tools_off, config.pass_env),
        (vec!["glob".to_owned()], vec!["CI_TOKEN".to_owned()])
    );
    assert_eq!(config.rules.deny.len(), 1);
    assert!(
        !format!("{:?}", config.profiles).contains("sk-secret"),
        "a header's value is never printed"
    );
}

#[test]
fn x141_a_broken_file_is_named_with_line_and_column_and_never_overwritten() {
    for (text, line, says) in [
        ("x = 1\n[profiles.a\n", 2, ""),
        ("[profiles.a]\nbase_url = 3\n", 2, "invalid type"),
        ("\n[permissions]\nallow = [\"run:\"]\n", 3, "run"),
        ("[ui]\ntheme = \"pink\"\n", 2, "pink"),
    ] {
        let (_temp, config) = written(text);
        let error = config
            .broken()
            .unwrap_or_else(|| panic!("{text:?} passed"))
            .clone();
        assert!(
            error.line == line && error.reason.contains(says),
            "{text:?}: {error}"
        );
        let change = SettingsSetParams {
            theme: Some(Theme::Dark),
            ..SettingsSetParams::default()
        };
        let refused = config.with_settings(&change, &none()).unwrap_err();
        assert_eq!(refused.code, ErrorCode::BadConfig);
        assert_eq!(std::fs::read_to_string(config.path()).unwrap(), text);
    }
}

#[test]
fn a_change_keeps_comments_order_and_unknown_keys() {
    let (_temp, config) = written(FILE);
    let profile = ProfileParams {
        name: "zed".to_owned(),
        api: Api::Openai,
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        model: "other".to_owned(),
        context_window: Some(8_192),
        max_output_tokens: None,
        temperature: None,
        effort: None,
        keep_alive: None,
        prices: None,
        make_default: true,
    };
    let config = config.with_profile(&profile, &none()).unwrap();
    let text = std::fs::read_to_string(config.path()).unwrap();
    for kept in [
        "# my settings",
        "future_key = \"kept\" # by a newer build",
        "# the small one",
        "sk-secret",
    ] {
        assert!(text.contains(kept), "{kept} is gone:\n{text}");
    }
    assert_eq!(config.profile_for_new().unwrap().model, "other");
    assert_eq!(config.profile("zed").unwrap().context_window, Some(8_192));
    let config = config.without_profile("zed", &none()).unwrap();
    assert!(config.profile("zed").is_none() && config.default_profile.is_none());
    assert_eq!(
        config.profile_for_new().unwrap().name,
        "alpha",
        "the only one left is the one"
    );
}

#[test]
fn a_file_edited_by_hand_meanwhile_is_not_lost() {
    let (_temp, config) = written("");
    std::fs::write(config.path(), "by_hand = true\n").unwrap();
    let change = SettingsSetParams {
        theme: Some(Theme::Dark),
        ..SettingsSetParams::default()
    };
    let config = config.with_settings(&change, &none()).unwrap();
    assert_eq!(config.theme, Theme::Dark);
    assert!(
        std::fs::read_to_string(config.path())
            .unwrap()
            .starts_with("by_hand = true\n")
    );
}

#[test]
fn the_environment_goes_before_the_file() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("config.toml");
    std::fs::write(&path, FILE).unwrap();
    let environment = Environment::new([
        ("CAIRN_PROFILE".into(), "alpha".into()),
        ("CAIRN_MODE".into(), "Plan".into()),
    ]);
    let config = Config::load(&path, &environment);
    assert_eq!(config.profile_for_new().unwrap().name, "alpha");
    assert_eq!(config.default_mode, Mode::Plan);
    assert!(
        config
            .origins
            .contains(&("default_profile".to_owned(), ValueOrigin::Environment))
    );
}

#[test]
fn t04_a_projects_own_file_can_only_tighten() {
    let lists = project_rules(
        "[permissions]\nallow = [\"run: rm\"]\ndeny = [\"run: curl\"]\nask = [\"host: x.org\"]\n",
    );
    let lists = lists.unwrap();
    assert!(lists.allow.is_empty());
    assert_eq!((lists.deny.len(), lists.ask.len()), (1, 1));
}

#[test]
fn t25_the_search_engine_is_the_one_named_or_the_one_that_the_keys_are_for() {
    use cairn_tools::web::Engine;

    let engine = |text: &str| Config::parse(Path::new("config.toml"), text);
    let table = [
        ("", Engine::DuckDuckGo),
        ("[web_search]\nbackend = \"Brave\"\nkey = \"k\"", Engine::Brave),
        ("[web_search]\nkey = \"k\"", Engine::Brave),
        ("[web_search]\nurl = \"http://127.0.0.1:8888\"", Engine::SearXng),
        (
            "[web_search]\nurl = \"http://127.0.0.1:8888\"\nbackend = \"duckduckgo\"",
            Engine::DuckDuckGo,
        ),
        ("[web_search]\ncommand = [\"ddgs\", \"text\"]", Engine::Custom),
    ];
    for (text, expected) in table {
        let config = engine(text);
        assert!(config.broken().is_none(), "{text}: {:?}", config.broken());
        assert_eq!(config.web_search.engine, expected, "{text}");
    }
    let broken = engine("[web_search]\nbackend = \"altavista\"");
    let error = broken.broken().unwrap();
    assert_eq!(error.line, 2);
    assert!(error.reason.contains("expected duckduckgo"), "{error}");
    assert!(!format!("{:?}", engine("[web_search]\nkey = \"k-e-y\"").web_search).contains("k-e-y"));
}

#[test]
fn a6_time_limits_by_tool_are_read_within_reason() {
    let text = "[limits.timeout]\ngrep = 60\nshell = 999999\nglob = 0\n";
    let config = Config::parse(Path::new("c"), text);
    let seconds = |tool: &str| config.timeouts.get(tool).map(std::time::Duration::as_secs);
    assert!(config.broken().is_none());
    assert_eq!(
        (
            seconds("grep"),
            seconds("shell"),
            seconds("glob"),
            seconds("edit_file")
        ),
        (Some(60), Some(3_600), Some(1), None)
    );
}
