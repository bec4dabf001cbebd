//! `glob`, SPEC T13.

use cairn_policy::{Care, Effect, Place};
use cairn_protocol::ContentBlock;
use serde_json::json;

use super::fixture::Project;

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn x50_patterns_match_at_any_depth_or_where_they_say() {
    let project = Project::with(&[
        "a.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "src/b_test.go",
        "docs/x.md",
        "src/deep/y.md",
    ]);
    for (arguments, expected) in [
        (
            json!({"pattern": "*.rs"}),
            vec!["a.rs", "src/b.rs", "src/deep/c.rs"],
        ),
        (
            json!({"pattern": "**/*.rs"}),
            vec!["a.rs", "src/b.rs", "src/deep/c.rs"],
        ),
        (json!({"pattern": "src/*.rs"}), vec!["src/b.rs"]),
        (
            json!({"pattern": "src/**/*.rs"}),
            vec!["src/b.rs", "src/deep/c.rs"],
        ),
        (json!({"pattern": "*_test*"}), vec!["src/b_test.go"]),
        (json!({"pattern": "*.md", "path": "src"}), vec!["src/deep/y.md"]),
        (
            json!({"pattern": "**/deep/**/*.{rs,md}"}),
            vec!["src/deep/c.rs", "src/deep/y.md"],
        ),
        (
            json!({"pattern": "{src,docs}/**"}),
            vec![
                "docs/x.md",
                "src/b.rs",
                "src/b_test.go",
                "src/deep/c.rs",
                "src/deep/y.md",
            ],
        ),
        (json!({"pattern": "a.rs"}), vec!["a.rs"]),
        (json!({"pattern": "c.rs"}), vec!["src/deep/c.rs"]),
        (json!({"pattern": "docs/"}), vec!["docs/x.md"]),
        (json!({"pattern": "../p/*.rs"}), vec!["a.rs"]),
        (
            json!({"pattern": project.path("src/*.rs").to_str().unwrap()}),
            vec!["src/b.rs"],
        ),
        (json!({"pattern": "nothing/*.rs"}), vec![]),
        (json!({"pattern": "*.zig"}), vec![]),
    ] {
        assert_eq!(sorted(project.found(arguments.clone())), expected, "{arguments}");
    }
}

#[test]
fn x50_newest_first_and_ties_by_path() {
    let project = Project::with(&["old.c", "mid.c", "b.c", "a.c"]);
    project.age(&["old.c", "mid.c", "b.c"]);
    let file = std::fs::File::options()
        .write(true)
        .open(project.path("a.c"))
        .unwrap();
    file.set_modified(
        std::fs::metadata(project.path("b.c"))
            .unwrap()
            .modified()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(
        project.found(json!({"pattern": "*.c"})),
        ["a.c", "b.c", "mid.c", "old.c"]
    );
}

#[test]
fn x50_no_match_is_no_error_but_an_empty_pattern_and_a_missing_base_are() {
    let project = Project::with(&["a.rs"]);
    let outcome = project.run(&project.glob(), json!({"pattern": "*.zig"}));
    assert!(outcome.ok);
    assert_eq!(outcome.note, "0 files");
    assert!(
        outcome
            .content
            .starts_with("No file matches `*.zig`. Hidden and ignored files were left out")
    );
    for (arguments, says) in [
        (json!({}), "`pattern` is missing"),
        (json!({"pattern": ""}), "The pattern is empty"),
        (json!({"pattern": "  "}), "The pattern is empty"),
        (
            json!({"pattern": "*.rs", "path": "missing"}),
            "missing does not exist",
        ),
        (json!({"pattern": "*.rs", "path": "a.rs"}), "a.rs is not a folder"),
        (json!({"pattern": "[a"}), "`[a` is not a pattern"),
        (json!({"pattern": "{a"}), "`{a` is not a pattern"),
        (json!({"pattern": "a*/../../out/x"}), "`..` after a wildcard"),
    ] {
        let message = project
            .prepare(&project.glob(), arguments.clone())
            .err()
            .unwrap()
            .message;
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn t13_ignore_files_and_hidden_names_are_left_out_until_asked_for() {
    let project = Project::with(&[
        "a.md",
        ".hidden.md",
        ".github/b.md",
        "target/c.md",
        "logs/d.md",
        "secret/e.md",
        "src/f.md",
        "src/gen/g.md",
        "src/anchored/h.md",
        ".git/config.md",
    ]);
    project.write(".gitignore", "/target/\n/src/anchored\n");
    project.write(".ignore", "logs\n");
    project.write(".cairnignore", "secret\n");
    project.write("src/.gitignore", "gen\n");
    let all = json!({"pattern": "*.md"});
    // With and without a repository it is the same.
    for repository in [false, true] {
        if repository {
            std::fs::rename(project.path("git"), project.path(".git")).unwrap();
            project.write(".git/config.md", "");
        } else {
            std::fs::rename(project.path(".git"), project.path("git")).unwrap();
            std::fs::remove_file(project.path("git/config.md")).unwrap();
        }
        assert_eq!(
            sorted(project.found(all.clone())),
            ["a.md", "src/f.md"],
            "{repository}"
        );
        assert_eq!(
            sorted(project.found(json!({"pattern": "*.md", "hidden": true}))),
            [".github/b.md", ".hidden.md", "a.md", "src/f.md"],
            "{repository}"
        );
        assert_eq!(
            sorted(project.found(json!({"pattern": "*.md", "ignored": "true"}))),
            [
                "a.md",
                "logs/d.md",
                "secret/e.md",
                "src/anchored/h.md",
                "src/f.md",
                "src/gen/g.md",
                "target/c.md"
            ],
            "{repository}"
        );
        // Rules above the base count below it.
        assert_eq!(
            sorted(project.found(json!({"pattern": "*.md", "path": "src"}))),
            ["src/f.md"],
            "{repository}"
        );
        // What is named is meant.
        for (pattern, path, expected) in [
            ("*.md", "target", "target/c.md"),
            ("target/*.md", ".", "target/c.md"),
            ("target/c.md", ".", "target/c.md"),
            ("*.md", ".github", ".github/b.md"),
            (".github/*.md", ".", ".github/b.md"),
            ("**/.hid*", ".", ".hidden.md"),
            (".hidden.md", ".", ".hidden.md"),
            ("src/gen/g.md", ".", "src/gen/g.md"),
        ] {
            let found = project.found(json!({"pattern": pattern, "path": path}));
            assert_eq!(found, [expected], "{pattern} in {path}, {repository}");
        }
    }
    // git's own store only when really everything is wanted.
    let everything = project.found(json!({"pattern": "*.md", "hidden": true, "ignored": true}));
    assert!(
        everything.contains(&".git/config.md".to_owned()),
        "{everything:?}"
    );
}

/// Set for the second run of the test below, in a process of its own: the folder to search.
const CHILD: &str = "CAIRN_TEST_GLOBAL_EXCLUDES";

#[test]
#[allow(clippy::disallowed_methods)] // The home folder is the process's: only another process can have another one.
fn t13_global_excludes_are_respected() {
    let project = Project::with(&["a.md", "b.md"]);
    if std::env::var_os(CHILD).is_some() {
        assert_eq!(project.found(json!({"pattern": "*.md"})), ["a.md"]);
        assert_eq!(
            sorted(project.found(json!({"pattern": "*.md", "ignored": true}))),
            ["a.md", "b.md"]
        );
        return;
    }
    project.write_outside("git/ignore", "b.md\n");
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "search::glob::t13_global_excludes_are_respected"])
        .env(CHILD, "1")
        .env("HOME", project.outside("home"))
        .env("XDG_CONFIG_HOME", project.outside(""))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn outside_a_repository_no_rule_above_the_project_counts() {
    let project = Project::with(&["a.md", "src/b.md"]);
    std::fs::write(project.path("").parent().unwrap().join(".gitignore"), "*\n").unwrap();
    assert_eq!(
        sorted(project.found(json!({"pattern": "*.md"}))),
        ["a.md", "src/b.md"]
    );
    assert_eq!(
        project.found(json!({"pattern": "*.md", "path": "src"})),
        ["src/b.md"]
    );
}

#[test]
fn a_project_that_is_a_folder_of_a_repository_obeys_its_rules() {
    let project = Project::with(&["a.md", "src/b.md"]);
    let above = project.path("").parent().unwrap().to_owned();
    std::fs::create_dir(above.join(".git")).unwrap();
    std::fs::write(above.join(".gitignore"), "b.md\n").unwrap();
    assert_eq!(project.found(json!({"pattern": "*.md"})), ["a.md"]);
}

#[test]
fn x51_links_inside_are_listed_and_dangling_outward_and_looping_ones_are_not() {
    let project = Project::with(&["real/a.txt", "b.txt"]);
    project.write_outside("secret.txt", "x");
    project.link("inside.txt", "real/a.txt");
    project.link("dangling.txt", "nothing.txt");
    project.link("outward.txt", project.outside("secret.txt"));
    project.link("loop.txt", "loop.txt");
    project.link("real/up", "..");
    project.link("out", project.outside(""));
    assert_eq!(
        sorted(project.found(json!({"pattern": "*.txt"}))),
        ["b.txt", "inside.txt", "real/a.txt"]
    );
    // Not even when they are named.
    for pattern in [
        "dangling.txt",
        "outward.txt",
        "loop.txt",
        "out/secret.txt",
        "[o]ut/secret.txt",
    ] {
        let prepared = project
            .prepare(&project.glob(), json!({"pattern": pattern}))
            .unwrap();
        let inside = prepared.effects.iter().all(|effect| {
            matches!(
                effect,
                Effect::ReadPath {
                    place: Place::Inside,
                    ..
                }
            )
        });
        if inside {
            assert_eq!(
                project.found(json!({"pattern": pattern})),
                Vec::<String>::new(),
                "{pattern}"
            );
        }
    }
    // Two wildcards through a loop end.
    assert_eq!(
        project.found(json!({"pattern": "**/real/**/a.txt"})),
        ["real/a.txt"]
    );
}

#[test]
fn f04_a_base_behind_a_link_is_judged_by_where_it_leads() {
    let project = Project::with(&["src/a.txt"]);
    project.write_outside("secret.txt", "x");
    project.link("out", project.outside(""));
    project.link("in", "src");
    for arguments in [
        json!({"pattern": "*.txt", "path": "out"}),
        json!({"pattern": "out/*.txt"}),
        json!({"pattern": "../out/*.txt"}),
        json!({"pattern": project.outside("*.txt").to_str().unwrap()}),
    ] {
        let prepared = project.prepare(&project.glob(), arguments.clone()).unwrap();
        let out = project.outside("").components().collect();
        let effect = Effect::ReadPath {
            path: out,
            place: Place::Outside,
            care: Care::Plain,
        };
        assert_eq!(prepared.effects, [effect], "{arguments}");
        assert!(prepared.subject.is_some());
    }
    assert_eq!(project.found(json!({"pattern": "in/*.txt"})), ["src/a.txt"]);
}

#[test]
fn g4_brackets_in_a_path_are_literal() {
    let project = Project::with(&[
        "app/[locale]/blog/[slug]/page.tsx",
        "app/[locale]/layout.tsx",
        "app/l/other.tsx",
        "[a",
        "{b}",
    ]);
    for (pattern, expected) in [
        (
            "app/[locale]/blog/[slug]/page.tsx",
            vec!["app/[locale]/blog/[slug]/page.tsx"],
        ),
        (
            "app/[locale]/**/page.tsx",
            vec!["app/[locale]/blog/[slug]/page.tsx"],
        ),
        (
            "**/[slug]/*",
            vec!["app/[locale]/blog/[slug]/page.tsx", "app/l/other.tsx"],
        ),
        ("[a", vec!["[a"]),
        ("{b}", vec!["{b}"]),
        (
            "app/[locale]/*.tsx",
            vec!["app/[locale]/layout.tsx", "app/l/other.tsx"],
        ),
    ] {
        assert_eq!(
            sorted(project.found(json!({"pattern": pattern}))),
            expected,
            "{pattern}"
        );
    }
    assert_eq!(
        project.found(json!({"pattern": "*.tsx", "path": "app/[locale]/blog"})),
        ["app/[locale]/blog/[slug]/page.tsx"]
    );
}

#[test]
fn x52_stops_at_500_and_says_so() {
    let project = Project::new();
    for number in 0..1_200 {
        project.write(&format!("d{}/f{number:04}.txt", number % 7), "");
    }
    let outcome = project.run(&project.glob(), json!({"pattern": "*.txt"}));
    assert_eq!(super::fixture::lines(&outcome).len(), 500);
    assert!(
        outcome.content.ends_with(
            "[Stopped at the newest 500 of 1200 files; 700 are left. Narrow the pattern or the path.]"
        ),
        "{}",
        outcome.content
    );
    assert_eq!(outcome.note, "1200 files");
    let [ContentBlock::Locations(locations)] = outcome.blocks.as_slice() else {
        panic!("locations")
    };
    assert_eq!((locations.files.len(), locations.omitted), (500, 700));
    // The same every time, whatever thread met what first.
    for _ in 0..5 {
        assert_eq!(
            project.run(&project.glob(), json!({"pattern": "*.txt"})).content,
            outcome.content
        );
    }
}

#[test]
fn x52_fits_the_budget() {
    let mut project = Project::new();
    for number in 0..300 {
        project.write(&format!("file-{number:04}.txt"), "");
    }
    project.budget = 1_000;
    let outcome = project.run(&project.glob(), json!({"pattern": "*.txt"}));
    assert!(outcome.content.chars().count() <= 1_000);
    let shown = super::fixture::lines(&outcome).len();
    assert!(shown > 20, "{}", outcome.content);
    assert!(
        outcome
            .content
            .contains(&format!("newest {shown} of 300 files; {} are left", 300 - shown))
    );
}

#[test]
fn f14_names_that_break_lines_are_escaped() {
    let project = Project::with(&["a\nb.txt"]);
    assert_eq!(project.found(json!({"pattern": "*.txt"})), ["a\\x0ab.txt"]);
}

#[test]
fn the_card_names_pattern_and_folder() {
    let project = Project::with(&["src/a.rs"]);
    let prepared = project
        .prepare(&project.glob(), json!({"pattern": "*.rs", "path": "src"}))
        .unwrap();
    assert_eq!(
        (prepared.title.as_str(), prepared.target.as_str()),
        ("Find", "*.rs in src")
    );
    assert_eq!(
        project.run(&project.glob(), json!({"pattern": "*.rs"})).note,
        "1 file"
    );
}

#[test]
fn a_pattern_of_one_level_walks_no_deeper() {
    let project = Project::with(&["a/x.rs", "a/b/x.rs", "a/b/c/x.rs", "x.rs"]);
    for (pattern, expected) in [
        ("a/*", vec!["a/x.rs"]),
        ("./*.rs", vec!["x.rs"]),
        ("*/x.rs", vec!["a/x.rs"]),
        ("a/*/x.rs", vec!["a/b/x.rs"]),
        ("{a/b,a}/{c,.}/x.rs", vec!["a/b/c/x.rs"]),
        ("a/**", vec!["a/b/c/x.rs", "a/b/x.rs", "a/x.rs"]),
    ] {
        let mut found = project.found(json!({ "pattern": pattern, "hidden": true }));
        found.sort();
        assert_eq!(found, expected, "{pattern}");
    }
    // Rules that cannot be read are counted where they are met: below the level that can match they never are.
    project.write("a/b/.gitignore", "#".repeat(20_000_000));
    for (pattern, met) in [("a/*", false), ("a/*/*", true)] {
        let outcome = project.run(&project.glob(), json!({ "pattern": pattern }));
        let said = outcome.content.contains("could not be looked at");
        assert_eq!(said, met, "{pattern}: {}", outcome.content);
    }
}
