//! The calls of one reply: reads side by side, everything else strictly in order. SPEC T4.

use cairn_protocol::{
    Activity, ApprovalId, ApprovalResolution, ApprovalSubject, CallId, Decided, EventBody, HunkChoice, Item,
    ItemBody, ItemId, ItemState, QuestionId, SessionState, ToolItem,
};

use super::{Phase, TurnMachine, ahead};
use crate::budget::SharedBudget;
use crate::effect::{Effect, PreparedFacts};
use crate::store::Durability;
use crate::tool::{ToolClass, brings_outside_text};

/// One call of the running reply.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) item: ItemId,
    pub(super) class: ToolClass,
    /// It brings text from outside the user's machine.
    pub(super) outside: bool,
    /// What it would do, once that is known.
    pub(super) would: Vec<cairn_policy::Effect>,
    pub(super) stage: Stage,
    /// It was refused because it was answered the same before.
    pub(super) is_repeat: bool,
}

/// How a call was let.
pub(super) struct How {
    pub(super) by: Decided,
    /// The line that runs in place of the one that came in.
    pub(super) runs: Option<String>,
    /// What the person made of an edit.
    pub(super) hunks: Option<Vec<HunkChoice>>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    /// Not begun.
    Pending,
    /// Looked at before its turn, and nothing is asked about it then; see [`super::ahead`].
    Deferred,
    /// Being prepared for the first time.
    Preparing,
    /// Being prepared before its turn.
    Ahead,
    /// A card about it waits.
    Waiting { approval: ApprovalId, digest: String },
    /// Allowed by the person, before its turn or in it.
    Allowed(Agreed),
    /// Its turn has come: prepared again to see that it is still what the person allowed.
    Rechecking(Agreed),
    /// Its questions wait.
    Asking { question: QuestionId },
    /// Runs.
    Running,
    /// Ended, or will not run.
    Over,
}

/// What the person agreed to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Agreed {
    pub(super) digest: String,
    /// The request had read text from outside by then, and the card said so.
    pub(super) tainted: bool,
    /// What the person made of an edit, and the difference that the choices are about.
    pub(super) changed: Option<Box<(Vec<HunkChoice>, ApprovalSubject)>>,
}

impl Agreed {
    /// Whether a call is still what was agreed to, with all that was known then.
    fn holds(&self, facts: &PreparedFacts, tainted: bool) -> bool {
        let same_places = |(_, shown): &(_, ApprovalSubject)| facts.subject.as_ref() == Some(shown);
        self.digest == facts.digest
            && self.tainted == tainted
            && self.changed.as_deref().is_none_or(same_places)
    }
}

impl TurnMachine {
    pub(super) fn start_calls(&mut self, items: &[ItemId]) {
        let calls = items.iter().filter_map(|id| self.call_of(id)).collect();
        let budget = SharedBudget::new(self.model.as_ref().and_then(|info| info.window));
        self.phase = Phase::Calling { calls, budget };
        self.schedule();
    }

    fn call_of(&self, id: &ItemId) -> Option<Call> {
        let item = self.log.item(id)?;
        let tool = tool_of(item)?;
        let class = self
            .tools
            .iter()
            .find(|known| known.name == tool.name)
            .map_or(ToolClass::Own, |known| known.class);
        let stage = if crate::log::is_open(item.state) {
            Stage::Pending
        } else {
            Stage::Over
        };
        Some(Call {
            id: tool.call.clone(),
            item: id.clone(),
            class,
            outside: brings_outside_text(&tool.name),
            would: Vec::new(),
            stage,
            is_repeat: false,
        })
    }

    /// Starts what may start; asks the model again when all is over.
    pub(super) fn schedule(&mut self) {
        loop {
            let Phase::Calling { calls, budget } = &mut self.phase else {
                return;
            };
            if calls.iter().all(|call| call.stage == Stage::Over) {
                let calls = std::mem::take(calls);
                self.phase = Phase::Idle;
                self.show_meter();
                if self.is_stuck(&calls) {
                    return;
                }
                return self.ask();
            }
            let in_turn = next_to_start(calls);
            let Some(place) = in_turn.or_else(|| ahead::next(calls)) else {
                break;
            };
            let siblings = calls.iter().filter(|call| call.stage != Stage::Over).count();
            let allowed = budget.next(siblings);
            let Some(call) = calls.get_mut(place) else { break };
            let (id, item) = (call.id.clone(), call.item.clone());
            let stage = match std::mem::replace(&mut call.stage, Stage::Preparing) {
                Stage::Allowed(agreed) => Stage::Rechecking(agreed),
                _ if in_turn.is_none() => Stage::Ahead,
                _ => Stage::Preparing,
            };
            call.stage = stage.clone();
            self.prepare(id, &item, allowed, &stage);
        }
        self.tell_what_is_going_on();
    }

    fn prepare(&mut self, call: CallId, item: &ItemId, budget: usize, stage: &Stage) {
        let Some(tool) = self.log.item(item).and_then(tool_of) else {
            return;
        };
        let (name, arguments) = (tool.name.clone(), tool.arguments.clone());
        let known = self.tools.iter().any(|known| known.name == name);
        if *stage == Stage::Ahead && (!known || self.repeats.refusal(&name, &arguments).is_some()) {
            return self.set_stage(&call, Stage::Deferred);
        }
        if matches!(stage, Stage::Rechecking(_)) {
            return self.effects.push(Effect::Prepare {
                call,
                name,
                arguments,
                budget,
            });
        }
        if !known {
            let names: Vec<_> = self.tools.iter().map(|known| known.name.as_str()).collect();
            let text = format!("There is no tool `{name}`. The tools are: {}.", names.join(", "));
            return self.refuse(&call, ItemState::Failed, &text, None);
        }
        if let Some(text) = self.repeats.refusal(&name, &arguments) {
            if let Some(call) = self.call_mut(&call) {
                call.is_repeat = true;
            }
            return self.refuse(&call, ItemState::Failed, &text, None);
        }
        self.effects.push(Effect::Prepare {
            call,
            name,
            arguments,
            budget,
        });
    }

    fn tell_what_is_going_on(&mut self) {
        let Phase::Calling { calls, .. } = &self.phase else {
            return;
        };
        let waits = calls
            .iter()
            .any(|call| matches!(call.stage, Stage::Waiting { .. } | Stage::Asking { .. }));
        let runs = calls
            .iter()
            .find(|call| call.stage == Stage::Running)
            .map(|call| call.id.clone());
        self.set_state(if waits {
            SessionState::Waiting
        } else {
            SessionState::Running
        });
        match (waits, runs) {
            (true, _) => self.set_activity(Activity::WaitingForYou),
            (false, Some(call)) => self.set_activity(Activity::RunningTool { call }),
            (false, None) => {}
        }
    }

    pub(super) fn call_mut(&mut self, id: &CallId) -> Option<&mut Call> {
        match &mut self.phase {
            Phase::Calling { calls, .. } => calls.iter_mut().find(|call| call.id == *id),
            _ => None,
        }
    }

    pub(super) fn stage_of(&self, id: &CallId) -> Option<(ItemId, Stage)> {
        match &self.phase {
            Phase::Calling { calls, .. } => calls
                .iter()
                .find(|call| call.id == *id)
                .map(|call| (call.item.clone(), call.stage.clone())),
            _ => None,
        }
    }

    pub(super) fn set_stage(&mut self, id: &CallId, stage: Stage) {
        if let Some(call) = self.call_mut(id) {
            call.stage = stage;
        }
    }

    /// A call is ready to be judged, for the first time or again after the person allowed it.
    pub(super) fn prepared(&mut self, id: &CallId, facts: PreparedFacts) {
        let Some((item, stage @ (Stage::Preparing | Stage::Ahead | Stage::Rechecking(_)))) =
            self.stage_of(id)
        else {
            // It ended meanwhile.
            return self.effects.push(Effect::Forget { call: id.clone() });
        };
        if let Some(call) = self.call_mut(id) {
            call.would.clone_from(&facts.effects);
        }
        self.change_tool(&item, |state, tool| {
            *state = ItemState::Queued;
            tool.title.clone_from(&facts.title);
            tool.target.clone_from(&facts.target);
            tool.blocks.clone_from(&facts.blocks);
        });
        let tainted = self.outside_text_since().is_some();
        match stage {
            Stage::Rechecking(agreed) if agreed.holds(&facts, tainted) => {
                let how = How {
                    by: Decided::Person,
                    runs: None,
                    hunks: agreed.changed.map(|changed| changed.0),
                };
                self.allowed(id, &item, facts, how);
            }
            Stage::Ahead => self.looked_ahead(id, &item, &facts),
            _ => self.judge(id, &item, facts),
        }
        // While a card waits, what comes after it may be asked about as well.
        self.schedule();
    }

    pub(super) fn allowed(&mut self, id: &CallId, item: &ItemId, facts: PreparedFacts, how: How) {
        if let Some(asks) = facts.asks {
            return self.put_question(id, item, asks);
        }
        let now = self.now;
        let runs_command = self.call_mut(id).is_some_and(|call| call.class == ToolClass::Run);
        // An edit is synced by its before-image; a command has none, so its start is.
        let durability = if runs_command {
            Durability::Synced
        } else {
            Durability::Committed
        };
        self.change_tool_with(item, durability, |state, tool| {
            *state = ItemState::Running;
            tool.decided = Some(how.by);
            if let Some(line) = &how.runs {
                super::gate::show_line(tool, line);
            }
            tool.started_at = Some(now);
            tool.limit_ms = facts
                .limit
                .map(|limit| u32::try_from(limit.as_millis()).unwrap_or(u32::MAX));
        });
        self.set_stage(id, Stage::Running);
        self.effects.push(Effect::Execute {
            call: id.clone(),
            limit: facts.limit,
            runs: how.runs,
            hunks: how.hunks,
        });
    }

    pub(super) fn unprepared(&mut self, id: &CallId, message: String) {
        let Some((item, stage)) = self.stage_of(id) else {
            return;
        };
        match stage {
            Stage::Preparing | Stage::Rechecking(_) => {}
            // It may be possible once what comes before it has happened.
            Stage::Ahead => {
                self.set_stage(id, Stage::Deferred);
                return self.schedule();
            }
            _ => return,
        }
        if let Some(tool) = self.log.item(&item).and_then(tool_of).cloned() {
            self.repeats
                .answered(ToolClass::Own, &tool.name, &tool.arguments, &message);
        }
        self.refuse(id, ItemState::Failed, &message, None);
        self.schedule();
    }

    /// Ends a call that does not run.
    pub(super) fn refuse(&mut self, id: &CallId, state: ItemState, text: &str, by: Option<Decided>) {
        let Some((item, _)) = self.stage_of(id) else {
            return;
        };
        self.change_tool(&item, |_, tool| tool.decided = by.or(tool.decided.take()));
        self.end_item(&item, state, text);
        self.set_stage(id, Stage::Over);
    }

    pub(super) fn change_tool(&mut self, id: &ItemId, change: impl FnOnce(&mut ItemState, &mut ToolItem)) {
        self.change_tool_with(id, Durability::Committed, change);
    }

    fn change_tool_with(
        &mut self,
        id: &ItemId,
        durability: Durability,
        change: impl FnOnce(&mut ItemState, &mut ToolItem),
    ) {
        let Some(mut item) = self.log.item(id).cloned() else {
            return;
        };
        let before = item.clone();
        if let ItemBody::Tool(tool) = &mut item.body {
            change(&mut item.state, tool);
        }
        if item != before {
            self.record_with(EventBody::ItemUpdated { item }, durability);
        }
    }

    pub(super) fn resolve_card(&mut self, approval: ApprovalId, resolution: ApprovalResolution) {
        self.record(EventBody::ApprovalResolved { approval, resolution });
    }
}

/// The next call that may start: a read when all before it are reads or over, anything else when all before it are over.
fn next_to_start(calls: &[Call]) -> Option<usize> {
    let mut only_reads_before = true;
    let mut all_over_before = true;
    for (place, call) in calls.iter().enumerate() {
        let reads = call.class == ToolClass::Read;
        let may_start = matches!(call.stage, Stage::Pending | Stage::Deferred | Stage::Allowed(_));
        if may_start && (all_over_before || (reads && only_reads_before)) {
            return Some(place);
        }
        if call.stage != Stage::Over {
            all_over_before = false;
            only_reads_before &= reads;
        }
    }
    None
}

pub(super) fn tool_of(item: &Item) -> Option<&ToolItem> {
    match &item.body {
        ItemBody::Tool(tool) => Some(tool),
        _ => None,
    }
}
