//! The model's side of the turn: one reply, its failures, its retries.

use cairn_protocol::{
    Activity, Delta, ErrorCode, EventBody, Item, ItemBody, ItemId, ItemState, MAX_REASONING_BYTES,
    NoticeLevel, ReasoningData, SummaryCause, ToolItem, TurnOutcome, Usage,
};

use super::summarising::{Need, Then};
use super::{Phase, TurnMachine};
use crate::context::TOLD_PREFIX;
use crate::effect::Effect;
use crate::meter::Count;
use crate::model::{FinishReason, ModelError, ModelEvent};
use crate::retry;

/// Calls of one reply that are carried out; more than a person could follow.
const MOST_CALLS: usize = 64;
/// An empty reply is asked for again this often. SPEC L5.
const EMPTY_AGAIN: u32 = 2;

/// One reply as it comes in.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Try, from 1.
    attempt: u32,
    /// Empty replies before this one.
    empty: u32,
    /// How often something was set aside for it.
    pub(super) asides: u32,
    /// Items that were in the request.
    sent_items: usize,
    text: Option<ItemId>,
    thinking: Option<ItemId>,
    calls: Vec<ItemId>,
    /// What was closed while it went on: thoughts with their data, and the words before them.
    closed: Vec<ItemId>,
    usage: Usage,
    said_anything: bool,
}

impl TurnMachine {
    /// Takes the next model step, if the limit and the window allow it.
    pub(super) fn ask(&mut self) {
        if let Some(item) = self.rerun.take() {
            return self.begin_rerun(&item);
        }
        if self.steps >= self.step_limit() {
            return self.finish(TurnOutcome::Paused { steps: self.steps });
        }
        self.join_sent_now();
        if let Need::Never(error) = self.need() {
            return self.finish(TurnOutcome::Failed { error });
        }
        self.steps += 1;
        let steps = self.log.last_turn().map_or(0, |turn| turn.summary.steps) + 1;
        self.update_turn(|turn| turn.summary.steps = steps);
        self.send_request(Reply {
            attempt: 1,
            ..Reply::default()
        });
    }

    /// Sends the request, or makes room for it first.
    pub(super) fn send_request(&mut self, mut reply: Reply) {
        if let Some(cut) = self.wanted_cut() {
            return self.summarise(cut, SummaryCause::Asked, Then::Ask(reply));
        }
        match self.need() {
            Need::Nothing => {}
            Need::Summary(cut) => return self.summarise(cut, SummaryCause::Window, Then::Ask(reply)),
            Need::Never(error) => return self.finish(TurnOutcome::Failed { error }),
        }
        reply.sent_items = self.log.items().len();
        self.phase = Phase::Asking(reply);
        // What is shown while the model works is what it got.
        self.show_meter();
        self.set_activity(Activity::WaitingForModel { since: self.now });
        self.effects.push(Effect::AskModel);
    }

    fn step_number(&self) -> Option<u32> {
        self.log.last_turn().map(|turn| turn.summary.steps)
    }

    /// The prompt turned out larger than was known: looked at anew.
    pub(super) fn look_again(&mut self) {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Asking(reply) => self.send_request(reply),
            other => self.phase = other,
        }
    }

    pub(super) fn model_said(&mut self, event: ModelEvent) {
        let mut reply = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Asking(reply) => reply,
            Phase::Summarising(summarising) => return self.summary_said(summarising, event),
            Phase::Probing(probing) => return self.probe_said(probing, &event),
            other => {
                // What a dropped stream still had in its pipe belongs to nobody.
                tracing::debug!(?event, "the model spoke when nobody listened");
                self.phase = other;
                return;
            }
        };
        match event {
            ModelEvent::Loading => {
                let model = self
                    .model
                    .as_ref()
                    .map_or_else(String::new, |info| info.name.clone());
                let since = match self.activity {
                    Activity::WaitingForModel { since } | Activity::LoadingModel { since, .. } => since,
                    _ => self.now,
                };
                self.set_activity(Activity::LoadingModel { model, since });
            }
            ModelEvent::Reading { done, total } => self.set_activity(Activity::ReadingPrompt { done, total }),
            ModelEvent::Text(piece) => {
                self.close_part(reply.thinking.take(), ItemState::Done);
                let kind = |text| ItemBody::Assistant { text };
                reply.text = self.grow(reply.text.take(), piece, kind, &mut reply.said_anything);
            }
            ModelEvent::Thinking(piece) => {
                let mut thought = false;
                let kind = |text| ItemBody::Thinking { text, data: None };
                reply.thinking = self.grow(reply.thinking.take(), piece, kind, &mut thought);
            }
            ModelEvent::Reasoning(data) => self.keep_reasoning(&mut reply, data),
            ModelEvent::Call {
                id,
                name,
                arguments,
                from_text,
                cut,
            } => {
                self.close_part(reply.thinking.take(), ItemState::Done);
                let call = self.unique_call(&id);
                let item = self.call_item(call, name, arguments, from_text);
                reply.calls.push(item.id.clone());
                self.record(EventBody::ItemStarted { item: item.clone() });
                if cut {
                    self.refuse_cut(&item.id);
                }
                if reply.calls.len() > MOST_CALLS {
                    let text = format!(
                        "Only {MOST_CALLS} calls of one reply are carried out; this one did not run."
                    );
                    self.end_item(&item.id, ItemState::Failed, &text);
                }
            }
            ModelEvent::Usage(usage) => reply.usage = usage,
            ModelEvent::Finished(reason) => return self.conclude(reply, reason),
        }
        self.phase = Phase::Asking(reply);
    }

    /// Puts what the provider wants back to the thought that it belongs to; a thought without words gets a place of
    /// its own. What was said before it stays before it.
    fn keep_reasoning(&mut self, reply: &mut Reply, data: ReasoningData) {
        let id = reply.thinking.take().unwrap_or_else(|| {
            let step = self.step_number();
            let body = ItemBody::Thinking {
                text: String::new(),
                data: None,
            };
            let item = self.new_item(ItemState::Running, step, body);
            self.record(EventBody::ItemStarted { item: item.clone() });
            item.id
        });
        if let Some(mut item) = self.log.item(&id).cloned() {
            if let ItemBody::Thinking { data: kept, .. } = &mut item.body {
                *kept = (data.json.len() <= MAX_REASONING_BYTES).then(|| Box::new(data));
            }
            item.state = ItemState::Done;
            self.record(EventBody::ItemCompleted { item });
        }
        reply.closed.push(id);
        let blank =
            |item: &Item| matches!(&item.body, ItemBody::Assistant { text } if text.trim().is_empty());
        if reply
            .text
            .as_ref()
            .is_some_and(|id| !self.log.item(id).is_some_and(blank))
        {
            reply.closed.extend(reply.text.clone());
            self.close_part(reply.text.take(), ItemState::Done);
        }
    }

    /// Another try writes all of it again: what this one said and thought is not sent back.
    fn give_up_closed(&mut self, reply: &Reply) {
        for id in &reply.closed {
            if let Some(mut item) = self.log.item(id).cloned() {
                item.state = ItemState::Failed;
                self.record(EventBody::ItemUpdated { item });
            }
        }
    }

    fn grow(
        &mut self,
        item: Option<ItemId>,
        piece: String,
        body: impl FnOnce(String) -> ItemBody,
        said: &mut bool,
    ) -> Option<ItemId> {
        if piece.is_empty() {
            return item;
        }
        self.set_activity(Activity::Writing {
            tokens_per_second: None,
        });
        *said |= !piece.trim().is_empty();
        let id = if let Some(id) = item {
            id
        } else {
            let step = self.step_number();
            let item = self.new_item(ItemState::Running, step, body(String::new()));
            let id = item.id.clone();
            self.record(EventBody::ItemStarted { item });
            id
        };
        let offset = match self.log.item(&id).map(|item| &item.body) {
            Some(ItemBody::Assistant { text } | ItemBody::Thinking { text, .. }) => text.len() as u64,
            _ => 0,
        };
        let delta = Delta::Text {
            offset,
            text: piece.clone(),
        };
        self.log.apply(EventBody::ItemDelta {
            item: id.clone(),
            delta,
        });
        self.effects.push(Effect::Grow {
            item: id.clone(),
            offset,
            text: piece,
        });
        Some(id)
    }

    pub(super) fn call_item(
        &mut self,
        call: cairn_protocol::CallId,
        name: String,
        arguments: String,
        from_text: bool,
    ) -> cairn_protocol::Item {
        let step = self.step_number();
        let tool = ToolItem {
            call,
            title: name.clone(),
            name,
            arguments,
            target: String::new(),
            from_text,
            walled: false,
            decided: None,
            started_at: None,
            ended_at: None,
            limit_ms: None,
            note: String::new(),
            blocks: Vec::new(),
            result: None,
        };
        self.new_item(ItemState::Queued, step, ItemBody::Tool(Box::new(tool)))
    }

    pub(super) fn unique_call(&self, id: &str) -> cairn_protocol::CallId {
        let taken = |candidate: &str| {
            self.log
                .items()
                .iter()
                .any(|item| matches!(&item.body, ItemBody::Tool(tool) if tool.call.as_str() == candidate))
        };
        let base = if id.is_empty() { "call" } else { id };
        let mut candidate = base.to_owned();
        let mut number = 1;
        while taken(&candidate) {
            number += 1;
            candidate = format!("{base}-{number}");
        }
        candidate.into()
    }

    fn close_part(&mut self, item: Option<ItemId>, state: ItemState) {
        let Some(mut item) = item.and_then(|id| self.log.item(&id).cloned()) else {
            return;
        };
        item.state = state;
        self.record(EventBody::ItemCompleted { item });
    }

    /// Keeps what came of a reply that goes no further.
    pub(super) fn close_reply(&mut self, reply: &Reply, state: ItemState) {
        self.close_part(reply.thinking.clone(), state);
        self.close_part(reply.text.clone(), state);
        if state == ItemState::Failed {
            self.give_up_closed(reply);
        }
        for id in &reply.calls {
            if self
                .log
                .item(id)
                .is_some_and(|item| crate::log::is_open(item.state))
            {
                self.end_item(
                    id,
                    state,
                    "It was cut off before it was written to its end and did not run.",
                );
            }
        }
        self.count_usage(reply);
    }

    fn count_usage(&mut self, reply: &Reply) {
        let usage = reply.usage;
        if usage == Usage::default() {
            return;
        }
        self.update_turn(|turn| add(&mut turn.usage, usage));
        self.change_session(|session| add(&mut session.usage, usage));
        let count = self.meter.reported(
            &self.log,
            reply.sent_items,
            usage.input_tokens,
            usage.output_tokens,
        );
        if let Count::Cut { sent } = count {
            self.prompt_was_cut(usage.input_tokens, sent);
        }
    }

    /// The server read only a part of what was sent: said once for each model.
    fn prompt_was_cut(&mut self, read: u64, sent: u64) {
        if std::mem::replace(&mut self.told_cut, true) {
            return;
        }
        let name = self.model.as_ref().map_or("", |info| info.name.as_str());
        let text = format!(
            "The server cut the prompt: it read {read} of about {sent} tokens, so {name} does not know how this began. \
             Give it a larger context window at the server (Ollama: `num_ctx`), or set `context_window` in the profile \
             to what it really has."
        );
        self.notice(NoticeLevel::Warning, "prompt_cut", text);
    }

    /// A reply that ran into the end of the window goes on once there is room again, once for each request. Case X111.
    fn goes_on_after_a_cut(&mut self, reason: FinishReason) -> bool {
        let full = matches!(self.need(), Need::Summary(_));
        if reason != FinishReason::Length || !full || std::mem::replace(&mut self.cut_off, true) {
            return false;
        }
        let code = format!("{TOLD_PREFIX}cut_off");
        let text = "The reply was cut off because the window was full. Older parts are summarised; it goes on where it \
                    ended.";
        self.notice(NoticeLevel::Info, &code, text.to_owned());
        true
    }

    fn conclude(&mut self, reply: Reply, reason: FinishReason) {
        self.overflowed = false;
        self.accepted = reply.sent_items;
        self.close_part(reply.thinking.clone(), ItemState::Done);
        self.close_part(reply.text.clone(), ItemState::Done);
        self.count_usage(&reply);
        self.show_meter();
        if !reply.calls.is_empty() {
            if reason == FinishReason::Length
                && let Some(last) = reply.calls.last()
            {
                self.refuse_cut(last);
            }
            return self.start_calls(&reply.calls);
        }
        if !reply.said_anything && reply.empty < EMPTY_AGAIN {
            self.give_up_closed(&reply);
            let empty = reply.empty + 1;
            return self.send_request(Reply {
                attempt: 1,
                empty,
                ..Reply::default()
            });
        }
        if reply.said_anything && self.goes_on_after_a_cut(reason) {
            return self.ask();
        }
        if !reply.said_anything {
            let text = format!("The model answered nothing, {} times in a row.", EMPTY_AGAIN + 1);
            self.notice(NoticeLevel::Warning, "empty_reply", text);
        } else if reason == FinishReason::Length {
            let text = "The reply was cut off: it reached the limit for one reply.".to_owned();
            self.notice(NoticeLevel::Warning, "reply_cut", text);
        } else if reason == FinishReason::Unknown {
            let text = "The reply ended without an end: the connection closed before the server said that it was done. \
                        It may be cut.";
            self.notice(NoticeLevel::Warning, "reply_cut", text.to_owned());
        } else if reason == FinishReason::Filtered {
            let text = "The provider's filter cut the reply off.".to_owned();
            self.notice(NoticeLevel::Warning, "reply_filtered", text);
        }
        if self.join_sent_now() || self.rerun.is_some() {
            return self.ask();
        }
        self.nudge();
        self.finish(TurnOutcome::Done);
    }

    /// A call that was not written to its end never runs, whatever can be read of it. Cases E14, E15.
    fn refuse_cut(&mut self, id: &ItemId) {
        let text = "This call was cut off by the limit for one reply and did not run. Write it again in smaller parts.";
        if self
            .log
            .item(id)
            .is_some_and(|item| crate::log::is_open(item.state))
        {
            self.end_item(id, ItemState::Failed, text);
        }
    }

    pub(super) fn model_failed(&mut self, error: ModelError) {
        let mut reply = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Asking(reply) => reply,
            Phase::Summarising(summarising) => return self.summary_failed(summarising, &error),
            Phase::Probing(probing) => return self.probe_broke(probing, &error),
            other => {
                self.phase = other;
                return;
            }
        };
        self.effects.push(Effect::DropModel);
        if error.error.code == ErrorCode::TooLong {
            self.close_reply(&reply, ItemState::Failed);
            if !self.overflow(&reply, &error) {
                self.finish(TurnOutcome::Failed { error: error.error });
            }
            return;
        }
        let Some(wait) = retry::delay(&error, reply.attempt, self.chance) else {
            self.close_reply(&reply, ItemState::Failed);
            return self.finish(TurnOutcome::Failed { error: error.error });
        };
        self.close_reply(&reply, ItemState::Failed);
        let at = self.now + wait.as_millis() as i64;
        let attempt = reply.attempt;
        reply = Reply {
            attempt: attempt + 1,
            empty: reply.empty,
            asides: reply.asides,
            ..Reply::default()
        };
        self.phase = Phase::RetryWait(reply);
        self.set_activity(Activity::Retrying {
            attempt,
            at,
            reason: error.error.message,
        });
        self.effects.push(Effect::WakeAt(at));
    }

    pub(super) fn retry(&mut self) {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::RetryWait(reply) => self.send_request(reply),
            Phase::SummaryWait(summarising) => self.summary_again(summarising),
            other => self.phase = other,
        }
    }
}

impl Reply {
    /// The same step, tried anew after something was changed.
    pub(super) fn again(&self) -> Self {
        Self {
            attempt: 1,
            empty: self.empty,
            asides: self.asides,
            ..Self::default()
        }
    }

    /// Whether the model has said something already: then the request was taken.
    pub(super) fn has_begun(&self) -> bool {
        self.text.is_some() || self.thinking.is_some() || !self.calls.is_empty()
    }
}

pub(super) fn add(total: &mut Usage, more: Usage) {
    total.input_tokens = total.input_tokens.saturating_add(more.input_tokens);
    total.cached_tokens = total.cached_tokens.saturating_add(more.cached_tokens);
    total.cache_write_tokens = total.cache_write_tokens.saturating_add(more.cache_write_tokens);
    total.output_tokens = total.output_tokens.saturating_add(more.output_tokens);
    total.cost_usd = match (total.cost_usd, more.cost_usd) {
        (None, None) => None,
        (known, added) => Some(known.unwrap_or(0.0) + added.unwrap_or(0.0)),
    };
}
