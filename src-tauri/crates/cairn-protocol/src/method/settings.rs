//! Parameters and results of what is not about one session: the window, profiles, keys, models, rules, links.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    Api, Effort, FoundModel, FoundServer, Mode, Prices, Reading, RuleScope, SavedRule, SessionId, Theme,
    TrustView, UnixMillis,
};

/// What a window shows around its sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProjectView {
    /// Name of the folder.
    pub name: String,
    /// Its real path.
    pub path: String,
    /// Branch or short commit, where there is git.
    pub branch: Option<String>,
    /// Whether this is the sample project with the demo model.
    pub demo: bool,
    /// Whether a model was ever chosen.
    pub has_model: bool,
    /// Whether the folder is empty.
    pub empty: bool,
    /// Four first prompts made from what the folder holds.
    pub prompts: Vec<String>,
    /// Rules that hold for the project.
    pub rules: u32,
    /// What the folder proposes, and whether it is in force. SPEC A6, P11.
    pub trust: TrustView,
}

/// A profile to save.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProfileParams {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// Wire protocol.
    pub api: Api,
    /// Address.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// Tokens the model can hold; asked from the server when none.
    pub context_window: Option<u64>,
    /// Tokens a reply may have.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// How much it shall think; the server's own when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// How long Ollama keeps the model loaded, like `30m` or `-1`; the server's own when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub keep_alive: Option<String>,
    /// Prices.
    pub prices: Option<Prices>,
    /// Use it for new sessions.
    #[serde(default)]
    pub make_default: bool,
}

/// A profile by name.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProfileNameParams {
    /// Its name.
    pub name: String,
}

/// Where a key shall be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum KeepKey {
    /// In the system's keychain.
    Keychain,
    /// In memory until the program ends.
    Session,
    /// In a file that only the user can read.
    File,
}

/// A key to keep. It goes one way: no method ever returns a key.
#[derive(Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct KeySetParams {
    /// The profile it belongs to.
    pub profile: String,
    /// The key.
    pub key: String,
    /// Where.
    pub keep: KeepKey,
}

impl std::fmt::Debug for KeySetParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySetParams")
            .field("profile", &self.profile)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

/// A server to try.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelTestParams {
    /// The profile to try, saved or not.
    pub profile: ProfileParams,
}

/// What the trial found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelTestResult {
    /// Milliseconds to the first answer.
    pub ms: u64,
    /// The model's abilities as far as the server tells.
    pub found: FoundModel,
    /// All models the server offers.
    pub models: Vec<FoundModel>,
    /// Things to know, like `Ollama gives it only 4,096 tokens`.
    pub warnings: Vec<String>,
}

/// What was found on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiscoverResult {
    /// One entry per usual port, in a fixed order.
    pub servers: Vec<FoundServer>,
}

/// Appearance and defaults; only what is given changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct SettingsSetParams {
    /// Light or dark.
    pub theme: Option<Theme>,
    /// Profile for new sessions.
    pub default_profile: Option<String>,
    /// Mode for new sessions: manual or accept-edits.
    pub default_mode: Option<Mode>,
    /// Where commands that only read run unasked. SPEC P6.
    pub reading: Option<Reading>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum RuleEffect {
    /// Runs without asking.
    Allow,
    /// Asks, whatever else allows it.
    Ask,
    /// Never runs.
    Deny,
}

/// A rule as the page lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ListedRule {
    /// The rule, since when, how long and from where.
    pub saved: SavedRule,
    /// What it does.
    pub effect: RuleEffect,
    /// What it means, in plain words.
    pub meaning: String,
    /// The session that it holds for, where it does not hold for the whole project.
    pub session: Option<SessionId>,
    /// Title of that session.
    pub session_title: Option<String>,
    /// Whether it can be revoked here; others stand in a file that a person writes.
    pub revocable: bool,
}

/// Rules that hold for the project and its open sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RuleListResult {
    /// The rules.
    pub rules: Vec<ListedRule>,
    /// Why no rule allows anything now: what cannot be read, where, and what to do.
    pub problem: Option<String>,
}

/// A rule by its text.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RuleParams {
    /// Its text.
    pub rule: String,
    /// Its scope.
    pub scope: RuleScope,
    /// The session that it holds for; none for the whole project.
    #[serde(default)]
    pub session: Option<SessionId>,
}

/// A rule as it was typed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RuleTextParams {
    /// The text, like `run: cargo test`.
    pub rule: String,
}

/// What a typed rule would mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RuleMeaning {
    /// The rule as it would be saved.
    pub rule: String,
    /// What it means, in plain words.
    pub meaning: String,
}

/// A link that was clicked.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LinkParams {
    /// Its target: http, https or mailto, at most 2,048 characters.
    pub href: String,
}

/// The person's answer to the one question about a model whose window nobody tells. SPEC M5.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProfileWindowParams {
    /// The profile.
    pub name: String,
    /// Tokens its model can hold, 1,024 to 100,000,000.
    pub context_window: u64,
}

/// One fact of the project's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Fact {
    /// Its text, at most 500 characters.
    pub text: String,
    /// When it was kept; none for shared ones.
    pub at: Option<UnixMillis>,
    /// It stands in the project's own `.cairn/memory.md`.
    pub shared: bool,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FactsResult {
    /// The facts, newest first, shared ones last.
    pub facts: Vec<Fact>,
}

/// What is to become of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum FactChange {
    /// It reads like this from now on.
    Edit {
        /// The new text.
        text: String,
    },
    /// It goes into the project's own list.
    Share,
    /// It is forgotten.
    Forget,
}

/// A change of one private fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FactParams {
    /// The fact as listed.
    pub text: String,
    /// What becomes of it.
    pub change: FactChange,
}

/// What becomes of running work when its window is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CloseWork {
    /// It is stopped; the window closes.
    Stop,
    /// It goes on out of sight. The window comes back when the person is asked, and is gone when the work is done.
    Keep,
}

/// The person's answer to the question that closing a working window asks.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct WindowCloseParams {
    /// What becomes of the work.
    pub work: CloseWork,
}
