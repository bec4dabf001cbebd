//! `project/…`, `session/…` and `draft/…`.

use cairn_agent::driver::storage_error;
use cairn_agent::effect::{Archived, Input};
use cairn_protocol::{
    ApiError, DraftParams, ErrorCode, EventBody, InboxResult, Mode, Nothing, ProjectView, SearchResult,
    Session, SessionArchiveParams, SessionId, SessionListParams, SessionListResult, SessionModeParams,
    SessionParams, SessionProfileParams, SessionRenameParams, SessionSearchParams, SessionSnapshot,
    SessionState,
};

use super::Window;
use crate::project::Demo;
use crate::seen::SeenFiles;
use crate::{fanout, files, git, surroundings};

/// Longest title, characters.
const TITLE: usize = 200;
/// Longest draft that is kept, characters.
const DRAFT: usize = 1_000_000;

impl Window {
    pub(super) fn project_view(&self) -> ProjectView {
        let names = surroundings::top_level(self.project.path());
        let state = git::state(self.project.path());
        let demo = self.project.demo == Demo::Yes;
        ProjectView {
            name: self.project.name(),
            path: self.project.shown(),
            branch: state.map(|state| match state.going_on {
                Some(doing) => format!("{} · {doing}", state.branch),
                None => state.branch,
            }),
            demo,
            has_model: demo || !self.host.config().profiles.is_empty(),
            empty: names.is_empty(),
            prompts: surroundings::first_prompts(&names),
            rules: self.host.project_rules(&self.project).list().len() as u32,
            trust: self.host.trust_view(&self.project),
        }
    }

    pub(super) async fn list(&self, params: SessionListParams) -> Result<SessionListResult, ApiError> {
        let listed = self.host.store().list(Some(&self.project.key), &params).await;
        listed.map_err(|error| storage_error(&error))
    }

    pub(super) async fn search(&self, params: SessionSearchParams) -> Result<SearchResult, ApiError> {
        let hits = self
            .host
            .store()
            .search(Some(&self.project.key), &params.text)
            .await;
        hits.map(|hits| SearchResult { hits })
            .map_err(|error| storage_error(&error))
    }

    /// The newest session is given again while nobody has used it: a list of empty sessions helps nobody.
    pub(super) async fn create(&self) -> Result<Session, ApiError> {
        let params = SessionListParams {
            limit: 1,
            ..SessionListParams::default()
        };
        let newest = self.list(params).await?.sessions.into_iter().next();
        if let Some(unused) =
            newest.filter(|session| session.state == SessionState::New && session.title.is_empty())
        {
            return Ok(unused);
        }
        let mode = self.host.config().default_mode;
        // `accept-edits` from the start is for trusted folders only. SPEC P8.
        let mode = match mode {
            Mode::Plan => Mode::Plan,
            Mode::AcceptEdits if self.host.is_trusted(&self.project) => Mode::AcceptEdits,
            _ => Mode::Manual,
        };
        self.host.create_session(&self.project, mode).await
    }

    pub(super) async fn open(&self, params: SessionParams) -> Result<SessionSnapshot, ApiError> {
        self.host.fanout(&self.project.key).open(
            self.subscriber.load(std::sync::atomic::Ordering::SeqCst),
            &params.session,
        );
        let mut snapshot = match self.session(&params.session).await {
            Ok(session) => session.handle.snapshot().await?,
            Err(error) if error.code == ErrorCode::Busy => self.read_only(&params.session).await?,
            Err(error) => return Err(error),
        };
        snapshot.items.iter_mut().for_each(fanout::draw_item);
        snapshot.approvals.iter_mut().for_each(fanout::draw_card);
        snapshot.accepted_plan.iter_mut().for_each(fanout::draw_plan);
        Ok(snapshot)
    }

    /// A session that another process writes, as far as it is stored. SPEC S3.
    async fn read_only(&self, id: &SessionId) -> Result<SessionSnapshot, ApiError> {
        let loaded = self
            .host
            .store()
            .load(id)
            .await
            .map_err(|error| storage_error(&error))?;
        if loaded.session.project != self.project.key {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                "There is no such session in this project.",
            ));
        }
        let held_by = loaded.held_by.clone();
        let log = crate::session::log_of(loaded);
        let mut snapshot = log.snapshot(
            cairn_protocol::ContextMeter::default(),
            cairn_protocol::Activity::Idle,
        );
        snapshot.held_by = held_by;
        Ok(snapshot)
    }

    /// Another process's window: it is asked by a file, since nothing of ours listens for calls. SPEC S3, W2.
    pub(super) async fn show_elsewhere(&self, id: &SessionId) -> Result<Nothing, ApiError> {
        let loaded = self
            .host
            .store()
            .load(id)
            .await
            .map_err(|error| storage_error(&error))?;
        let holder = loaded.held_by.filter(|holder| holder.program == "window");
        let Some(holder) = holder.filter(|_| loaded.session.project == self.project.key) else {
            let text = "No other window has this session any more. Open it here.";
            return Err(ApiError::new(ErrorCode::NotFound, text));
        };
        files::write_private_unsynced(&self.host.show_request(&self.project.key, holder.pid), "")?;
        Ok(Nothing {})
    }

    /// Everything that waits, in whatever window.
    pub(super) fn inbox(&self) -> InboxResult {
        InboxResult {
            waiting: self.host.inbox().list(&self.project.key),
        }
    }

    /// Brings the window to the front in which something waits. Nothing but that happens there, and nothing is told.
    pub(super) fn show_waiting(&self, id: &SessionId) -> Result<Nothing, ApiError> {
        let Some(project) = self.host.inbox().project_of(id) else {
            let text = "Nothing waits there any more.";
            return Err(ApiError::new(ErrorCode::NotFound, text));
        };
        if project != self.project.key {
            files::write_private_unsynced(&self.host.show_request(&project, std::process::id()), "")?;
        }
        let wanted = EventBody::SessionWanted { wanted: id.clone() };
        self.host.fanout(&project).to_all(wanted, self.host.world().now());
        Ok(Nothing {})
    }

    pub(super) async fn rename(&self, params: SessionRenameParams) -> Result<Session, ApiError> {
        let title = clean_title(&params.title);
        if title.is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "A title needs at least one letter.",
            ));
        }
        self.step(&params.session, Input::Rename(title)).await
    }

    pub(super) async fn archive(&self, params: SessionArchiveParams) -> Result<Session, ApiError> {
        let archived = if params.archived {
            Archived::Yes
        } else {
            Archived::No
        };
        self.step(&params.session, Input::Archive(archived)).await
    }

    pub(super) async fn set_mode(&self, params: SessionModeParams) -> Result<Session, ApiError> {
        self.step(&params.session, Input::SetMode(params.mode)).await
    }

    async fn step(&self, id: &SessionId, input: Input) -> Result<Session, ApiError> {
        let session = self.session(id).await?;
        session.handle.step(input).await?;
        Ok(session.handle.snapshot().await?.session)
    }

    pub(super) async fn set_profile(&self, params: SessionProfileParams) -> Result<Session, ApiError> {
        let session = self.session(&params.session).await?;
        let warnings = self.host.use_profile(&session.handle, &params.profile).await?;
        self.warn(warnings);
        Ok(session.handle.snapshot().await?.session)
    }

    pub(super) async fn delete(&self, params: SessionParams) -> Result<Nothing, ApiError> {
        // Opening shows that it is this project's and nobody else's; then it is closed for good.
        let session = self.session(&params.session).await?;
        session.handle.close().await;
        session.processes.close().await;
        self.host.open_sessions().await.remove(&params.session);
        drop(session);
        self.host
            .store()
            .delete(&params.session)
            .await
            .map_err(|error| storage_error(&error))?;
        SeenFiles::new(&self.host.home().project(&self.project.key), &params.session).forget();
        Ok(Nothing {})
    }

    pub(super) async fn undelete(&self, params: SessionParams) -> Result<Session, ApiError> {
        let session = self
            .host
            .store()
            .undelete(&params.session)
            .await
            .map_err(|error| storage_error(&error))?;
        if session.project != self.project.key {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                "There is no such session in this project.",
            ));
        }
        Ok(session)
    }

    pub(super) async fn set_draft(&self, params: DraftParams) -> Result<Nothing, ApiError> {
        let session = self.session(&params.session).await?;
        let text: String = params.text.chars().take(DRAFT).collect();
        let text = self.host.secrets().mask(&text).into_owned();
        self.host
            .store()
            .set_draft(&params.session, &text)
            .await
            .map_err(|error| storage_error(&error))?;
        session.handle.draft(text).await?;
        Ok(Nothing {})
    }

    /// Says what must be known about a model, in the window's corner.
    pub(super) fn warn(&self, warnings: Vec<String>) {
        for text in warnings {
            let level = cairn_protocol::NoticeLevel::Warning;
            let notice = cairn_protocol::Notice {
                level,
                code: "model_warning".to_owned(),
                text,
            };
            self.host
                .fanout(&self.project.key)
                .notice(notice, self.host.world().now());
        }
    }
}

/// One line without what a terminal or a reader would take for something else: no control characters, nothing that
/// turns the direction of writing.
fn clean_title(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control() && !turns(*c)).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    words.join(" ").chars().take(TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_keeps_its_words_and_loses_what_steers_a_terminal() {
        for (typed, kept) in [
            ("  Fix the\taxis\n", "Fix the axis"),
            ("\u{1b}[2K\u{1b}]0;x\u{7}red \u{1b}\u{1b}", "[2K]0;xred"),
            ("a\u{202e}b\u{2066} \u{0}c\u{9b}", "ab c"),
            ("\u{1b}\u{202e}", ""),
            ("família 👩‍👩‍👧", "família 👩‍👩‍👧"),
        ] {
            assert_eq!(clean_title(typed), kept, "{typed:?}");
        }
        assert_eq!(clean_title(&"x".repeat(500)).len(), TITLE);
    }
}
