//! `turn/…`, `queue/…`, `approval/…`, `question/…`, `plan/…`, `picture/…`.

use base64::Engine;
use cairn_agent::effect::Input;
use cairn_protocol::{
    ApiError, ApprovalAnswerParams, ContextMarkParams, ErrorCode, Nothing, Picture, PictureParams,
    PlanParams, QuestionAnswerParams, QueueEditParams, RunOutsideParams, SendParams, SessionParams,
};
use tokio_util::sync::CancellationToken;

use super::Window;

/// Longest message, characters.
const MESSAGE: usize = 1_000_000;
/// Most attachments of one message.
const ATTACHMENTS: usize = 20;
/// Largest pasted picture, bytes.
const PICTURE: usize = 20 * 1024 * 1024;
/// Longest answer to a question, bytes.
const ANSWER: usize = 100_000;
/// Most entries of a plan and longest entry.
const PLAN: (usize, usize) = (100, 500);

impl Window {
    pub(super) async fn send(&self, params: SendParams) -> Result<Nothing, ApiError> {
        let bad = |text: String| Err(ApiError::new(ErrorCode::BadRequest, text));
        let length = params.text.chars().count();
        if length > MESSAGE {
            return bad(format!(
                "The message has {length} characters; at most {MESSAGE} can be sent. Put it in a file."
            ));
        }
        if params.text.trim().is_empty() && params.attachments.is_empty() {
            return bad("There is nothing to send.".to_owned());
        }
        if params.attachments.len() > ATTACHMENTS {
            return bad(format!("At most {ATTACHMENTS} things can be sent along."));
        }
        let session = self.session(&params.session).await?;
        self.ready_model(&session).await?;
        let (turn, queue) = (
            self.host.world().fresh_id().into(),
            self.host.world().fresh_id().into(),
        );
        let (text, attachments, when) = (params.text, params.attachments, params.when);
        session
            .handle
            .step(Input::Send {
                text,
                attachments,
                when,
                turn,
                queue,
            })
            .await?;
        Ok(Nothing {})
    }

    /// A session that was made before a model was chosen takes the one for new sessions with its first message.
    async fn ready_model(&self, session: &crate::session::OpenSession) -> Result<(), ApiError> {
        let seen = session.handle.snapshot().await?;
        if seen.session.profile.is_some() {
            return Ok(());
        }
        if let Some(profile) = self.host.profile_for_new(&self.project) {
            let warnings = self.host.use_profile(&session.handle, &profile).await?;
            self.warn(warnings);
        }
        Ok(())
    }

    pub(super) async fn stop(&self, params: SessionParams) -> Result<Nothing, ApiError> {
        self.tell(&params, Input::Stop).await
    }

    pub(super) async fn go_on(&self, params: SessionParams) -> Result<Nothing, ApiError> {
        // A key or address that was mended meanwhile counts.
        let session = self.session(&params.session).await?;
        if let Some(profile) = session.handle.snapshot().await?.session.profile {
            self.host.use_profile(&session.handle, &profile).await?;
        }
        self.tell(&params, Input::Continue).await
    }

    pub(super) async fn retry_now(&self, params: SessionParams) -> Result<Nothing, ApiError> {
        self.tell(&params, Input::RetryNow).await
    }

    /// Has a command asked about to run outside the sandbox. Counts only for an open session of this window's project.
    pub(super) async fn run_outside(&self, params: RunOutsideParams) -> Result<Nothing, ApiError> {
        let session = self.owned(&params.session).await?;
        let turn = self.host.fresh_id().into();
        session.handle.run_outside(params.item, turn).await?;
        Ok(Nothing {})
    }

    /// Summarises the older part of the conversation: asked for by the person, so with the model as it is set up now.
    pub(super) async fn summarise(&self, params: SessionParams) -> Result<Nothing, ApiError> {
        let session = self.session(&params.session).await?;
        self.ready_model(&session).await?;
        self.tell(&params, Input::Summarise).await
    }

    /// Changes what the model gets of an item.
    pub(super) async fn mark(&self, params: ContextMarkParams) -> Result<Nothing, ApiError> {
        let (item, choice) = (params.item, params.choice);
        let session = SessionParams {
            session: params.session,
        };
        self.tell(&session, Input::Mark { item, choice }).await
    }

    async fn tell(&self, params: &SessionParams, input: Input) -> Result<Nothing, ApiError> {
        self.session(&params.session).await?.handle.step(input).await?;
        Ok(Nothing {})
    }

    pub(super) async fn edit_queue(&self, params: QueueEditParams) -> Result<Nothing, ApiError> {
        let input = Input::QueueEdit {
            id: params.id,
            text: params.text,
            now: params.now,
        };
        self.tell(
            &SessionParams {
                session: params.session,
            },
            input,
        )
        .await
    }

    /// An answer counts only for an open session of this window's own project: the host opened it here.
    pub(super) async fn answer_approval(&self, params: ApprovalAnswerParams) -> Result<Nothing, ApiError> {
        let session = self.owned(&params.session).await?;
        session
            .handle
            .approve(params.approval, params.digest, params.answer)
            .await?;
        Ok(Nothing {})
    }

    pub(super) async fn answer_question(&self, params: QuestionAnswerParams) -> Result<Nothing, ApiError> {
        let long = |answer: &cairn_protocol::QuestionAnswer| {
            serde_json::to_string(answer).map_or(0, |text| text.len())
        };
        if params.answers.iter().map(long).sum::<usize>() > ANSWER {
            let text = format!("An answer has at most {ANSWER} bytes. Put more into a file and name it.");
            return Err(ApiError::new(ErrorCode::BadRequest, text));
        }
        let session = self.owned(&params.session).await?;
        session.handle.answer(params.question, params.answers).await?;
        Ok(Nothing {})
    }

    async fn owned(
        &self,
        id: &cairn_protocol::SessionId,
    ) -> Result<std::sync::Arc<crate::session::OpenSession>, ApiError> {
        let open = self.host.open_sessions().await;
        let session = open.get(id).cloned();
        drop(open);
        match session {
            Some(session) if session.project.key == self.project.key => Ok(session),
            _ => {
                tracing::warn!(session = %id, project = %self.project.key, "an answer from a window that does not own the session");
                Err(ApiError::new(
                    ErrorCode::NotOwner,
                    "This card belongs to another window; it is still waiting there.",
                ))
            }
        }
    }

    pub(super) async fn set_plan(&self, params: PlanParams) -> Result<Nothing, ApiError> {
        let fine =
            params.plan.len() <= PLAN.0 && params.plan.iter().all(|item| item.text.chars().count() <= PLAN.1);
        if !fine {
            let text = format!("A plan has at most {} entries of {} characters.", PLAN.0, PLAN.1);
            return Err(ApiError::new(ErrorCode::BadRequest, text));
        }
        self.tell(
            &SessionParams {
                session: params.session,
            },
            Input::SetPlan(params.plan),
        )
        .await
    }

    pub(super) async fn add_picture(&self, params: PictureParams) -> Result<Picture, ApiError> {
        let bad = |text: String| ApiError::new(ErrorCode::BadRequest, text);
        if params.base64.len() > PICTURE.div_ceil(3) * 4 {
            return Err(bad(format!(
                "The picture is larger than {} MB.",
                PICTURE / 1024 / 1024
            )));
        }
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(&params.base64)
            .map_err(|error| bad(format!("The picture did not arrive whole: {error}")))?;
        let name: String = params
            .name
            .chars()
            .filter(|c| !c.is_control())
            .take(200)
            .collect();
        let cancel = CancellationToken::new();
        cairn_tools::picture::look(self.host.processes(), self.host.store(), bytes, &name, &cancel)
            .await
            .map_err(|problem| bad(problem.to_string()))
    }
}
