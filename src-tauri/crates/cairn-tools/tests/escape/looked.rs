//! A project that cannot be looked through as a whole: it is said, and what was judged by more than there is does not
//! run. SPEC P12.

use cairn_agent::tool::Prepared;
use cairn_exec::Layer;
use cairn_policy::{Effect, Looked, Sandbox};
use serde_json::json;

use crate::ground::{Ground, as_a_person};

/// What the gate is told that holds the command in.
fn held(prepared: &Prepared) -> (Sandbox, Looked) {
    let [Effect::RunCommand { facts, .. }] = &prepared.effects[..] else {
        panic!("{:?}", prepared.effects)
    };
    (facts.held_by(Sandbox::Enforced), facts.looked().clone())
}

#[test]
fn p12_a_project_beyond_the_limit_is_not_counted_as_protected() {
    as_a_person(
        "looked::p12_a_project_beyond_the_limit_is_not_counted_as_protected",
        Some("bubblewrap"),
        |layer| {
            let small = Ground::new(layer.clone());
            let command = || json!({ "command": "true" });
            assert_eq!(
                held(&small.prepare(command())),
                (Sandbox::Enforced, Looked::Whole)
            );
            let large = Ground::with(layer, &[], |bounds| bounds.looking_at(3));
            let (sandbox, Looked::InPart(reason)) = held(&large.prepare(command())) else {
                panic!("it was not wholly looked through")
            };
            assert_eq!(sandbox, Sandbox::WithoutProtected);
            assert!(reason.contains("more than 3 folders"), "{reason}");
            // Asked about, it runs, and nothing new has to be said.
            let ended = large.call(command());
            assert!(
                ended.ok && !ended.content.contains("Since this"),
                "{}",
                ended.content
            );
        },
    );
}

#[test]
fn p12_what_was_judged_by_the_whole_project_does_not_run_when_it_has_become_too_large() {
    as_a_person(
        "looked::p12_what_was_judged_by_the_whole_project_does_not_run_when_it_has_become_too_large",
        Some("bubblewrap"),
        |layer| {
            let ground = Ground::with(layer, &[("PATH", "/usr/bin:/bin".to_owned())], |bounds| {
                bounds.looking_at(40)
            });
            let judged = ground.prepare(json!({ "command": "echo ran > ran" }));
            assert_eq!(held(&judged).1, Looked::Whole);
            for number in 0..40 {
                std::fs::create_dir(ground.project().join(number.to_string())).unwrap();
            }
            let ended = ground.execute(judged);
            assert!(
                !ended.ok && ended.content.contains("was not run"),
                "{}",
                ended.content
            );
            assert!(!ground.project().join("ran").exists());
            // The next call is judged by what is known now.
            let again = ground.prepare(json!({ "command": "echo ran > ran" }));
            assert_eq!(held(&again).0, Sandbox::WithoutProtected);
            assert!(ground.execute(again).ok);
        },
    );
}

/// Lines that make a place which cannot be looked into, and one that then writes to what is protected there.
const SHUT: &[(&str, &str)] = &[
    (
        "mkdir made && echo x > made/.envrc && chmod 0 made",
        "chmod 700 made",
    ),
    ("chmod 300 sub", "echo evil >> sub/deep/AGENTS.md"),
    ("chmod 600 low", "chmod 700 low && cat low/inner/.env"),
];

#[test]
fn p12_what_a_command_shuts_is_told_and_stays_as_it_is() {
    as_a_person(
        "looked::p12_what_a_command_shuts_is_told_and_stays_as_it_is",
        Some("bubblewrap"),
        |layer| {
            for (shuts, writes) in SHUT {
                shut(layer.clone(), shuts, writes);
            }
        },
    );
}

fn shut(layer: Layer, shuts: &str, writes: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = Ground::new(layer);
    let ended = ground.run(shuts);
    assert!(
        ended.content.contains("cannot be looked into"),
        "{shuts}\n{}",
        ended.content
    );
    let next = ground.prepare(json!({ "command": writes }));
    assert_eq!(held(&next).0, Sandbox::WithoutProtected, "{shuts}");
    let ended = ground.execute(next);
    let refused = ["Read-only file system", "Permission denied"];
    assert!(
        refused.iter().any(|said| ended.content.contains(said)) && !ended.content.contains("CANARY"),
        "{shuts}; {writes}\n{}",
        ended.content
    );
    for name in ["made", "sub", "low"] {
        let path = ground.project().join(name);
        if path.exists() {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
    let there = std::fs::read_to_string(ground.project().join("sub/deep/AGENTS.md")).unwrap();
    assert_eq!(there, "x");
}

#[test]
fn p12_a_path_that_is_too_long_to_be_looked_into_is_told() {
    as_a_person(
        "looked::p12_a_path_that_is_too_long_to_be_looked_into_is_told",
        Some("bubblewrap"),
        |layer| {
            let ground = Ground::new(layer);
            let line = "n=$(printf 'n%.0s' $(seq 200)); for i in $(seq 30); do mkdir $n && cd -P $n || exit 1; done; echo evil > .envrc";
            let ended = ground.run(line);
            assert!(
                ended.content.contains("cannot be looked into"),
                "{}",
                ended.content
            );
            let next = ground.prepare(json!({ "command": "true" }));
            assert_eq!(held(&next).0, Sandbox::WithoutProtected);
            ground.run("python3 -c 'import shutil; shutil.rmtree(\"n\" * 200)' || rm -rf nnn*");
        },
    );
}

#[test]
fn p12_a_protected_file_with_a_second_name_is_not_counted_as_protected() {
    as_a_person(
        "looked::p12_a_protected_file_with_a_second_name_is_not_counted_as_protected",
        Some("bubblewrap"),
        |layer| {
            let ground = Ground::new(layer);
            let project = ground.project();
            std::fs::hard_link(project.join(".git/hooks/post-merge"), project.join("second")).unwrap();
            let (sandbox, Looked::InPart(reason)) = held(&ground.prepare(json!({ "command": "true" })))
            else {
                panic!("it counts as protected")
            };
            assert_eq!(sandbox, Sandbox::WithoutProtected);
            assert!(reason.contains("post-merge has more than one name"), "{reason}");
        },
    );
}
