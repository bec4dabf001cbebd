//! Rules, modes, the sandbox as a fact, and taint, for command lines.

use std::path::PathBuf;

use cairn_policy::{
    AddressWords, Approve, Carries, CommandFacts, Decision, Effect, Granted, Looked, Place, Policy, Presence,
    Reading, RuleOrigin, Sandbox, Taint, decide,
};
use cairn_protocol::{Decided, Mode, RuleScope};

use crate::fixture::{asked, decided, effect, machine, offers, places, policy, runs, word, word_of};

fn in_mode(mode: Mode, sandbox: Sandbox, rules: &[&str]) -> Policy {
    Policy {
        mode,
        sandbox,
        ..policy(rules)
    }
}

#[test]
fn p5_every_command_of_a_line_must_be_covered() {
    let rules = policy(&["run: cargo test", "run: git status"]);
    for (line, expected) in [
        ("cargo test", "auto"),
        ("cargo test --workspace && git status", "auto"),
        ("cargo test; git status | tail -3", "auto"),
        ("cargo test && npm test", "ask"),
        ("cargo testing", "ask"),
        ("cargo", "ask"),
        ("cargo build", "ask"),
        ("cargo test | tail -3 README.md", "ask"),
        ("cargo test | head -c 100 | wc -l", "ask"),
        ("cargo test | wc -l", "auto"),
        ("cargo test | sort -o x", "ask"),
    ] {
        assert_eq!(word(&rules, line), expected, "{line}");
    }
    let Decision::Allow { by, runs } = decided(&rules, "cargo  test&&git status") else {
        panic!()
    };
    assert_eq!(
        by,
        Decided::Rule {
            rule: "run: cargo test, run: git status".to_owned()
        }
    );
    assert_eq!(runs.as_deref(), Some("cargo test && git status"));
}

#[test]
fn p5_a_compound_line_offers_one_rule_for_each_part_that_is_open() {
    let table: &[(&[&str], &str, &[&str])] = &[
        (
            &[],
            "cargo test --workspace && cargo clippy",
            &["run: cargo test", "run: cargo clippy"],
        ),
        (
            &["run: cargo test"],
            "cargo test && cargo fmt --all",
            &["run: cargo fmt"],
        ),
        (&[], "cd src && npm run build | tail -5", &["run: npm run build"]),
        (&[], "make -j4 test", &["run: make -j4 test"]),
        (&[], "make", &["run-exact: make"]),
        (
            &[],
            "git add -A && git commit -m 'a b'",
            &["run: git add", "run: git commit"],
        ),
        (
            &[],
            "cargo test && ./scripts/gen.sh",
            &["run-exact: cargo test && ./scripts/gen.sh"],
        ),
        (&[], "unknown-tool a", &["run-exact: unknown-tool a"]),
        (&[], "cargo test && rm -rf target", &[]),
        (
            &[],
            "cargo test > log",
            &["run: cargo test", "write: /log", "write: **"],
        ),
        (&[], "cat .env", &[]),
        (&[], "npm install", &["run-exact: npm install"]),
        (&[], "FOO=1 cargo test", &["run-exact: FOO=1 cargo test"]),
    ];
    for (rules, line, expected) in table {
        assert_eq!(offers(&policy(rules), line), *expected, "{line}");
        // What is offered spares the next card.
        let mut next: Vec<&str> = rules.to_vec();
        next.extend(*expected);
        if !expected.is_empty() {
            assert_eq!(word(&policy(&next), line), "auto", "{line}");
        }
    }
}

#[test]
fn p7_rules_of_unknown_programs_cover_what_stays_in_the_project() {
    let rules = policy(&["run: mytool", "run: cargo xtask", "run: ./scripts/gen.sh"]);
    for (line, expected) in [
        ("mytool --what src/main.rs", "auto"),
        ("mytool /etc/passwd", "ask"),
        ("mytool --config=/etc/x", "ask"),
        ("mytool -I/etc/x", "ask"),
        ("mytool .env", "ask"),
        ("mytool ../x", "ask"),
        ("cargo xtask build", "auto"),
        ("cargo xtasks", "ask"),
        ("./scripts/gen.sh all", "auto"),
        ("cd src && ./scripts/gen.sh all", "ask"),
    ] {
        assert_eq!(word(&rules, line), expected, "{line}");
    }
    // The bare name of a program whose forms are known covers only those.
    assert_eq!(word(&policy(&["run: cargo"]), "cargo test"), "auto");
    assert_eq!(word(&policy(&["run: cargo"]), "cargo install x"), "ask");
    assert_eq!(word(&policy(&["run: cargo"]), "cargo what"), "ask");
}

#[test]
fn p6_reading_commands_run_where_the_sandbox_is_enforced_or_the_person_wants_it() {
    let sandboxed = in_mode(Mode::Manual, Sandbox::Enforced, &[]);
    let landlock = in_mode(Mode::Manual, Sandbox::WithoutProtected, &[]);
    let wanted = Policy {
        reading: Reading::Everywhere,
        ..policy(&[])
    };
    // In the order off, sandboxed, Landlock alone, wanted by the person.
    for (line, expected) in [
        ("ls -la src", ["ask", "auto", "auto", "auto"]),
        ("cat README.md | head -5", ["ask", "auto", "auto", "auto"]),
        ("git log --oneline -5", ["ask", "auto", "auto", "auto"]),
        ("git diff", ["ask", "auto", "ask", "ask"]),
        ("grep -rn main src", ["ask", "auto", "ask", "ask"]),
        ("rg main", ["ask", "auto", "ask", "ask"]),
        ("cat .env", ["ask", "ask", "ask", "ask"]),
        ("cat /etc/passwd", ["ask", "ask", "ask", "ask"]),
        ("ls > x", ["ask", "ask", "ask", "ask"]),
        ("sed -i s/a/b/ README.md", ["ask", "ask", "ask", "ask"]),
        ("cargo test", ["ask", "ask", "ask", "ask"]),
    ] {
        let policies = [&policy(&[]), &sandboxed, &landlock, &wanted];
        let words = policies.map(|policy| word(policy, line));
        assert_eq!(words, expected, "{line}");
    }
}

#[test]
fn p8_auto_follows_what_is_enforced() {
    let auto = |sandbox| in_mode(Mode::Auto, sandbox, &[]);
    // In the order not enforced, enforced, without protected files.
    for (line, expected) in [
        ("cargo test", ["ask", "auto", "ask"]),
        ("cargo test > log", ["ask", "auto", "ask"]),
        ("ls", ["ask", "auto", "auto"]),
        ("mkdir -p docs/new", ["ask", "auto", "auto"]),
        ("touch .envrc", ["ask", "ask", "ask"]),
        ("touch /tmp/x", ["ask", "ask", "ask"]),
        ("cat .env", ["ask", "ask", "ask"]),
        ("unknown-tool a", ["ask", "auto", "ask"]),
        ("python3 -c 'print(1)'", ["ask", "auto", "ask"]),
        ("./scripts/gen.sh", ["ask", "auto", "ask"]),
        ("git add -A && git commit -m x", ["ask", "auto", "auto"]),
        ("git config a b", ["ask", "ask", "ask"]),
        ("git push origin main", ["ask", "ask", "ask"]),
        ("git reset --hard", ["ask", "ask", "ask"]),
        ("rm -rf target", ["ask", "ask", "ask"]),
        ("npm install", ["ask", "ask", "ask"]),
        ("curl http://x", ["ask", "ask", "ask"]),
        ("docker run x", ["ask", "ask", "ask"]),
        ("sudo ls", ["ask", "ask", "ask"]),
        ("cairn allow list", ["ask", "ask", "ask"]),
        ("echo $(ls)", ["ask", "ask", "ask"]),
        ("LD_PRELOAD=./x ls", ["ask", "ask", "ask"]),
    ] {
        let sandboxes = [Sandbox::NotEnforced, Sandbox::Enforced, Sandbox::WithoutProtected];
        let words = sandboxes.map(|sandbox| word(&auto(sandbox), line));
        assert_eq!(words, expected, "{line}");
    }
    let Effect::RunCommand {
        line, workdir, facts, ..
    } = effect("cargo test")
    else {
        panic!()
    };
    let network = Effect::RunCommand {
        line,
        workdir,
        facts,
        place: Place::Inside,
        network: true,
        outside: false,
    };
    assert_eq!(word_of(&decide(&auto(Sandbox::Enforced), &[network])), "ask");
}

#[test]
fn p12_leaving_the_sandbox_asks_every_time_and_is_never_remembered() {
    let leaving = |line: &str| {
        let mut leaving = effect(line);
        if let Effect::RunCommand { outside, .. } = &mut leaving {
            *outside = true;
        }
        leaving
    };
    let rules = ["run: cargo test", "run-exact: ls", "run-exact: cargo test"];
    for line in ["ls", "cargo test", "git status", "cat README.md", "cd src"] {
        for mode in [Mode::Manual, Mode::AcceptEdits, Mode::Auto] {
            for sandbox in [Sandbox::Enforced, Sandbox::WithoutProtected] {
                let Decision::Ask(asked) = decide(&in_mode(mode, sandbox, &rules), &[leaving(line)]) else {
                    panic!("{line} in {mode:?} does not ask")
                };
                assert!(asked.offers.is_empty() && !asked.filled, "{line}: {asked:?}");
                assert!(
                    asked.why.iter().any(|why| why.contains("outside the sandbox")),
                    "{line}: {asked:?}"
                );
            }
        }
        let plan = in_mode(Mode::Plan, Sandbox::Enforced, &rules);
        assert_eq!(word_of(&decide(&plan, &[leaving(line)])), "deny", "{line}");
        let nobody = Policy {
            presence: Presence::Headless {
                approve: Approve::All,
            },
            ..in_mode(Mode::Manual, Sandbox::Enforced, &rules)
        };
        assert_eq!(word_of(&decide(&nobody, &[leaving(line)])), "deny", "{line}");
        // Where nothing holds commands in there is nothing to leave.
        let unheld = in_mode(Mode::Manual, Sandbox::NotEnforced, &rules);
        assert_eq!(
            decide(&unheld, &[leaving(line)]),
            decide(&unheld, &[effect(line)]),
            "{line}"
        );
    }
}

#[test]
fn p8_plan_passes_only_what_reads() {
    let rules = ["run: cargo test", "run-exact: ls", "write: **"];
    for (line, off, on) in [
        ("git status", "auto", "auto"),
        ("git log --oneline -5 | head -3", "auto", "auto"),
        ("git diff", "deny", "auto"),
        ("cd src && git status", "auto", "auto"),
        ("ls", "deny", "auto"),
        ("rg main src", "deny", "auto"),
        ("cat .env", "deny", "deny"),
        ("cargo test", "deny", "deny"),
        ("git commit -m x", "deny", "deny"),
        ("git status > x", "deny", "deny"),
        ("git status; touch x", "deny", "deny"),
        ("git -c a=b status", "deny", "deny"),
    ] {
        assert_eq!(
            word(&in_mode(Mode::Plan, Sandbox::NotEnforced, &rules), line),
            off,
            "{line}"
        );
        assert_eq!(
            word(&in_mode(Mode::Plan, Sandbox::Enforced, &rules), line),
            on,
            "{line}"
        );
    }
}

#[test]
fn p3_files_that_a_command_writes_are_judged_like_the_file_tools() {
    let rules = policy(&["run: touch", "run: cp", "run: mv", "run: tee", "run: mkdir"]);
    for (line, expected) in [
        ("touch docs/new", "auto"),
        ("mkdir -p docs/a/b", "auto"),
        ("cp README.md docs", "auto"),
        ("touch .git/hooks/pre-commit", "ask"),
        ("touch .envrc", "ask"),
        ("cp src/.envrc .", "ask"),
        ("mv docs/AGENTS.md .", "ask"),
        ("cp README.md link", "ask"),
        ("cp README.md /tmp/x", "ask"),
        ("mv README.md ../x", "ask"),
        ("cp .env docs/x", "ask"),
        ("cat README.md | tee docs/x", "ask"),
    ] {
        assert_eq!(word(&rules, line), expected, "{line}");
    }
    let mut denying = policy(&["run: touch", "run: cat"]);
    denying.rules.deny = crate::fixture::granted(&["write: docs/**", "read: src/main.rs"]);
    assert_eq!(word(&denying, "touch docs/new"), "deny");
    assert_eq!(word(&denying, "cat src/main.rs"), "deny");
    let mut asking = policy(&["run: touch", "run: rg"]);
    asking.rules.ask = crate::fixture::granted(&["write: docs/**", "read: src/secret/**"]);
    assert_eq!(word(&asking, "touch docs/new"), "ask");
    asking.sandbox = Sandbox::Enforced;
    assert_eq!(
        word(&asking, "rg main"),
        "ask",
        "a search beneath which a rule asks"
    );
}

#[test]
fn p7_ask_and_deny_rules_win_over_every_allowance() {
    let mut rules = in_mode(
        Mode::Auto,
        Sandbox::Enforced,
        &["run: cargo test", "run-exact: cargo test"],
    );
    rules.rules.ask = crate::fixture::granted(&["run: cargo"]);
    assert_eq!(word(&rules, "cargo test"), "ask");
    assert!(offers(&rules, "cargo test").is_empty());
    rules.rules.deny = crate::fixture::granted(&["run: cargo test"]);
    for line in [
        "cargo test",
        "timeout 5 /usr/bin/cargo test",
        "'cargo' \"test\"",
        "sh -c 'cargo test'",
    ] {
        assert_eq!(word(&rules, line), "deny", "{line}");
    }
}

#[test]
fn p10_what_runs_by_rule_is_written_down_again_and_what_was_clicked_is_not() {
    let rules = policy(&["run: cargo test"]);
    assert_eq!(
        runs(&rules, "cargo test \\\n  -- 'a b'  2>&1  # note").as_deref(),
        Some("cargo test -- 'a b' 2>&1")
    );
    let Decision::Allow { runs, .. } = decided(&policy(&["run-exact: echo  $(date)"]), "echo  $(date)")
    else {
        panic!()
    };
    assert_eq!(runs, None, "an exact line runs byte for byte");
    let headless = Policy {
        presence: Presence::Headless {
            approve: Approve::All,
        },
        ..policy(&[])
    };
    assert!(matches!(
        decided(&headless, "cargo  test"),
        Decision::Allow {
            by: Decided::Flag,
            runs: None
        }
    ));
}

#[test]
fn p9_in_a_tainted_request_rules_for_network_and_memory_ask_again() {
    let rules = [
        "host: docs.rs",
        "web_search",
        "remember",
        "run: git push",
        "run: cargo test",
        "run-exact: curl http://x",
    ];
    let clean = policy(&rules);
    let tainted = Policy {
        taint: Taint::Since(100),
        ..policy(&rules)
    };
    let host = |words| Effect::ReachHost {
        host: "docs.rs".to_owned(),
        port: 443,
        carries: Carries::Little,
        words,
    };
    let effects = [
        (host(AddressWords::Composed), "ask"),
        (host(AddressWords::Literal), "ask"),
        (Effect::SearchWeb, "ask"),
        (Effect::Remember { doubtful: false }, "ask"),
        (effect("git push origin main"), "ask"),
        (effect("curl http://x"), "ask"),
        (effect("cargo test"), "auto"),
    ];
    for (effect, expected) in effects {
        assert_eq!(
            word_of(&decide(&clean, std::slice::from_ref(&effect))),
            "auto",
            "{effect:?}"
        );
        let decision = decide(&tainted, std::slice::from_ref(&effect));
        assert_eq!(word_of(&decision), expected, "{effect:?}");
        if let Decision::Ask(asked) = decision {
            let why = asked.why.join(" ");
            assert!(why.contains("outside your machine"), "{effect:?}: {why}");
            assert!(!asked.filled, "{effect:?}");
        }
    }
    // One answer covers a host for addresses that stood in a result, none covers what the model composed.
    let mut answered = tainted.clone();
    answered.rules.allow.push(Granted {
        rule: "host: docs.rs".parse().unwrap(),
        scope: RuleScope::Request,
        origin: RuleOrigin::Card,
        at: 150,
    });
    assert_eq!(
        word_of(&decide(&answered, &[host(AddressWords::Literal)])),
        "auto"
    );
    assert_eq!(
        word_of(&decide(&answered, &[host(AddressWords::Composed)])),
        "ask"
    );
}

#[test]
fn a_rule_covers_neither_the_network_nor_a_folder_outside() {
    let line = "cargo test".to_owned();
    let with = |workdir: &str, place, network| {
        let workdir = PathBuf::from(workdir);
        Effect::RunCommand {
            facts: CommandFacts::gather(&line, &workdir, &places(), &machine()),
            line: line.clone(),
            workdir,
            place,
            network,
            outside: false,
        }
    };
    let rules = policy(&["run: cargo test"]);
    for (effect, expected) in [
        (with("/w/p", Place::Inside, false), "auto"),
        (with("/w/p/src", Place::Inside, false), "auto"),
        (with("/w/p", Place::Inside, true), "ask"),
        (with("/x", Place::Outside, false), "ask"),
        (with("/x", Place::Inside, false), "ask"),
    ] {
        assert_eq!(
            word_of(&decide(&rules, std::slice::from_ref(&effect))),
            expected,
            "{effect:?}"
        );
    }
}

#[test]
fn without_facts_nothing_runs_but_an_exact_line() {
    let bare = |line: &str| Effect::RunCommand {
        line: line.to_owned(),
        workdir: "/w/p".into(),
        place: Place::Inside,
        network: false,
        outside: false,
        facts: CommandFacts::default(),
    };
    let rules = Policy {
        sandbox: Sandbox::Enforced,
        mode: Mode::Auto,
        ..policy(&["run: cargo test", "run-exact: cargo build"])
    };
    for (line, expected) in [
        ("cargo test", "ask"),
        ("ls", "ask"),
        ("git status", "ask"),
        ("cat x", "ask"),
        ("cargo build", "auto"),
    ] {
        assert_eq!(word_of(&decide(&rules, &[bare(line)])), expected, "{line}");
    }
}

#[test]
fn a2_approve_all_covers_commands_but_no_credentials_and_nothing_outside() {
    let headless = Policy {
        presence: Presence::Headless {
            approve: Approve::All,
        },
        ..policy(&[])
    };
    for (line, expected) in [
        ("cargo test", "auto"),
        ("echo $(date)", "auto"),
        ("cat .env", "deny"),
        ("cat /etc/passwd", "deny"),
        ("ls > /tmp/x", "deny"),
        ("echo x > .git/config", "deny"),
        ("git push --force", "deny"),
        ("cairn allow reset", "deny"),
    ] {
        assert_eq!(word(&headless, line), expected, "{line}");
    }
}

#[test]
fn an_ordinary_task_asks_at_most_three_times_in_manual() {
    let mut policy = in_mode(Mode::Manual, Sandbox::Enforced, &[]);
    let places = places();
    // Two looks at the tree, three edits, three commands.
    let task = [
        effect("ls -la src"),
        effect("rg -n 'fn main' src"),
        places.write("/w/p/src/main.rs", 1),
        places.write("/w/p/src/lib.rs", 1),
        effect("cargo check"),
        places.write("/w/p/tests/a.rs", 1),
        effect("cargo test"),
        effect("cargo test 2>&1 | tail -20"),
    ];
    let mut questions = 0;
    for would in task {
        if let Decision::Ask(asked) = decide(&policy, std::slice::from_ref(&would)) {
            questions += 1;
            if asked.offers_accept_edits {
                policy.edits = cairn_policy::Edits::Accepted;
            } else {
                let offers: Vec<&str> = asked.offers.iter().map(|offer| offer.rule.as_str()).collect();
                policy.rules.allow.extend(crate::fixture::granted(&offers));
            }
            assert_eq!(word_of(&decide(&policy, &[would])), "auto");
        }
    }
    assert!(questions <= 3, "{questions} questions");
}

#[test]
fn a_card_has_a_filled_button_only_where_the_sandbox_holds_the_command() {
    let sandboxed = in_mode(Mode::Manual, Sandbox::Enforced, &[]);
    for (line, filled) in [
        ("cargo test", true),
        ("git push", false),
        ("rm -rf x", false),
        ("sudo ls", false),
        ("cat .env", false),
    ] {
        assert_eq!(asked(&sandboxed, line).filled, filled, "{line}");
    }
    assert!(!asked(&policy(&[]), "cargo test").filled);
}

#[test]
fn where_the_project_was_not_wholly_looked_through_less_is_counted_on_and_the_card_says_why() {
    let reason = "The project has too many folders to look through.";
    let in_part = |line: &str| match effect(line) {
        Effect::RunCommand {
            line,
            workdir,
            place,
            network,
            outside,
            facts,
        } => Effect::RunCommand {
            line,
            workdir,
            place,
            network,
            outside,
            facts: facts.with_looked(Looked::InPart(reason.to_owned())),
        },
        other => other,
    };
    let auto = in_mode(Mode::Auto, Sandbox::Enforced, &[]);
    for (line, whole, part) in [
        ("cargo test", "auto", "ask"),
        ("python3 x.py", "auto", "ask"),
        ("ls src", "auto", "auto"),
        ("rg -n x src", "auto", "ask"),
    ] {
        assert_eq!(word(&auto, line), whole, "{line}");
        let decision = decide(&auto, &[in_part(line)]);
        assert_eq!(word_of(&decision), part, "{line}");
        if let Decision::Ask(asked) = decision {
            assert!(
                asked.why.iter().any(|why| why == reason),
                "{line}: {:?}",
                asked.why
            );
        }
    }
    // A saved rule holds as it does without any sandbox.
    let saved = in_mode(Mode::Manual, Sandbox::Enforced, &["run: cargo test"]);
    assert_eq!(word_of(&decide(&saved, &[in_part("cargo test")])), "auto");
}
