//! Patterns and rule files that nobody means.

use std::time::{Duration, Instant};

use serde_json::json;

use super::fixture::Project;

#[test]
fn t13_t14_patterns_of_any_shape_are_answered_in_time() {
    let project = Project::with(&["a.rs", "b.txt"]);
    let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
    let begun = Instant::now();
    for pattern in [
        "{a,b}".repeat(40),
        "{a,b}".repeat(800),
        nested(100),
        nested(2_000),
        "{{{,},},}".repeat(200),
        "**/".repeat(1_300) + "x",
        "*a".repeat(1_900),
        "[".repeat(4_000),
        "[!".repeat(2_000),
        "\\".repeat(4_001),
        "?".repeat(4_000),
        "[a-\u{10ffff}]*".to_owned(),
        "a\0b".to_owned(),
        "a\nb".to_owned(),
    ] {
        let shown: String = pattern.chars().take(12).collect();
        for outcome in [
            project
                .prepare(&project.glob(), json!({ "pattern": pattern }))
                .map(|_| project.run(&project.glob(), json!({ "pattern": pattern }))),
            project
                .prepare(&project.grep(), json!({ "pattern": "a", "glob": pattern }))
                .map(|_| project.run(&project.grep(), json!({ "pattern": "a", "glob": pattern }))),
        ] {
            let told = outcome.map_or_else(|error| error.message, |outcome| outcome.content);
            assert!(told.len() < 20_000, "{shown}: {} bytes", told.len());
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn t14_what_the_engine_does_not_have_is_named() {
    let project = Project::with(&["a.rs"]);
    for (pattern, says) in [
        ("(?<=a)b", "look-around"),
        ("(?=a)b", "look-around"),
        (r"(a)\1", "backreferences are not supported"),
        ("a{99999999999}", "decimal literal"),
        ("a{5,2}", "range"),
        (r"\p{Nothing}", "property"),
        ("[z-a]", "range"),
    ] {
        let message = project
            .prepare(&project.grep(), json!({ "pattern": pattern }))
            .err()
            .unwrap()
            .message;
        assert!(
            message.contains(says) && message.contains('^'),
            "{pattern}: {message}"
        );
    }
}

#[test]
fn t13_rules_with_any_line_end_mark_and_negation_mean_the_same() {
    let names = [
        "keep.log",
        "a.log",
        "lib/a.log",
        "lib/keep.log",
        "out/x.rs",
        "out/y.rs",
        "b.rs",
    ];
    let rules = ["*.log", "!keep.log", "out/*", "!out/y.rs", "# b.rs", ""];
    for (mark, end) in [
        ("", "\n"),
        ("", "\r\n"),
        ("\u{feff}", "\n"),
        ("\u{feff}", "\r\n"),
        ("", " \n"),
    ] {
        let project = Project::with(&names);
        project.write(".cairnignore", format!("{mark}{}", rules.join(end)));
        let mut found = project.found(json!({ "pattern": "**" }));
        found.sort();
        assert_eq!(
            found,
            ["b.rs", "keep.log", "lib/keep.log", "out/y.rs"],
            "{mark:?} {end:?}"
        );
    }
}
