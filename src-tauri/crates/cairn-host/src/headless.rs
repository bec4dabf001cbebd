//! What the headless command asks of the host beside sessions: lists over all projects, keys, the only server.

use std::sync::Arc;

use cairn_agent::driver::{SessionHandle, storage_error};
use cairn_policy::RuleOrigin;
use cairn_protocol::{
    ApiError, ErrorCode, FoundServer, KeepKey, ProjectKey, SearchHit, SessionId, SessionListParams,
    SessionListResult, SessionSnapshot,
};
use cairn_store::Secret;

use crate::fanout::{Form, Subscription};
use crate::host::Host;
use crate::models;
use crate::project::Project;

/// Longest key, bytes.
const KEY: usize = 8_192;

impl Host {
    /// An id that was never used.
    pub fn fresh_id(&self) -> String {
        self.world().fresh_id()
    }

    /// Sessions of a project, or of all, newest first.
    pub async fn list_sessions(
        &self,
        project: Option<&ProjectKey>,
        params: &SessionListParams,
    ) -> Result<SessionListResult, ApiError> {
        self.store()
            .list(project, params)
            .await
            .map_err(|error| storage_error(&error))
    }

    /// Every event of one session from now on, as the model wrote it.
    pub fn follow(&self, project: &Project, session: &SessionId) -> Subscription {
        let fanout = self.fanout(&project.key);
        let (number, subscription) = fanout.subscribe(Form::Plain);
        fanout.open(number, session);
        subscription
    }

    /// A session as it is stored, whoever writes it.
    pub async fn read_session(&self, id: &SessionId) -> Result<SessionSnapshot, ApiError> {
        let loaded = self
            .store()
            .load(id)
            .await
            .map_err(|error| storage_error(&error))?;
        let log = crate::session::log_of(loaded);
        Ok(log.snapshot(
            cairn_protocol::ContextMeter::default(),
            cairn_protocol::Activity::Idle,
        ))
    }

    /// Words in all sessions of all projects.
    pub async fn search_sessions(&self, text: &str) -> Result<Vec<SearchHit>, ApiError> {
        self.store()
            .search(None, text)
            .await
            .map_err(|error| storage_error(&error))
    }

    /// Deletes a session of any project.
    pub async fn delete_session(&self, id: &SessionId) -> Result<(), ApiError> {
        self.store()
            .delete(id)
            .await
            .map_err(|error| storage_error(&error))
    }

    /// Saves a rule that was typed on the command line; gives what it means.
    pub fn add_rule(&self, project: &Project, rule: &str) -> Result<String, ApiError> {
        let added = self
            .project_rules(project)
            .add(rule, RuleOrigin::CommandLine, self.world().now())?;
        Ok(added.meaning())
    }

    /// Keeps a profile's key.
    pub async fn keep_key(&self, profile: &str, key: &str, keep: KeepKey) -> Result<(), ApiError> {
        if self.config().profile(profile).is_none() {
            let text = format!(
                "There is no profile `{profile}` in {}.",
                self.config().path().display()
            );
            return Err(ApiError::new(ErrorCode::NotFound, text));
        }
        let key = key.trim();
        if key.is_empty() || key.len() > KEY || key.chars().any(char::is_control) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "That is no key: it is empty, too long or has line breaks.",
            ));
        }
        let kept = self.secrets().set(profile, Secret::new(key), keep).await;
        kept.map_err(|error| ApiError::new(ErrorCode::Keychain, error.to_string()))
    }

    /// Forgets a profile's key wherever it is.
    pub async fn forget_key(&self, profile: &str) -> Result<(), ApiError> {
        let deleted = self.secrets().delete(profile).await;
        deleted.map_err(|error| ApiError::new(ErrorCode::Keychain, error.to_string()))
    }

    /// Fails when there is no profile of that name.
    pub fn check_profile(&self, name: &str) -> Result<(), ApiError> {
        if name == models::DEMO || self.config().profile(name).is_some() {
            return Ok(());
        }
        Err(models::no_profile(name, &self.config()))
    }

    /// Uses the one model of the one server that runs on this machine; anything else needs a profile. SPEC A2.
    pub async fn use_only_server(self: &Arc<Self>, handle: &SessionHandle) -> Result<Vec<String>, ApiError> {
        let config = self.config();
        if let Some(name) = config
            .default_profile
            .as_deref()
            .filter(|name| config.profile(name).is_none())
        {
            let text = format!(
                "The default profile is `{name}`, and {} has none of that name. Mend `default_profile` (or \
                 CAIRN_PROFILE), or name one with --profile.",
                config.path().display()
            );
            return Err(ApiError::new(ErrorCode::NoModel, text));
        }
        let servers = cairn_models::discover::discover().await;
        let offers: Vec<_> = servers
            .iter()
            .flat_map(|server| server.models.iter().map(move |model| (server, model)))
            .collect();
        let [(server, model)] = offers.as_slice() else {
            return Err(ApiError::new(ErrorCode::NoModel, no_model(&servers)));
        };
        let config = cairn_models::ModelConfig::new(server.api, server.base_url.clone(), model.name.clone());
        let ready = models::found(&config).await?;
        handle
            .use_model(format!("{} at {}", model.name, server.name), ready.model)
            .await?;
        Ok(ready.warnings)
    }
}

fn no_model(servers: &[FoundServer]) -> String {
    let mut text = "No model is chosen, and not exactly one was found on this machine:".to_owned();
    for server in servers {
        let found = match &server.problem {
            Some(problem) => problem.clone(),
            None if server.models.is_empty() => "runs, but has no model".to_owned(),
            None => server
                .models
                .iter()
                .map(|model| model.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        };
        text.push_str(&format!("\n  {} at {}: {found}", server.name, server.base_url));
    }
    text.push_str("\nName one with --profile, or try --profile demo.");
    text
}
