//! What the person makes of an edit before allowing it. SPEC P4.
//!
//! Owns: which choices may be given. Must never know: how they become bytes.

use cairn_protocol::{ApiError, Approval, ApprovalSubject, ErrorCode, Hunk, HunkChoice, ShownKind};

/// Whether these choices fit the card: one for each place that it shows, something is made, and a place that is
/// written anew shows all that is in it.
pub(super) fn check(card: &Approval, choices: &[HunkChoice]) -> Result<(), ApiError> {
    let bad = |text: &str| Err(ApiError::new(ErrorCode::BadRequest, text));
    let hunks = match &card.subject {
        ApprovalSubject::Edit { diffs } if card.offers_hunks => diffs.iter().flat_map(|diff| &diff.hunks),
        _ => return bad("This card can only be answered as a whole."),
    };
    let hunks: Vec<&Hunk> = hunks.collect();
    if hunks.len() != choices.len() {
        return bad("There must be one choice for each changed place.");
    }
    if choices.iter().all(|choice| *choice == HunkChoice::Leave) {
        return bad("Nothing of this edit is chosen. Skip it instead.");
    }
    let hidden = hunks
        .iter()
        .zip(choices)
        .any(|(hunk, choice)| matches!(choice, HunkChoice::Replace { .. }) && has_chip(hunk));
    if hidden {
        return bad("A place that holds hidden characters can be taken or left, but not written anew.");
    }
    Ok(())
}

/// Whether something of its new side is drawn as a chip, so that its text is not all there.
fn has_chip(hunk: &Hunk) -> bool {
    let new = hunk.lines.iter().filter(|line| line.new.is_some());
    new.flat_map(|line| &line.spans)
        .any(|span| span.kind == ShownKind::Chip)
}
