//! Settings as the window shows them. Secrets (keys, header values) never appear here.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Mode;

/// Wire protocol of a model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum Api {
    /// OpenAI Chat Completions and what calls itself compatible.
    #[serde(alias = "openai-chat")]
    Openai,
    /// OpenAI Responses.
    #[serde(alias = "openai-responses")]
    Responses,
    /// Anthropic Messages and what calls itself compatible.
    Anthropic,
    /// Ollama's own, which can be told the window.
    Ollama,
    /// A model file (GGUF) that Cairn runs itself; needs a build with `local-model`.
    Gguf,
    /// The built-in script.
    Demo,
}

/// How much a model shall think before it answers. What a protocol does not know is sent as the nearest it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Effort {
    /// Not at all.
    Off,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
#[ts(export)]
pub struct Prices {
    /// Prompt tokens.
    pub input: f64,
    /// Prompt tokens read from the provider's cache.
    pub cached: f64,
    /// Prompt tokens written to the provider's cache; as `input` when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cache_write: Option<f64>,
    /// Tokens written.
    pub output: f64,
}

/// One model profile, `[profiles.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Wire protocol.
    pub api: Api,
    /// Address up to and with the version part, like `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Name of the model at the server.
    pub model: String,
    /// Model for titles and sub-agents; the same when none.
    pub fast_model: Option<String>,
    /// Tokens the model can hold; asked from the server when none.
    pub context_window: Option<u64>,
    /// Tokens a reply may have.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature; the server's own when none.
    pub temperature: Option<f64>,
    /// How much it shall think; the server's own when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// How long Ollama keeps the model loaded, like `30m` or `-1`; the server's own when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub keep_alive: Option<String>,
    /// Prices, where something is paid.
    pub prices: Option<Prices>,
    /// Names of extra headers; their values stay in the core.
    pub header_names: Vec<String>,
    /// Whether a key is stored, and where.
    pub key: KeyPlace,
    /// Whether it runs on this machine.
    pub local: bool,
}

/// Where a profile's key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum KeyPlace {
    /// Nowhere.
    #[default]
    None,
    /// In the system's keychain.
    Keychain,
    /// In the environment.
    Environment,
    /// In memory until the program ends.
    Session,
    /// In a file that only the user can read, by consent.
    File,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Theme {
    /// As the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Where commands that are known to only read run unasked. SPEC P6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Reading {
    /// Where the sandbox is enforced.
    #[default]
    Sandboxed,
    /// Everywhere: the person turned it on.
    Everywhere,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ValueOrigin {
    /// Built in.
    #[default]
    Default,
    /// The user's config.toml.
    User,
    /// The project's .cairn/config.toml.
    Project,
    /// A `CAIRN_*` variable.
    Environment,
    /// A flag of the command line.
    Flag,
}

/// Settings as the window shows them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SettingsView {
    /// Path of config.toml.
    pub path: String,
    /// What is wrong with the file, with line and column; everything asks until it is mended.
    pub broken: Option<String>,
    /// Model profiles in the order of the file.
    pub profiles: Vec<Profile>,
    /// Name of the profile for new sessions.
    pub default_profile: Option<String>,
    /// Mode for new sessions: manual or accept-edits.
    pub default_mode: Mode,
    /// Where commands that only read run unasked.
    pub reading: Reading,
    /// Light or dark.
    pub theme: Theme,
    /// Whether this build can run a model file by itself.
    pub model_files: bool,
    /// Values that do not come from the defaults: key in the file and where it comes from.
    pub origins: Vec<(String, ValueOrigin)>,
}

/// One model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FoundModel {
    /// Name at the server.
    pub name: String,
    /// Tokens it can hold, where the server tells.
    pub context_window: Option<u64>,
    /// Whether it calls tools, where the server tells.
    pub tools: Option<bool>,
    /// Whether it sees pictures, where the server tells.
    pub vision: Option<bool>,
    /// Size on disk in bytes, where the server tells.
    pub bytes: Option<u64>,
}

/// What a look at one usual port found. SPEC A8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FoundServer {
    /// `Ollama`, `llama.cpp`, `LM Studio` or `vLLM`.
    pub name: String,
    /// The protocol that is best spoken with it.
    pub api: Api,
    /// Address that was tried.
    pub base_url: String,
    /// Its models; empty when it has none.
    pub models: Vec<FoundModel>,
    /// Why it did not answer; none when it did.
    pub problem: Option<String>,
}
