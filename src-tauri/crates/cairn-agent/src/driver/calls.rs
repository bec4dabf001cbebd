//! Preparing and carrying out calls, each in a task of its own, with its limit.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{
    ApiError, ApprovalAnswer, ApprovalId, ApprovalSubject, CallId, DiffLine, ErrorCode, Hunk, HunkChoice,
    ItemId,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Brought, Driver, mask};
use crate::effect::{Input, PreparedFacts};
use crate::tool::{
    Action, CallContext, ContextStatus, Execute, LimitBy, Prepared, Progress, Tool, ToolClass, ToolOutcome,
};

/// Finding out what a call would do may take this long; it reads at most one file or resolves one path.
const PREPARE_LIMIT: Duration = Duration::from_secs(5);
/// A call that was cancelled has this long to bring back what there was. SPEC T2.
const GRACE: Duration = Duration::from_millis(200);

impl Driver {
    pub(super) fn prepare(&mut self, call: CallId, name: &str, arguments: String, budget: usize) {
        let Some(tool) = self
            .surface
            .tools
            .iter()
            .find(|tool| tool.spec().name == name)
            .cloned()
        else {
            return;
        };
        let budget = *self.budgets.entry(call.clone()).or_insert(budget);
        let context = self.context(&call, budget);
        let limit = self.surface.limits.get(name).copied();
        self.tasks.spawn(async move {
            let work = AssertUnwindSafe(prepare(tool.as_ref(), &arguments, &context, limit)).catch_unwind();
            let prepared = match tokio::time::timeout(PREPARE_LIMIT, work).await {
                Ok(Ok(prepared)) => prepared,
                Ok(Err(_)) => Err(format!(
                    "`{}` failed inside; that is a fault of Cairn's.",
                    tool.spec().name
                )),
                Err(_) => Err(format!(
                    "`{}` did not get ready within 5 s and did not run.",
                    tool.spec().name
                )),
            };
            Brought::Prepared {
                call,
                class: tool.spec().class,
                prepared: prepared.map(Box::new),
            }
        });
    }

    pub(super) fn execute(
        &mut self,
        call: CallId,
        limit: Option<Duration>,
        runs: Option<String>,
        hunks: Option<Vec<HunkChoice>>,
    ) {
        let Some((class, prepared)) = self.prepared.remove(&call) else {
            return;
        };
        let Action::Execute(action) = prepared.action else {
            return;
        };
        let mut context = self.context(&call, self.budgets.get(&call).copied().unwrap_or(usize::MAX));
        (context.runs, context.hunks) = (runs, hunks);
        let limit = limit.filter(|_| action.limit_by() == LimitBy::Driver);
        let settled = matches!(class, ToolClass::Edit | ToolClass::Run).then(|| self.surface.settled.clone());
        let stop = context.cancel.clone();
        self.tasks.spawn(async move {
            // A process that is still dying may write what this call is about to change.
            if let Some(settled) = settled {
                tokio::select! {
                    () = settled() => {}
                    () = stop.cancelled() => {}
                }
            }
            let outcome = Box::new(carry_out(action, context, limit).await);
            Brought::Finished { call, outcome }
        });
    }

    pub(super) async fn take(&mut self, brought: Brought) {
        match brought {
            Brought::Prepared {
                call,
                class,
                prepared: Ok(prepared),
            } => {
                if let Some(rules) = (self.surface.rules)() {
                    self.machine.policy_mut().rules.replace_saved(rules);
                }
                let facts = Box::new(facts(&prepared));
                self.prepared.insert(call.clone(), (class, *prepared));
                self.feed(Input::Prepared { call, facts }).await;
            }
            Brought::Prepared {
                call,
                prepared: Err(message),
                ..
            } => self.feed(Input::Unprepared { call, message }).await,
            Brought::Finished { call, mut outcome } => {
                let budget = self.budgets.remove(&call).unwrap_or(usize::MAX);
                mask::outcome(&mut outcome, self.surface.mask.as_ref());
                if outcome.output.is_none() && outcome.content.chars().count() > budget {
                    let session = self.machine.log().session.id.clone();
                    match self
                        .surface
                        .journal
                        .put_output(session, outcome.content.clone())
                        .await
                    {
                        Ok(output) => outcome.output = Some(output),
                        Err(error) => tracing::warn!(%error, "a long result could not be kept whole"),
                    }
                }
                self.feed(Input::Finished { call, outcome }).await;
            }
        }
    }

    /// A place in which a key was blotted out cannot be written anew from what was shown: the blot would end up in the
    /// file. SPEC A7.
    pub(super) fn check_nothing_blotted(
        &self,
        approval: &ApprovalId,
        answer: &ApprovalAnswer,
    ) -> Result<(), ApiError> {
        let ApprovalAnswer::AllowChanged { hunks: choices } = answer else {
            return Ok(());
        };
        let cards = &self.machine.log().approvals;
        let card = cards.iter().find(|card| card.id == *approval);
        let prepared = card.and_then(|card| self.prepared.get(&card.call));
        let shown = card
            .map(|card| new_sides(Some(&card.subject)))
            .unwrap_or_default();
        let real = new_sides(prepared.and_then(|(_, prepared)| prepared.subject.as_ref()));
        let differs = |(place, choice): (usize, &HunkChoice)| {
            matches!(choice, HunkChoice::Replace { .. }) && shown.get(place) != real.get(place)
        };
        if choices.iter().enumerate().any(differs) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "A place that holds a key, which is not shown, can be taken or left, but not written anew.",
            ));
        }
        Ok(())
    }

    fn context(&self, call: &CallId, budget: usize) -> CallContext {
        let log = self.machine.log();
        let item = self.item_of(call).unwrap_or_else(|| ItemId::from(""));
        CallContext {
            session: log.session.id.clone(),
            turn: log.last_turn().map_or_else(|| "".into(), |turn| turn.id.clone()),
            call: call.clone(),
            budget,
            outside: self.machine.outside_text_since().is_some(),
            literal: self.machine.literal_addresses(),
            runs: None,
            hunks: None,
            vision: self.machine.model().is_some_and(|info| info.vision),
            cancel: self.cancel.child_token(),
            progress: Arc::new(ItemProgress {
                item,
                sender: self.progress.0.clone(),
            }),
            journal: self.surface.journal.clone(),
            status: Arc::new(self.status()),
        }
    }

    fn status(&self) -> ContextStatus {
        let log = self.machine.log();
        let mut tools: Vec<(String, u32, u32, u32)> = Vec::new();
        for item in log.items() {
            let cairn_protocol::ItemBody::Tool(tool) = &item.body else {
                continue;
            };
            let place = tools
                .iter()
                .position(|(name, ..)| *name == tool.name)
                .unwrap_or_else(|| {
                    tools.push((tool.name.clone(), 0, 0, 0));
                    tools.len() - 1
                });
            if let (Some(row), Some(result)) = (tools.get_mut(place), &tool.result) {
                row.1 += 1;
                row.2 += u32::from(!result.ok && !result.denied);
                row.3 += u32::from(result.denied);
            }
        }
        ContextStatus {
            meter: self.machine.meter(),
            turns: log.turns.len() as u32,
            steps: self.machine.steps(),
            usage: log.session.usage,
            tools,
        }
    }
}

async fn prepare(
    tool: &dyn Tool,
    arguments: &str,
    context: &CallContext,
    set: Option<Duration>,
) -> Result<Prepared, String> {
    let arguments = crate::arguments::object(tool.spec(), arguments)?;
    // What the call itself names is what the model and the person agreed on.
    let set = set.filter(|_| !arguments.contains_key("timeout"));
    let mut prepared = tool
        .prepare(arguments, context)
        .await
        .map_err(|error| error.message)?;
    if set.is_some() && (prepared.limit.is_some() || tool.spec().limit.is_some()) {
        prepared.limit = set;
    }
    prepared.limit = prepared.limit.or(tool.spec().limit);
    Ok(prepared)
}

/// Runs to the end, the limit or Stop; a call that does not answer after either is left behind.
async fn carry_out(
    action: Box<dyn Execute>,
    mut context: CallContext,
    limit: Option<Duration>,
) -> ToolOutcome {
    let stop = context.cancel.clone();
    let work_token = CancellationToken::new();
    context.cancel = work_token.clone();
    let mut work: BoxFuture<'static, _> = AssertUnwindSafe(action.execute(context)).catch_unwind().boxed();
    let limit_struck = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let timed_out = tokio::select! {
        done = &mut work => return done.unwrap_or_else(|_| ToolOutcome::failed("The tool failed inside; that is a fault of Cairn's. Nothing more is known.")),
        () = stop.cancelled() => false,
        () = limit_struck => true,
    };
    work_token.cancel();
    let mut outcome = match tokio::time::timeout(GRACE, work).await {
        Ok(Ok(outcome)) if outcome.ok => return outcome,
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) | Err(_) => ToolOutcome::default(),
    };
    outcome.timed_out |= timed_out;
    outcome.stopped |= !timed_out;
    if outcome.content.is_empty() {
        outcome.content = if timed_out {
            let seconds = limit.unwrap_or_default().as_secs();
            format!("It was ended after its time limit of {seconds} s.")
        } else {
            "Interrupted by the user.".to_owned()
        };
    }
    outcome
}

/// The text of the new side of each place of an edit.
fn new_sides(subject: Option<&ApprovalSubject>) -> Vec<String> {
    let Some(ApprovalSubject::Edit { diffs }) = subject else {
        return Vec::new();
    };
    let side = |hunk: &Hunk| {
        let new = hunk.lines.iter().filter(|line| line.new.is_some());
        let text = |line: &DiffLine| {
            line.spans
                .iter()
                .map(|span| span.text.as_str())
                .collect::<String>()
        };
        new.map(text).collect::<Vec<_>>().join("\n")
    };
    diffs.iter().flat_map(|diff| &diff.hunks).map(side).collect()
}

fn facts(prepared: &Prepared) -> PreparedFacts {
    PreparedFacts {
        title: prepared.title.clone(),
        target: prepared.target.clone(),
        effects: prepared.effects.clone(),
        subject: prepared.subject.clone(),
        says: prepared.says.clone(),
        blocks: prepared.blocks.clone(),
        digest: prepared.digest.clone(),
        limit: prepared.limit,
        takes_hunks: matches!(&prepared.action, Action::Execute(action) if action.takes_hunks()),
        asks: match &prepared.action {
            Action::Ask(asks) => Some(asks.clone()),
            Action::Execute(_) => None,
        },
    }
}

struct ItemProgress {
    item: ItemId,
    sender: mpsc::Sender<(ItemId, u64, String)>,
}

impl Progress for ItemProgress {
    fn output(&self, offset: u64, text: &str) {
        // A window that cannot keep up misses pieces; the offset shows it, and the final block has everything.
        if self
            .sender
            .try_send((self.item.clone(), offset, text.to_owned()))
            .is_err()
        {
            tracing::trace!("a piece of output was not shown live");
        }
    }
}
