//! `settings/…`, `profile/…`, `key/…`, `model/…`, `memory/…`.

use cairn_protocol::{
    Api, ApiError, DiscoverResult, FactChange, FactParams, FactsResult, KeyPlace, KeySetParams,
    ModelTestParams, ModelTestResult, Profile, ProfileNameParams, ProfileParams, ProfileWindowParams,
    Reading, SettingsSetParams, SettingsView,
};

use super::Window;
use crate::config::ProfileConfig;
use crate::memory::ProjectMemory;
use crate::models;

impl Window {
    pub(super) fn settings(&self) -> SettingsView {
        let config = self.host.config();
        SettingsView {
            path: config.path().display().to_string(),
            broken: config.broken().map(ToString::to_string),
            profiles: config
                .profiles
                .iter()
                .map(|profile| self.profile(profile))
                .collect(),
            default_profile: config.profile_for_new().map(|profile| profile.name.clone()),
            default_mode: config.default_mode,
            reading: match config.reading {
                cairn_policy::Reading::InSandbox => Reading::Sandboxed,
                cairn_policy::Reading::Everywhere => Reading::Everywhere,
            },
            theme: config.theme,
            model_files: cairn_models::RUNS_MODEL_FILES,
            origins: config.origins.clone(),
        }
    }

    fn profile(&self, profile: &ProfileConfig) -> Profile {
        let key = if matches!(profile.api, Api::Demo | Api::Gguf) {
            KeyPlace::None
        } else {
            self.host
                .secrets()
                .place(&profile.name, models::usual_variable(&profile.base_url))
        };
        Profile {
            name: profile.name.clone(),
            api: profile.api,
            base_url: profile.base_url.clone(),
            model: profile.model.clone(),
            fast_model: profile.fast_model.clone(),
            context_window: profile.context_window,
            max_output_tokens: profile.max_output_tokens,
            temperature: profile.temperature,
            effort: profile.effort,
            keep_alive: profile.keep_alive.clone(),
            prices: profile.prices,
            header_names: profile.headers.iter().map(|(name, _)| name.clone()).collect(),
            key,
            local: models::is_local(profile),
        }
    }

    pub(super) async fn change_settings(&self, params: &SettingsSetParams) -> Result<SettingsView, ApiError> {
        let config = self
            .host
            .config()
            .with_settings(params, self.host.environment())?;
        self.host.set_config(config);
        if params.reading.is_some() {
            self.host.reading_changed().await;
        }
        Ok(self.settings())
    }

    pub(super) async fn save_profile(&self, params: ProfileParams) -> Result<SettingsView, ApiError> {
        let config = self.host.config();
        let moved = config.profile(&params.name).is_some_and(|known| {
            let address = |text: &str| {
                cairn_models::address::Address::parse(text)
                    .ok()
                    .map(|a| (a.host(), a.port()))
            };
            address(&known.base_url) != address(&params.base_url)
        });
        let config = config.with_profile(&params, self.host.environment())?;
        self.host.set_config(config);
        self.warn(self.host.profile_changed(&params.name).await);
        if moved {
            // A key goes only to the server it was given for: another address needs it to be entered again.
            self.host.forget_key(&params.name).await?;
        }
        Ok(self.settings())
    }

    /// The answer to the one question about a model whose window nobody tells. SPEC M5.
    pub(super) async fn set_window(&self, params: ProfileWindowParams) -> Result<SettingsView, ApiError> {
        let config = self.host.config();
        let config = config.with_window(&params.name, params.context_window, self.host.environment())?;
        self.host.set_config(config);
        self.warn(self.host.profile_changed(&params.name).await);
        Ok(self.settings())
    }

    pub(super) async fn delete_profile(&self, params: ProfileNameParams) -> Result<SettingsView, ApiError> {
        let config = self
            .host
            .config()
            .without_profile(&params.name, self.host.environment())?;
        self.host.set_config(config);
        self.host.forget_key(&params.name).await?;
        Ok(self.settings())
    }

    pub(super) async fn set_key(&self, params: KeySetParams) -> Result<SettingsView, ApiError> {
        self.host
            .keep_key(&params.profile, &params.key, params.keep)
            .await?;
        // What is sent next must not go with the old key, or with none.
        self.warn(self.host.profile_changed(&params.profile).await);
        Ok(self.settings())
    }

    pub(super) async fn delete_key(&self, params: ProfileNameParams) -> Result<SettingsView, ApiError> {
        self.host.forget_key(&params.name).await?;
        self.warn(self.host.profile_changed(&params.name).await);
        Ok(self.settings())
    }

    pub(super) async fn test_model(&self, params: ModelTestParams) -> Result<ModelTestResult, ApiError> {
        let config = models::of_form(&params.profile, &self.host.config(), self.host.secrets()).await?;
        cairn_models::trial(&config).await.map_err(|error| error.error)
    }

    pub(super) async fn discover(&self) -> DiscoverResult {
        DiscoverResult {
            servers: cairn_models::discover::discover().await,
        }
    }

    pub(super) fn list_facts(&self) -> Result<FactsResult, ApiError> {
        let facts = ProjectMemory::new(&self.host, &self.project).list()?;
        Ok(FactsResult { facts })
    }

    pub(super) fn change_fact(&self, params: &FactParams) -> Result<FactsResult, ApiError> {
        let memory = ProjectMemory::new(&self.host, &self.project);
        match &params.change {
            FactChange::Edit { text } => memory.edit(&params.text, text)?,
            FactChange::Share => memory.share(&params.text)?,
            FactChange::Forget => memory.forget(&params.text)?,
        }
        self.list_facts()
    }
}
