//! Random lines for the gate and for both shells: what the gate lets through runs nothing but what is granted, writes
//! nothing, and means to the shells what it meant to the gate.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use cairn_policy::{Effect, Policy, Sandbox};

use crate::fixture::{effect_on, policy};
use crate::machine::PlainMachine;
use crate::shells::{Ran, run_all, shells};

/// What lines are made of; what means something to a shell comes often.
const PIECES: &[&str] = &[
    "; evil",
    ";evil ",
    "&&evil",
    " | evil",
    "\nevil\n",
    "$(evil)",
    "`evil`",
    "\"$(evil)\"",
    "&evil ",
    "(evil)",
    "<(evil)",
    "|evil;",
    "||evil ",
    "; evil;",
    "; evil #",
    "good;evil",
    "evil;",
    "good",
    "good",
    "good ",
    "good ",
    "good ",
    "evil",
    "evil ",
    " ",
    " ",
    " ",
    ";",
    "; ",
    " && ",
    "&&",
    " || ",
    " | ",
    "|",
    "&",
    "\n",
    "\n",
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "$(",
    ")",
    "(",
    "{ ",
    "}",
    "${x}",
    "$x",
    "\\",
    "\\\n",
    "<",
    ">",
    ">>",
    " 2>&1",
    " >/dev/null",
    "2>",
    "<<EOF\n",
    "EOF\n",
    "<<<",
    "#",
    " # ",
    "*",
    "?",
    "~",
    "!",
    "! ",
    "[",
    "[[ ",
    " ]]",
    "]",
    "if ",
    "then ",
    "; fi",
    "for i in 1;do ",
    "; done",
    "case x in x) ",
    ";; esac",
    "function ",
    "good()",
    "alias good=evil",
    "eval ",
    "command ",
    "exec ",
    "time ",
    "coproc ",
    "A=1 ",
    "CI=1 ",
    "PATH=. ",
    "echo ",
    "printf ",
    "test -v ",
    "cd ",
    "$'",
    "\\x65vil",
    "\t",
    "é",
    "\u{a0}",
    "-x",
    "=",
    "+=",
    "a[",
    "%1",
    "@{0}",
    "^",
    "HEAD~1",
    "''",
    "\"\"",
    "timeout 5 ",
    "env ",
    "nice ",
    "export ",
    "declare -i ",
    "read ",
    "let ",
    ":",
    "{a,b}",
    "{fd}>",
    "&>",
    "|&",
    "0",
    "1",
    "2",
    "true ",
    "false ",
    "x y",
    "'x y'",
    "\"x y\"",
    "\"$\"",
    ".",
    "/",
    "/evil",
    "./evil ",
    "a=~",
    "\r",
    "\u{b}",
    "1>&2",
    ">&",
    "f",
    "'evil'",
    "\"evil\"",
    "good -a ",
];

/// A small generator of numbers: the same seed gives the same lines.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn line(&mut self) -> String {
        let pieces = 1 + self.next(9);
        let mut line = String::new();
        // Most lines begin well, or none would come through.
        if self.next(2) > 0 {
            line.push_str("good ");
        }
        for _ in 0..pieces {
            line.push_str(PIECES[self.next(PIECES.len())]);
        }
        line
    }
}

#[derive(Default)]
struct Found {
    lines: usize,
    accepted: usize,
    shown: usize,
    others: usize,
    evil: usize,
    slowest: Duration,
}

/// What is found there: the stubs and a few usual programs.
fn stubs() -> PlainMachine {
    PlainMachine {
        programs: Some(
            ["good", "evil", "timeout", "nice", "env"]
                .map(ToOwned::to_owned)
                .to_vec(),
        ),
        folders: vec!["/w/p".into()],
        ..PlainMachine::default()
    }
}

fn fuzz(seed: u64, lines: usize, until: Option<Instant>, found: &mut Found) {
    let mut numbers = Numbers(seed | 1);
    let machine = stubs();
    let granted = policy(&["run: good"]);
    // Where the sandbox is enforced, what only reads needs no rule: the shells' own `echo`, `printf`, `test`.
    let reading = Policy {
        sandbox: Sandbox::Enforced,
        ..granted.clone()
    };
    let mut accepted = Vec::new();
    let mut others = Vec::new();
    let mut seen = HashSet::new();
    for at in 0..lines {
        if until.is_some_and(|until| Instant::now() > until) {
            break;
        }
        found.lines += 1;
        let line = numbers.line();
        let start = Instant::now();
        let policy = if at % 4 == 0 { &reading } else { &granted };
        let runs = unasked(policy, &machine, &line);
        found.slowest = found.slowest.max(start.elapsed());
        match runs {
            Some(runs) => {
                found.accepted += 1;
                // The same line twice tells nothing new.
                if seen.insert(runs.clone()) {
                    accepted.push((line, runs));
                }
            }
            None if at % 100 == 0 => others.push(line),
            None => {}
        }
        if accepted.len() >= 1_000 {
            check(&std::mem::take(&mut accepted), found);
        }
    }
    check(&accepted, found);
    found.others += others.len();
    for shell in shells() {
        let ran = run_all(shell, &others);
        found.evil += ran.iter().filter(|ran| ran.programs().contains("evil")).count();
    }
}

fn unasked(policy: &Policy, machine: &PlainMachine, line: &str) -> Option<String> {
    let effect: Effect = effect_on(machine, line);
    match cairn_policy::decide(policy, &[effect]) {
        cairn_policy::Decision::Allow { runs, .. } => {
            Some(runs.expect("a line let by a rule says what runs"))
        }
        _ => None,
    }
}

/// Both readings in both shells: the line as it came in does the same as what is run in its place.
fn check(accepted: &[(String, String)], found: &mut Found) {
    found.shown += accepted.len();
    std::thread::scope(|scope| {
        for shell in shells() {
            scope.spawn(move || check_in(shell, accepted));
        }
    });
}

fn check_in(shell: &str, accepted: &[(String, String)]) {
    let runs: Vec<String> = accepted.iter().map(|(_, runs)| runs.clone()).collect();
    let changed: Vec<&(String, String)> = accepted.iter().filter(|(came, runs)| came != runs).collect();
    let came: Vec<String> = changed.iter().map(|(came, _)| came.clone()).collect();
    let did: Vec<Ran> = run_all(shell, &runs);
    for ((came, runs), did) in accepted.iter().zip(&did) {
        let told = format!("{came:?} as {runs:?} in {shell}: {did:?}");
        assert!(did.wrote.is_empty(), "it wrote: {told}");
        assert!(
            did.programs().iter().all(|name| name == "good"),
            "another program ran: {told}"
        );
    }
    let by_line: HashMap<&str, &Ran> = runs.iter().map(String::as_str).zip(&did).collect();
    for ((came, runs), meant) in changed.into_iter().zip(run_all(shell, &came)) {
        let did = by_line.get(runs.as_str()).copied();
        assert_eq!(
            did,
            Some(&meant),
            "it means something else: {came:?} as {runs:?} in {shell}"
        );
    }
}

#[test]
fn s80_twenty_thousand_random_lines_do_nothing_that_is_not_granted() {
    let mut found = Found::default();
    fuzz(0x00C0_FFEE, 20_000, None, &mut found);
    print_found(&found);
    assert!(
        found.shown > 300 && found.evil > 5,
        "the lines are worth something"
    );
}

/// `CAIRN_FUZZ_LINES` lines, or lines for `CAIRN_FUZZ_SECONDS`, from `CAIRN_FUZZ_SEED` on.
#[test]
#[ignore = "a million lines take minutes; ./dev fuzz gate SECONDS runs them"]
fn s80_a_million_random_lines_do_nothing_that_is_not_granted() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let until = number("CAIRN_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let lines = number("CAIRN_FUZZ_LINES").unwrap_or(if until.is_some() { u64::MAX } else { 1_000_000 });
    let mut seed = number("CAIRN_FUZZ_SEED").unwrap_or(1);
    let mut found = Found::default();
    while (found.lines as u64) < lines && until.is_none_or(|until| Instant::now() < until) {
        let some = (lines - found.lines as u64).min(50_000) as usize;
        fuzz(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), some, until, &mut found);
        seed += 1;
    }
    print_found(&found);
}

fn print_found(found: &Found) {
    println!(
        "{} lines, {} accepted ({} different, each run in both shells as it came and as it runs), {} of the rest run \
         ({} of them started what is not granted); slowest {:?}; unsafe: 0",
        found.lines, found.accepted, found.shown, found.others, found.evil, found.slowest
    );
}
