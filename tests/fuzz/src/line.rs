//! Command lines: nothing runs unasked but the very line that was saved, and never one that loses git's work.

use std::time::Duration;

use cairn_policy::{
    Approve, CommandFacts, Decision, Edits, Effect, ExactLine, Granted, Place, Places, Policy, Presence,
    Reading, Rule, RuleOrigin, RuleSet, Sandbox, Taint, decide,
};
use cairn_protocol::{Mode, RuleScope};

use crate::measure::measured;

/// Judges any bytes as a command line.
pub fn check(data: &[u8]) {
    let line = String::from_utf8_lossy(data).into_owned();
    let (decision, used) = measured(|| judge(&line, None, Presence::Person));
    assert!(
        used.time < Duration::from_millis(500),
        "{} bytes took {:?}",
        line.len(),
        used.time
    );
    assert!(
        !matches!(decision, Decision::Allow { .. }),
        "nothing allowed it: {decision:?}"
    );

    let saved = ExactLine::new(&line).ok();
    let covered = judge(&line, saved.clone(), Presence::Person);
    // Another line is never covered by it.
    let other = judge(&format!("{line} x"), saved.clone(), Presence::Person);
    assert!(
        !matches!(other, Decision::Allow { .. }),
        "{saved:?} let another line run"
    );
    if let Decision::Allow { .. } = covered {
        assert!(saved.is_some());
        assert!(
            !line.contains('\0') && line.len() <= 8 * 1024,
            "it cannot be judged and ran"
        );
    }

    // A command of its own line after anything at all is a command, or the whole is not to be judged.
    for between in ["\n", ";", "&", "|", "||", "&&"] {
        // A comment ends with its line only.
        if between != "\n" && line.contains('#') {
            continue;
        }
        let losing = format!("{line} {between}git reset --hard");
        let rule = ExactLine::new(&losing).ok();
        let decision = judge(
            &losing,
            rule,
            Presence::Headless {
                approve: Approve::All,
            },
        );
        assert!(
            !matches!(decision, Decision::Allow { .. }),
            "{losing:?}: {decision:?}"
        );
    }
}

fn judge(line: &str, saved: Option<ExactLine>, presence: Presence) -> Decision {
    let mut rules = RuleSet::default();
    rules.allow.extend(saved.map(|line| Granted {
        rule: Rule::RunExact(line),
        scope: RuleScope::Project,
        origin: RuleOrigin::Config,
        at: 0,
    }));
    let policy = Policy {
        places: Places {
            root: "/project".into(),
            home: Some("/home/a".into()),
            own: Vec::new(),
        },
        mode: Mode::Auto,
        rules,
        edits: Edits::AsMode,
        presence,
        sandbox: Sandbox::NotEnforced,
        reading: Reading::InSandbox,
        taint: Taint::None,
    };
    let effect = Effect::RunCommand {
        outside: false,
        line: line.to_owned(),
        workdir: "/project".into(),
        place: Place::Inside,
        network: false,
        facts: CommandFacts::default(),
    };
    decide(&policy, &[effect])
}
