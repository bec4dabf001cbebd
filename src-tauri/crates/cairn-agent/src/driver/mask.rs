//! Blots keys out of all that comes into a session, before it is stored, shown or sent. SPEC A7.
//!
//! What a call will really do is not touched: an edit beside a key writes the key back as it was; only what is shown
//! and kept of it has the blot. Every kind of input and of block is named, so that a new one does not pass by unseen.

use cairn_protocol::{
    ApprovalAnswer, ApprovalSubject, Ask, ChangeKind, ContentBlock, FileDiff, Locations, QuestionAnswer,
    ShownKind, ShownSpan, Table, Terminal, TodoItem,
};

use crate::effect::{Input, PreparedFacts};
use crate::model::ModelEvent;
use crate::tool::ToolOutcome;

/// Gives the text without any known key.
type Mask<'m> = &'m (dyn Fn(&str) -> String + Send + Sync);

/// Everything but [`Input::Finished`], whose whole output is kept before the machine hears of it: see [`outcome`].
pub(super) fn input(mut input: Input, mask: Mask<'_>) -> Input {
    match &mut input {
        Input::Send { text, .. } => put(text, mask),
        Input::QueueEdit { text, .. } => maybe(text, mask),
        Input::Rename(title) => put(title, mask),
        Input::SetPlan(items) => plan(items, mask),
        Input::AnswerApproval { answer, .. } => match answer {
            ApprovalAnswer::Deny { note } => maybe(note, mask),
            ApprovalAnswer::CarryOut { plan, .. } => maybe(plan, mask),
            ApprovalAnswer::AllowOnce
            | ApprovalAnswer::AllowAlways { .. }
            | ApprovalAnswer::AcceptEdits
            // What the person writes goes into the file as it is; it is kept only there.
            | ApprovalAnswer::AllowChanged { .. }
            | ApprovalAnswer::Skip => {}
        },
        Input::AnswerQuestion { answers, .. } => {
            for answer in answers {
                match answer {
                    QuestionAnswer::Own { text } => put(text, mask),
                    QuestionAnswer::Picked { .. } | QuestionAnswer::YouDecide => {}
                }
            }
        }
        Input::Model(event) => said(event, mask),
        // Servers like to repeat the key that they refuse.
        Input::ModelFailed(error) | Input::Refused { error, .. } => put(&mut error.error.message, mask),
        Input::RequestFailed(error) => put(&mut error.message, mask),
        Input::Prepared { facts, .. } => prepared(facts, mask),
        Input::Unprepared { message, .. } => put(message, mask),
        Input::Finished { .. }
        | Input::NextFromQueue { .. }
        | Input::Stop
        | Input::Continue
        | Input::Summarise
        | Input::Mark { .. }
        | Input::NeedsRoom
        | Input::RunOutside { .. }
        | Input::RetryNow
        | Input::Woke
        | Input::SetMode(_)
        | Input::SetModel { .. }
        | Input::Archive(_)
        | Input::Restore => {}
    }
    input
}

/// What came of a call.
pub(super) fn outcome(outcome: &mut ToolOutcome, mask: Mask<'_>) {
    put(&mut outcome.content, mask);
    put(&mut outcome.note, mask);
    blocks(&mut outcome.blocks, mask);
    if let Some(items) = &mut outcome.plan {
        plan(items, mask);
    }
}

fn said(event: &mut ModelEvent, mask: Mask<'_>) {
    match event {
        ModelEvent::Text(text) | ModelEvent::Thinking(text) => put(text, mask),
        // A signature holds for exact bytes: data with a blot is of no use to anybody.
        ModelEvent::Reasoning(data) => {
            if mask(&data.json) != data.json {
                "null".clone_into(&mut data.json);
            }
        }
        ModelEvent::Call { name, arguments, .. } => {
            put(name, mask);
            put(arguments, mask);
        }
        ModelEvent::Loading | ModelEvent::Reading { .. } | ModelEvent::Usage(_) | ModelEvent::Finished(_) => {
        }
    }
}

/// Effects and digest stay as they are: rules are judged, and approvals bound, by what will really happen.
fn prepared(facts: &mut PreparedFacts, mask: Mask<'_>) {
    put(&mut facts.title, mask);
    put(&mut facts.target, mask);
    maybe(&mut facts.says, mask);
    blocks(&mut facts.blocks, mask);
    if let Some(shown) = &mut facts.subject {
        subject(shown, mask);
    }
    for ask in facts.asks.iter_mut().flatten() {
        question(ask, mask);
    }
}

fn subject(subject: &mut ApprovalSubject, mask: Mask<'_>) {
    match subject {
        ApprovalSubject::Command { shown, workdir } => {
            spans(shown, mask);
            put(workdir, mask);
        }
        ApprovalSubject::Edit { diffs } => diffs.iter_mut().for_each(|change| diff(change, mask)),
        ApprovalSubject::Connect { host, address } => {
            spans(host, mask);
            spans(address, mask);
        }
        ApprovalSubject::Search { query, engine } => {
            spans(query, mask);
            spans(engine, mask);
        }
        ApprovalSubject::Plan { text, .. } => put(text, mask),
        ApprovalSubject::Read { path: shown }
        | ApprovalSubject::Remember { fact: shown }
        | ApprovalSubject::Other { shown } => spans(shown, mask),
    }
}

fn question(ask: &mut Ask, mask: Mask<'_>) {
    put(&mut ask.text, mask);
    for option in &mut ask.options {
        put(&mut option.label, mask);
        put(&mut option.description, mask);
    }
}

fn blocks(blocks: &mut [ContentBlock], mask: Mask<'_>) {
    for block in blocks {
        match block {
            ContentBlock::Text { text } => put(text, mask),
            ContentBlock::Code(code) => put(&mut code.text, mask),
            ContentBlock::Diff(change) => diff(change, mask),
            ContentBlock::Terminal(shown) => terminal(shown, mask),
            ContentBlock::Picture(picture) => put(&mut picture.name, mask),
            ContentBlock::Locations(found) => locations(found, mask),
            ContentBlock::Table(rows) => table(rows, mask),
            ContentBlock::Todo { items } => plan(items, mask),
            ContentBlock::Data { json } => put(json, mask),
        }
    }
}

fn diff(change: &mut FileDiff, mask: Mask<'_>) {
    put(&mut change.path, mask);
    if let ChangeKind::Moved { from } = &mut change.change {
        put(from, mask);
    }
    change.notes.iter_mut().for_each(|note| put(note, mask));
    let lines = change.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines);
    lines.for_each(|line| spans(&mut line.spans, mask));
}

fn terminal(shown: &mut Terminal, mask: Mask<'_>) {
    put(&mut shown.command, mask);
    put(&mut shown.workdir, mask);
    put(&mut shown.output, mask);
}

fn locations(found: &mut Locations, mask: Mask<'_>) {
    for file in &mut found.files {
        put(&mut file.path, mask);
        file.lines
            .iter_mut()
            .for_each(|line| spans(&mut line.spans, mask));
    }
}

fn table(rows: &mut Table, mask: Mask<'_>) {
    let cells = rows.headers.iter_mut().chain(rows.rows.iter_mut().flatten());
    cells.for_each(|cell| put(cell, mask));
}

fn plan(items: &mut [TodoItem], mask: Mask<'_>) {
    for item in items {
        put(&mut item.text, mask);
    }
}

/// A key may be in pieces, of which one is marked as changed or found: a run without a chip is looked at as one text.
fn spans(spans: &mut Vec<ShownSpan>, mask: Mask<'_>) {
    let mut masked = Vec::with_capacity(spans.len());
    for run in spans.chunk_by(|one, next| one.kind != ShownKind::Chip && next.kind != ShownKind::Chip) {
        let whole: String = run.iter().map(|span| span.text.as_str()).collect();
        let blotted = mask(&whole);
        if blotted == whole {
            masked.extend_from_slice(run);
        } else {
            let kind = run.first().map_or(ShownKind::Plain, |span| match span.kind {
                ShownKind::Chip => ShownKind::Chip,
                ShownKind::Plain | ShownKind::Changed => ShownKind::Plain,
            });
            masked.push(ShownSpan { kind, text: blotted });
        }
    }
    *spans = masked;
}

fn put(text: &mut String, mask: Mask<'_>) {
    *text = mask(text);
}

fn maybe(text: &mut Option<String>, mask: Mask<'_>) {
    if let Some(text) = text {
        put(text, mask);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-test-CANARY";

    fn piece(kind: ShownKind, text: &str) -> ShownSpan {
        ShownSpan {
            kind,
            text: text.to_owned(),
        }
    }

    proptest! {
        /// However a line is cut into pieces, no key is left, and the rest of the line is what it was.
        #[test]
        fn a7_no_key_is_left_however_a_line_is_cut(before in "[a-z ]{0,8}", after in "[a-z ]{0,8}", cuts in prop::collection::btree_set(0_usize..30, 0..6), marks in prop::collection::vec(any::<bool>(), 8)) {
            let line = format!("{before}{KEY}{after}");
            let ends = cuts.iter().copied().filter(|cut| *cut < line.len()).chain([line.len()]);
            let mut pieces = Vec::new();
            let mut start = 0;
            for (end, changed) in ends.zip(marks) {
                let kind = if changed { ShownKind::Changed } else { ShownKind::Plain };
                pieces.push(piece(kind, &line[start..end]));
                start = end;
            }
            pieces.insert(0, piece(ShownKind::Chip, "300 spaces"));
            spans(&mut pieces, &|text| text.replace(KEY, "[key]"));
            let joined: String = pieces.iter().map(|span| span.text.as_str()).collect();
            prop_assert_eq!(joined, format!("300 spaces{before}[key]{after}"));
            prop_assert_eq!(pieces[0].kind, ShownKind::Chip);
        }
    }

    #[test]
    fn a_line_without_a_key_keeps_its_marks() {
        let line = vec![
            piece(ShownKind::Plain, "let margin = "),
            piece(ShownKind::Changed, "24"),
            piece(ShownKind::Chip, "\\u{202e}"),
        ];
        let mut kept = line.clone();
        spans(&mut kept, &|text| text.replace(KEY, "[key]"));
        assert_eq!(kept, line);
    }
}
