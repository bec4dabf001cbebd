//! The list of wire protocols. Owns: which protocol a profile names. Must never know: what any of them sends.

use std::sync::Arc;

use cairn_agent::model::{Model, ModelError, ModelInfo};
use cairn_protocol::{Api, Effort, ErrorCode, Prices};

use crate::{Secret, chat, demo};

/// Everything needed to ask one model: a profile together with its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// Wire protocol.
    pub api: Api,
    /// Address up to and with the version part, like `http://127.0.0.1:11434/v1`. Unused by the demo.
    pub base_url: String,
    /// Name of the model at the server.
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

/// One wire protocol: its name in the configuration and how a model of it is made.
pub(crate) struct Protocol {
    pub(crate) api: Api,
    pub(crate) build: fn(&ModelConfig, ModelInfo) -> Result<Arc<dyn Model>, ModelError>,
}

/// Every protocol there is.
const PROTOCOLS: &[Protocol] = &[chat::PROTOCOL, demo::PROTOCOL];

/// Makes the model that a configuration names. Nothing is sent. `info` comes from [`crate::inspect`], a cache of
/// it, or [`crate::assume`]. Fails with `BadConfig` where address, key or a header cannot be used.
pub fn build(config: &ModelConfig, info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
    let Some(protocol) = PROTOCOLS.iter().find(|protocol| protocol.api == config.api) else {
        return Err(ModelError::fatal(
            ErrorCode::BadConfig,
            "This build does not speak the protocol that the profile names. Choose another `api` in its settings.",
        ));
    };
    (protocol.build)(config, info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assume;

    #[test]
    fn every_protocol_is_listed_once() {
        for api in [Api::Openai, Api::Demo] {
            assert_eq!(
                PROTOCOLS.iter().filter(|protocol| protocol.api == api).count(),
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
