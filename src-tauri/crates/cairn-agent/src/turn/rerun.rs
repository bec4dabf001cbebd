//! *Run outside…*: a command that failed because of the sandbox, asked about once more to run without it. SPEC P12.
//!
//! Owns: whether that may be wanted, and the call that follows. Must never know: how a command is judged. The call takes
//! the same way as every other: it is prepared anew, the gate asks about it on its own, and nothing of it is remembered.

use cairn_protocol::{
    ApiError, ErrorCode, EventBody, ItemBody, ItemId, Mode, SessionState, ToolItem, TurnId, TurnOutcome,
};
use serde_json::{Map, Value};

use super::calls::tool_of;
use super::{Phase, TurnMachine};

impl TurnMachine {
    /// Whether a command may be asked about to run outside: it failed within the sandbox, was not asked about since, and
    /// the mode lets commands run at all.
    pub fn check_outside(&self, id: &ItemId) -> Result<(), ApiError> {
        let no = |code, text: &str| Err(ApiError::new(code, text));
        let Some(tool) = self.log.item(id).and_then(tool_of) else {
            return no(ErrorCode::NotFound, "There is no such command in this session.");
        };
        if !tool.walled || self.rerun.is_some() {
            return no(
                ErrorCode::Stale,
                "That command is asked about already, or did not fail because of the sandbox.",
            );
        }
        if self.log.session.mode == Mode::Plan {
            return no(
                ErrorCode::BadRequest,
                "In plan mode no command runs outside the sandbox. Choose another mode first.",
            );
        }
        if outside(tool).is_none() {
            return no(
                ErrorCode::BadRequest,
                "The command cannot be read any more; run it yourself.",
            );
        }
        Ok(())
    }

    /// The person wants it: at once where no request runs, else before the model's next step.
    pub(super) fn run_outside(&mut self, id: &ItemId, turn: TurnId) {
        if self.check_outside(id).is_err() {
            return;
        }
        // Asked about once: a second click finds nothing.
        self.offer(id, false);
        if self.is_resting() {
            self.open_turn(turn);
            self.change_session(|session| session.state = SessionState::Running);
            return self.begin_rerun(id);
        }
        self.rerun = Some(id.clone());
    }

    /// The request ended before it came to that: it can be wanted again.
    pub(super) fn forget_rerun(&mut self) {
        if let Some(id) = self.rerun.take() {
            self.offer(&id, true);
        }
    }

    fn offer(&mut self, id: &ItemId, offered: bool) {
        if let Some(mut item) = self.log.item(id).cloned()
            && let ItemBody::Tool(tool) = &mut item.body
        {
            tool.walled = offered;
            self.record(EventBody::ItemUpdated { item });
        }
    }

    fn is_resting(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Makes the call. What the model gets says whose wish it is.
    pub(super) fn begin_rerun(&mut self, id: &ItemId) {
        let Some((name, arguments, line)) = self.log.item(id).and_then(tool_of).and_then(|tool| {
            let (arguments, line) = outside(tool)?;
            Some((tool.name.clone(), arguments, line))
        }) else {
            return self.finish(TurnOutcome::Done);
        };
        let text = format!("Run this again, outside the sandbox:\n\n```\n{line}\n```");
        self.user_item(text, Vec::new());
        // A step of its own, so that it is not taken for a part of the model's next reply.
        self.steps += 1;
        self.update_turn(|turn| turn.summary.steps += 1);
        let call = self.unique_call("outside");
        let item = self.call_item(call, name, arguments, false);
        self.record(EventBody::ItemStarted { item: item.clone() });
        self.start_calls(&[item.id]);
    }
}

/// The arguments with which a command runs outside, and its line; none where they are no arguments of one.
fn outside(tool: &ToolItem) -> Option<(String, String)> {
    let mut arguments = serde_json::from_str::<Map<String, Value>>(&tool.arguments).ok()?;
    let line = arguments.get("command")?.as_str()?.to_owned();
    arguments.insert("outside".to_owned(), Value::Bool(true));
    Some((Value::Object(arguments).to_string(), line))
}
