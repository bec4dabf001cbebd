//! The file's form, as serde reads it. Unknown keys are left alone: a newer build may know them.

use std::collections::HashMap;
use std::time::Duration;

use cairn_policy::{Reading, Rule};
use cairn_protocol::{Api, Effort, Mode, Prices, Theme, ValueOrigin};
use cairn_store::Secret;
use cairn_tools::web::{Engine, WebConfig};
use serde::Deserialize;
use toml_edit::de::Error;

use super::{Config, ConfigError, Header, RuleLists};

/// Longest time limit of a tool, seconds: an hour.
const LONGEST_TIMEOUT: u64 = 3_600;

/// One model profile with its secrets.
#[derive(Clone, Debug)]
pub(crate) struct ProfileConfig {
    pub(crate) name: String,
    pub(crate) api: Api,
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) fast_model: Option<String>,
    pub(crate) context_window: Option<u64>,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) effort: Option<Effort>,
    pub(crate) keep_alive: Option<String>,
    pub(crate) prices: Option<Prices>,
    pub(crate) headers: Vec<Header>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct RawConfig {
    default_profile: Option<String>,
    profiles: HashMap<String, RawProfile>,
    pub(super) permissions: RawPermissions,
    tools: HashMap<String, RawTool>,
    limits: RawLimits,
    web_search: RawWebSearch,
    ui: RawUi,
}

#[derive(Deserialize)]
struct RawProfile {
    #[serde(default = "openai")]
    api: Api,
    #[serde(default)]
    base_url: String,
    #[serde(default)]
    model: String,
    fast_model: Option<String>,
    context_window: Option<u64>,
    max_output_tokens: Option<u64>,
    temperature: Option<f64>,
    effort: Option<Effort>,
    keep_alive: Option<String>,
    prices: Option<Prices>,
    #[serde(default)]
    headers: HashMap<String, String>,
}

fn openai() -> Api {
    Api::Openai
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RawPermissions {
    default_mode: Option<Mode>,
    reading: Option<cairn_protocol::Reading>,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawTool {
    Switch(bool),
    Table(RawToolTable),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawToolTable {
    enabled: Option<bool>,
    pass_env: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawLimits {
    steps: Option<u32>,
    steps_auto: Option<u32>,
    timeout: HashMap<String, u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawWebSearch {
    backend: Option<RawEngine>,
    url: Option<String>,
    key: Option<String>,
    command: Vec<String>,
}

/// The engine by its name; another name is an error with its place, like every value that cannot be read.
struct RawEngine(Engine);

impl<'de> Deserialize<'de> for RawEngine {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Engine::parse(&name).map(Self).ok_or_else(|| {
            let text = format!("`{name}` is no search engine; expected duckduckgo, searxng, brave or custom");
            serde::de::Error::custom(text)
        })
    }
}

impl RawWebSearch {
    /// The engine that is named, else the one that the other keys are for.
    fn config(self) -> WebConfig {
        let engine = match (&self.backend, &self.url, &self.key) {
            (Some(named), ..) => named.0,
            (None, ..) if !self.command.is_empty() => Engine::Custom,
            (None, _, Some(_)) => Engine::Brave,
            (None, Some(_), None) => Engine::SearXng,
            (None, None, None) => Engine::DuckDuckGo,
        };
        WebConfig {
            engine,
            url: self.url,
            key: self.key,
            command: self.command,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawUi {
    theme: Option<Theme>,
}

pub(super) fn read(text: &str) -> Result<RawConfig, Error> {
    toml_edit::de::from_str(text)
}

/// Rules of the three lists; an unreadable one gives its text and the reason.
pub(super) fn rules(raw: RawPermissions, _text: &str) -> Result<RuleLists, (String, String)> {
    let list = |texts: Vec<String>| -> Result<Vec<Rule>, (String, String)> {
        texts
            .into_iter()
            .map(|text| {
                text.parse::<Rule>()
                    .map_err(|error| (text.clone(), format!("`{text}`: {error}")))
            })
            .collect()
    };
    Ok(RuleLists {
        allow: list(raw.allow)?,
        ask: list(raw.ask)?,
        deny: list(raw.deny)?,
    })
}

pub(super) fn config(raw: RawConfig, text: &str) -> Config {
    let mut config = Config {
        default_profile: raw.default_profile,
        ..Config::default()
    };
    let mut origins = Vec::new();
    let mut note = |key: &str, is_set: bool| {
        if is_set {
            origins.push((key.to_owned(), ValueOrigin::User));
        }
    };
    note("default_profile", config.default_profile.is_some());
    note("profiles", !raw.profiles.is_empty());
    note("default_mode", raw.permissions.default_mode.is_some());
    note("reading", raw.permissions.reading.is_some());
    note("theme", raw.ui.theme.is_some());
    config.origins = origins;
    // A new session never starts in auto or plan. SPEC P8.
    config.default_mode = match raw.permissions.default_mode {
        Some(Mode::AcceptEdits) => Mode::AcceptEdits,
        _ => Mode::Manual,
    };
    config.reading = match raw.permissions.reading {
        Some(cairn_protocol::Reading::Everywhere) => Reading::Everywhere,
        Some(cairn_protocol::Reading::Sandboxed) | None => Reading::InSandbox,
    };
    config.theme = raw.ui.theme.unwrap_or_default();
    (config.steps, config.steps_auto) = (raw.limits.steps, raw.limits.steps_auto);
    config.timeouts = raw
        .limits
        .timeout
        .into_iter()
        .map(|(tool, seconds)| (tool, Duration::from_secs(seconds.clamp(1, LONGEST_TIMEOUT))))
        .collect();
    config.web_search = raw.web_search.config();
    take_tools(&mut config, raw.tools);
    config.profiles = raw
        .profiles
        .into_iter()
        .map(|(name, profile)| profile_of(name, profile))
        .collect();
    config
        .profiles
        .sort_by_key(|profile| place_in(text, &profile.name));
    match rules(raw.permissions, text) {
        Ok(lists) => config.rules = lists,
        Err((rule, reason)) => {
            let (line, column) = super::place_of(text, text.find(&rule).unwrap_or(0));
            config.broken = Some(ConfigError {
                path: "config.toml".to_owned(),
                line,
                column,
                reason,
            });
        }
    }
    config
}

fn take_tools(config: &mut Config, tools: HashMap<String, RawTool>) {
    for (name, tool) in tools {
        let table = match tool {
            RawTool::Switch(enabled) => RawToolTable {
                enabled: Some(enabled),
                pass_env: Vec::new(),
            },
            RawTool::Table(table) => table,
        };
        if table.enabled == Some(false) {
            config.tools_off.push(name.clone());
        }
        if name == "shell" {
            config.pass_env = table.pass_env;
        }
    }
}

fn profile_of(name: String, raw: RawProfile) -> ProfileConfig {
    let mut headers: Vec<Header> = raw
        .headers
        .into_iter()
        .map(|(name, value)| (name, Secret::new(&value)))
        .collect();
    headers.sort_by(|a, b| a.0.cmp(&b.0));
    ProfileConfig {
        name,
        api: raw.api,
        base_url: raw.base_url.trim().trim_end_matches('/').to_owned(),
        model: raw.model,
        fast_model: raw.fast_model,
        context_window: raw.context_window,
        max_output_tokens: raw.max_output_tokens,
        temperature: raw.temperature,
        effort: raw.effort,
        keep_alive: raw.keep_alive,
        prices: raw.prices,
        headers,
    }
}

/// Profiles are listed in the order of the file.
fn place_in(text: &str, name: &str) -> usize {
    [format!("[profiles.{name}]"), format!("[profiles.\"{name}\"]")]
        .iter()
        .filter_map(|heading| text.find(heading))
        .min()
        .unwrap_or(usize::MAX)
}
