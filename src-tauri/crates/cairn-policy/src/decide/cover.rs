//! Whether a command of a line needs no question, and which rule would spare it the next time. SPEC P5, P6.
//!
//! Owns: *allow* for commands, read narrowly. Must never know: the line as text; what is not in the study is not
//! covered.

use crate::program::{Class, is_known};
use crate::rule::{LeadingWords, Rule};
use crate::study::{Named, Part};
use crate::{Granted, Policy, Reading, Sandbox, Taint};

/// What spares a command the question.
pub(super) enum Covered {
    /// It needs no rule.
    Free,
    /// It only reads. SPEC P6.
    Reading,
    /// A rule, in its text form.
    Rule(String),
    /// Nothing does.
    No,
}

pub(super) fn covered(policy: &Policy, part: &Part) -> Covered {
    if !part.blocked.is_empty() {
        return Covered::No;
    }
    if part.free {
        return Covered::Free;
    }
    if reads_unasked(policy, part) {
        return Covered::Reading;
    }
    if policy.rules.broken.is_some() || rule_barrier(policy, part).is_some() {
        return Covered::No;
    }
    let rule = policy
        .rules
        .allow
        .iter()
        .find(|granted| holds(policy, granted, part));
    rule.map_or(Covered::No, |granted| Covered::Rule(granted.rule.to_string()))
}

/// Whether it is one of the commands that only read, and those run unasked here.
pub(super) fn reads_unasked(policy: &Policy, part: &Part) -> bool {
    let sandboxed = policy.sandbox.is_enforced();
    let allowed = sandboxed || policy.reading == Reading::Everywhere;
    // Where nothing holds a search in, it would print keys and passwords as readily as anything else. SPEC P2.
    allowed && only_reads(part) && (policy.sandbox.hides_credentials() || !part.searches)
}

/// Whether it is known to only read.
pub(super) fn only_reads(part: &Part) -> bool {
    part.blocked.is_empty()
        && part.named == Named::Name
        && part.strays.is_empty()
        && matches!(&part.fit, Some(Ok(_)))
        && (part.class == Class::Reads || part.reads_git)
}

/// Why no rule about leading words covers a command, whoever wrote it.
pub(super) fn rule_barrier(policy: &Policy, part: &Part) -> Option<String> {
    let program = part.program();
    if part.named == Named::Other {
        return Some(format!("What {program} starts is not known."));
    }
    match part.class {
        Class::Text => {
            return Some(format!(
                "{program} can run whatever text it is given, so no rule about its name covers it."
            ));
        }
        Class::Destructive => {
            return Some(format!(
                "{program} deletes or ends for good, so no rule about its name covers it."
            ));
        }
        Class::Network if policy.taint != Taint::None => {}
        Class::Network => {
            if part.words.first().is_some_and(|word| word == "git")
                && let Some(problem) = part.misfit()
            {
                return Some(problem.to_owned());
            }
        }
        Class::Reads | Class::Writes | Class::Project | Class::Git => {
            if let Some(problem) = part.misfit() {
                return Some(problem.to_owned());
            }
        }
        Class::Unknown => {}
    }
    if part.searches && !part.reads_git && !policy.sandbox.hides_credentials() {
        return Some(format!(
            "{program} searches folders, which may hold keys or passwords, and nothing keeps it from them here; the `grep` tool leaves them out."
        ));
    }
    part.strays.first().cloned()
}

/// Whether a rule speaks about a command and may.
fn holds(policy: &Policy, granted: &Granted, part: &Part) -> bool {
    let Rule::Run(words) = &granted.rule else {
        return false;
    };
    let words = words.words();
    let begins =
        words.len() <= part.words.len() && words.iter().zip(&part.words).all(|(want, have)| want == have);
    if !begins {
        return false;
    }
    // Another folder has another program at that path.
    if part.named == Named::Path && !part.at_root {
        return false;
    }
    match part.class {
        Class::Network => words.len() > 1 && policy.holds_in_taint(granted),
        // The program is known, this way of calling it is not: the rule must at least have named it.
        Class::Unknown => words.len() > 1 || !is_known(part.program()),
        Class::Git => words.len() > 1 || part.reads_git,
        _ => true,
    }
}

/// The rule that would cover such a command; none where there is none, or where it would cover too much.
pub(super) fn offer(policy: &Policy, part: &Part) -> Option<Rule> {
    let form = part.form?;
    let fits = matches!(&part.fit, Some(Ok(_)));
    let narrow = matches!(
        part.class,
        Class::Reads | Class::Writes | Class::Project | Class::Git
    );
    if !fits
        || !narrow
        || part.named != Named::Name
        || !part.blocked.is_empty()
        || rule_barrier(policy, part).is_some()
    {
        return None;
    }
    let leading = leading(form.words.len(), form.names, &part.words)?;
    LeadingWords::of(leading).map(Rule::Run)
}

/// The form's own words and the operands that name what is run.
fn leading(own: usize, named: usize, words: &[String]) -> Option<&[String]> {
    let mut end = own;
    for _ in 0..named {
        end += words.get(end..)?.iter().position(|word| !word.starts_with('-'))? + 1;
    }
    words.get(..end)
}

/// Programs that run text somewhere else.
const REACHES: &[&str] = &[
    "ssh",
    "sshpass",
    "ssh-agent",
    "ssh-add",
    "dbus-launch",
    "dbus-run-session",
];

/// What `auto` passes inside the sandbox without a rule. SPEC P8, P12.
pub(super) fn runs_in_auto(policy: &Policy, part: &Part) -> bool {
    let known = match part.class {
        Class::Network | Class::Destructive => false,
        Class::Git => part.misfit().is_none(),
        Class::Reads | Class::Writes => policy.sandbox.hides_credentials() || !part.searches,
        Class::Text if REACHES.contains(&part.program()) => false,
        // Code of the project could write what only the sandbox protects.
        Class::Project | Class::Text | Class::Unknown => policy.sandbox == Sandbox::Enforced,
    };
    known && part.blocked.is_empty() && part.strays.is_empty()
}
