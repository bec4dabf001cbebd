//! Cards and questions: what waits for the person, and what the person said.

use cairn_policy::{Asked, Edits, Granted, Presence, Rule, RuleOrigin, Show, show, shown_text};
use cairn_protocol::{
    ApiError, Approval, ApprovalAnswer, ApprovalId, ApprovalResolution, ApprovalRow, ApprovalSubject, Ask,
    CallId, ChangeKind, Decided, ErrorCode, EventBody, FileDiff, HunkChoice, ItemBody, ItemId, ItemState,
    Question, QuestionAnswer, QuestionId, RowLabel, RuleScope, ShownKind, TurnOutcome,
};

use super::calls::{Agreed, Stage};
use super::{Phase, TurnMachine, choices, internal, planning};
use crate::effect::{Effect, PreparedFacts};
use crate::tool::ToolOutcome;

impl TurnMachine {
    pub(super) fn ask_person(&mut self, id: &CallId, item: &ItemId, facts: &PreparedFacts, asked: Asked) {
        let approval = self.card(id, item, facts, asked);
        self.change_tool(item, |state, _| *state = ItemState::Waiting);
        self.set_stage(
            id,
            Stage::Waiting {
                approval: approval.id.clone(),
                digest: facts.digest.clone(),
            },
        );
        self.record(EventBody::ApprovalRequested { approval });
    }

    fn card(&mut self, id: &CallId, item: &ItemId, facts: &PreparedFacts, asked: Asked) -> Approval {
        let subject = facts.subject.clone().unwrap_or_else(|| ApprovalSubject::Other {
            shown: show(&format!("{} {}", facts.title, facts.target), Show::Name),
        });
        let mut rows = self.subject_rows(&subject, facts);
        for why in &asked.why {
            rows.push(row(RowLabel::WhyAsked, why));
        }
        if let Some(says) = facts.says.as_deref().filter(|says| !says.trim().is_empty()) {
            rows.push(row(RowLabel::ItSays, says));
        }
        let has_hidden = match &subject {
            ApprovalSubject::Command { shown, .. }
            | ApprovalSubject::Other { shown }
            | ApprovalSubject::Read { path: shown }
            | ApprovalSubject::Connect { address: shown, .. }
            | ApprovalSubject::Search { query: shown, .. }
            | ApprovalSubject::Remember { fact: shown } => {
                shown.iter().any(|span| span.kind == ShownKind::Chip)
            }
            ApprovalSubject::Plan { text, .. } => planning::has_hidden(text),
            ApprovalSubject::Edit { diffs } => diffs
                .iter()
                .flat_map(|diff| &diff.hunks)
                .flat_map(|hunk| &hunk.lines)
                .flat_map(|line| &line.spans)
                .any(|span| span.kind == ShownKind::Chip),
        };
        Approval {
            id: ApprovalId(self.fresh("a")),
            turn: self.turn_id(),
            item: item.clone(),
            call: id.clone(),
            at: self.now,
            title: title(&subject, &facts.target),
            subject,
            rows,
            offers: asked.offers,
            offers_accept_edits: asked.offers_accept_edits,
            offers_hunks: facts.takes_hunks,
            loss: asked.loss,
            filled: asked.filled,
            has_hidden,
            digest: facts.digest.clone(),
        }
    }

    fn subject_rows(&self, subject: &ApprovalSubject, facts: &PreparedFacts) -> Vec<ApprovalRow> {
        let project = project_name(&self.log.session.project_path);
        match subject {
            ApprovalSubject::Command { workdir, .. } => {
                let place = if workdir.is_empty() || workdir == "." {
                    project
                } else {
                    format!("{project}/{workdir}")
                };
                let mut rows = vec![row(RowLabel::In, &place)];
                rows.extend(super::walls::rows(
                    self.policy.sandbox,
                    &self.policy.rules.read_bars(),
                    &facts.effects,
                ));
                let limit = facts.limit.map_or_else(
                    || "none: it runs in the background until it or the session ends".to_owned(),
                    |limit| format!("{} s", limit.as_secs()),
                );
                rows.push(row(RowLabel::TimeLimit, &limit));
                rows
            }
            ApprovalSubject::Edit { diffs } => {
                let paths: Vec<_> = diffs.iter().map(written).collect();
                vec![
                    row(RowLabel::In, &project),
                    row(RowLabel::Writes, &paths.join(", ")),
                ]
            }
            ApprovalSubject::Read { .. } => vec![row(RowLabel::Reads, &facts.target)],
            ApprovalSubject::Connect { host, .. } => vec![ApprovalRow {
                label: RowLabel::Network,
                shown: host.clone(),
            }],
            ApprovalSubject::Search { engine, .. } => vec![ApprovalRow {
                label: RowLabel::Network,
                shown: engine.clone(),
            }],
            ApprovalSubject::Remember { .. }
            | ApprovalSubject::Plan { .. }
            | ApprovalSubject::Other { .. } => Vec::new(),
        }
    }

    /// Whether an answer may be given: the card waits, is the one that was shown, and offers what was answered.
    pub fn check_answer(
        &self,
        approval: &ApprovalId,
        digest: &str,
        answer: &ApprovalAnswer,
    ) -> Result<(), ApiError> {
        let stale = || {
            ApiError::new(
                ErrorCode::Stale,
                "That card is no longer waiting; look at what replaced it.",
            )
        };
        let card = self
            .log
            .approvals
            .iter()
            .find(|card| card.id == *approval)
            .ok_or_else(stale)?;
        let waits = matches!(self.stage_of(&card.call), Some((_, Stage::Waiting { approval: waiting, .. })) if waiting == *approval);
        if !waits || card.digest != digest {
            return Err(stale());
        }
        let bad = |text: &str| Err(ApiError::new(ErrorCode::BadRequest, text));
        planning::check(card, answer)?;
        match answer {
            ApprovalAnswer::AllowAlways { rules, .. }
                if rules.is_empty()
                    || !rules
                        .iter()
                        .all(|rule| card.offers.iter().any(|offer| offer.rule == *rule)) =>
            {
                bad("Only rules that the card offers can be saved.")
            }
            ApprovalAnswer::AcceptEdits if !card.offers_accept_edits => {
                bad("This card does not offer to accept edits.")
            }
            ApprovalAnswer::AllowChanged { hunks } => choices::check(card, hunks),
            _ => Ok(()),
        }
    }

    pub(super) fn answer_approval(&mut self, approval: &ApprovalId, answer: ApprovalAnswer) {
        let Some(card) = self
            .log
            .approvals
            .iter()
            .find(|card| card.id == *approval)
            .cloned()
        else {
            return;
        };
        let Some((item, Stage::Waiting { digest, .. })) = self.stage_of(&card.call) else {
            return;
        };
        match answer {
            ApprovalAnswer::AllowOnce => {
                // Searching asks once in a session (SPEC T25), not once in a search.
                if matches!(card.subject, ApprovalSubject::Search { .. }) {
                    self.grant(&[Rule::WebSearch.to_string()], RuleScope::Session);
                }
                self.agree(card, &item, digest, None);
            }
            ApprovalAnswer::AllowChanged { hunks } => self.agree(card, &item, digest, Some(hunks)),
            ApprovalAnswer::AllowAlways { rules, scope } => {
                self.grant(&rules, scope);
                if scope == RuleScope::Project {
                    self.effects.push(Effect::SaveRules(rules));
                }
                self.agree(card, &item, digest, None);
            }
            ApprovalAnswer::AcceptEdits => {
                self.policy.edits = Edits::Accepted;
                self.agree(card, &item, digest, None);
            }
            ApprovalAnswer::CarryOut { mode, plan } => self.carry_out(card, &item, mode, plan),
            ApprovalAnswer::Skip => {
                self.resolve_card(card.id, ApprovalResolution::Skipped);
                let text =
                    "The user skipped this call: it did not run and nothing changed. Go on without it.";
                self.effects.push(Effect::Forget {
                    call: card.call.clone(),
                });
                self.refuse(&card.call, ItemState::Skipped, text, Some(Decided::Person));
                self.schedule();
            }
            ApprovalAnswer::Deny { note } => self.deny(card, note),
        }
    }

    /// Rules of a card hold from now on; a text that is no rule cannot come here, since cards offer only rules.
    fn grant(&mut self, rules: &[String], scope: RuleScope) {
        for text in rules {
            match text.parse::<Rule>() {
                Ok(rule) => {
                    self.policy.rules.allow.push(Granted {
                        rule,
                        scope,
                        origin: RuleOrigin::Card,
                        at: self.now,
                    });
                }
                Err(error) => tracing::error!(%error, "a card offered what is no rule"),
            }
        }
    }

    /// What the person allowed is prepared again in its turn: it runs only when it is still exactly what was shown.
    /// SPEC P10.
    fn agree(&mut self, card: Approval, item: &ItemId, digest: String, hunks: Option<Vec<HunkChoice>>) {
        self.resolve_card(card.id, ApprovalResolution::Allowed { by: Decided::Person });
        self.change_tool(item, |state, _| *state = ItemState::Queued);
        let changed = hunks.map(|hunks| Box::new((hunks, card.subject)));
        let tainted = self.outside_text_since().is_some();
        let agreed = Agreed {
            digest,
            tainted,
            changed,
        };
        self.set_stage(&card.call, Stage::Allowed(agreed));
        self.rejudge();
        self.schedule();
    }

    fn deny(&mut self, card: Approval, note: Option<String>) {
        let note = note
            .map(|note| note.trim().to_owned())
            .filter(|note| !note.is_empty());
        self.resolve_card(card.id, ApprovalResolution::Denied { note: note.clone() });
        self.effects.push(Effect::Forget {
            call: card.call.clone(),
        });
        if let Some(note) = note {
            let text = match card.subject {
                ApprovalSubject::Plan { .. } => planning::kept(&note),
                _ => format!(
                    "The user denied this call: it did not run and nothing changed. The user says: {note}"
                ),
            };
            self.refuse(&card.call, ItemState::Denied, &text, Some(Decided::Person));
            self.schedule();
        } else {
            let text = match card.subject {
                ApprovalSubject::Plan { .. } => planning::KEPT,
                _ => "The user denied this call: it did not run and nothing changed.",
            };
            self.refuse(&card.call, ItemState::Denied, text, Some(Decided::Person));
            if let Phase::Calling { calls, .. } = std::mem::replace(&mut self.phase, Phase::Idle) {
                let text = "It did not run: the user denied another call of this reply.";
                self.end_calls(calls, TurnOutcome::Denied, text);
            }
        }
    }

    // ---- questions

    pub(super) fn put_question(&mut self, id: &CallId, item: &ItemId, asks: Vec<Ask>) {
        if matches!(self.policy.presence, Presence::Headless { .. }) {
            let text = "Nobody is there to answer. Decide yourself, and say in your answer what you decided.";
            return self.end_own(id, item, ToolOutcome::ok(text));
        }
        let step = self.log.item(item).and_then(|item| item.step);
        let question_item = self.new_item(
            ItemState::Waiting,
            step,
            ItemBody::Assistant { text: String::new() },
        );
        let question = Question {
            id: QuestionId(self.fresh("q")),
            turn: self.turn_id(),
            item: question_item.id.clone(),
            call: id.clone(),
            at: self.now,
            asks,
            answers: None,
        };
        self.change_tool(item, |state, tool| {
            *state = ItemState::Waiting;
            tool.decided = Some(Decided::Free);
        });
        self.set_stage(
            id,
            Stage::Asking {
                question: question.id.clone(),
            },
        );
        let body = ItemBody::Question(question.clone());
        self.record(EventBody::ItemStarted {
            item: cairn_protocol::Item {
                body,
                ..question_item
            },
        });
        self.record(EventBody::QuestionAsked { question });
    }

    /// Whether these answers fit the question that waits.
    pub fn check_answers(&self, question: &QuestionId, answers: &[QuestionAnswer]) -> Result<(), ApiError> {
        let stale = || ApiError::new(ErrorCode::Stale, "That question is no longer waiting.");
        let waiting = self
            .log
            .question
            .as_ref()
            .filter(|waiting| waiting.id == *question)
            .ok_or_else(stale)?;
        let fits = answers.len() == waiting.asks.len()
            && waiting
                .asks
                .iter()
                .zip(answers)
                .all(|(ask, answer)| fits(ask, answer));
        if fits {
            Ok(())
        } else {
            Err(ApiError::new(
                ErrorCode::BadRequest,
                "Those answers do not fit the questions.",
            ))
        }
    }

    pub(super) fn answer_question(&mut self, id: &QuestionId, answers: Vec<QuestionAnswer>) {
        let Some(question) = self.log.question.clone().filter(|waiting| waiting.id == *id) else {
            return;
        };
        let Some((item, Stage::Asking { .. })) = self.stage_of(&question.call) else {
            return;
        };
        let text = answer_text(&question.asks, &answers);
        self.record(EventBody::QuestionResolved {
            question: question.id.clone(),
            answers: Some(answers),
        });
        if let Some(mut shown) = self.log.item(&question.item).cloned() {
            shown.state = ItemState::Done;
            self.record(EventBody::ItemCompleted { item: shown });
        }
        self.end_own(&question.call, &item, ToolOutcome::ok(text));
    }

    pub(super) fn end_own(&mut self, id: &CallId, item: &ItemId, outcome: ToolOutcome) {
        self.effects.push(Effect::Forget { call: id.clone() });
        if self.log.item(item).is_none() {
            return self.finish(TurnOutcome::Failed {
                error: internal("A question lost its call."),
            });
        }
        self.set_stage(id, Stage::Running);
        self.finished(id, outcome);
    }
}

fn fits(ask: &Ask, answer: &QuestionAnswer) -> bool {
    match answer {
        QuestionAnswer::Picked { options } => {
            !options.is_empty()
                && (ask.multiple || options.len() == 1)
                && options
                    .iter()
                    .all(|&option| (option as usize) < ask.options.len())
        }
        QuestionAnswer::Own { text } => !text.trim().is_empty(),
        QuestionAnswer::YouDecide => true,
    }
}

/// What the model reads; the three kinds of answer are told apart. SPEC T30.
fn answer_text(asks: &[Ask], answers: &[QuestionAnswer]) -> String {
    let lines = asks.iter().zip(answers).map(|(ask, answer)| {
        let said = match answer {
            QuestionAnswer::Picked { options } => {
                let labels: Vec<_> = options
                    .iter()
                    .filter_map(|&option| ask.options.get(option as usize))
                    .map(|option| option.label.as_str())
                    .collect();
                format!("The user picked: {}", labels.join("; "))
            }
            QuestionAnswer::Own { text } => format!("None of the options. In the user's own words: {text}"),
            QuestionAnswer::YouDecide => "The user says: you decide.".to_owned(),
        };
        format!("{}\n{said}", ask.text)
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

fn row(label: RowLabel, text: &str) -> ApprovalRow {
    ApprovalRow {
        label,
        shown: show(text, Show::Name),
    }
}

/// What a change writes to: of a move both names, of which each is judged.
fn written(diff: &FileDiff) -> String {
    match &diff.change {
        ChangeKind::Moved { from } => format!("{from} \u{2192} {}", diff.path),
        _ => diff.path.clone(),
    }
}

/// Titles in the words of SPEC U13.
fn title(subject: &ApprovalSubject, target: &str) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match subject {
        ApprovalSubject::Command { .. } => "Run this command?".to_owned(),
        ApprovalSubject::Edit { diffs } => match diffs.as_slice() {
            [one] => {
                let (verb, path) = match &one.change {
                    // What is new and has no content is a folder.
                    ChangeKind::Created if one.after.is_none() => ("Make the folder", &one.path),
                    ChangeKind::Created | ChangeKind::Modified => ("Edit", &one.path),
                    ChangeKind::Deleted => ("Delete", &one.path),
                    ChangeKind::Moved { from } => ("Move", from),
                };
                format!("{verb} {}?", shown_text(&show(&name(path), Show::Name)))
            }
            many => format!("Edit {} files?", many.len()),
        },
        ApprovalSubject::Read { .. } if target.starts_with('/') => "Read outside the project?".to_owned(),
        ApprovalSubject::Read { .. } => format!("Read {}?", shown_text(&show(&name(target), Show::Name))),
        ApprovalSubject::Connect { host, .. } => format!("Connect to {}?", shown_text(host)),
        ApprovalSubject::Search { .. } => "Search the web?".to_owned(),
        ApprovalSubject::Remember { .. } => "Remember this?".to_owned(),
        ApprovalSubject::Plan { .. } => "Carry out this plan?".to_owned(),
        ApprovalSubject::Other { .. } => "Allow this?".to_owned(),
    }
}

fn project_name(path: &str) -> String {
    path.rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or(path)
        .to_owned()
}

#[cfg(test)]
mod tests;
