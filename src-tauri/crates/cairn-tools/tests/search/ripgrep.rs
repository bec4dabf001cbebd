//! X54: the same answers as the `rg` program, as sets, on random trees. Skipped where there is no `rg`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::json;

use super::fixture::{Project, lines};

/// What `rg` prints in that folder, without any configuration of its own.
#[allow(clippy::disallowed_methods)] // The peer that we are compared with is a program; only tests start it.
fn rg(folder: &Path, arguments: &[&str]) -> Option<BTreeSet<String>> {
    let output = Command::new("rg")
        .args([
            "--no-config",
            "--color=never",
            "--no-heading",
            "--crlf",
            "--no-messages",
        ])
        .args(arguments)
        .current_dir(folder)
        .env_remove("RIPGREP_CONFIG_PATH")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    Some(
        text.lines()
            .map(|line| line.strip_prefix("./").unwrap_or(line).to_owned())
            .collect(),
    )
}

fn has_rg() -> bool {
    let there = rg(Path::new("/"), &["--version"]).is_some();
    if !there {
        println!("skipped: there is no rg here");
    }
    there
}

/// How the lines of a file end; ignore files are written by people on all systems, too.
fn line_end() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["\n", "\n", "\r\n"])
}

/// A tree: folders, files with a few lines, ignore files. It is a repository, because only there do both obey
/// `.gitignore`.
fn tree() -> impl Strategy<Value = Vec<(String, String)>> {
    let folder = prop::sample::select(vec![
        "",
        "src/",
        "src/deep/",
        "lib/",
        "[id]/",
        ".hidden/",
        "target/",
        "a b/",
    ]);
    let name = prop::sample::select(vec![
        "a.rs",
        "b.rs",
        "c.txt",
        "d_test.go",
        ".dot.rs",
        "e",
        "ü.md",
        "log.txt",
    ]);
    let line = prop::sample::select(vec![
        "alpha beta",
        "beta",
        "  gamma(alpha)",
        "",
        "Alpha",
        "a.b",
        "axb",
        "ünïcode alpha",
        "\tindented",
        "alpha alpha",
        "x".repeat(20).leak(),
    ]);
    // Some files have no line end at their end.
    let content = (prop::collection::vec(line, 0..8), line_end(), any::<bool>()).prop_map(
        |(lines, end, ended): (Vec<&str>, &str, bool)| {
            let text = lines.join(end);
            if ended { text + end } else { text }
        },
    );
    let file = (folder, name, content)
        .prop_map(|(folder, name, content): (&str, &str, String)| (format!("{folder}{name}"), content));
    let ignore = (
        prop::sample::select(vec![
            ".gitignore",
            ".ignore",
            "src/.gitignore",
            "src/deep/.ignore",
        ]),
        prop::collection::vec(
            prop::sample::select(vec![
                "target",
                "*.txt",
                "!c.txt",
                "/src/deep",
                "deep/",
                "b.rs",
                "!b.rs",
                "**/e",
                "src/*.rs",
                "# no",
                "\\[id\\]",
                "!.dot.rs",
                "!.hidden/",
                "*",
                "!src/",
                "/*.md",
                "b.rs ",
                "!/lib/*.rs",
                "lib/",
                "\\!a.rs",
                "",
            ]),
            0..4,
        ),
        line_end(),
    )
        .prop_map(|(name, rules, end)| (name.to_owned(), rules.join(end) + end));
    (
        prop::collection::vec(file, 1..25),
        prop::collection::vec(ignore, 0..3),
        prop::option::of(prop::sample::select(vec![
            "src/.git/",
            "src/deep/.git/",
            "lib/.git/",
        ])),
    )
        .prop_map(|(files, ignores, inner)| {
            let inner = inner.map(|folder| (folder.to_owned(), String::new()));
            files.into_iter().chain(ignores).chain(inner).collect()
        })
}

fn project(files: &[(String, String)]) -> Project {
    let project = Project::new();
    std::fs::create_dir(project.path(".git")).unwrap();
    for (name, content) in files {
        if name.ends_with('/') {
            std::fs::create_dir_all(project.path(name)).unwrap();
        } else {
            project.write(name, content);
        }
    }
    project
}

fn set(lines: Vec<String>) -> BTreeSet<String> {
    lines.into_iter().collect()
}

#[test]
fn x54_grep_finds_what_rg_finds() {
    if !has_rg() {
        return;
    }
    let pattern = prop::sample::select(vec![
        "alpha",
        "Alpha",
        "beta$",
        "^beta",
        "a.b",
        r"\balpha\b",
        "alpha|beta",
        r"\w+\(",
        "x{10,}",
        "",
        "ü",
        "[[:upper:]]",
        "^$",
        r"\s",
    ]);
    let glob = prop::option::of(prop::sample::select(vec![
        "*.rs",
        "!*.rs",
        "src/**",
        "*.{txt,go}",
        "**/deep/*",
    ]));
    let way = (
        any::<bool>(),
        any::<bool>(),
        0_u8..3,
        prop::sample::select(vec!["."]),
    );
    let mut runner = TestRunner::new(Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&(tree(), pattern, glob, way), |(files, pattern, glob, (insensitive, literal, context, path))| {
            let project = project(&files);
            let folder = project.path("");
            if pattern.is_empty() || !folder.join(path).is_dir() {
                return Ok(());
            }
            let context = context.to_string();
            let mut arguments = vec!["-n", "--crlf", "-C", context.as_str()];
            arguments.extend(insensitive.then_some("-i"));
            arguments.extend(literal.then_some("-F"));
            // A glob given to rg overrides hidden names and, where it includes, ignore rules; ours only narrows.
            arguments.extend(["-e", pattern, path]);
            let mut expected = rg(&folder, &arguments).unwrap();
            if let Some(glob) = glob {
                let among: BTreeSet<String> = globbed(&folder, glob, path);
                expected.retain(|line| among.iter().any(|file| is_of(line, file)));
            }
            expected.remove("--");
            let mut call = json!({
                "pattern": pattern, "case_insensitive": insensitive, "literal": literal, "context": context, "path": path
            });
            if let Some(glob) = glob {
                call["glob"] = json!(glob);
            }
            let outcome = project.run(&project.grep(), call.clone());
            let mut found = set(lines(&outcome));
            found.remove("--");
            if found.len() < 250 {
                prop_assert_eq!(found, expected, "{}\n{}", call, outcome.content);
            }
            Ok(())
        })
        .unwrap();
}

/// The files that a glob means, of those that rg would search.
fn globbed(folder: &Path, glob: &str, path: &str) -> BTreeSet<String> {
    let all = rg(folder, &["--files", path]).unwrap();
    let (others, pattern) = glob.strip_prefix('!').map_or((false, glob), |rest| (true, rest));
    let matching = rg(
        folder,
        &["--files", "--no-ignore", "--hidden", "-g", pattern, path],
    )
    .unwrap();
    let below = rg(
        &folder.join(path),
        &["--files", "--no-ignore", "--hidden", "-g", pattern, "."],
    )
    .unwrap();
    let is_in = |file: &String| {
        matching.contains(file) || below.contains(file.strip_prefix(&format!("{path}/")).unwrap_or(file))
    };
    all.into_iter().filter(|file| is_in(file) != others).collect()
}

fn is_of(line: &str, file: &str) -> bool {
    line.strip_prefix(file)
        .is_some_and(|rest| rest.starts_with([':', '-']))
}

#[test]
fn x54_glob_finds_what_rg_finds() {
    if !has_rg() {
        return;
    }
    let pattern = prop::sample::select(vec![
        "*.rs",
        "**/*.rs",
        "src/*.rs",
        "src/**/*.rs",
        "*",
        "**",
        "*.{rs,txt}",
        "?",
        "**/deep/**",
        "*_test*",
        "[a-c].rs",
        "lib/**",
        "*ü*",
        "a b/*",
    ]);
    let mut runner = TestRunner::new(Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(
            &(tree(), pattern, any::<bool>(), any::<bool>()),
            |(files, pattern, hidden, ignored)| {
                let project = project(&files);
                let folder = project.path("");
                let mut arguments = vec!["--files"];
                arguments.extend(hidden.then_some("--hidden"));
                arguments.extend(ignored.then_some("--no-ignore"));
                let mut expected = rg(&folder, &arguments).unwrap();
                let matching = rg(&folder, &["--files", "--no-ignore", "--hidden", "-g", pattern]).unwrap();
                expected.retain(|file| matching.contains(file));
                let call = json!({"pattern": pattern, "hidden": hidden, "ignored": ignored});
                let found = set(project.found(call.clone()));
                prop_assert_eq!(found, expected, "{}", call);
                Ok::<(), TestCaseError>(())
            },
        )
        .unwrap();
}
