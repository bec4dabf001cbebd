//! An open session: its driver, its lease, its tools.

use std::sync::Arc;

use cairn_agent::driver::{self, SessionHandle, Surface, storage_error};
use cairn_agent::effect::Input;
use cairn_agent::log::SessionLog;
use cairn_agent::tool::Tool;
use cairn_agent::turn::Limits;
use cairn_exec::Group;
use cairn_policy::{Edits, Policy, Presence, Sandbox, Taint};
use cairn_protocol::{
    ApiError, Delta, ErrorCode, Event, EventBody, ItemBody, Mode, Session, SessionId, SessionState, Usage,
    WIRE_VERSION,
};
use cairn_store::{Lease, Loaded};
use cairn_tools::bounds::Bounds;
use cairn_tools::place::{RepositoryTrust, Workspace};

use crate::fanout::Sink;
use crate::host::Host;
use crate::inbox::Place;
use crate::memory::ProjectMemory;
use crate::processes::LastSeq;
use crate::project::Project;
use crate::rules::RulesWatch;
use crate::seen::SeenFiles;
use crate::surroundings::ProjectSurroundings;

/// A session that this process writes. Dropping the last reference ends it and gives the lease back.
pub struct OpenSession {
    /// What may be asked of it.
    pub handle: SessionHandle,
    /// The project it belongs to.
    pub project: Arc<Project>,
    /// Its commands; they end with it.
    pub(crate) processes: Group,
    _lease: Lease,
}

impl Host {
    /// Makes a session in a project and stores it.
    pub async fn create_session(&self, project: &Project, mode: Mode) -> Result<Session, ApiError> {
        let now = self.world().now();
        let profile = self.profile_for_new(project);
        let session = Session {
            id: SessionId(self.world().fresh_id()),
            project: project.key.clone(),
            project_path: project.shown(),
            title: String::new(),
            created_at: now,
            updated_at: now,
            state: SessionState::New,
            mode,
            profile,
            changes: cairn_protocol::ChangeCount::default(),
            usage: Usage::default(),
            archived: false,
        };
        let body = EventBody::SessionChanged {
            session: session.clone(),
        };
        let event = Event {
            v: WIRE_VERSION,
            seq: 1,
            session: session.id.clone(),
            at: now,
            body,
        };
        cairn_agent::store::EventStore::append(
            self.store(),
            vec![event.clone()],
            cairn_agent::store::Durability::Committed,
        )
        .await
        .map_err(|error| storage_error(&error))?;
        self.fanout(&project.key).send_event(&event);
        Ok(session)
    }

    /// Opens a session of a project for writing, or gives the one that is open already.
    ///
    /// Fails with `not_found` for a session of another project, and with `busy` when another process writes it.
    pub async fn open_session(
        self: &Arc<Self>,
        project: &Arc<Project>,
        id: &SessionId,
        presence: Presence,
    ) -> Result<Arc<OpenSession>, ApiError> {
        let mut open = self.open_sessions().await;
        if let Some(session) = open.get(id).filter(|session| session.handle.is_open()) {
            return if session.project.key == project.key {
                Ok(session.clone())
            } else {
                Err(foreign(id))
            };
        }
        open.remove(id);
        let loaded = self
            .store()
            .load(id)
            .await
            .map_err(|error| storage_error(&error))?;
        if loaded.session.project != project.key {
            return Err(foreign(id));
        }
        if let Some(holder) = &loaded.held_by {
            let text = format!(
                "This session is running in another window (process {}).",
                holder.pid
            );
            return Err(ApiError::new(ErrorCode::Busy, text));
        }
        let program = if matches!(presence, Presence::Person) {
            "window"
        } else {
            "exec"
        };
        let lease = self
            .store()
            .lease(id, program)
            .await
            .map_err(|error| storage_error(&error))?;
        let log = log_of(loaded);
        let profile = log.session.profile.clone();
        let bounds = self.bounds(project).await;
        let policy = self.policy(project, log.session.mode, presence, bounds.as_deref());
        let last_seq = LastSeq::new(log.last_seq.into());
        let processes = self.group(project, id, &last_seq);
        let surface = self.surface(project, id, &log.session.title, &processes, last_seq, bounds);
        let handle = driver::open(log, policy, self.limits(), surface);
        if let Some(profile) = profile {
            // A model that cannot be made now is said when it is needed.
            if let Err(error) = self.use_profile(&handle, &profile).await {
                tracing::info!(%error, profile, "the session's model is not ready");
            }
        }
        handle.step(Input::Restore).await?;
        let session = Arc::new(OpenSession {
            handle,
            project: project.clone(),
            processes,
            _lease: lease,
        });
        open.insert(id.clone(), session.clone());
        Ok(session)
    }

    /// What holds commands of a project in. The trial is made once per process.
    async fn bounds(self: &Arc<Self>, project: &Arc<Project>) -> Option<Arc<Bounds>> {
        let walls = self.processes().walls().await;
        let workspace = Workspace::new(project.root.clone(), self.home().own_folders());
        match Bounds::new(&walls, workspace.places(), &self.home().project(&project.key)) {
            Ok(bounds) => bounds.map(|bounds| {
                let (host, of) = (Arc::downgrade(self), project.clone());
                let barred = move || {
                    let rules = host.upgrade().map(|host| host.rules_of(&of));
                    rules.map(|rules| rules.read_bars()).unwrap_or_default()
                };
                Arc::new(bounds.with_bars(barred))
            }),
            Err(error) => {
                tracing::warn!(%error, "commands are not sandboxed: private folders could not be made");
                None
            }
        }
    }

    fn policy(&self, project: &Project, mode: Mode, presence: Presence, bounds: Option<&Bounds>) -> Policy {
        let workspace = Workspace::new(project.root.clone(), self.home().own_folders());
        let places = workspace.places().clone();
        let rules = self.rules_of(project);
        Policy {
            places,
            mode,
            rules,
            edits: Edits::AsMode,
            presence,
            sandbox: bounds.map_or(Sandbox::NotEnforced, Bounds::sandbox),
            reading: self.config().reading,
            taint: Taint::None,
        }
    }

    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let config = self.config();
        Limits {
            steps: config.steps.unwrap_or(usual.steps),
            steps_auto: config.steps_auto.unwrap_or(usual.steps_auto),
        }
    }

    fn surface(
        self: &Arc<Self>,
        project: &Arc<Project>,
        id: &SessionId,
        title: &str,
        processes: &Group,
        last_seq: LastSeq,
        bounds: Option<Arc<Bounds>>,
    ) -> Surface {
        let seen = SeenFiles::new(&self.home().project(&project.key), id);
        let workspace = Workspace::new(project.root.clone(), self.home().own_folders());
        let (trusts, of) = (Arc::downgrade(self), project.clone());
        let workspace = workspace.with_coverage(seen.load()).with_trust(move || {
            let host = trusts.upgrade();
            host.map_or(RepositoryTrust::Untrusted, |host| host.repository_trust(&of))
        });
        let workspace = Arc::new(workspace.with_bounds(bounds));
        let keeper = workspace.clone();
        let keep_coverage = Box::new(move || seen.keep(&keeper));
        let store = Arc::new(self.store().clone());
        let secrets = self.secrets().clone();
        let (host, of) = (Arc::downgrade(self), project.clone());
        let save_rules = Box::new(move |rules: &[String]| {
            if let Some(host) = host.upgrade() {
                host.save_rules(&of, rules);
            }
        });
        let memory = Arc::new(ProjectMemory::new(self, project));
        Surface {
            world: self.world().clone(),
            store: store.clone(),
            journal: store,
            surroundings: Arc::new(ProjectSurroundings {
                root: project.root.clone(),
                config_folder: self.home().config_folder().to_owned(),
                shell: self.shell_name(),
                memory: memory.clone(),
            }),
            limits: self.config().timeouts.clone(),
            rules: {
                let watch = RulesWatch::new(self, project);
                Arc::new(move || watch.changed())
            },
            tools: self.tools(&workspace, processes, memory),
            sink: Arc::new(Sink {
                fanout: self.fanout(&project.key),
                save_rules,
                keep_coverage,
                last_seq,
                processes: processes.clone(),
                inbox: Place::new(self, project, id, title),
            }),
            settled: {
                let processes = self.processes().clone();
                Arc::new(move || {
                    let processes = processes.clone();
                    Box::pin(async move { processes.settled().await })
                })
            },
            mask_live: {
                let secrets = secrets.clone();
                Arc::new(move |text| secrets.mask_in_place(text).into_owned())
            },
            mask: Arc::new(move |text| secrets.mask(text).into_owned()),
        }
    }

    /// The tools in the order the model sees them, without those that the configuration turns off.
    fn tools(
        &self,
        workspace: &Arc<Workspace>,
        processes: &Group,
        memory: Arc<ProjectMemory>,
    ) -> Vec<Arc<dyn Tool>> {
        let environment = self.command_environment();
        let mut tools = cairn_tools::all(
            workspace.clone(),
            processes.clone(),
            environment,
            self.config().web_search.clone(),
            memory,
        );
        let off = &self.config().tools_off;
        tools.retain(|tool| !off.contains(&tool.spec().name));
        tools
    }
}

/// A session of another project is as good as none: a window learns nothing about it.
fn foreign(id: &SessionId) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("There is no session {id} in this project."),
    )
}

pub(crate) fn log_of(loaded: Loaded) -> SessionLog {
    let mut log = SessionLog::replay(loaded.session.clone(), loaded.events);
    log.session = loaded.session;
    for (item, whole) in loaded.partial_texts {
        let known = match log.item(&item).map(|item| &item.body) {
            Some(ItemBody::Assistant { text } | ItemBody::Thinking { text, .. }) => text.len(),
            _ => continue,
        };
        if let Some(rest) = whole.get(known..) {
            let delta = Delta::Text {
                offset: known as u64,
                text: rest.to_owned(),
            };
            log.apply(EventBody::ItemDelta { item, delta });
        }
    }
    log.queue = loaded.queue;
    log.draft = loaded.draft;
    log
}
