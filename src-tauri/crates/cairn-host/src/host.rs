//! The host: everything that exists once per process, put together.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cairn_agent::driver::{SessionHandle, storage_error};
use cairn_agent::world::World;
use cairn_exec::{HelperProgram, Ledger, Processes, Shell, child_environment};
use cairn_models::demo::Pace;
use cairn_policy::{RuleOrigin, RuleSet};
use cairn_protocol::{ApiError, EventBody, Notice, NoticeLevel, ProjectKey, SessionId};
use cairn_store::{Secrets, Store};
use tokio::sync::MutexGuard;

use crate::config::Config;
use crate::environment::Environment;
use crate::fanout::Fanout;
use crate::home::Home;
use crate::inbox::Inbox;
use crate::models::{self, DEMO, KEY_VARIABLES, ModelCache};
use crate::project::{Demo, Project};
use crate::rules::{OwnRules, ProjectRules};
use crate::session::OpenSession;
use crate::world::RealWorld;

/// Between two looks for a request to show a window.
const SHOW_LOOK: std::time::Duration = std::time::Duration::from_secs(1);

type Open = HashMap<SessionId, Arc<OpenSession>>;

/// Everything that exists once per process.
pub struct Host {
    home: Home,
    environment: Environment,
    store: Store,
    secrets: Secrets,
    processes: Processes,
    ledger: Ledger,
    config: RwLock<Arc<Config>>,
    models: ModelCache,
    pace: Pace,
    fanouts: Mutex<HashMap<ProjectKey, Arc<Fanout>>>,
    open: tokio::sync::Mutex<Open>,
    inbox: Inbox,
    world: Arc<dyn World>,
}

impl Host {
    /// Finds Cairn's folders, opens the database and reads the configuration. Starts no process and asks no server.
    pub fn start(environment: Environment, helper: HelperProgram, pace: Pace) -> Result<Arc<Self>, ApiError> {
        let home = Home::locate(&environment)?;
        home.make()?;
        let store = Store::open(&home.data()).map_err(|error| storage_error(&error))?;
        let texts = environment.texts();
        let keys = texts
            .into_iter()
            .filter(|(name, _)| KEY_VARIABLES.contains(&name.as_str()))
            .collect();
        let config = Config::load(&home.config_file(), &environment);
        let ledger = crate::processes::ledger(&home);
        let secrets = Secrets::new(home.keys(), &keys);
        secrets.set_configured(config.keys());
        Ok(Arc::new(Self {
            secrets,
            processes: Processes::recorded(helper, ledger.clone()),
            ledger,
            config: RwLock::new(Arc::new(config)),
            models: ModelCache::default(),
            pace,
            fanouts: Mutex::default(),
            open: tokio::sync::Mutex::default(),
            inbox: Inbox::default(),
            world: Arc::new(RealWorld),
            store,
            home,
            environment,
        }))
    }

    /// Opens a folder as a project. Without one: the sample project of the demo.
    pub async fn project(&self, folder: Option<&Path>) -> Result<Arc<Project>, ApiError> {
        let user_home = self.environment.home();
        let project = match folder {
            Some(folder) => {
                let sample = self.home.sample().canonicalize().ok();
                let demo = if sample.is_some() && folder.canonicalize().ok() == sample {
                    Demo::Yes
                } else {
                    Demo::No
                };
                Project::open(folder, user_home, demo)?
            }
            None => Project::open(&crate::demo::sample_project(&self.home)?, user_home, Demo::Yes)?,
        };
        self.store
            .touch_project(&project.key, &project.shown())
            .await
            .map_err(|error| storage_error(&error))?;
        Ok(Arc::new(project))
    }

    /// Ends all sessions and everything that was started; waits until it has ended.
    pub async fn shutdown(&self) {
        let sessions: Vec<_> = self
            .open
            .lock()
            .await
            .drain()
            .map(|(_, session)| session)
            .collect();
        for session in sessions {
            session.handle.close().await;
        }
        self.processes.shutdown().await;
    }

    /// Cairn's own folders.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The process's environment at start.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Database and blobs.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The configuration as it holds.
    pub fn config(&self) -> Arc<Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_config(&self, config: Config) {
        self.secrets.set_configured(config.keys());
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        self.models.forget();
    }

    /// Keys.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(crate) fn processes(&self) -> &Processes {
        &self.processes
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn world(&self) -> &Arc<dyn World> {
        &self.world
    }

    pub(crate) async fn open_sessions(&self) -> MutexGuard<'_, Open> {
        self.open.lock().await
    }

    pub(crate) fn fanout(&self, project: &ProjectKey) -> Arc<Fanout> {
        let mut fanouts = self.fanouts.lock().unwrap_or_else(PoisonError::into_inner);
        fanouts.entry(project.clone()).or_default().clone()
    }

    /// What waits for the person, in every window.
    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Tells every window how much waits.
    pub(crate) fn inbox_changed(&self) {
        let waiting = self.inbox.count();
        let fanouts = self.fanouts.lock().unwrap_or_else(PoisonError::into_inner);
        for fanout in fanouts.values() {
            fanout.to_all(EventBody::InboxChanged { waiting }, self.world.now());
        }
    }

    /// Says something in every window.
    pub(crate) fn notice_everywhere(&self, notice: &Notice) {
        let fanouts = self.fanouts.lock().unwrap_or_else(PoisonError::into_inner);
        for fanout in fanouts.values() {
            fanout.notice(notice.clone(), self.world.now());
        }
    }

    /// The file by which a process is asked for its window on a project.
    pub(crate) fn show_request(&self, project: &ProjectKey, pid: u32) -> std::path::PathBuf {
        self.home.project(project).join(format!("show-window-{pid}"))
    }

    /// Waits until another process asks for a project's window. Looks once a second: that costs nothing, and needs
    /// neither a socket nor a bus.
    pub async fn asked_to_show(&self, project: &ProjectKey) {
        let request = self.show_request(project, std::process::id());
        // What was asked before this window was there is not asked of it.
        std::fs::remove_file(&request).unwrap_or_default();
        while std::fs::remove_file(&request).is_err() {
            tokio::time::sleep(SHOW_LOOK).await;
        }
    }

    /// The open sessions of a project.
    pub(crate) async fn open_of(&self, project: &ProjectKey) -> Vec<Arc<OpenSession>> {
        let open = self.open.lock().await;
        open.values()
            .filter(|session| session.project.key == *project)
            .cloned()
            .collect()
    }

    /// Name of the profile for new sessions: the demo in its own project, else the chosen or the only one.
    pub(crate) fn profile_for_new(&self, project: &Project) -> Option<String> {
        if project.demo == Demo::Yes {
            return Some(DEMO.to_owned());
        }
        self.config()
            .profile_for_new()
            .map(|profile| profile.name.clone())
    }

    /// Makes the model of a profile and gives it to a session. Returns what must be said about it first.
    pub async fn use_profile(&self, handle: &SessionHandle, profile: &str) -> Result<Vec<String>, ApiError> {
        let config = self.config();
        let ready = models::ready(profile, &config, &self.secrets, &self.models, self.pace).await?;
        handle.use_model(profile.to_owned(), ready.model).await?;
        Ok(ready.warnings)
    }

    /// A profile was changed: open sessions that use it go on with it as it is now.
    pub(crate) async fn profile_changed(&self, profile: &str) -> Vec<String> {
        let open: Vec<_> = self.open.lock().await.values().cloned().collect();
        let mut said = Vec::new();
        for session in open {
            let uses = session
                .handle
                .snapshot()
                .await
                .is_ok_and(|seen| seen.session.profile.as_deref() == Some(profile));
            if !uses {
                continue;
            }
            match self.use_profile(&session.handle, profile).await {
                Ok(warnings) => said = warnings,
                // It is said when the session is used: the profile may be half changed now.
                Err(error) => tracing::info!(%error, profile, "a session's changed profile is not ready"),
            }
        }
        said
    }

    // ---- rules

    pub(crate) fn rules_file(&self, project: &Project) -> std::path::PathBuf {
        self.home.project(&project.key).join("permissions.toml")
    }

    /// Rules saved for a project.
    pub fn project_rules(&self, project: &Project) -> ProjectRules {
        ProjectRules::load(&self.rules_file(project))
    }

    pub(crate) fn rules_of(&self, project: &Project) -> RuleSet {
        let mut own = OwnRules::of(project.own_config());
        let looked = self.look_at_trust(project);
        if let Some(since) = looked.trusted_since() {
            own = own.with_trusted(since, looked.listed().rule_texts());
        }
        self.project_rules(project)
            .policy_rules(&self.config(), own, self.world.now())
    }

    pub(crate) fn save_rules(&self, project: &Project, rules: &[String]) {
        let mut saved = self.project_rules(project);
        for rule in rules {
            if let Err(error) = saved.add(rule, RuleOrigin::Card, self.world.now()) {
                tracing::warn!(%error, "a granted rule was not saved");
                let text = format!("The rule `{rule}` holds for this session only: {}", error.message);
                let notice = Notice {
                    level: NoticeLevel::Warning,
                    code: "rule_not_saved".to_owned(),
                    text,
                };
                self.fanout(&project.key).notice(notice, self.world.now());
            }
        }
    }

    /// Rules changed: every open session of the project follows, what was granted for request or session stays.
    pub(crate) async fn rules_changed(&self, project: &Project) {
        let (rules, reading) = (self.rules_of(project), self.config().reading);
        for session in self.open_of(&project.key).await {
            let rules = rules.clone();
            let changed = session.handle.change_policy(move |policy| {
                policy.rules.replace_saved(rules);
                policy.reading = reading;
            });
            if let Err(error) = changed.await {
                tracing::debug!(%error, "a session closed while its rules changed");
            }
        }
    }

    /// The person turned reading commands on or off: every open session follows.
    pub(crate) async fn reading_changed(&self) {
        let reading = self.config().reading;
        let open: Vec<_> = self.open.lock().await.values().cloned().collect();
        for session in open {
            let changed = session
                .handle
                .change_policy(move |policy| policy.reading = reading);
            if let Err(error) = changed.await {
                tracing::debug!(%error, "a session closed while its settings changed");
            }
        }
    }

    // ---- commands

    /// The environment that commands get.
    pub(crate) fn command_environment(&self) -> Vec<(OsString, OsString)> {
        child_environment(self.environment.all(), &self.config().pass_env)
    }

    pub(crate) fn shell_name(&self) -> String {
        let shell = Shell::find(self.environment.get("PATH"));
        shell.invocation().split(' ').next().unwrap_or("sh").to_owned()
    }
}
