//! What a headless request prints: the answer on standard output, progress, diffs and commands on standard error.

use cairn_host::parts::unified;
use cairn_protocol::{
    Activity, ContentBlock, Event, EventBody, Item, ItemBody, ItemState, Notice, QueueId, ToolItem, Turn,
    TurnId, TurnOutcome,
};

use crate::args::JsonArg;
use crate::out;

/// The request that this command sent: other ends, like that of a request cut off by a crash, are not its own.
pub(super) struct Own {
    /// Its id, if it starts at once.
    pub(super) turn: TurnId,
    /// Its id in the queue, if others wait before it.
    pub(super) queue: QueueId,
}

/// Where the own request is while others of the session come first.
#[derive(PartialEq, Eq)]
enum Place {
    First,
    Queued,
    Next,
}

/// Prints events.
pub(super) struct Printer {
    own: Own,
    place: Place,
    json: Option<JsonArg>,
    /// The model's last words, printed as the answer when nothing follows them.
    words: Option<String>,
    ended: Option<Turn>,
    shown: std::collections::HashSet<String>,
}

impl Printer {
    pub(super) fn new(json: Option<JsonArg>, own: Own) -> Self {
        Self {
            own,
            place: Place::First,
            json,
            words: None,
            ended: None,
            shown: std::collections::HashSet::new(),
        }
    }

    /// The request, once it ended.
    pub(super) fn ended(&self) -> Option<Turn> {
        self.ended.clone()
    }

    pub(super) fn event(&mut self, event: &Event) {
        self.find_own(&event.body);
        if let Some(json) = self.json {
            if json.wants(&event.body) {
                match serde_json::to_string(event) {
                    Ok(line) => out::line(&line),
                    Err(error) => out::problem(&format!("an event could not be printed: {error}")),
                }
            }
        } else {
            self.words(&event.body);
        }
        if let EventBody::TurnCompleted { turn } = &event.body {
            self.ended = Some(turn.clone()).filter(|turn| turn.id == self.own.turn);
        }
    }

    fn find_own(&mut self, body: &EventBody) {
        match body {
            EventBody::QueueChanged { queue } => {
                let waits = queue.iter().any(|waiting| waiting.id == self.own.queue);
                self.place = match (&self.place, waits) {
                    (_, true) => Place::Queued,
                    (Place::Queued, false) => Place::Next,
                    _ => return,
                };
            }
            EventBody::TurnStarted { turn } if self.place == Place::Next => {
                self.own.turn = turn.id.clone();
                self.place = Place::First;
            }
            _ => {}
        }
    }

    fn words(&mut self, body: &EventBody) {
        match body {
            EventBody::ItemStarted { item } | EventBody::ItemUpdated { item } => self.item(item),
            EventBody::ItemCompleted { item } => self.completed(item),
            EventBody::ActivityChanged {
                activity: Activity::Retrying { attempt, reason, .. },
            } => {
                out::note(&format!("trying again ({attempt}): {}", out::safe(reason)));
            }
            EventBody::ActivityChanged {
                activity: Activity::LoadingModel { model, .. },
            } => {
                out::note(&format!("loading {}", out::safe(model)));
            }
            EventBody::ActivityChanged {
                activity: Activity::Summarising { .. },
            } => out::note("summarising the older part of the conversation"),
            EventBody::Notice { notice } => Self::notice(notice),
            EventBody::TurnCompleted { turn } => self.end(turn),
            _ => {}
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.body {
            ItemBody::Tool(tool) => {
                self.words_were_no_answer();
                if item.state == ItemState::Running && self.shown.insert(item.id.0.clone()) {
                    Self::begins(tool);
                }
            }
            ItemBody::Notice(notice) => Self::notice(notice),
            _ => {}
        }
    }

    /// Every diff and command is shown in full, also of what ran by rule or mode.
    fn begins(tool: &ToolItem) {
        out::note(format!("{} {}", out::safe(&tool.title), out::safe(&tool.target)).trim_end());
        for block in &tool.blocks {
            match block {
                ContentBlock::Diff(diff) => out::note(&out::safe(&unified(diff))),
                ContentBlock::Terminal(terminal) => out::note(&format!("$ {}", out::safe(&terminal.command))),
                _ => {}
            }
        }
    }

    fn completed(&mut self, item: &Item) {
        match &item.body {
            ItemBody::Assistant { text } => {
                self.words_were_no_answer();
                self.words = Some(text.clone());
            }
            ItemBody::Tool(tool) => {
                let state = match item.state {
                    ItemState::Done => "done",
                    ItemState::Denied => "denied",
                    ItemState::Skipped => "skipped",
                    ItemState::TimedOut => "timed out",
                    ItemState::Stopped => "stopped",
                    ItemState::Interrupted => "interrupted",
                    _ => "failed",
                };
                let note = if tool.note.is_empty() {
                    String::new()
                } else {
                    format!(" · {}", out::safe(&tool.note))
                };
                let head = format!("{} {}", out::safe(&tool.title), out::safe(&tool.target));
                out::note(&format!("{}: {state}{note}", head.trim_end()));
                if item.state != ItemState::Done
                    && let Some(result) = &tool.result
                {
                    out::note(&format!("  {}", out::safe(&result.content).replace('\n', "\n  ")));
                }
            }
            _ => {}
        }
    }

    fn words_were_no_answer(&mut self) {
        if let Some(text) = self.words.take() {
            out::note(&out::safe(&text));
        }
    }

    fn notice(notice: &Notice) {
        if !notice.code.starts_with("told_") {
            out::note(&format!("note: {}", out::safe(&notice.text)));
        }
    }

    fn end(&mut self, turn: &Turn) {
        if turn.id != self.own.turn {
            // What an earlier request had said is no answer to this one.
            self.words_were_no_answer();
        }
        if let Some(text) = self.words.take() {
            out::line(&out::safe(&text));
        }
        let outcome = match &turn.outcome {
            Some(TurnOutcome::Done) | None => "Done".to_owned(),
            Some(TurnOutcome::Stopped) => "Stopped".to_owned(),
            Some(TurnOutcome::Denied) => "Denied".to_owned(),
            Some(TurnOutcome::Interrupted) => "Interrupted".to_owned(),
            Some(TurnOutcome::Paused { steps }) => format!("Paused after {steps} steps; --continue goes on"),
            Some(TurnOutcome::Failed { error }) => format!("Failed: {}", out::safe(&error.message)),
        };
        out::note(&format!("{outcome}{}", counts(turn)));
    }
}

/// What was done, from our own log: `· 2 files +13 −6 · 1 command`. SPEC P13.
pub(crate) fn counts(turn: &Turn) -> String {
    let summary = &turn.summary;
    let mut parts = Vec::new();
    let many = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    if !summary.files.is_empty() {
        let added: u32 = summary.files.iter().map(|file| file.added).sum();
        let removed: u32 = summary.files.iter().map(|file| file.removed).sum();
        parts.push(format!(
            "{} +{added} −{removed}",
            many(summary.files.len(), "file")
        ));
    }
    if summary.commands > 0 {
        parts.push(many(summary.commands as usize, "command"));
    }
    for (count, word) in [
        (summary.failed, "failed"),
        (summary.skipped, "skipped"),
        (summary.denied, "denied"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if parts.is_empty() {
        " · nothing changed".to_owned()
    } else {
        format!(" · {}", parts.join(" · "))
    }
}
