//! Plan mode: entered by the model or the person, left only by the person. SPEC T32, P8.
//!
//! Owns: what becomes of a plan that was presented. Must never know: what plan mode forbids, which is the gate's.

use cairn_policy::{Presence, Show, show};
use cairn_protocol::{
    AcceptedPlan, ApiError, Approval, ApprovalAnswer, ApprovalResolution, ApprovalSubject, CallId, Decided,
    ErrorCode, EventBody, ItemBody, ItemId, ItemState, MOST_PLAN, Mode, ShownKind, TurnOutcome,
};

use super::{Phase, TurnMachine};
use crate::effect::PreparedFacts;
use crate::tool::ToolOutcome;

/// What the model is told when planning goes on without a word.
pub(super) const KEPT: &str = "The user did not accept the plan: plan mode stays on and nothing changed.";

/// What the model is told when planning goes on with a comment.
pub(super) fn kept(comment: &str) -> String {
    format!("{KEPT} Keep planning and present the plan again when it is better. The user says: {comment}")
}

/// Whether a plan holds characters that are not seen or mislead.
pub(super) fn has_hidden(text: &str) -> bool {
    text.lines()
        .flat_map(|line| show(line, Show::Code))
        .any(|span| span.kind == ShownKind::Chip)
}

/// Whether a card and an answer belong together: plans are carried out or kept, everything else is allowed or not.
pub(super) fn check(card: &Approval, answer: &ApprovalAnswer) -> Result<(), ApiError> {
    let bad = |text: &str| Err(ApiError::new(ErrorCode::BadRequest, text));
    let is_plan = matches!(card.subject, ApprovalSubject::Plan { .. });
    match answer {
        ApprovalAnswer::CarryOut { .. } if !is_plan => bad("This card shows no plan."),
        ApprovalAnswer::CarryOut { mode, .. } if !matches!(mode, Mode::Manual | Mode::AcceptEdits) => {
            bad("A plan is carried out in the mode manual or accept-edits.")
        }
        ApprovalAnswer::CarryOut { plan: Some(plan), .. }
            if plan.trim().is_empty() || plan.chars().count() > MOST_PLAN =>
        {
            bad("A plan has at least a word and at most 20,000 characters.")
        }
        ApprovalAnswer::CarryOut { .. } | ApprovalAnswer::Deny { .. } => Ok(()),
        _ if is_plan => bad("A plan is carried out, or planning goes on."),
        _ => Ok(()),
    }
}

impl TurnMachine {
    /// The session is in plan mode from now on.
    pub(super) fn enter_plan_mode(&mut self) {
        if self.log.session.mode != Mode::Plan {
            self.set_mode(Mode::Plan);
        }
    }

    /// The person takes the plan: plan mode is over, and the model is told what holds.
    pub(super) fn carry_out(&mut self, card: Approval, item: &ItemId, mode: Mode, changed: Option<String>) {
        let ApprovalSubject::Plan { text, .. } = card.subject else {
            return;
        };
        self.resolve_card(card.id, ApprovalResolution::Allowed { by: Decided::Person });
        self.set_mode(mode);
        let changed = changed.filter(|changed| *changed != text);
        let how = match mode {
            Mode::AcceptEdits => "Edits inside the project are accepted; commands still ask.",
            _ => "Every change still asks.",
        };
        let mut told = format!("The user accepted the plan. Plan mode is over. {how} Carry it out now.");
        if let Some(changed) = &changed {
            told.push_str(" The user changed the plan first; this is what holds:\n\n");
            told.push_str(changed);
        }
        self.record(EventBody::PlanAccepted {
            accepted: AcceptedPlan {
                text: changed.unwrap_or(text),
                at: self.now,
                rendered: None,
            },
        });
        self.change_tool(item, |_, tool| tool.decided = Some(Decided::Person));
        self.end_own(&card.call, item, ToolOutcome::ok(told));
        self.rejudge();
        self.schedule();
    }

    /// The plan, where nobody is there to accept it.
    pub(super) fn plan_for_nobody(&self, facts: &PreparedFacts) -> Option<String> {
        let nobody = matches!(self.policy.presence, Presence::Headless { .. });
        match &facts.subject {
            Some(ApprovalSubject::Plan { text, .. }) if nobody && self.log.session.mode == Mode::Plan => {
                Some(text.clone())
            }
            _ => None,
        }
    }

    /// Without a person the plan is the answer to the request.
    pub(super) fn answer_with_plan(&mut self, id: &CallId, item: &ItemId, plan: String) {
        self.refuse(
            id,
            ItemState::Done,
            "Nobody is there to accept the plan: it was given as the answer, and nothing was changed.",
            Some(Decided::Mode),
        );
        self.effects
            .push(crate::effect::Effect::Forget { call: id.clone() });
        let step = self.log.item(item).and_then(|item| item.step);
        let answer = self.new_item(ItemState::Done, step, ItemBody::Assistant { text: plan });
        self.record(EventBody::ItemCompleted { item: answer });
        if let Phase::Calling { calls, .. } = std::mem::replace(&mut self.phase, Phase::Idle) {
            self.end_calls(
                calls,
                TurnOutcome::Done,
                "It did not run: the plan ended the request.",
            );
        }
    }
}
