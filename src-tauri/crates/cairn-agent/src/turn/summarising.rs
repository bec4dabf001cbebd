//! Making room: older parts of the conversation become a summary. SPEC C2.
//!
//! Owns: when it is time, what follows, and that it never goes round in circles: after a summary the next one is made
//! only when the conversation has grown again, and what cannot fit is one error with its numbers.

use cairn_protocol::{
    Activity, ApiError, ErrorCode, EventBody, ItemBody, ItemState, NoticeLevel, Summary, SummaryAuthor,
    SummaryCause, TurnOutcome, Usage,
};

use super::asking::Reply;
use super::{Phase, TurnMachine};
use crate::effect::Effect;
use crate::meter::Room;
use crate::model::{FinishReason, ModelError, ModelEvent, Objection};
use crate::retry;
use crate::summary::{self, Cut};

/// A request that leaves less room than this for the reply is not sent.
const LEAST_REPLY: u64 = 512;
/// A window smaller than this holds no conversation: what says so means something else.
const LEAST_WINDOW: u64 = 1_024;
/// Tries to have a summary written before one is put together from the log.
const TRIES: u32 = 2;
/// Bytes of a summary; what a model writes beyond is cut.
const MOST_BYTES: usize = 64 << 10;

/// A summary in the making.
#[derive(Debug)]
pub(super) struct Summarising {
    cut: Cut,
    cause: SummaryCause,
    before: u64,
    attempt: u32,
    text: String,
    usage: Usage,
    then: Then,
}

/// What follows a summary.
#[derive(Debug)]
pub(super) enum Then {
    /// The request goes on with this reply.
    Ask(Reply),
    /// Nothing: no request runs.
    Rest,
}

/// What a request needs before it can be sent.
#[derive(Debug)]
pub(super) enum Need {
    Nothing,
    /// Older parts must be summarised.
    Summary(Cut),
    /// It can never be sent.
    Never(ApiError),
}

impl TurnMachine {
    /// Whether the next request fits, by what is known now.
    pub(super) fn need(&self) -> Need {
        let Some(room) = self.model.as_ref().and_then(Room::of) else {
            return Need::Nothing;
        };
        let counted = self.meter.counted();
        let (least, fixed) = (counted.used(&self.log), counted.fixed());
        if fixed.saturating_add(LEAST_REPLY) > room.request {
            return Need::Never(self.never_fits(room, least, fixed));
        }
        let used = self.meter.used(&self.log);
        let grown = self
            .summarised_at
            .is_none_or(|at| used > at.saturating_add(room.request / 10));
        if (used > room.compacts_at() && grown)
            && let Some(cut) = self.cut(room)
        {
            return Need::Summary(cut);
        }
        if least.saturating_add(LEAST_REPLY) > room.window {
            return Need::Never(self.never_fits(room, least, fixed));
        }
        Need::Nothing
    }

    /// Whether a request that fitted by an older estimate does not fit after all.
    pub(crate) fn needs_room(&self) -> bool {
        !matches!(self.need(), Need::Nothing)
    }

    /// Tokens the reply may have; none leaves it to the server.
    pub(crate) fn most_reply(&self) -> Option<u64> {
        let info = self.model.as_ref()?;
        let most = info.max_output_tokens?;
        let Some(room) = Room::of(info) else {
            return Some(most);
        };
        let left = room.window.saturating_sub(self.meter.used(&self.log));
        Some(most.min(left.max(LEAST_REPLY)))
    }

    fn never_fits(&self, room: Room, used: u64, fixed: u64) -> ApiError {
        let name = self.model.as_ref().map_or("", |info| info.name.as_str());
        let (window, reply) = (room.window, room.window - room.request);
        ApiError::new(
            ErrorCode::TooLong,
            format!(
                "The conversation takes about {used} tokens, {fixed} of them rules, tools and notes, {reply} are kept for \
                 the reply, and {name} holds {window}. Nothing more can be summarised, and nothing was sent. Take \
                 something out of the context, start a new session, or choose a model with a larger window."
            ),
        )
    }

    /// What stays takes at most three tenths of what a request may take.
    fn cut(&self, room: Room) -> Option<Cut> {
        let keep = self.meter.estimated(room.request / 10 * 3);
        summary::cut(&self.log.context(), keep)
    }

    /// Begins a summary.
    pub(super) fn summarise(&mut self, cut: Cut, cause: SummaryCause, then: Then) {
        let before = self.meter.used(&self.log);
        self.ask_for_summary(Summarising {
            cut,
            cause,
            before,
            attempt: 1,
            text: String::new(),
            usage: Usage::default(),
            then,
        });
    }

    fn ask_for_summary(&mut self, summarising: Summarising) {
        let (room, most) = self.summary_sizes();
        let cut = summarising.cut.clone();
        self.phase = Phase::Summarising(summarising);
        self.set_activity(Activity::Summarising { since: self.now });
        self.effects.push(Effect::AskSummary { cut, room, most });
    }

    /// Estimated tokens of the transcript that is sent, and tokens of the summary.
    fn summary_sizes(&self) -> (u64, u64) {
        let window = self.model.as_ref().and_then(|info| info.window).unwrap_or(16_384);
        let most = (window / 16).clamp(256, 4_096);
        let room = self.meter.estimated(window.saturating_sub(most + most) / 10 * 7);
        (room.max(500), most)
    }

    /// The person wants older parts summarised: at once, or before the running request goes on.
    pub(super) fn summarise_now(&mut self) {
        if self.is_busy() {
            self.summary_wanted = true;
            return;
        }
        let room = self.model.as_ref().and_then(Room::of);
        let context = self.log.context();
        let cut = room
            .and_then(|room| summary::cut(&context, self.meter.estimated(room.request / 10 * 3)))
            .or_else(|| summary::cut(&context, 0))
            .or_else(|| summary::cut_all(&context));
        match cut {
            Some(cut) => self.summarise(cut, SummaryCause::Asked, Then::Rest),
            None => self.notice(
                NoticeLevel::Info,
                "nothing_to_summarise",
                "There is too little to summarise yet.".to_owned(),
            ),
        }
    }

    /// The cut for a summary that the person asked for while the request ran.
    pub(super) fn wanted_cut(&mut self) -> Option<Cut> {
        if !std::mem::take(&mut self.summary_wanted) {
            return None;
        }
        let context = self.log.context();
        let room = self.model.as_ref().and_then(Room::of);
        room.and_then(|room| summary::cut(&context, self.meter.estimated(room.request / 10 * 3)))
            .or_else(|| summary::cut(&context, 0))
    }

    /// The server refused the request as too long: it is summarised and sent once more, or the refusal stands.
    pub(super) fn overflow(&mut self, reply: &Reply, error: &ModelError) -> bool {
        self.learn_window(error);
        if std::mem::replace(&mut self.overflowed, true) {
            return false;
        }
        let window = self.model.as_ref().and_then(|info| info.window);
        let used = self.meter.used(&self.log);
        let window = window.unwrap_or(used);
        self.meter.overflowed(used, window);
        let keep = self.meter.estimated(window / 6);
        let Some(cut) = summary::cut(&self.log.context(), keep) else {
            return false;
        };
        self.summarise(cut, SummaryCause::Overflow, Then::Ask(reply.again()));
        true
    }

    /// The server tells that the model holds less than was known.
    fn learn_window(&mut self, error: &ModelError) {
        let Some(Objection::TooLong {
            limit: Some(limit), ..
        }) = error.rejected.as_ref().map(|rejected| &rejected.what)
        else {
            return;
        };
        if let Some(info) = self.model.as_mut()
            && *limit >= LEAST_WINDOW
            && info.window.is_none_or(|window| *limit < window)
        {
            info.window = Some(*limit);
            self.notice(
                NoticeLevel::Warning,
                "window_smaller",
                format!(
                    "The server says that the model holds {limit} tokens; that is what counts from now on."
                ),
            );
        }
    }

    /// The model writes a summary.
    pub(super) fn summary_said(&mut self, mut summarising: Summarising, event: ModelEvent) {
        match event {
            ModelEvent::Text(piece) => {
                let room = MOST_BYTES.saturating_sub(summarising.text.len());
                summarising.text.extend(piece.chars().take(room));
            }
            ModelEvent::Usage(usage) => summarising.usage = usage,
            ModelEvent::Finished(reason) => {
                let whole = reason != FinishReason::Filtered && !summarising.text.trim().is_empty();
                let by = if whole {
                    SummaryAuthor::Model
                } else {
                    SummaryAuthor::Log
                };
                return self.summarised(summarising, by);
            }
            _ => {}
        }
        self.phase = Phase::Summarising(summarising);
    }

    /// No summary came.
    pub(super) fn summary_failed(&mut self, mut summarising: Summarising, error: &ModelError) {
        self.effects.push(Effect::DropModel);
        let wait =
            (summarising.attempt < TRIES).then(|| retry::delay(error, summarising.attempt, self.chance));
        let Some(wait) = wait.flatten() else {
            return self.summarised(summarising, SummaryAuthor::Log);
        };
        let at = self.now + wait.as_millis() as i64;
        let attempt = summarising.attempt;
        summarising.attempt += 1;
        summarising.text.clear();
        self.phase = Phase::SummaryWait(summarising);
        self.set_activity(Activity::Retrying {
            attempt,
            at,
            reason: error.error.message.clone(),
        });
        self.effects.push(Effect::WakeAt(at));
    }

    /// The wait before the next try is over.
    pub(super) fn summary_again(&mut self, summarising: Summarising) {
        self.ask_for_summary(summarising);
    }

    fn summarised(&mut self, summarising: Summarising, by: SummaryAuthor) {
        let Summarising {
            cut,
            cause,
            before,
            text,
            usage,
            then,
            ..
        } = summarising;
        self.count_summary_usage(usage);
        let (_, most) = self.summary_sizes();
        let text = match by {
            SummaryAuthor::Model => text.trim().to_owned(),
            SummaryAuthor::Log => {
                summary::from_log(&self.log.context(), &cut, &self.log.turns, &self.log.plan, most)
            }
        };
        let mut item = self.new_item(
            ItemState::Done,
            None,
            ItemBody::Summary(Summary {
                text,
                from: cut.from,
                cause,
                by,
                before,
                after: 0,
            }),
        );
        // What the next request takes can only be told with the summary in its place.
        self.log.apply(EventBody::ItemStarted { item: item.clone() });
        self.meter.summarised();
        let after = self.meter.used(&self.log);
        if let ItemBody::Summary(summary) = &mut item.body {
            summary.after = after;
        }
        self.record(EventBody::ItemStarted { item });
        self.summarised_at = Some(after);
        // What a call answered is not in the conversation any more, so it may be asked for again. SPEC L3.
        self.repeats.file_changed();
        self.show_meter();
        match then {
            Then::Ask(reply) => self.send_request(reply),
            Then::Rest => self.rest(),
        }
    }

    fn count_summary_usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.update_turn(|turn| super::asking::add(&mut turn.usage, usage));
            self.change_session(|session| super::asking::add(&mut session.usage, usage));
        }
    }

    /// A summary that was being made is given up.
    pub(super) fn stop_summarising(&mut self, summarising: &Summarising) {
        self.effects.push(Effect::DropModel);
        match summarising.then {
            Then::Ask(_) => self.finish(TurnOutcome::Stopped),
            Then::Rest => self.rest(),
        }
    }

    /// Back to rest without a request: what was sent meanwhile begins one.
    fn rest(&mut self) {
        self.phase = Phase::Idle;
        self.set_activity(Activity::Idle);
        self.show_meter();
        if !self.log.queue.is_empty() || !self.sent_now.is_empty() {
            self.effects.push(Effect::StartNext);
        }
    }
}
