//! The handle of an open session: what a front end may ask of it.

use std::sync::Arc;

use cairn_policy::Policy;
use cairn_protocol::{
    ApiError, ApprovalAnswer, ApprovalId, ErrorCode, ItemId, QuestionAnswer, QuestionId, SessionSnapshot,
    TurnId,
};
use tokio::sync::{mpsc, oneshot};

use super::Command;
use crate::effect::Input;
use crate::model::Model;

/// An open session. Cloning gives another handle to the same one; when the last is dropped the session stops.
#[derive(Clone)]
pub struct SessionHandle {
    sender: mpsc::Sender<Command>,
}

impl SessionHandle {
    pub(super) fn new(sender: mpsc::Sender<Command>) -> Self {
        Self { sender }
    }

    /// Whether the session's task still runs; it ends when storage failed or it was closed.
    pub fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Tells the machine something; returns once what follows at once is stored. Fails when it could not be: then it
    /// did not happen, and whoever said it still has it.
    pub async fn step(&self, input: Input) -> Result<(), ApiError> {
        let (done, taken) = oneshot::channel();
        let input = Box::new(input);
        self.send(Command::Step { input, done }).await?;
        taken.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Answers a card. The answer holds only for the very card with that digest.
    pub async fn approve(
        &self,
        approval: ApprovalId,
        digest: String,
        answer: ApprovalAnswer,
    ) -> Result<(), ApiError> {
        let (done, answered) = oneshot::channel();
        self.send(Command::Approve {
            approval,
            digest,
            answer,
            done,
        })
        .await?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Has a command that failed within the sandbox asked about to run outside of it. `turn` is the id of the request
    /// that this begins when none runs.
    pub async fn run_outside(&self, item: ItemId, turn: TurnId) -> Result<(), ApiError> {
        let (done, taken) = oneshot::channel();
        self.send(Command::RunOutside { item, turn, done }).await?;
        taken.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Answers a question.
    pub async fn answer(&self, question: QuestionId, answers: Vec<QuestionAnswer>) -> Result<(), ApiError> {
        let (done, answered) = oneshot::channel();
        self.send(Command::Answer {
            question,
            answers,
            done,
        })
        .await?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Uses a model from the next step on.
    pub async fn use_model(&self, profile: String, model: Arc<dyn Model>) -> Result<(), ApiError> {
        self.send(Command::UseModel { profile, model }).await
    }

    /// Changes the rules that hold.
    pub async fn change_policy(
        &self,
        change: impl FnOnce(&mut Policy) + Send + 'static,
    ) -> Result<(), ApiError> {
        self.send(Command::ChangePolicy(Box::new(change))).await
    }

    /// Keeps what was typed in later snapshots.
    pub async fn draft(&self, text: String) -> Result<(), ApiError> {
        self.send(Command::Draft(text)).await
    }

    /// All that a window needs, consistent with the events sent so far.
    pub async fn snapshot(&self) -> Result<SessionSnapshot, ApiError> {
        let (done, snapshot) = oneshot::channel();
        self.send(Command::Snapshot(done)).await?;
        snapshot.await.map_err(|_| gone())
    }

    /// Ends the session: what works is stopped and waited for, what waits for the person stays waiting on disk.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.send(Command::Close(done)).await.is_ok() {
            closed.await.unwrap_or_default();
        }
    }

    async fn send(&self, command: Command) -> Result<(), ApiError> {
        self.sender.send(command).await.map_err(|_| gone())
    }
}

fn gone() -> ApiError {
    ApiError::new(
        ErrorCode::Storage,
        "This session was closed because it could not be stored. Open it again.",
    )
}
