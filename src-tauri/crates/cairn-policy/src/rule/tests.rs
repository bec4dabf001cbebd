//! The text form: what is read, what is refused and why, and that printing and reading agree.

use std::path::Path;

use proptest::prelude::*;

use super::glob::LetterCase;
use super::{ExactLine, PathGlob, Rule};

fn rule(text: &str) -> Rule {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn rules_are_printed_in_one_form() {
    let table = [
        ("run: cargo test", "run: cargo test"),
        ("run:cargo   test", "run: cargo test"),
        ("run: 'my tool' \"a b\" it\\'s", "run: 'my tool' 'a b' 'it'\\''s'"),
        ("run: echo '$HOME' ''", "run: echo '$HOME' ''"),
        ("run-exact: cargo test && ls  ", "run-exact: cargo test && ls  "),
        ("run-exact:ls", "run-exact: ls"),
        ("run-exact:  ls", "run-exact:  ls"),
        ("run-exact: a\tb", "run-exact: a\tb"),
        ("read: fixtures/**", "read: fixtures/**"),
        ("write:  src/  ", "write: src/"),
        ("write: **", "write: **"),
        ("host: Docs.RS", "host: docs.rs"),
        ("host: *.docs.rs:8443", "host: *.docs.rs:8443"),
        ("host: docs.rs:443", "host: docs.rs"),
        ("mcp: github/create_issue", "mcp: github/create_issue"),
        ("web_search", "web_search"),
        (" remember ", "remember"),
    ];
    for (text, printed) in table {
        assert_eq!(rule(text).to_string(), printed);
    }
}

#[test]
fn what_is_no_rule_says_what_was_expected() {
    let table = [
        ("", "expected `run:`"),
        ("allow: x", "`allow` is no kind of rule"),
        ("cargo test", "`cargo test` is no kind of rule"),
        ("run:", "`run:` needs a program"),
        ("run: cargo test && ls", "characters with a meaning to the shell"),
        ("run: $(ls)", "characters with a meaning to the shell"),
        ("run: FOO=1 cargo", "begins with an assignment"),
        ("run: 'cargo", "a quote is not closed"),
        ("run: cargo \\", "ends in a backslash"),
        ("run: \"$HOME\"", "use single ones"),
        ("run: ''", "the program has no name"),
        ("run-exact: ", "`run-exact:` needs a command line"),
        ("run-exact: ls\ntouch x", "line break"),
        ("run-exact: ls \u{202e}x", "invisible"),
        ("run-exact: ls\rx", "line break"),
        ("read: ", "`read:` needs a path pattern"),
        ("write: !src", "takes away from a list"),
        ("write: ../x", "begin at the project folder"),
        ("write: a/../../x", "begin at the project folder"),
        ("write: /", "names no file"),
        ("write: [a", "cannot be read"),
        ("host: https://docs.rs", "leave out `http://`"),
        ("host: docs.rs/path", "between dots"),
        ("host: bücher.example", "xn--"),
        ("host: *.rs", "too many"),
        ("host: a.*.rs", "between dots"),
        ("host: docs.rs:0", "port from 1"),
        ("host: docs.rs:+80", "port from 1"),
        ("host: -a.rs", "between dots"),
        ("mcp: github", "`server/tool`"),
        ("mcp: a/b/c", "`server/tool`"),
        ("web_search: x", "stands alone"),
        ("remember:", "stands alone"),
    ];
    for (text, expected) in table {
        let error = text.parse::<Rule>().expect_err(text).to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    assert!(
        format!("run-exact: {}", "a".repeat(9_000))
            .parse::<Rule>()
            .is_err()
    );
}

#[test]
fn path_patterns_follow_gitignore() {
    let table = [
        ("*.rs", "a.rs", true),
        ("*.rs", "src/deep/a.rs", true),
        ("*.rs", "a.rs.bak", false),
        ("/*.rs", "src/a.rs", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/b/a.rs", false),
        ("src/*.rs", "x/src/a.rs", false),
        ("src/**", "src/b/c.rs", true),
        ("src/**", "srcs/b", false),
        ("**/test/**", "a/test/b", true),
        ("docs", "docs/a/b.md", true),
        ("docs", "x/docs/b.md", true),
        ("/docs", "x/docs/b.md", false),
        ("docs/", "docs/a.md", true),
        ("docs/", "docs", false),
        ("**", "anything/at/all", true),
        ("/README.md", "README.md", true),
        ("/README.md", "sub/README.md", false),
        ("a[0-9].txt", "a7.txt", true),
        ("app/\\[id\\]/page.tsx", "app/[id]/page.tsx", true),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", false),
        ("x{a,b}", "x{a,b}", true),
        ("x{a,b}", "xa", false),
        ("Src/*", "src/a", false),
        ("?.md", "a.md", true),
        ("\\!a", "!a", true),
    ];
    for (pattern, path, covers) in table {
        let Rule::Write(glob) = rule(&format!("write: {pattern}")) else {
            panic!("not a write rule")
        };
        assert_eq!(
            glob.covers(Path::new(path), LetterCase::Counts),
            covers,
            "{pattern} on {path}"
        );
    }
}

#[test]
fn meanings_are_plain() {
    let table = [
        ("write: **", "Changing any file inside the project"),
        ("write: /src/a.rs", "Changing src/a.rs only"),
        ("write: /app/\\[id\\].ts", "Changing app/[id].ts only"),
        ("read: *.snap", "Reading files that match *.snap"),
        ("run-exact: ls", "Exactly this command line"),
        (
            "run: cargo test",
            "Commands that begin with `cargo test`; they run code from this project",
        ),
        ("run: ls", "Commands that begin with `ls`"),
    ];
    for (text, meaning) in table {
        assert_eq!(rule(text).meaning(), meaning);
    }
}

#[test]
fn an_exact_line_is_one_seen_line() {
    assert!(ExactLine::new("cargo test").is_ok());
    for line in ["", "   ", "a\nb", "a\rb", "a\u{200b}b", "a\0b", "a\u{1b}[2Kb"] {
        assert!(ExactLine::new(line).is_err(), "{line:?}");
    }
}

/// Pieces of rules, and noise.
fn any_rule_text() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "run",
        "run-exact",
        "read",
        "write",
        "host",
        "mcp",
        "web_search",
        "remember",
        "x",
    ]);
    let piece = prop_oneof![
        4 => "[ -~]{0,12}",
        2 => prop::sample::select(vec!["src", "/", "**", "*.rs", "\\", "'", "\"", " ", "[a]", "{", "docs.rs", ":8080", "cargo test", "é", "\t"]).prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
    ];
    (
        kind,
        prop::sample::select(vec!["", ":", ": "]),
        prop::collection::vec(piece, 0..5),
    )
        .prop_map(|(kind, colon, pieces)| format!("{kind}{colon}{}", pieces.concat()))
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(text in any_rule_text()) {
        if let Ok(rule) = text.parse::<Rule>() {
            let printed = rule.to_string();
            let again: Result<Rule, _> = printed.parse();
            prop_assert_eq!(again.as_ref(), Ok(&rule), "{:?} printed as {:?}", text, printed);
            prop_assert!(!rule.meaning().is_empty());
        }
    }

    #[test]
    fn an_exact_rule_holds_its_line_byte_for_byte(line in "[ -~\t]{0,40}") {
        if let Ok(exact) = ExactLine::new(&line) {
            let rule = Rule::RunExact(exact);
            let again: Result<Rule, _> = rule.to_string().parse();
            prop_assert_eq!(again.as_ref(), Ok(&rule));
            let Rule::RunExact(exact) = &rule else { unreachable!() };
            prop_assert_eq!(exact.as_str(), line.as_str());
        }
    }

    #[test]
    fn the_pattern_of_a_path_covers_that_path_and_no_sibling(path in "[a-zA-Z0-9_.\\[\\]{}*?! \\\\é-]{1,12}(/[a-z\\[\\]*]{1,6}){0,3}") {
        let plain = Path::new(&path);
        let walks = path.split('/').any(|part| matches!(part, "." | ".."));
        if let Some(glob) = PathGlob::of_path(plain) {
            prop_assert!(glob.covers(plain, LetterCase::Counts), "{glob} does not cover {path:?}");
            prop_assert!(glob.is_literal());
            let longer = format!("{path}x");
            prop_assert!(!glob.covers(Path::new(&longer), LetterCase::Counts));
            // A folder that the path cannot begin with: a pattern that names a folder covers what is in it.
            let deeper = format!("ü/{path}");
            prop_assert!(!glob.covers(Path::new(&deeper), LetterCase::Counts));
        } else {
            prop_assert!(walks || super::has_hidden(&path) , "no pattern for {path:?}");
        }
    }
}

proptest! {
    /// Whoever walks a tree may leave out a folder only if nothing in it is barred.
    #[test]
    fn a_folder_that_holds_something_barred_is_looked_into(
        pattern in "/?([a-cA-C*?]{1,3}|\\*\\*|\\[ab\\])(/([a-c*]{1,2}|\\*\\*)){0,3}/?",
        path in "[a-cA-C]{1,3}(/[a-c]{1,2}){0,3}",
    ) {
        if let Ok(Rule::Read(glob)) = format!("read: {pattern}").parse::<Rule>() {
            let path = Path::new(&path);
            if glob.covers(path, LetterCase::Ignored) {
                for folder in path.ancestors().skip(1) {
                    prop_assert!(
                        glob.may_cover_beneath(folder) || glob.covers(folder, LetterCase::Ignored),
                        "{pattern} covers {} and {} is left out", path.display(), folder.display()
                    );
                }
            }
        }
    }
}

#[test]
fn folders_that_hold_nothing_barred_are_left_out() {
    for (pattern, folder, may) in [
        ("secrets/keys/*.txt", "src", false),
        ("secrets/keys/*.txt", "secrets", true),
        ("secrets/keys/*.txt", "Secrets/Keys/deep", true),
        ("secrets/keys/*.txt", "secrets/other", false),
        ("/secrets", "src", false),
        ("/sec*", "src", true),
        ("*.txt", "src/deep", true),
        ("node_modules/a/b", "node_modules", true),
        ("src/**/x", "target", false),
    ] {
        let Ok(Rule::Read(glob)) = format!("read: {pattern}").parse::<Rule>() else {
            panic!("{pattern}")
        };
        assert_eq!(
            glob.may_cover_beneath(Path::new(folder)),
            may,
            "{pattern} {folder}"
        );
    }
}
