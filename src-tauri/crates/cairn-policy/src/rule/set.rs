//! The rules that hold, in their three lists.

use cairn_protocol::{RuleScope, SavedRule, UnixMillis};

use super::Rule;
use super::bars::ReadBars;
use super::glob::LetterCase;
use crate::line::Line;
use crate::{Care, Carries, Effect, Place, Places};

/// Which list a rule is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleList {
    /// Runs without asking.
    Allow,
    /// Asks, whatever the mode and the other rules allow.
    Ask,
    /// Does not run, whoever asks.
    Deny,
}

/// Where a rule was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleOrigin {
    /// On an approval card.
    Card,
    /// Typed on the settings page.
    Settings,
    /// With `cairn allow`.
    CommandLine,
    /// In the user's settings file.
    Config,
    /// In the project's settings file, which can only tighten.
    Project,
}

impl RuleOrigin {
    /// The word for it, as listed and saved.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Settings => "settings page",
            Self::CommandLine => "command line",
            Self::Config => "config.toml",
            Self::Project => ".cairn/config.toml",
        }
    }
}

/// A rule that holds, and since when, how long and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The rule.
    pub rule: Rule,
    /// How long it holds.
    pub scope: RuleScope,
    /// Where it was granted.
    pub origin: RuleOrigin,
    /// When it was granted.
    pub at: UnixMillis,
}

impl Granted {
    /// As the window and `cairn allow list` show it.
    pub fn saved(&self) -> SavedRule {
        SavedRule {
            rule: self.rule.to_string(),
            scope: self.scope,
            at: self.at,
            origin: self.origin.as_str().to_owned(),
        }
    }
}

/// All rules that hold for a session. Whoever fills it has dropped what is out of scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// What runs without asking.
    pub allow: Vec<Granted>,
    /// What asks, whatever else allows it.
    pub ask: Vec<Granted>,
    /// What never runs.
    pub deny: Vec<Granted>,
    /// Why the settings file could not be read. While set, no rule allows and no mode lets anything pass. SPEC A6.
    pub broken: Option<String>,
}

impl RuleSet {
    /// Takes these in place of all that holds for the project; what was granted for a request or session stays.
    pub fn replace_saved(&mut self, mut rules: Self) {
        let granted = std::mem::take(&mut self.allow);
        let kept = granted
            .into_iter()
            .filter(|granted| granted.scope != RuleScope::Project);
        rules.allow.extend(kept);
        *self = rules;
    }

    /// The first rule of a list that speaks about an effect.
    ///
    /// *Allow* is narrow: files inside the project by the letter case they are written in, no protected or
    /// hard-linked file, a credential only by its full name, a command only by its exact line, without the network and
    /// in the project folder itself (`./build.sh` is another program in another folder), a host by its port and not
    /// for an address that could carry a file out. *Ask* and *deny* are wide: letter case does not count, a host
    /// without a port means all of its ports, and a `run:` rule matches its words at the start of any command found in the
    /// line, in front of or behind known wrappers.
    pub fn matching(&self, list: RuleList, effect: &Effect, places: &Places) -> Option<&Granted> {
        // Taking a line apart is only worth it where a rule asks for it.
        let rules = match list {
            RuleList::Allow => return self.matching_in(list, effect, None, places),
            RuleList::Ask => &self.ask,
            RuleList::Deny => &self.deny,
        };
        let line = match effect {
            Effect::RunCommand { line, .. } if !rules.is_empty() => Some(Line::read(line)),
            _ => None,
        };
        self.matching_in(list, effect, line.as_ref(), places)
    }

    /// The same, where the line of a command has been taken apart already.
    pub(crate) fn matching_in(
        &self,
        list: RuleList,
        effect: &Effect,
        line: Option<&Line>,
        places: &Places,
    ) -> Option<&Granted> {
        let rules = match list {
            RuleList::Allow if self.broken.is_some() => return None,
            RuleList::Allow => &self.allow,
            RuleList::Ask => &self.ask,
            RuleList::Deny => &self.deny,
        };
        match list {
            RuleList::Allow => rules.iter().find(|granted| allows(&granted.rule, effect, places)),
            RuleList::Ask | RuleList::Deny => rules
                .iter()
                .find(|granted| bars(&granted.rule, effect, line, places)),
        }
    }

    /// All rules that allow an effect.
    pub(crate) fn allowing<'a>(
        &'a self,
        effect: &'a Effect,
        places: &'a Places,
    ) -> impl Iterator<Item = &'a Granted> {
        let holds = self.broken.is_none();
        self.allow
            .iter()
            .filter(move |granted| holds && allows(&granted.rule, effect, places))
    }

    /// What deny rules keep from being read.
    pub fn read_bars(&self) -> ReadBars {
        ReadBars::of(self.deny.iter().filter_map(|granted| match &granted.rule {
            Rule::Read(glob) => Some(glob),
            _ => None,
        }))
    }

    /// The first ask or deny rule about reading that a search of this folder could come across.
    pub(crate) fn reading_barred_beneath(
        &self,
        folder: &std::path::Path,
        places: &Places,
    ) -> Option<&Granted> {
        let relative = places.relative(folder)?;
        self.deny
            .iter()
            .chain(&self.ask)
            .find(|granted| match &granted.rule {
                Rule::Read(glob) => glob.may_lie_beneath(relative),
                _ => false,
            })
    }
}

fn allows(rule: &Rule, effect: &Effect, places: &Places) -> bool {
    match (rule, effect) {
        (
            Rule::RunExact(exact),
            Effect::RunCommand {
                line,
                workdir,
                place: Place::Inside,
                network: false,
                ..
            },
        ) => exact.as_str() == line && places.is_root(workdir),
        (
            Rule::Read(glob),
            Effect::ReadPath {
                path,
                place: Place::Inside,
                care,
            },
        ) => {
            let named = *care == Care::Plain || glob.is_literal();
            named
                && places
                    .relative(path)
                    .is_some_and(|path| glob.covers(path, LetterCase::Counts))
        }
        (
            Rule::Write(glob),
            Effect::WritePath {
                path,
                place: Place::Inside,
                care,
                hard_linked: false,
            },
        ) => {
            let named = *care == Care::Plain || (*care == Care::Credential && glob.is_literal());
            named
                && places
                    .relative(path)
                    .is_some_and(|path| glob.covers(path, LetterCase::Counts))
        }
        (
            Rule::Host(name),
            Effect::ReachHost {
                host,
                port,
                carries: Carries::Little,
                ..
            },
        ) => name.covers(host, *port),
        (Rule::WebSearch, Effect::SearchWeb) | (Rule::Remember, Effect::Remember { doubtful: false }) => true,
        _ => false,
    }
}

fn bars(rule: &Rule, effect: &Effect, parsed: Option<&Line>, places: &Places) -> bool {
    match (rule, effect) {
        (Rule::RunExact(exact), Effect::RunCommand { line, .. }) => exact.as_str().trim() == line.trim(),
        (Rule::Run(words), Effect::RunCommand { .. }) => {
            parsed.is_some_and(|line| line.has_command(words.words()))
        }
        (Rule::Read(glob), Effect::ReadPath { path, .. })
        | (Rule::Write(glob), Effect::WritePath { path, .. }) => places
            .relative(path)
            .is_some_and(|path| glob.covers(path, LetterCase::Ignored)),
        (Rule::Host(name), Effect::ReachHost { host, port, .. }) => name.bars(host, *port),
        (Rule::WebSearch, Effect::SearchWeb) | (Rule::Remember, Effect::Remember { .. }) => true,
        _ => false,
    }
}
