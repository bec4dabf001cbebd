//! The list of wire protocols. Owns: which protocol a profile names. Must never know: what any of them sends.

use std::sync::Arc;

use cairn_agent::model::{Model, ModelError, ModelInfo};
use cairn_protocol::{Api, Effort, Prices};

use url::Url;

use crate::address::Address;
use crate::dialect::{Dialect, WireModel};
use crate::reply::stream::Listener;
use crate::{Secret, anthropic, chat, demo, gguf, ollama, responses};

/// Everything needed to ask one model: a profile together with its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// Wire protocol.
    pub api: Api,
    /// Address up to and with the version part, like `http://127.0.0.1:11434/v1`. Unused by the demo.
    pub base_url: String,
    /// Name of the model at the server; for a model file its whole path.
    pub model: String,
    /// API key, sent as a bearer token to `base_url` and nowhere else.
    pub key: Option<Secret>,
    /// Extra headers; one named `authorization` replaces the key's.
    pub headers: Vec<(String, Secret)>,
    /// Tokens the model can hold, where the profile says.
    pub context_window: Option<u64>,
    /// Tokens a reply may have, where the profile says.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature, where the profile says.
    pub temperature: Option<f64>,
    /// How much it shall think, where the profile says.
    pub effort: Option<Effort>,
    /// How long Ollama keeps it loaded, where the profile says.
    pub keep_alive: Option<String>,
    /// Prices, where something is paid.
    pub prices: Option<Prices>,
}

impl ModelConfig {
    /// A configuration without key, headers, limits or prices.
    pub fn new(api: Api, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            api,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            headers: Vec::new(),
            context_window: None,
            max_output_tokens: None,
            temperature: None,
            effort: None,
            keep_alive: None,
            prices: None,
        }
    }
}

/// Every wire protocol there is. The demo script and a model file are none: nobody is spoken to.
const DIALECTS: &[&Dialect] = &[
    &chat::DIALECT,
    &responses::DIALECT,
    &anthropic::DIALECT,
    &ollama::DIALECT,
];

/// The protocol of that name; none for what runs in this process.
pub(crate) fn dialect(api: Api) -> Option<&'static Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.api == api)
}

/// Where a server of that protocol lists its models.
pub(crate) fn models_url(api: Api, address: &Address) -> Url {
    match api {
        Api::Ollama => address.at_root("/v1/models"),
        Api::Anthropic if !address.has_version() => address.endpoint("v1/models"),
        Api::Anthropic | Api::Openai | Api::Responses | Api::Gguf | Api::Demo => address.endpoint("models"),
    }
}

/// Reads the frames of a reply in that protocol.
pub(crate) fn listener(api: Api) -> Box<dyn Listener> {
    (dialect(api).unwrap_or(&chat::DIALECT).listener)()
}

/// Makes the model that a configuration names. Nothing is sent. `info` comes from [`crate::inspect`], a cache of
/// it, or [`crate::assume`]. Fails with `BadConfig` where address, key or a header cannot be used.
pub fn build(config: &ModelConfig, info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
    match dialect(config.api) {
        Some(dialect) => Ok(Arc::new(WireModel::new(dialect, config, info)?)),
        None if config.api == Api::Gguf => gguf::build(config, info),
        None => Ok(Arc::new(demo::DemoModel::new(demo::Pace::READABLE))),
    }
}

#[cfg(test)]
mod tests {
    use cairn_protocol::ErrorCode;

    use super::*;
    use crate::assume;

    #[test]
    fn every_protocol_is_listed_once() {
        for api in [Api::Openai, Api::Responses, Api::Anthropic, Api::Ollama] {
            assert_eq!(
                DIALECTS.iter().filter(|dialect| dialect.api == api).count(),
                1,
                "{api:?}"
            );
        }
    }

    #[test]
    fn an_address_that_makes_no_sense_is_a_config_error() {
        let config = ModelConfig::new(Api::Openai, "localhost:11434", "m");
        let error = build(&config, assume(&config)).err().unwrap();
        assert_eq!(error.error.code, ErrorCode::BadConfig);
        assert!(
            error.error.message.contains("http://127.0.0.1:11434/v1"),
            "{error}"
        );
    }
}
