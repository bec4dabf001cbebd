//! Tables of decisions: effect by mode, rule and who is there.

use std::path::PathBuf;

use cairn_protocol::{Decided, Mode, RuleScope};
use proptest::prelude::*;

use super::{Approve, Decision, Edits, Policy, Presence, Reading, Sandbox, Taint, decide};
use crate::{CommandFacts, Effect, Granted, Place, Places, RuleOrigin, RuleSet};

const MODES: [Mode; 4] = [Mode::Manual, Mode::AcceptEdits, Mode::Auto, Mode::Plan];

fn policy(mode: Mode) -> Policy {
    Policy {
        places: Places {
            root: PathBuf::from("/w/p"),
            home: Some(PathBuf::from("/h/u")),
            own: vec![PathBuf::from("/h/u/.config/cairn")],
        },
        mode,
        rules: RuleSet::default(),
        edits: Edits::AsMode,
        presence: Presence::Person,
        sandbox: Sandbox::NotEnforced,
        reading: Reading::InSandbox,
        taint: Taint::None,
    }
}

fn granted(texts: &[&str]) -> Vec<Granted> {
    let grant = |text: &&str| Granted {
        rule: text.parse().unwrap_or_else(|error| panic!("{text}: {error}")),
        scope: RuleScope::Project,
        origin: RuleOrigin::Config,
        at: 0,
    };
    texts.iter().map(grant).collect()
}

fn allowing(mode: Mode, rules: &[&str]) -> Policy {
    Policy {
        rules: RuleSet {
            allow: granted(rules),
            ..RuleSet::default()
        },
        ..policy(mode)
    }
}

fn headless(mode: Mode, approve: Approve) -> Policy {
    Policy {
        presence: Presence::Headless { approve },
        ..policy(mode)
    }
}

fn read(path: &str) -> Effect {
    policy(Mode::Manual).places.read(path)
}

fn write(path: &str) -> Effect {
    policy(Mode::Manual).places.write(path, 1)
}

fn run(line: &str) -> Effect {
    Effect::RunCommand {
        line: line.to_owned(),
        workdir: PathBuf::from("/w/p"),
        place: Place::Inside,
        network: false,
        outside: false,
        facts: CommandFacts::default(),
    }
}

/// `allow`, `ask` or `deny`.
fn word(policy: &Policy, effect: &Effect) -> &'static str {
    match decide(policy, std::slice::from_ref(effect)) {
        Decision::Allow { .. } => "allow",
        Decision::Ask(_) => "ask",
        Decision::Deny { .. } => "deny",
    }
}

fn asked(policy: &Policy, effect: &Effect) -> super::Asked {
    match decide(policy, std::slice::from_ref(effect)) {
        Decision::Ask(asked) => asked,
        other => panic!("did not ask: {other:?}"),
    }
}

fn offers(policy: &Policy, effect: &Effect) -> Vec<String> {
    asked(policy, effect)
        .offers
        .into_iter()
        .map(|offer| offer.rule)
        .collect()
}

#[test]
fn what_fails_to_be_judged_asks_a_person_and_is_denied_without_one() {
    let broken = |policy: &Policy| super::combined(policy, || panic!("a fault inside"));
    for mode in MODES {
        let Decision::Ask(asked) = broken(&policy(mode)) else {
            panic!("{mode:?}")
        };
        assert!(asked.why[0].contains("could not judge") && !asked.filled && asked.offers.is_empty());
        let alone = broken(&headless(mode, Approve::All));
        assert!(matches!(alone, Decision::Deny { .. }), "{mode:?}");
    }
}

#[test]
fn x70_each_mode_passes_what_it_says() {
    // In the order manual, accept-edits, auto, plan.
    let table = [
        (Effect::Own, ["allow", "allow", "allow", "allow"]),
        (read("/w/p/src/a.rs"), ["allow", "allow", "allow", "allow"]),
        (read("/w/p"), ["allow", "allow", "allow", "allow"]),
        (read("/w/p/.env"), ["ask", "ask", "ask", "ask"]),
        (read("/h/u/.ssh/id_rsa"), ["ask", "ask", "ask", "ask"]),
        (read("/w/p-evil/x"), ["ask", "ask", "ask", "ask"]),
        (read("/w/p/.git/config"), ["allow", "allow", "allow", "allow"]),
        (write("/w/p/src/a.rs"), ["ask", "allow", "allow", "deny"]),
        (write("/w/p/Makefile"), ["ask", "allow", "allow", "deny"]),
        (write("/w/p/.env"), ["ask", "ask", "ask", "deny"]),
        (write("/w/p/.git/hooks/pre-commit"), ["ask", "ask", "ask", "deny"]),
        (write("/w/p/AGENTS.md"), ["ask", "ask", "ask", "deny"]),
        (write("/tmp/x"), ["ask", "ask", "ask", "deny"]),
        (
            write("/h/u/.config/cairn/config.toml"),
            ["ask", "ask", "ask", "deny"],
        ),
        (run("cargo test"), ["ask", "ask", "ask", "deny"]),
        (run("git reset --hard"), ["ask", "ask", "ask", "deny"]),
        (run("ls"), ["ask", "ask", "ask", "deny"]),
    ];
    for (effect, words) in table {
        for (mode, expected) in MODES.into_iter().zip(words) {
            assert_eq!(word(&policy(mode), &effect), expected, "{effect:?} in {mode:?}");
        }
    }
}

#[test]
fn x76_plan_is_a_wall_whatever_the_rules_say() {
    let plan = Policy {
        edits: Edits::Accepted,
        ..allowing(Mode::Plan, &["run-exact: ls", "write: **"])
    };
    for effect in [run("ls"), write("/w/p/a")] {
        let Decision::Deny { by, why } = decide(&plan, &[effect]) else {
            panic!("let through")
        };
        assert_eq!(by, Decided::Mode);
        assert!(why.contains("Plan mode"), "{why}");
    }
}

#[test]
fn deny_wins_over_ask_and_ask_over_allow() {
    let rules = RuleSet {
        allow: granted(&["write: **", "run-exact: cargo test", "read: **"]),
        ask: granted(&["write: src/**", "run: cargo"]),
        deny: granted(&["write: src/secret/**", "run: touch", "read: private/"]),
        broken: None,
    };
    let policy = Policy {
        rules,
        ..policy(Mode::Auto)
    };
    for (effect, expected) in [
        (write("/w/p/docs/a"), "allow"),
        (write("/w/p/src/a"), "ask"),
        (write("/w/p/src/secret/a"), "deny"),
        (write("/w/p/SRC/Secret/a"), "deny"),
        (run("cargo test"), "ask"),
        (run("touch x"), "deny"),
        (run("true && env touch x"), "deny"),
        (read("/w/p/private/a"), "deny"),
        (read("/w/p/private"), "deny"),
        (read("/w/p/public/a"), "allow"),
    ] {
        assert_eq!(word(&policy, &effect), expected, "{effect:?}");
    }
    assert!(
        offers(&policy, &write("/w/p/src/a")).is_empty(),
        "an ask rule makes any new rule futile"
    );
    assert!(!asked(&policy, &write("/w/p/src/a")).offers_accept_edits);
    let both = decide(&policy, &[run("cargo test"), run("touch x")]);
    assert!(matches!(both, Decision::Deny { by: Decided::Rule { rule }, .. } if rule == "run: touch"));
}

#[test]
fn a_search_over_a_barred_folder_asks() {
    let rules = RuleSet {
        deny: granted(&["read: private/**"]),
        ..RuleSet::default()
    };
    let policy = Policy {
        rules,
        ..policy(Mode::Manual)
    };
    assert_eq!(word(&policy, &read("/w/p")), "ask");
    assert_eq!(word(&policy, &read("/w/p/src")), "allow");
    assert_eq!(word(&policy, &read("/w/p/src/a.rs")), "allow");
}

#[test]
fn an_exact_rule_allows_that_line_byte_for_byte_and_nothing_else() {
    let line = "cargo test --all";
    for mode in [Mode::Manual, Mode::AcceptEdits, Mode::Auto] {
        let policy = allowing(mode, &["run-exact: cargo test --all"]);
        let decision = decide(&policy, &[run(line)]);
        assert_eq!(
            decision,
            Decision::Allow {
                by: Decided::Rule {
                    rule: format!("run-exact: {line}")
                },
                runs: None,
            }
        );
        for other in [
            "cargo test --all ",
            " cargo test --all",
            "cargo  test --all",
            "cargo test --all; touch x",
            "cargo test --all\n",
            "cargo test --al",
            "cargo test",
            "CARGO test --all",
            "cargo test\t--all",
            "cargo test --all\u{200b}",
            "CI=1 cargo test --all",
        ] {
            assert_eq!(word(&policy, &run(other)), "ask", "{other:?}");
        }
    }
}

#[test]
fn x74_leading_words_never_allow_yet() {
    let policy = allowing(Mode::Auto, &["run: git status", "run: git", "run: cargo test"]);
    for line in [
        "git status",
        "git status; rm -rf x",
        "git status | sh",
        "git $(x)",
        "git status\nrm x",
        "git `x`",
        "GIT_PAGER=x git status",
        "env git status",
        "/tmp/git status",
        "cargo test && touch x",
        "git status > ~/.bashrc",
    ] {
        assert_eq!(word(&policy, &run(line)), "ask", "{line}");
    }
}

#[test]
fn an_exact_rule_covers_neither_the_network_nor_another_folder() {
    let policy = allowing(Mode::Auto, &["run-exact: ./build.sh"]);
    let there = |folder: &str, place, network| Effect::RunCommand {
        line: "./build.sh".into(),
        workdir: PathBuf::from(folder),
        place,
        network,
        outside: false,
        facts: CommandFacts::default(),
    };
    assert_eq!(word(&policy, &there("/w/p", Place::Inside, false)), "allow");
    for effect in [
        there("/w/p", Place::Inside, true),
        there("/w/p/sub", Place::Inside, false),
        there("/x", Place::Outside, false),
        there("/x", Place::Inside, false),
    ] {
        let asked = asked(&policy, &effect);
        assert!(asked.offers.is_empty() && !asked.filled, "{asked:?}");
    }
    let lie = there("/x", Place::Inside, false);
    assert_eq!(word(&headless(Mode::Manual, Approve::All), &lie), "deny");
}

#[test]
fn commands_are_offered_exactly_or_not_at_all() {
    let manual = policy(Mode::Manual);
    assert_eq!(
        offers(&manual, &run("cargo test && ls")),
        ["run-exact: cargo test && ls"]
    );
    for line in [
        "sudo ls",
        "ls \u{202e}x",
        "a\nb",
        "cairn exec x",
        "sh -c ls",
        "git reset --hard",
        "rm -rf x",
        "LD_PRELOAD=x ls",
        "ls\rx",
        "echo 'x",
        "curl x | sh",
        "python3 -c 1",
        "find . -delete",
        "p\u{430}ypal",
    ] {
        assert!(offers(&manual, &run(line)).is_empty(), "{line:?}");
    }
    let long = format!("echo {}", "a ".repeat(5_000));
    assert!(offers(&manual, &run(&long)).is_empty());
}

#[test]
fn p2_an_offer_covers_what_was_asked_and_nothing_more() {
    let lines = [
        "git status && ls ./tmp",
        "cargo  test",
        "ls\t-l",
        "npm run build -- --x='y'",
    ];
    for line in lines {
        let offered = offers(&policy(Mode::Manual), &run(line));
        let rules: Vec<&str> = offered.iter().map(String::as_str).collect();
        assert_eq!(
            word(&allowing(Mode::Manual, &rules), &run(line)),
            "allow",
            "{line}"
        );
        assert_eq!(
            word(&allowing(Mode::Manual, &rules), &run(&format!("{line} x"))),
            "ask",
            "{line}"
        );
    }
}

#[test]
fn edits_offer_that_path_and_the_whole_project() {
    let manual = policy(Mode::Manual);
    let effect = write("/w/p/app/[id]/page.tsx");
    assert_eq!(
        offers(&manual, &effect),
        ["write: /app/\\[id\\]/page.tsx", "write: **"]
    );
    assert!(asked(&manual, &effect).offers_accept_edits);
    assert!(asked(&manual, &effect).filled);
    assert_eq!(
        word(
            &allowing(Mode::Manual, &["write: /app/\\[id\\]/page.tsx"]),
            &effect
        ),
        "allow"
    );
    assert_eq!(
        word(
            &allowing(Mode::Manual, &["write: /app/\\[id\\]/page.tsx"]),
            &write("/w/p/app/i/page.tsx")
        ),
        "ask"
    );
}

#[test]
fn g10_f11_protected_files_ask_in_every_mode_and_never_by_rule() {
    for path in [
        "/w/p/.git/config",
        "/w/p/.git/hooks/x",
        "/w/p/.gitattributes",
        "/w/p/.vscode/tasks.json",
        "/w/p/.envrc",
        "/w/p/.npmrc",
        "/w/p/AGENTS.md",
        "/w/p/.GIT/config",
        "/w/p/.git\u{200c}/config",
    ] {
        for mode in [Mode::Manual, Mode::AcceptEdits, Mode::Auto] {
            let relative = path.trim_start_matches("/w/p/").replace('\u{200c}', "");
            let all = Policy {
                edits: Edits::Accepted,
                ..allowing(mode, &["write: **", &format!("write: /{relative}")])
            };
            let asked = asked(&all, &write(path));
            assert!(
                asked.offers.is_empty() && !asked.offers_accept_edits && !asked.filled,
                "{path}"
            );
            assert!(
                asked.why.iter().any(|why| why.contains("protected")),
                "{:?}",
                asked.why
            );
        }
    }
}

#[test]
fn f15_credentials_ask_and_only_their_own_name_covers_them() {
    let wide = allowing(Mode::Auto, &["read: **", "read: *.pem", "write: **"]);
    for effect in [read("/w/p/.env"), read("/w/p/a/server.pem"), write("/w/p/.env")] {
        assert_eq!(word(&wide, &effect), "ask", "{effect:?}");
        assert!(asked(&wide, &effect).offers.is_empty());
    }
    let named = allowing(Mode::Manual, &["read: .env.test"]);
    assert_eq!(word(&named, &read("/w/p/.env.test")), "allow");
    assert_eq!(word(&named, &read("/w/p/.env")), "ask");
}

#[test]
fn f02_f03_what_is_outside_asks_whatever_the_tool_declared() {
    let lie = Effect::ReadPath {
        path: PathBuf::from("/h/u/x"),
        place: Place::Inside,
        care: crate::Care::Plain,
    };
    let all = Policy {
        edits: Edits::Accepted,
        ..allowing(Mode::Auto, &["read: **", "write: **"])
    };
    assert_eq!(word(&all, &lie), "ask");
    let lie = Effect::WritePath {
        path: PathBuf::from("/w/p/../x"),
        place: Place::Inside,
        care: crate::Care::Plain,
        hard_linked: false,
    };
    assert_eq!(word(&all, &lie), "ask");
    assert!(!asked(&all, &write("/h/u/x")).filled);
}

#[test]
fn f08_a_hard_linked_file_asks_with_a_note() {
    let effect = policy(Mode::Manual).places.write("/w/p/a", 2);
    let all = Policy {
        edits: Edits::Accepted,
        ..allowing(Mode::Auto, &["write: **"])
    };
    assert!(
        asked(&all, &effect)
            .why
            .iter()
            .any(|why| why.contains("hard link"))
    );
}

#[test]
fn f20_a_nul_in_a_path_is_denied() {
    for effect in [read("/w/p/a\0b"), write("/w/p/a\0b")] {
        let Decision::Deny { by, .. } = decide(&policy(Mode::Auto), &[effect]) else {
            panic!("not denied")
        };
        assert_eq!(by, Decided::Policy);
    }
}

#[test]
fn s78_s65_lines_that_cannot_be_are_denied() {
    for line in [
        "ls\0".to_owned(),
        format!("{}a{}", "$(".repeat(70), ")".repeat(70)),
    ] {
        assert_eq!(word(&policy(Mode::Auto), &run(&line)), "deny");
    }
}

#[test]
fn f11_build_files_say_that_they_run_later() {
    let why = asked(&policy(Mode::Manual), &write("/w/p/build.rs"))
        .why
        .join(" ");
    assert!(why.contains("runs code later"), "{why}");
    assert_eq!(offers(&policy(Mode::Manual), &write("/w/p/build.rs")).len(), 2);
}

#[test]
fn g14_destructive_git_asks_in_every_mode_and_names_the_loss() {
    for mode in [Mode::Manual, Mode::AcceptEdits, Mode::Auto] {
        let asked = asked(
            &allowing(mode, &["run-exact: git clean -fd"]),
            &run("git clean -fd"),
        );
        assert_eq!(
            asked.loss.as_deref(),
            Some("Untracked files are deleted for good.")
        );
        assert!(!asked.filled && asked.offers.is_empty());
    }
}

#[test]
fn other_deleting_is_covered_by_a_line_the_person_wrote() {
    assert_eq!(
        word(
            &allowing(Mode::Manual, &["run-exact: rm -rf build"]),
            &run("rm -rf build")
        ),
        "allow"
    );
    assert!(asked(&policy(Mode::Manual), &run("rm -rf build")).loss.is_some());
}

#[test]
fn p01_to_p05_no_rule_covers_raised_rights_or_our_own_programs() {
    for line in ["sudo ls", "cairn allow reset", "LD_PRELOAD=x ls"] {
        assert_eq!(
            word(
                &allowing(Mode::Auto, &[&format!("run-exact: {line}")]),
                &run(line)
            ),
            "ask",
            "{line}"
        );
    }
}

#[test]
fn accepted_edits_pass_until_the_request_ends_and_nothing_else_does() {
    let accepted = Policy {
        edits: Edits::Accepted,
        ..policy(Mode::Manual)
    };
    assert_eq!(
        decide(&accepted, &[write("/w/p/a")]),
        Decision::Allow {
            by: Decided::Person,
            runs: None,
        }
    );
    for effect in [
        write("/w/p/.env"),
        write("/x"),
        write("/w/p/.git/config"),
        run("ls"),
        read("/x"),
    ] {
        assert_eq!(word(&accepted, &effect), "ask", "{effect:?}");
    }
}

#[test]
fn a2_headless_denies_what_approve_does_not_cover() {
    let linked = policy(Mode::Manual).places.write("/w/p/a", 2);
    let outside = Effect::RunCommand {
        line: "ls".into(),
        workdir: PathBuf::from("/x"),
        place: Place::Outside,
        network: false,
        outside: false,
        facts: CommandFacts::default(),
    };
    // In the order none, edits, all.
    let table = [
        (read("/w/p/a"), ["allow", "allow", "allow"]),
        (Effect::Own, ["allow", "allow", "allow"]),
        (write("/w/p/a"), ["deny", "allow", "allow"]),
        (run("cargo test"), ["deny", "deny", "allow"]),
        (run("rm -rf build"), ["deny", "deny", "allow"]),
        (run("sh -c ls"), ["deny", "deny", "allow"]),
        (run("git reset --hard"), ["deny", "deny", "deny"]),
        (run("cairn allow reset"), ["deny", "deny", "deny"]),
        (run("ls \u{202e}x"), ["deny", "deny", "deny"]),
        (outside, ["deny", "deny", "deny"]),
        (write("/w/p/.env"), ["deny", "deny", "deny"]),
        (read("/w/p/.env"), ["deny", "deny", "deny"]),
        (read("/x"), ["deny", "deny", "deny"]),
        (write("/x"), ["deny", "deny", "deny"]),
        (write("/w/p/.git/config"), ["deny", "deny", "deny"]),
        (linked, ["deny", "deny", "deny"]),
    ];
    for (effect, words) in table {
        for (approve, expected) in [Approve::None, Approve::Edits, Approve::All]
            .into_iter()
            .zip(words)
        {
            assert_eq!(
                word(&headless(Mode::Manual, approve), &effect),
                expected,
                "{effect:?} with {approve:?}"
            );
        }
    }
    assert_eq!(
        decide(&headless(Mode::Manual, Approve::All), &[run("ls")]),
        Decision::Allow {
            by: Decided::Flag,
            runs: None,
        }
    );
    let Decision::Deny { by, why } = decide(&headless(Mode::Manual, Approve::None), &[run("ls")]) else {
        panic!("ran")
    };
    assert_eq!(by, Decided::Nobody);
    assert!(
        why.contains("nobody is there") && why.contains("--approve"),
        "{why}"
    );
}

#[test]
fn a2_one_uncovered_effect_denies_the_whole_call() {
    let effects = [write("/w/p/a"), run("ls")];
    assert!(matches!(
        decide(&headless(Mode::Manual, Approve::Edits), &effects),
        Decision::Deny { .. }
    ));
    assert!(matches!(
        decide(&headless(Mode::Manual, Approve::All), &effects),
        Decision::Allow { .. }
    ));
}

#[test]
fn what_declares_nothing_asks() {
    for mode in MODES {
        assert!(
            matches!(decide(&policy(mode), &[]), Decision::Ask(asked) if asked.offers.is_empty() && !asked.filled)
        );
    }
    assert!(matches!(
        decide(&headless(Mode::Auto, Approve::All), &[]),
        Decision::Deny { .. }
    ));
}

#[test]
fn a6_with_a_broken_settings_file_everything_asks() {
    let rules = RuleSet {
        allow: granted(&["write: **", "run-exact: ls"]),
        broken: Some("line 3: no `=`".into()),
        ..RuleSet::default()
    };
    let broken = Policy {
        rules,
        edits: Edits::Accepted,
        ..policy(Mode::Auto)
    };
    for effect in [read("/w/p/a"), write("/w/p/a"), run("ls")] {
        let asked = asked(&broken, &effect);
        assert!(asked.offers.is_empty() && !asked.offers_accept_edits);
        assert!(
            asked.why.iter().any(|why| why.contains("line 3")),
            "{:?}",
            asked.why
        );
    }
    assert_eq!(word(&broken, &Effect::Own), "allow");
}

#[test]
fn several_effects_make_one_card() {
    let manual = policy(Mode::Manual);
    let Decision::Ask(asked) = decide(&manual, &[write("/w/p/a"), write("/w/p/b"), read("/w/p/c")]) else {
        panic!("did not ask")
    };
    let rules: Vec<String> = asked.offers.into_iter().map(|offer| offer.rule).collect();
    assert_eq!(rules, ["write: /a", "write: **", "write: /b"]);
    assert_eq!(asked.why, ["Changes to files ask first."]);
    let Decision::Ask(asked) = decide(&manual, &[write("/w/p/a"), write("/x")]) else {
        panic!("did not ask")
    };
    assert!(asked.offers.is_empty() && !asked.offers_accept_edits && !asked.filled);
}

#[test]
fn unsandboxed_commands_have_no_filled_button_and_auto_says_why() {
    assert!(!asked(&policy(Mode::Manual), &run("ls")).filled);
    assert!(
        asked(&policy(Mode::Auto), &run("ls"))
            .why
            .join(" ")
            .contains("not sandboxed")
    );
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let path = prop::sample::select(vec![
        "/w/p/a",
        "/w/p/.env",
        "/w/p/.git/config",
        "/x",
        "/w/p/src/b.rs",
        "/w/p/a\0",
    ]);
    let line = prop::sample::select(vec![
        "ls",
        "cargo test",
        "sudo ls",
        "git clean -f",
        "rm -rf x",
        "cairn exec",
        "ls\0",
        "echo 'x",
    ]);
    prop_oneof![
        path.clone().prop_map(read),
        (path, 1..3_u64).prop_map(|(path, links)| policy(Mode::Manual).places.write(path, links)),
        line.prop_map(run),
        Just(Effect::Own),
    ]
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let rules = prop::sample::subsequence(
        vec![
            "write: **",
            "read: **",
            "run-exact: ls",
            "run-exact: sudo ls",
            "run: cargo",
            "write: src/**",
            "read: .env",
        ],
        0..4,
    );
    (
        prop::sample::select(MODES.to_vec()),
        prop::sample::select(vec![Edits::AsMode, Edits::Accepted]),
        prop::sample::select(vec![
            Presence::Person,
            Presence::Headless {
                approve: Approve::None,
            },
            Presence::Headless {
                approve: Approve::Edits,
            },
            Presence::Headless {
                approve: Approve::All,
            },
        ]),
        (rules.clone(), rules.clone(), rules),
        any::<bool>(),
    )
        .prop_map(|(mode, edits, presence, (allow, ask, deny), broken)| Policy {
            rules: RuleSet {
                allow: granted(&allow),
                ask: granted(&ask),
                deny: granted(&deny),
                broken: broken.then(|| "line 1".to_owned()),
            },
            edits,
            presence,
            ..policy(mode)
        })
}

/// 0 allows, 1 asks, 2 denies.
fn strictness(decision: &Decision) -> u8 {
    match decision {
        Decision::Allow { .. } => 0,
        Decision::Ask(_) => 1,
        Decision::Deny { .. } => 2,
    }
}

proptest! {
    #[test]
    fn a_call_is_never_laxer_than_its_strictest_effect(policy in any_policy(), effects in prop::collection::vec(any_effect(), 1..5)) {
        let whole = strictness(&decide(&policy, &effects));
        for effect in &effects {
            prop_assert!(whole >= strictness(&decide(&policy, std::slice::from_ref(effect))));
        }
    }

    #[test]
    fn nobody_is_never_asked(policy in any_policy(), effects in prop::collection::vec(any_effect(), 0..4)) {
        if policy.presence != Presence::Person {
            prop_assert_ne!(strictness(&decide(&policy, &effects)), 1);
        }
    }

    #[test]
    fn taking_allow_rules_away_never_lets_more_through(policy in any_policy(), effects in prop::collection::vec(any_effect(), 1..4)) {
        let mut without = policy.clone();
        without.rules.allow.clear();
        prop_assert!(strictness(&decide(&without, &effects)) >= strictness(&decide(&policy, &effects)));
    }

    #[test]
    fn protected_files_outside_writes_and_destructive_git_never_pass(policy in any_policy()) {
        for effect in [write("/w/p/.git/config"), write("/x"), run("git clean -f"), run("cairn exec"), read("/x")] {
            prop_assert_ne!(strictness(&decide(&policy, std::slice::from_ref(&effect))), 0, "{:?}", effect);
        }
    }

    #[test]
    fn what_is_offered_would_spare_the_next_card(policy in any_policy(), effects in prop::collection::vec(any_effect(), 1..3)) {
        if let Decision::Ask(asked) = decide(&policy, &effects)
            && !asked.offers.is_empty()
        {
            let texts: Vec<&str> = asked.offers.iter().map(|offer| offer.rule.as_str()).collect();
            let mut next = policy.clone();
            next.rules.allow.extend(granted(&texts));
            prop_assert_eq!(strictness(&decide(&next, &effects)), 0, "{:?}", texts);
        }
    }
}
