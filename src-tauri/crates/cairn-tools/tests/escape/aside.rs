//! Protected files that a command makes do not stay. Case F12.

use std::time::{Duration, Instant};

use cairn_exec::Layer;
use cairn_policy::{Care, Effect, Place};
use serde_json::json;

use crate::ground::{Ground, as_a_person};

#[test]
fn f12_protected_files_that_a_command_makes_are_set_aside_and_told() {
    as_a_person(
        "aside::f12_protected_files_that_a_command_makes_are_set_aside_and_told",
        None,
        set_aside,
    );
}

#[test]
fn f12_they_are_set_aside_within_landlock_alone() {
    as_a_person(
        "aside::f12_they_are_set_aside_within_landlock_alone",
        Some("landlock"),
        set_aside,
    );
}

fn set_aside(layer: Layer) {
    let ground = Ground::new(layer);
    for (line, name) in [
        ("echo evil > .mcp.json", ".mcp.json"),
        (
            "mkdir -p .github/workflows && echo evil > .github/workflows/x.yml",
            ".github/workflows",
        ),
        (
            "mkdir -p new/deep && echo evil > new/deep/.envrc",
            "new/deep/.envrc",
        ),
        ("ln -s /bin/true CLAUDE.md", "CLAUDE.md"),
        (
            "mkdir -p .git/info && echo '* filter=x' > .git/info/attributes",
            ".git/info/attributes",
        ),
        ("echo x > .git/config.worktree", ".git/config.worktree"),
        (
            "git init -q own && git -C own config core.fsmonitor ./x",
            "own/.git/config",
        ),
        ("echo evil > .MCP.json", ".MCP.json"),
        // Its settings would change by the second name once they are kept.
        (
            "git init -q linked && ln linked/.git/config second",
            "linked/.git/config",
        ),
    ] {
        let ended = ground.run(line);
        assert!(
            ended.content.contains(&format!("[{name} appeared")),
            "{line}\n{}",
            ended.content
        );
        assert!(ended.note.contains("set aside"), "{}", ended.note);
        let path = ground.project().join(name);
        assert!(path.symlink_metadata().is_err(), "{line}: it is still there");
    }
    let kept = std::fs::read_to_string(ground.aside().join("1/.mcp.json")).unwrap();
    assert_eq!(kept, "evil\n");
    // What was there, what a tool of ours wrote, and everything else stays.
    let ended = ground.run("echo more > ordinary; echo x > sub/Makefile");
    assert!(!ended.content.contains("set aside"), "{}", ended.content);
    assert!(ground.project().join("AGENTS.md").exists());
    in_the_background(&ground);
    links_lead_nowhere(&ground);
}

fn in_the_background(ground: &Ground) {
    let line = "sleep 0.4; echo evil > .mcp.json; sleep 20";
    let started = ground.call(json!({"command": line, "background": true}));
    assert!(started.ok, "{}", started.content);
    let made = ground.project().join(".mcp.json");
    let until = Instant::now() + Duration::from_secs(10);
    while !made.exists() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = ground.run("true");
    assert!(ended.content.contains("[.mcp.json appeared"), "{}", ended.content);
    assert!(!made.exists());
    told_when_output_is_asked_for(ground);
}

/// Whoever looks at what a command in the background prints is told as well.
fn told_when_output_is_asked_for(ground: &Ground) {
    let line = "echo evil > .envrc; echo made; sleep 20";
    let started = ground.call(json!({"command": line, "background": true}));
    let made = ground.project().join(".envrc");
    // What was made before the answer was given is told with it.
    if !started.content.contains("[.envrc appeared") {
        let until = Instant::now() + Duration::from_secs(10);
        while !made.exists() {
            assert!(Instant::now() < until, "{}", started.content);
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(ground.output_of_last().contains("[.envrc appeared"));
    }
    std::fs::write(&made, "evil").unwrap();
    let told = ground.output_of_last();
    assert!(told.contains("[.envrc appeared") && !made.exists(), "{told}");
}

/// A link that a command made is followed by the file tools to where it leads, and that is judged.
fn links_lead_nowhere(ground: &Ground) {
    ground.run("ln -s $HOME/.ssh/id_ed25519 innocent.txt; ln -s $OTHER there");
    for (path, care) in [("innocent.txt", Care::Credential), ("there/file", Care::Plain)] {
        let real = ground.workspace.resolve(path).unwrap().real;
        let Effect::ReadPath {
            place, care: found, ..
        } = ground.workspace.reads(&real)
        else {
            panic!("a read")
        };
        assert_eq!((place, found), (Place::Outside, care), "{path}");
        let Effect::WritePath { place, .. } = ground.workspace.writes(&real, 1) else {
            panic!("a write")
        };
        assert_eq!(place, Place::Outside, "{path}");
    }
}
