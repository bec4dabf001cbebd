//! `process/…`.

use std::time::Duration;

use cairn_exec::{ExecError, Facts, Group};
use cairn_protocol::{
    ApiError, ErrorCode, LeftoverParams, LeftoversResult, Process, ProcessListResult, ProcessOutput,
    ProcessOutputParams, ProcessParams, SessionId, SessionParams,
};

use super::Window;
use crate::processes::view;

/// What *Give it 5 more min* gives.
const MORE_TIME: Duration = Duration::from_mins(5);

/// Bytes of output that are read when no offset is given.
const LAST: u64 = 64 << 10;

/// Characters of output in a list.
const TAIL: usize = 1_000;

impl Window {
    /// Commands of a session that is not open: none.
    pub(super) async fn processes(&self, params: SessionParams) -> Result<ProcessListResult, ApiError> {
        let Some(group) = self.open_group(&params.session).await else {
            return Ok(ProcessListResult {
                processes: Vec::new(),
            });
        };
        let mut processes = Vec::new();
        for facts in group.list() {
            // One that is no longer known by now has just ended.
            let tail = group.tail(&facts.handle, 4 * TAIL as u64).await;
            let text = self.masked(&tail.unwrap_or_default().output.text());
            let from = text.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
            processes.push(Process {
                tail: text.get(from..).unwrap_or_default().to_owned(),
                ports: group.ports(&facts.handle).await.unwrap_or_default(),
                ..view(&facts, &params.session)
            });
        }
        Ok(ProcessListResult { processes })
    }

    pub(super) async fn process_output(
        &self,
        params: ProcessOutputParams,
    ) -> Result<ProcessOutput, ApiError> {
        let group = self.group(&params.session).await?;
        let facts = group.get(&params.handle).map_err(explain)?;
        let slice = match params.offset {
            Some(offset) => group.read(&params.handle, offset).await,
            None => group.tail(&params.handle, LAST).await,
        };
        let slice = slice.map_err(explain)?;
        Ok(ProcessOutput {
            process: Process {
                ports: group.ports(&params.handle).await.unwrap_or_default(),
                ..view(&facts, &params.session)
            },
            offset: slice.offset,
            text: self.masked(&slice.output.text()),
            omitted: slice.output.omitted,
            stable: slice.output.stable,
        })
    }

    pub(super) async fn stop_process(&self, params: ProcessParams) -> Result<Process, ApiError> {
        let group = self.group(&params.session).await?;
        answer(group.stop(&params.handle).await, &params.session)
    }

    pub(super) async fn more_time(&self, params: ProcessParams) -> Result<Process, ApiError> {
        let group = self.group(&params.session).await?;
        answer(group.more_time(&params.handle, MORE_TIME), &params.session)
    }

    pub(super) async fn to_background(&self, params: ProcessParams) -> Result<Process, ApiError> {
        let group = self.group(&params.session).await?;
        answer(group.to_background(&params.handle), &params.session)
    }

    pub(super) async fn leftovers(&self) -> LeftoversResult {
        LeftoversResult {
            leftovers: self.host.leftovers().await,
        }
    }

    pub(super) async fn end_leftover(&self, params: LeftoverParams) -> LeftoversResult {
        LeftoversResult {
            leftovers: self.host.end_leftover(params.id).await,
        }
    }

    /// The commands of a session of this window's project; another project's session is as good as none.
    async fn group(&self, session: &SessionId) -> Result<Group, ApiError> {
        self.open_group(session).await.ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                "No session with that id is open in this window, so nothing runs under it.",
            )
        })
    }

    async fn open_group(&self, session: &SessionId) -> Option<Group> {
        let open = self.host.open_sessions().await;
        open.get(session)
            .filter(|open| open.project.key == self.project.key)
            .map(|open| open.processes.clone())
    }

    /// Keys are blotted out of what commands print, as in results. SPEC A7.
    fn masked(&self, text: &str) -> String {
        self.host.secrets().mask(text).into_owned()
    }
}

fn answer(facts: Result<Facts, ExecError>, session: &SessionId) -> Result<Process, ApiError> {
    facts.map(|facts| view(&facts, session)).map_err(explain)
}

fn explain(error: ExecError) -> ApiError {
    let code = match &error {
        ExecError::Unknown { .. } => ErrorCode::NotFound,
        ExecError::NotWaitedFor { .. } => ErrorCode::Stale,
        ExecError::TooMany { .. } => ErrorCode::Busy,
        _ => ErrorCode::Internal,
    };
    let text = error.to_string();
    let mut words = text.chars();
    let first = words.next().map(char::to_uppercase).into_iter().flatten();
    ApiError::new(code, first.chain(words).chain(['.']).collect::<String>())
}
