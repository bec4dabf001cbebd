//! Rules saved for a project, outside of it, with date and origin. SPEC P7.
//!
//! Owns: the file, and which lists make up what holds. Must never know: what a rule lets happen. A file that cannot be
//! read allows nothing, whatever it may say.

use std::path::{Path, PathBuf};

use cairn_policy::{Granted, Rule, RuleOrigin, RuleSet};
use cairn_protocol::{ApiError, ErrorCode, RuleScope, UnixMillis};
use serde::{Deserialize, Serialize};

use crate::config::{Config, RuleLists, place_of, project_rules};
use crate::files;
use crate::project::OWN_CONFIG;

mod listed;
mod watch;

pub(crate) use watch::RulesWatch;

/// A file of rules larger than this is none of ours.
const MOST: u64 = 4_194_304;

/// The rules of one project, `projects/KEY/permissions.toml`.
#[derive(Clone, Debug)]
pub struct ProjectRules {
    path: PathBuf,
    rules: Vec<Granted>,
    broken: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct File {
    #[serde(default)]
    rule: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    rule: String,
    at: UnixMillis,
    origin: String,
}

impl ProjectRules {
    /// Reads the rules; a broken file allows nothing and is kept as it is.
    pub fn load(path: &Path) -> Self {
        let mut loaded = Self {
            path: path.to_owned(),
            rules: Vec::new(),
            broken: None,
        };
        let text = match files::read_small(path, MOST) {
            Ok(text) => text.unwrap_or_default(),
            Err(why) => {
                loaded.broken = Some(format!("{}: {why}", path.display()));
                return loaded;
            }
        };
        match parse(&text) {
            Ok(rules) => loaded.rules = rules,
            Err((offset, reason)) => {
                let (line, column) = place_of(&text, offset);
                loaded.broken = Some(format!("{}:{line}:{column}: {reason}", path.display()));
            }
        }
        loaded
    }

    /// The rules that are saved.
    pub fn list(&self) -> &[Granted] {
        &self.rules
    }

    /// What is wrong with the file.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Saves a rule, and gives it as it was read; one that is there already keeps its date.
    pub fn add(&mut self, text: &str, origin: RuleOrigin, at: UnixMillis) -> Result<Rule, ApiError> {
        let rule: Rule = text.parse().map_err(|error| {
            ApiError::new(ErrorCode::BadRequest, format!("`{text}` is not a rule: {error}"))
        })?;
        if self.rules.iter().any(|known| known.rule == rule) {
            return Ok(rule);
        }
        let mut rules = self.rules.clone();
        rules.push(Granted {
            rule: rule.clone(),
            scope: RuleScope::Project,
            origin,
            at,
        });
        self.save(rules)?;
        Ok(rule)
    }

    /// Forgets a rule.
    pub fn revoke(&mut self, text: &str) -> Result<(), ApiError> {
        let rules: Vec<_> = self
            .rules
            .iter()
            .filter(|known| known.rule.to_string() != text.trim())
            .cloned()
            .collect();
        if rules.len() == self.rules.len() {
            let text = format!(
                "No saved rule reads `{}`. `cairn allow list` shows them.",
                text.trim()
            );
            return Err(ApiError::new(ErrorCode::NotFound, text));
        }
        self.save(rules)
    }

    /// Forgets all rules, also those of a broken file.
    pub fn reset(&mut self) -> Result<(), ApiError> {
        self.broken = None;
        self.save(Vec::new())
    }

    fn save(&mut self, rules: Vec<Granted>) -> Result<(), ApiError> {
        if let Some(broken) = &self.broken {
            let text = format!("{broken}. The file is not overwritten; mend it, or run `cairn allow reset`.");
            return Err(ApiError::new(ErrorCode::BadConfig, text));
        }
        let entry = |granted: &Granted| Entry {
            rule: granted.rule.to_string(),
            at: granted.at,
            origin: granted.origin.as_str().to_owned(),
        };
        let file = File {
            rule: rules.iter().map(entry).collect(),
        };
        let text = toml_edit::ser::to_string_pretty(&file)
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
        files::write_private(&self.path, &text)?;
        self.rules = rules;
        Ok(())
    }

    /// All that holds for the project: what is saved, the user's configuration, and what the project itself tightens
    /// or, once trusted, allows.
    pub(crate) fn policy_rules(&self, config: &Config, own: OwnRules, at: UnixMillis) -> RuleSet {
        let mut set = RuleSet {
            allow: self.rules.clone(),
            ..RuleSet::default()
        };
        set.broken = config
            .broken()
            .map(ToString::to_string)
            .or_else(|| self.broken.clone());
        add(&mut set, config.rules.clone(), RuleOrigin::Config, at);
        let trusted = RuleLists {
            allow: own.allowed,
            ..RuleLists::default()
        };
        add(&mut set, trusted, RuleOrigin::Project, own.trusted_since);
        match own.tightens {
            Ok(lists) => add(&mut set, lists, RuleOrigin::Project, at),
            Err(reason) => {
                set.broken.get_or_insert(reason);
            }
        }
        set
    }
}

/// What a project's own configuration says about rules.
#[derive(Debug)]
pub(crate) struct OwnRules {
    /// Its `ask` and `deny` rules, which always hold; or why they cannot be read.
    tightens: Result<RuleLists, String>,
    /// What it allows, as far as the person trusts exactly that.
    allowed: Vec<Rule>,
    /// Since when.
    trusted_since: UnixMillis,
}

impl OwnRules {
    /// Of the text of the file, or why that cannot be read.
    pub(crate) fn of(text: Result<Option<String>, String>) -> Self {
        let read =
            |text: String| project_rules(&text).map_err(|why| format!("{OWN_CONFIG} of this folder: {why}"));
        let tightens = text.and_then(|text| text.map_or(Ok(RuleLists::default()), read));
        Self {
            tightens,
            allowed: Vec::new(),
            trusted_since: 0,
        }
    }

    /// With what the person trusted it to allow.
    pub(crate) fn with_trusted<'a>(
        mut self,
        since: UnixMillis,
        rules: impl Iterator<Item = &'a str>,
    ) -> Self {
        self.trusted_since = since;
        self.allowed = rules.filter_map(|rule| rule.parse().ok()).collect();
        self
    }
}

fn add(set: &mut RuleSet, lists: RuleLists, origin: RuleOrigin, at: UnixMillis) {
    let granted = |rule| Granted {
        rule,
        scope: RuleScope::Project,
        origin,
        at,
    };
    set.allow.extend(lists.allow.into_iter().map(granted));
    set.ask.extend(lists.ask.into_iter().map(granted));
    set.deny.extend(lists.deny.into_iter().map(granted));
}

/// The rules of a file; an error says at which byte and why.
fn parse(text: &str) -> Result<Vec<Granted>, (usize, String)> {
    let file: File = toml_edit::de::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        (offset, error.message().trim().replace('\n', "; "))
    })?;
    let read = |entry: Entry| {
        let rule = entry.rule.parse().map_err(|error| {
            let offset = text.find(&entry.rule).unwrap_or(0);
            (offset, format!("`{}`: {error}", entry.rule))
        })?;
        // What is not known did not come from a card: it holds in no tainted request.
        let known = [RuleOrigin::Card, RuleOrigin::Settings];
        let origin = known
            .into_iter()
            .find(|origin| origin.as_str() == entry.origin)
            .unwrap_or(RuleOrigin::CommandLine);
        Ok(Granted {
            rule,
            scope: RuleScope::Project,
            origin,
            at: entry.at,
        })
    };
    file.rule.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_saved_once_listed_and_revoked() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("projects/k/permissions.toml");
        let mut rules = ProjectRules::load(&path);
        rules
            .add("run-exact: cargo test -p \"a b\"", RuleOrigin::Card, 7)
            .unwrap();
        rules
            .add("run-exact: cargo test -p \"a b\"", RuleOrigin::Card, 8)
            .unwrap();
        rules.add("write: src/**", RuleOrigin::CommandLine, 9).unwrap();
        let again = ProjectRules::load(&path);
        assert_eq!(again.list(), rules.list());
        assert_eq!((again.list().len(), again.list()[0].at), (2, 7));
        rules.revoke("write: src/**").unwrap();
        assert_eq!(
            rules.revoke("write: src/**").unwrap_err().code,
            ErrorCode::NotFound
        );
        assert_eq!(ProjectRules::load(&path).list().len(), 1);
        assert_eq!(
            rules.add("run", RuleOrigin::CommandLine, 1).unwrap_err().code,
            ErrorCode::BadRequest
        );
    }

    #[test]
    fn t15_a_broken_file_allows_nothing_and_is_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("permissions.toml");
        std::fs::write(&path, "[[rule]]\nrule = \"what\"\n").unwrap();
        let mut rules = ProjectRules::load(&path);
        assert!(rules.broken().is_some());
        let set = rules.policy_rules(&Config::default(), OwnRules::of(Ok(None)), 0);
        assert!(set.broken.is_some() && set.allow.is_empty());
        assert_eq!(
            rules.add("write: a", RuleOrigin::Card, 1).unwrap_err().code,
            ErrorCode::BadConfig
        );
        assert!(std::fs::read_to_string(&path).unwrap().contains("what"));
        rules.reset().unwrap();
        rules.add("write: a", RuleOrigin::Card, 1).unwrap();
    }
}
