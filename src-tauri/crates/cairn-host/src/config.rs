//! `config.toml`: what it says, what is wrong with it, and changing it without losing a word of it. SPEC A6.
//!
//! Owns: the file's form and the precedence flags, environment, file, defaults. Must never know: what settings do.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cairn_policy::{Reading, Rule};
use cairn_protocol::{ApiError, ErrorCode, Mode, Theme, ValueOrigin};
use cairn_store::Secret;
use cairn_tools::web::WebConfig;
use toml_edit::DocumentMut;

use crate::environment::Environment;
use crate::files;
use crate::home::Home;

mod edit;
mod raw;

pub(crate) use raw::ProfileConfig;

/// Files larger than this are not read: a configuration is written by hand.
const MOST: u64 = 1_048_576;

/// What is wrong with a configuration file or variable. The person mends it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", self.place())]
pub struct ConfigError {
    /// The file, or the name of the variable.
    pub path: String,
    /// Line, from 1; 0 in a variable.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The reason.
    pub reason: String,
}

impl ConfigError {
    fn place(&self) -> String {
        match self.line {
            0 => self.path.clone(),
            line => format!("{}:{line}:{}", self.path, self.column),
        }
    }
}

/// Rules of a configuration file, in its three lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleLists {
    pub(crate) allow: Vec<Rule>,
    pub(crate) ask: Vec<Rule>,
    pub(crate) deny: Vec<Rule>,
}

/// The configuration as it holds.
#[derive(Clone, Debug, Default)]
pub struct Config {
    path: PathBuf,
    document: DocumentMut,
    broken: Option<ConfigError>,
    pub(crate) profiles: Vec<ProfileConfig>,
    pub(crate) default_profile: Option<String>,
    pub(crate) default_mode: Mode,
    /// `[permissions] reading`: where commands that only read run unasked.
    pub(crate) reading: Reading,
    pub(crate) theme: Theme,
    pub(crate) rules: RuleLists,
    pub(crate) steps: Option<u32>,
    pub(crate) steps_auto: Option<u32>,
    /// `[limits.timeout]`: time limits by tool.
    pub(crate) timeouts: HashMap<String, Duration>,
    pub(crate) tools_off: Vec<String>,
    pub(crate) pass_env: Vec<String>,
    pub(crate) web_search: WebConfig,
    pub(crate) origins: Vec<(String, ValueOrigin)>,
}

/// Headers whose values are no secret, lower case; all others may hold one.
const PUBLIC_HEADERS: [&str; 9] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "http-referer",
    "openai-organization",
    "openai-project",
    "user-agent",
    "x-title",
];

impl Config {
    /// Reads the user's file, wherever that is. Works also where nothing else can be started.
    pub fn of(environment: &Environment) -> Self {
        match Home::locate(environment) {
            Ok(home) => Self::load(&home.config_file(), environment),
            Err(_) => Self::default(),
        }
    }

    /// Reads the file; a missing one is an empty one, a broken one is kept as it is and said.
    pub fn load(path: &Path, environment: &Environment) -> Self {
        let mut config = match files::read_small(path, MOST) {
            Ok(text) => Self::parse(path, &text.unwrap_or_default()),
            Err(reason) => Self::broken_at(path, 1, 1, reason),
        };
        config.apply_environment(environment);
        config
    }

    fn parse(path: &Path, text: &str) -> Self {
        let document = match text.parse::<DocumentMut>() {
            Ok(document) => document,
            Err(error) => return Self::broken_by(path, text, error.span(), error.message()),
        };
        match raw::read(text) {
            Ok(read) => Self {
                path: path.to_owned(),
                document,
                ..raw::config(read, text)
            },
            Err(error) => Self {
                document,
                ..Self::broken_by(path, text, error.span(), error.message())
            },
        }
    }

    fn broken_by(path: &Path, text: &str, span: Option<std::ops::Range<usize>>, reason: &str) -> Self {
        let (line, column) = place_of(text, span.map_or(0, |span| span.start));
        Self::broken_at(path, line, column, reason.trim().replace('\n', "; "))
    }

    fn broken_at(path: &Path, line: usize, column: usize, reason: String) -> Self {
        let error = ConfigError {
            path: path.display().to_string(),
            line,
            column,
            reason,
        };
        Self {
            path: path.to_owned(),
            broken: Some(error),
            ..Self::default()
        }
    }

    fn apply_environment(&mut self, environment: &Environment) {
        if let Some(profile) = environment.text("CAIRN_PROFILE") {
            self.default_profile = Some(profile.to_owned());
            self.set_origin("default_profile", ValueOrigin::Environment);
        }
        let Some(name) = environment.get("CAIRN_MODE") else {
            return;
        };
        if let Some(mode) = name.to_str().and_then(mode_of) {
            self.default_mode = mode;
            self.set_origin("default_mode", ValueOrigin::Environment);
        } else if self.broken.is_none() {
            // What was asked for is not known, so nothing is let pass as if it were.
            self.broken = Some(ConfigError {
                path: "CAIRN_MODE".to_owned(),
                line: 0,
                column: 0,
                reason: format!(
                    "`{}` is no mode; expected manual, accept-edits, auto or plan",
                    name.to_string_lossy()
                ),
            });
        }
    }

    fn set_origin(&mut self, key: &str, origin: ValueOrigin) {
        self.origins.retain(|(known, _)| known != key);
        self.origins.push((key.to_owned(), origin));
    }

    /// What is wrong with the file; everything asks until it is mended.
    pub fn broken(&self) -> Option<&ConfigError> {
        self.broken.as_ref()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The mode that `CAIRN_MODE` asks new sessions to begin in.
    pub fn mode_of_environment(&self) -> Option<Mode> {
        let from = ("default_mode".to_owned(), ValueOrigin::Environment);
        self.origins.contains(&from).then_some(self.default_mode)
    }

    /// Light, dark or as the system.
    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// A profile by name.
    pub(crate) fn profile(&self, name: &str) -> Option<&ProfileConfig> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The profile for new sessions: the chosen one, or the only one.
    pub(crate) fn profile_for_new(&self) -> Option<&ProfileConfig> {
        match &self.default_profile {
            Some(name) => self.profile(name),
            None => match self.profiles.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        }
    }

    /// All that is secret in it: of header values each word, as in `Bearer KEY`, but not of headers that only say who
    /// asks.
    pub(crate) fn keys(&self) -> Vec<Secret> {
        let headers = self.profiles.iter().flat_map(|profile| &profile.headers);
        let secret =
            headers.filter(|(name, _)| !PUBLIC_HEADERS.contains(&name.to_ascii_lowercase().as_str()));
        secret
            .flat_map(|(_, value)| value.expose().split_whitespace())
            .chain(self.web_search.key.as_deref())
            .map(Secret::new)
            .collect()
    }

    fn save(&self) -> Result<(), ApiError> {
        if let Some(error) = &self.broken {
            let text = format!("{error}. Nothing is overwritten; mend that, then try again.");
            return Err(ApiError::new(ErrorCode::BadConfig, text));
        }
        files::write_private(&self.path, &self.document.to_string())
    }
}

/// Modes by the names people type.
pub(crate) fn mode_of(name: &str) -> Option<Mode> {
    match name.trim().to_lowercase().replace([' ', '_'], "-").as_str() {
        "manual" => Some(Mode::Manual),
        "accept-edits" | "acceptedits" => Some(Mode::AcceptEdits),
        "auto" => Some(Mode::Auto),
        "plan" => Some(Mode::Plan),
        _ => None,
    }
}

/// A header whose value never leaves the core.
pub(crate) type Header = (String, Secret);

/// Line and column of a byte of a text, from 1.
pub(crate) fn place_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Rules of a project's own `.cairn/config.toml`: it can only tighten, so only `ask` and `deny` count.
pub(crate) fn project_rules(text: &str) -> Result<RuleLists, String> {
    let at = |offset: usize, reason: &str| {
        let (line, column) = place_of(text, offset);
        format!(
            "line {line}, column {column}: {}",
            reason.trim().replace('\n', "; ")
        )
    };
    let read =
        raw::read(text).map_err(|error| at(error.span().map_or(0, |span| span.start), error.message()))?;
    let rules = raw::rules(read.permissions, text);
    Ok(RuleLists {
        allow: Vec::new(),
        ..rules.map_err(|(rule, reason)| at(text.find(&rule).unwrap_or(0), &reason))?
    })
}

#[cfg(test)]
#[path = "config/tests.rs"]
mod tests;
