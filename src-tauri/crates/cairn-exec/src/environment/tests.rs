use super::*;

fn from(pairs: &[(&str, &str)], pass: &[&str]) -> BTreeMap<String, String> {
    let parent = pairs
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let pass: Vec<String> = pass.iter().map(ToString::to_string).collect();
    child_environment(parent, &pass)
        .into_iter()
        .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
        .collect()
}

#[test]
fn l04_keys_of_ours_and_of_providers_never_reach_a_child() {
    for name in [
        "CAIRN_API_KEY",
        "CAIRN_BASE_URL",
        "OPENAI_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "HF_TOKEN",
        "openai_api_key",
    ] {
        let environment = from(&[(name, "sk-test-CANARY")], &[name]);
        assert!(
            !environment.values().any(|value| value.contains("CANARY")),
            "{name} got through"
        );
    }
}

#[test]
fn l04_other_secrets_reach_a_child_only_when_passed() {
    for name in [
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "STRIPE_SECRET",
        "DB_PASSWORD",
        "PGPASSWORD",
        "Npm_Token",
        "TOKEN",
        "SOME_APIKEY",
    ] {
        assert!(
            !from(&[(name, "x")], &[]).contains_key(name),
            "{name} got through"
        );
        assert!(
            from(&[(name, "x")], &[name]).contains_key(name),
            "{name} was not passed on"
        );
    }
}

#[test]
fn names_that_only_look_like_secrets_pass() {
    for name in [
        "MONKEY",
        "KEYBOARD",
        "TOKENIZERS_PARALLELISM",
        "HOME",
        "LANG",
        "SSH_AUTH_SOCK",
        "CAIRN_HOME",
    ] {
        assert!(
            from(&[(name, "x")], &[]).contains_key(name),
            "{name} was left out"
        );
    }
}

#[test]
fn s8_nothing_waits_for_a_person() {
    let environment = from(
        &[
            ("EDITOR", "vim"),
            ("GIT_PAGER", "less"),
            ("TERM", "xterm-256color"),
        ],
        &[],
    );
    for (name, value) in [
        ("GIT_TERMINAL_PROMPT", "0"),
        ("EDITOR", "true"),
        ("GIT_EDITOR", "true"),
        ("VISUAL", "true"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GCM_INTERACTIVE", "never"),
        ("TERM", "dumb"),
        ("CAIRN_INSIDE", "1"),
    ] {
        assert_eq!(environment.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[test]
fn variables_that_run_or_read_what_was_not_shown_are_left_out() {
    for name in [
        "BASH_ENV",
        "ENV",
        "BASH_FUNC_ls%%",
        "RIPGREP_CONFIG_PATH",
        "SHELLOPTS",
        "CDPATH",
        "GIT_DIR",
    ] {
        assert!(
            !from(&[(name, "/w/p/x")], &[]).contains_key(name),
            "{name} got through"
        );
    }
}

#[test]
fn p73_relative_folders_leave_the_path() {
    let environment = from(&[("PATH", ".:/usr/bin::node_modules/.bin:/bin")], &[]);
    assert_eq!(environment["PATH"], "/usr/bin:/bin");
}

#[test]
fn a_helper_gets_no_secret_at_all() {
    let parent = [
        ("PATH", "/bin"),
        ("GITHUB_TOKEN", "x"),
        ("CAIRN_API_KEY", "x"),
        ("HOME", "/h"),
        ("MY_THING", "x"),
    ];
    let names: Vec<_> = helper_environment(parent.map(|(name, value)| (name.into(), value.into())))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["PATH"]);
}

#[test]
fn l06_what_is_kept_from_the_programs_we_start_are_keys_and_what_is_named_like_one() {
    for name in [
        "CAIRN_API_KEY",
        "OPENAI_API_KEY",
        "anthropic_auth_token",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "MYSQL_PWD",
        "HF_TOKEN",
    ] {
        assert!(is_secret_variable(OsStr::new(name)), "{name}");
    }
    for name in [
        "XDG_ACTIVATION_TOKEN",
        "CAIRN_HOME",
        "PATH",
        "XAUTHORITY",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "KEYBOARD",
        "MONKEY",
    ] {
        assert!(!is_secret_variable(OsStr::new(name)), "{name}");
    }
}
