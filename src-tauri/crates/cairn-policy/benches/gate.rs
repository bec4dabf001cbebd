//! How long a line takes to be judged: one of 8 KiB at most 1 ms, a hostile one of any length at most 50 ms.
//! `./dev bench gate` runs it.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cairn_policy::{
    CommandFacts, Edits, Effect, Found, Granted, Place, Places, Policy, Presence, Reading, RealKind,
    RealPath, Repository, RuleOrigin, RuleSet, Sandbox, Surroundings, Taint, decide,
};
use cairn_protocol::{Mode, RuleScope};

/// Everything is there, and nothing is a link.
struct Anywhere;

impl Surroundings for Anywhere {
    fn program(&self, name: &str) -> Option<Found> {
        Some(Found::Program(Path::new("/usr/bin").join(name)))
    }

    fn real(&self, path: &Path) -> Option<RealPath> {
        Some(RealPath {
            path: path.to_owned(),
            kind: RealKind::File,
            links: 1,
        })
    }

    fn repository(&self, _folder: &Path) -> Option<Repository> {
        Some(Repository::Plain { hooks: Vec::new() })
    }
}

fn policy() -> Policy {
    let granted = |text: &str| {
        let rule = text.parse().ok()?;
        Some(Granted {
            rule,
            scope: RuleScope::Project,
            origin: RuleOrigin::Card,
            at: 0,
        })
    };
    let rules = [
        "run: cargo test",
        "run: npm test",
        "run: git commit",
        "run: good",
        "read: docs/**",
        "write: src/**",
    ];
    Policy {
        places: Places {
            root: PathBuf::from("/w/p"),
            home: Some(PathBuf::from("/h/u")),
            own: vec![PathBuf::from("/h/u/.config/cairn")],
        },
        mode: Mode::Manual,
        rules: RuleSet {
            allow: rules.into_iter().filter_map(granted).collect(),
            deny: ["run: touch", "run: rm -rf"]
                .into_iter()
                .filter_map(granted)
                .collect(),
            ..RuleSet::default()
        },
        edits: Edits::AsMode,
        presence: Presence::Person,
        sandbox: Sandbox::Enforced,
        reading: Reading::InSandbox,
        taint: Taint::None,
    }
}

/// The middle of some runs, facts gathered and the line decided.
fn judged(policy: &Policy, line: &str) -> Duration {
    let workdir = PathBuf::from("/w/p");
    let mut times: Vec<Duration> = (0..15)
        .map(|_| {
            let start = Instant::now();
            let effect = Effect::RunCommand {
                line: line.to_owned(),
                facts: CommandFacts::gather(line, &workdir, &policy.places, &Anywhere),
                workdir: workdir.clone(),
                place: Place::Inside,
                network: false,
                outside: false,
            };
            black_box(decide(policy, &[effect]));
            start.elapsed()
        })
        .collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() -> ExitCode {
    let policy = policy();
    let within = Duration::from_millis(1);
    let hostile = Duration::from_millis(50);
    let full = |piece: &str| piece.repeat(8 * 1024 / piece.len());
    let lines = [
        (
            "usual: cargo test 2>&1 | tail -5",
            "cargo test 2>&1 | tail -5".to_owned(),
            within,
        ),
        ("8 KiB, one command of plain words", full("cat a "), within),
        (
            "8 KiB, 64 commands",
            format!("good {};", "x".repeat(121)).repeat(64),
            within,
        ),
        ("8 KiB, paths", full("ls/a/b "), within),
        ("8 KiB, quotes", full("echo 'a b' \"c\" "), within),
        ("8 KiB, substitutions", full("$(a) "), hostile),
        ("8 KiB, sh -c in quotes", full("sh -c 'a;b' ;"), hostile),
        ("8 KiB, xargs and env", full("env xargs "), hostile),
        ("8 KiB, git words", full("git -c a "), hostile),
        ("8 KiB, foreign letters", full("\u{430}a "), hostile),
        (
            "200 KB of one letter",
            format!("echo {}", "a".repeat(200_000)),
            hostile,
        ),
        ("20,000 brackets", "(".repeat(20_000), hostile),
        ("20,000 substitutions", "$(".repeat(20_000), hostile),
        ("10 MB of quotes", "'\"".repeat(5_000_000), hostile),
        ("10 MB of direction marks", "\u{202e}".repeat(3_400_000), hostile),
    ];
    let mut late = false;
    println!("{:<36} {:>10} {:>10}", "line", "took", "at most");
    for (name, line, most) in &lines {
        let took = judged(&policy, line);
        late |= took > *most;
        println!(
            "{name:<36} {:>7.3} ms {:>7} ms",
            took.as_secs_f64() * 1_000.0,
            most.as_millis()
        );
    }
    if late {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
