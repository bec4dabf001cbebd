//! What is said at the end of a request when something does not fit together. SPEC L6.
//!
//! Pure. Owns: what counts as code, as a check, as a claim. Must never know: how it is shown.

/// What a request did, as far as nudges look at it.
#[derive(Clone, Debug, Default)]
pub struct Deeds<'a> {
    /// Files that were changed.
    pub changed: Vec<&'a str>,
    /// Commands that ran well after the last change.
    pub ran: Vec<&'a str>,
    /// Something was denied or skipped.
    pub refused: bool,
    /// The last words of the model.
    pub said: &'a str,
}

/// Something that does not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// Code was changed and nothing shows whether it works.
    Unchecked,
    /// Success is claimed, and something was denied.
    ClaimAfterDenial,
}

impl Nudge {
    /// Its stable name.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unchecked => "nudge_unchecked",
            Self::ClaimAfterDenial => "nudge_claim",
        }
    }

    /// In words, for the person and, with the next message, for the model.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unchecked => {
                "Code was changed, and nothing was run after it that would show whether it works."
            }
            Self::ClaimAfterDenial => {
                "Something was denied or skipped in this request: whatever the reply says, that did not happen."
            }
        }
    }
}

/// All that is to be said.
pub fn nudges(deeds: &Deeds<'_>) -> Vec<Nudge> {
    let mut all = Vec::new();
    let kinds: Vec<Kind> = deeds.changed.iter().filter_map(|path| kind_of(path)).collect();
    if !kinds.is_empty() {
        let is_checked = |kind: &Kind| {
            deeds
                .ran
                .iter()
                .any(|line| is_check(line) || (*kind == Kind::Compiled && builds(line)))
        };
        if !kinds.iter().all(is_checked) {
            all.push(Nudge::Unchecked);
        }
    }
    if deeds.refused && claims_success(deeds.said) {
        all.push(Nudge::ClaimAfterDenial);
    }
    all
}

/// What running a file's program shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It is compiled first: a run that begins has been checked.
    Compiled,
    /// What is not reached by a run is not looked at.
    Interpreted,
}

const COMPILED: &[&str] = &[
    "rs", "go", "c", "h", "cc", "cpp", "cxx", "hpp", "java", "kt", "swift", "cs", "scala", "zig", "hs", "ml",
    "fs", "dart",
];
const INTERPRETED: &[&str] = &[
    "py", "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "rb", "php", "lua", "pl", "ex", "exs", "clj",
    "sh", "bash", "vue", "svelte", "sql", "r", "jl",
];
/// Files that say how a project is built.
const COMPILED_MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
    "build.zig",
    "Package.swift",
];
const INTERPRETED_MANIFESTS: &[&str] = &[
    "package.json",
    "tsconfig.json",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "Gemfile",
    "composer.json",
    "mix.exs",
];

fn kind_of(path: &str) -> Option<Kind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if COMPILED_MANIFESTS.contains(&name) {
        return Some(Kind::Compiled);
    }
    if INTERPRETED_MANIFESTS.contains(&name) {
        return Some(Kind::Interpreted);
    }
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    if COMPILED.contains(&ending.as_str()) {
        Some(Kind::Compiled)
    } else {
        INTERPRETED
            .contains(&ending.as_str())
            .then_some(Kind::Interpreted)
    }
}

/// Words that make a command line a check.
const CHECKS: &[&str] = &[
    "test",
    "tests",
    "check",
    "checks",
    "lint",
    "clippy",
    "build",
    "compile",
    "typecheck",
    "verify",
    "nextest",
    "pytest",
    "unittest",
    "tox",
    "nox",
    "mypy",
    "pyright",
    "ruff",
    "flake8",
    "pylint",
    "tsc",
    "eslint",
    "vitest",
    "jest",
    "mocha",
    "ava",
    "playwright",
    "cypress",
    "rspec",
    "minitest",
    "rubocop",
    "phpunit",
    "phpstan",
    "ctest",
    "vet",
    "ktlint",
    "detekt",
    "shellcheck",
    "bats",
    "busted",
];
/// Programs that compile what they run.
const BUILDERS: &[&str] = &[
    "cargo", "go", "make", "ninja", "cmake", "meson", "bazel", "gcc", "g++", "cc", "c++", "clang", "clang++",
    "rustc", "javac", "mvn", "gradle", "gradlew", "dotnet", "swift", "swiftc", "zig", "stack", "cabal",
    "dune", "sbt", "kotlinc", "dart", "flutter",
];

fn is_check(line: &str) -> bool {
    words(line)
        .any(|word| CHECKS.contains(&word) || word.split(['-', ':', '_']).any(|part| CHECKS.contains(&part)))
}

fn builds(line: &str) -> bool {
    words(line).any(|word| BUILDERS.contains(&word))
}

/// The words of a line that are no paths: a file called `test.py` or a folder `tests/` checks nothing.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\''))
        .map(|word| word.strip_prefix("./").unwrap_or(word))
        .filter(|word| !word.is_empty() && !word.contains(['/', '.', '=']) && !word.starts_with('-'))
}

/// Words by which success is claimed, in the languages of the window.
const CLAIMS: &[&str] = &[
    "done",
    "fixed",
    "finished",
    "completed",
    "complete",
    "succeeded",
    "successfully",
    "success",
    "passes",
    "passed",
    "works",
    "working",
    "implemented",
    "updated",
    "added",
    "fertig",
    "erledigt",
    "behoben",
    "erfolgreich",
];
const CLAIMS_WITHOUT_SPACES: &[&str] = &["完成", "成功", "已修复", "通过"];

fn claims_success(said: &str) -> bool {
    let lower = said.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| CLAIMS.contains(&word))
        || CLAIMS_WITHOUT_SPACES.iter().any(|claim| said.contains(claim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x94_only_code_and_manifests_want_a_check_and_a_run_is_one_where_it_compiles() {
        for (changed, ran, unchecked) in [
            (vec!["README.md"], vec![], false),
            (vec!["docs/a.txt", "notes.yaml", "LICENSE"], vec![], false),
            (vec!["src/a.rs"], vec![], true),
            (vec!["Cargo.toml"], vec![], true),
            (vec!["web/package.json"], vec!["npm start"], true),
            (vec!["src/a.rs"], vec!["cargo run -- --help"], false),
            (vec!["main.go"], vec!["go run ."], false),
            (vec!["src/a.rs"], vec!["ls -la"], true),
            (vec!["a.py"], vec!["python a.py"], true),
            (vec!["a.py"], vec!["python -m pytest -q"], false),
            (vec!["a.ts"], vec!["node dist/a.js"], true),
            (vec!["a.ts"], vec!["npx tsc --noEmit"], false),
            (vec!["a.ts"], vec!["npm run test:unit"], false),
            (vec!["a.ts"], vec!["pnpm type-check && git status"], false),
            (vec!["a.rs", "b.py"], vec!["cargo run"], true),
            (vec!["a.rs", "b.py"], vec!["make test"], false),
            (vec![], vec![], false),
        ] {
            let deeds = Deeds {
                changed: changed.clone(),
                ran: ran.clone(),
                ..Deeds::default()
            };
            assert_eq!(
                nudges(&deeds) == [Nudge::Unchecked],
                unchecked,
                "{changed:?} {ran:?}"
            );
        }
    }

    #[test]
    fn x97_a_path_with_the_word_is_no_check() {
        for line in [
            "cat tests/check.py",
            "ls test.d",
            "python scripts/lint.py",
            "./build.sh",
            "git add tests/",
            "echo latest attest contest",
            "grep --test x",
            "TEST=1 node a.js",
        ] {
            let deeds = Deeds {
                changed: vec!["a.py"],
                ran: vec![line],
                ..Deeds::default()
            };
            assert_eq!(nudges(&deeds), [Nudge::Unchecked], "{line}");
        }
    }

    #[test]
    fn a_claim_after_a_denial_is_named_and_a_plain_report_is_not() {
        for (said, refused, named) in [
            ("All done, the tests pass.", true, true),
            ("I fixed it.", true, true),
            ("Alles erledigt.", true, true),
            ("已完成。", true, true),
            ("You denied the command, so nothing changed.", true, false),
            ("The undone part is outdated.", true, false),
            ("All done.", false, false),
        ] {
            let deeds = Deeds {
                refused,
                said,
                ..Deeds::default()
            };
            assert_eq!(nudges(&deeds) == [Nudge::ClaimAfterDenial], named, "{said}");
        }
    }
}
