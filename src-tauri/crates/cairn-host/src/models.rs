//! From a profile to a model that can be asked: its key, its abilities, its cache. SPEC M5, A7.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_agent::model::{Model, ModelInfo};
use cairn_models::{Inspection, ModelConfig, Secret};
use cairn_protocol::{Api, ApiError, ErrorCode, ProfileParams};
use cairn_store::Secrets;

use crate::config::{Config, ProfileConfig};

/// Tokens that are assumed where nobody tells the window and nobody can be asked.
pub(crate) const ASSUMED_WINDOW: u64 = 16_384;
/// Name of the built-in script.
pub(crate) const DEMO: &str = "demo";

/// What servers said about their models, by address and name; asked once per start.
#[derive(Default)]
pub(crate) struct ModelCache {
    known: Mutex<HashMap<(String, String), Inspection>>,
}

impl ModelCache {
    async fn inspect(&self, config: &ModelConfig) -> Inspection {
        let name = (config.base_url.clone(), config.model.clone());
        let known = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&name)
            .cloned();
        if let Some(known) = known {
            return known;
        }
        let found = cairn_models::inspect(config).await;
        // A server that did not answer may be there the next time.
        if !found.models.is_empty() {
            self.known
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(name, found.clone());
        }
        found
    }

    /// Forgets what was said: the profile changed.
    pub(crate) fn forget(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A model ready to be asked, with what must be said about it first.
pub(crate) struct Ready {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) warnings: Vec<String>,
}

/// The model of a profile by name.
pub(crate) async fn ready(
    name: &str,
    config: &Config,
    secrets: &Secrets,
    cache: &ModelCache,
    pace: cairn_models::demo::Pace,
) -> Result<Ready, ApiError> {
    if name == DEMO {
        let model = Arc::new(cairn_models::demo::DemoModel::new(pace));
        return Ok(Ready {
            model,
            warnings: Vec::new(),
        });
    }
    let Some(profile) = config.profile(name) else {
        return Err(no_profile(name, config));
    };
    let model_config = with_key(profile, secrets).await?;
    // Whoever wrote down the window does not want to wait for a server to tell it.
    let (info, warnings) = if profile.context_window.is_some() {
        (cairn_models::assume(&model_config), Vec::new())
    } else {
        let found = cache.inspect(&model_config).await;
        (found.info, found.warnings)
    };
    made(&model_config, info, warnings)
}

pub(crate) fn no_profile(name: &str, config: &Config) -> ApiError {
    let text = format!(
        "There is no model profile `{name}` in {}. Choose another model.",
        config.path().display()
    );
    ApiError::new(ErrorCode::NoModel, text)
}

/// A model that was found on this machine and has no profile.
pub(crate) async fn found(config: &ModelConfig) -> Result<Ready, ApiError> {
    let found = cairn_models::inspect(config).await;
    made(config, found.info, found.warnings)
}

fn made(config: &ModelConfig, mut info: ModelInfo, mut warnings: Vec<String>) -> Result<Ready, ApiError> {
    if info.window.is_none() {
        (info.window, info.window_assumed) = (Some(ASSUMED_WINDOW), true);
        warnings.push(format!(
            "Nobody tells how many tokens {} can hold; {ASSUMED_WINDOW} are assumed. Set `context_window` in its profile.",
            info.name
        ));
    }
    let model = cairn_models::build(config, info).map_err(|error| error.error)?;
    Ok(Ready { model, warnings })
}

async fn with_key(profile: &ProfileConfig, secrets: &Secrets) -> Result<ModelConfig, ApiError> {
    let key = secrets
        .key(&profile.name, usual_variable(&profile.base_url))
        .await
        .map_err(|error| ApiError::new(ErrorCode::Keychain, error.to_string()))?;
    Ok(ModelConfig {
        key: key.map(|found| Secret::new(found.secret.expose())),
        headers: profile
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Secret::new(value.expose())))
            .collect(),
        context_window: profile.context_window,
        max_output_tokens: profile.max_output_tokens,
        temperature: profile.temperature,
        effort: profile.effort,
        keep_alive: profile.keep_alive.clone(),
        prices: profile.prices,
        ..ModelConfig::new(profile.api, profile.base_url.clone(), profile.model.clone())
    })
}

/// A profile as the settings form holds it, with the key that is stored under its name.
pub(crate) async fn of_form(
    form: &ProfileParams,
    config: &Config,
    secrets: &Secrets,
) -> Result<ModelConfig, ApiError> {
    let headers = config
        .profile(&form.name)
        .map(|known| known.headers.clone())
        .unwrap_or_default();
    let profile = ProfileConfig {
        name: form.name.clone(),
        api: form.api,
        base_url: form.base_url.trim().trim_end_matches('/').to_owned(),
        model: form.model.clone(),
        fast_model: None,
        context_window: form.context_window,
        max_output_tokens: form.max_output_tokens,
        temperature: form.temperature,
        effort: form.effort,
        keep_alive: form.keep_alive.clone(),
        prices: form.prices,
        // Headers may be keys as well: they go only to the address they were written for.
        headers: if config
            .profile(&form.name)
            .is_some_and(|known| same_host(&known.base_url, &form.base_url))
        {
            headers
        } else {
            Vec::new()
        },
    };
    let mut model = with_key(&profile, secrets).await?;
    let stored_for = config.profile(&form.name).map(|known| known.base_url.as_str());
    if stored_for.is_some_and(|address| !same_host(address, &form.base_url)) {
        model.key = None;
    }
    Ok(model)
}

fn same_host(one: &str, other: &str) -> bool {
    let parts = |text: &str| {
        cairn_models::address::Address::parse(text)
            .ok()
            .map(|address| (address.host(), address.port(), address.is_encrypted()))
    };
    parts(one).is_some() && parts(one) == parts(other)
}

/// The variable in which a provider's key usually stands.
pub(crate) fn usual_variable(base_url: &str) -> Option<&'static str> {
    let address = cairn_models::address::Address::parse(base_url).ok()?;
    let host = address.host();
    let of = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
    [
        ("openai.com", "OPENAI_API_KEY"),
        ("openrouter.ai", "OPENROUTER_API_KEY"),
        ("groq.com", "GROQ_API_KEY"),
        ("mistral.ai", "MISTRAL_API_KEY"),
        ("deepseek.com", "DEEPSEEK_API_KEY"),
        ("x.ai", "XAI_API_KEY"),
        ("together.xyz", "TOGETHER_API_KEY"),
        ("googleapis.com", "GEMINI_API_KEY"),
        ("anthropic.com", "ANTHROPIC_API_KEY"),
        ("cerebras.ai", "CEREBRAS_API_KEY"),
    ]
    .into_iter()
    .find(|(domain, _)| of(domain))
    .map(|(_, variable)| variable)
}

/// Names of all those variables and our own, for what counts of the environment.
pub(crate) const KEY_VARIABLES: [&str; 13] = [
    "CAIRN_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "TOGETHER_API_KEY",
    "GEMINI_API_KEY",
    "ANTHROPIC_API_KEY",
    "CEREBRAS_API_KEY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
];

/// Whether a profile's server runs on this machine.
pub(crate) fn is_local(profile: &ProfileConfig) -> bool {
    matches!(profile.api, Api::Demo | Api::Gguf)
        || cairn_models::address::Address::parse(&profile.base_url).is_ok_and(|address| address.is_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_only_to_the_host_it_was_stored_for() {
        for (one, other, same) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v2/", true),
            ("https://api.openai.com/v1", "http://api.openai.com/v1", false),
            (
                "https://api.openai.com/v1",
                "https://api.openai.com.evil.example/v1",
                false,
            ),
            ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", false),
            ("nonsense", "nonsense", false),
        ] {
            assert_eq!(same_host(one, other), same, "{one} {other}");
        }
        assert_eq!(
            usual_variable("https://api.openai.com/v1"),
            Some("OPENAI_API_KEY")
        );
        assert_eq!(usual_variable("https://notopenai.com/v1"), None);
    }
}
