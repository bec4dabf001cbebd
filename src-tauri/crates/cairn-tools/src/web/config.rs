//! What the user configured about the web. SPEC A6, T25.

use std::fmt;

/// The search engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// DuckDuckGo's page without scripts; needs no key.
    #[default]
    DuckDuckGo,
    /// A SearXNG instance, by its address.
    SearXng,
    /// Brave's interface, by a key.
    Brave,
    /// A command of the user's own.
    Custom,
}

impl Engine {
    /// Reads its name as it stands in the configuration.
    pub fn parse(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "duckduckgo" | "ddg" => Some(Self::DuckDuckGo),
            "searxng" | "searx" => Some(Self::SearXng),
            "brave" => Some(Self::Brave),
            "custom" => Some(Self::Custom),
            _ => None,
        }
    }
}

/// `[web_search]` of the configuration.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct WebConfig {
    /// `backend`.
    pub engine: Engine,
    /// `url`: the SearXNG instance; for the others another address than the usual one. The host may be anywhere, also
    /// on this machine: it is the user's own word.
    pub url: Option<String>,
    /// `key`, for Brave.
    pub key: Option<String>,
    /// `command`: program and arguments. `{query}` in an argument stands for the query; without one it comes last.
    pub command: Vec<String>,
}

impl fmt::Debug for WebConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebConfig")
            .field("engine", &self.engine)
            .field("url", &self.url)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("command", &self.command)
            .finish()
    }
}
