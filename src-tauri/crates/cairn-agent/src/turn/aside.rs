//! What a provider refuses is set aside, and the rest is sent once more: a session cannot be bricked. SPEC M8.
//!
//! Owns: which item is at fault, and that the search for it ends. Must never know: how a server words a refusal.
//!
//! Where the server names the item it is that one. Where it does not, the suspects are what was not in a request that
//! the server took; they are halved by requests that nobody sees until one is left.

use std::collections::HashSet;

use cairn_protocol::{
    Activity, AsidePart, EventBody, Item, ItemBody, ItemId, ItemState, Mark, NoticeLevel, TurnOutcome,
};

use super::asking::Reply;
use super::{Phase, TurnMachine};
use crate::effect::Effect;
use crate::history;
use crate::model::{ModelError, ModelEvent, Objection, PictureFault};

/// How often something is set aside for one step: after that the refusal stands.
const MOST_ASIDE: u32 = 6;
/// Probes for one refusal at most; enough to find one item of thousands.
const MOST_PROBES: u32 = 14;
/// Characters of a provider's words that are kept as the reason.
const REASON: usize = 300;

/// The search for what a server refuses.
#[derive(Debug)]
pub(super) struct Probing {
    reply: Reply,
    error: ModelError,
    /// One of these is at fault: the request is refused with them in it and `rest` left out.
    suspects: Vec<ItemId>,
    /// What nobody has cleared, left out of every probe: there may be several at fault.
    rest: Vec<ItemId>,
    /// Those of them that the running probe leaves out.
    without: usize,
    /// Known: with all of them left out the request is taken.
    sure: bool,
    probes: u32,
}

impl TurnMachine {
    /// The server refused something of the request.
    pub(super) fn refused(&mut self, error: ModelError, item: Option<ItemId>) {
        let reply = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Asking(reply) => reply,
            Phase::Probing(probing) => return self.probe_failed(probing, &error),
            other => {
                self.phase = other;
                return self.model_failed(error);
            }
        };
        let what = error.rejected.as_ref().map(|rejected| rejected.what.clone());
        let gives_up = reply.asides >= MOST_ASIDE || reply.has_begun();
        match what {
            Some(what) if !gives_up && is_of_conversation(&what) => {
                self.effects.push(Effect::DropModel);
                self.close_reply(&reply, ItemState::Failed);
                self.find(reply, error, &what, item);
            }
            _ => {
                self.phase = Phase::Asking(reply);
                self.model_failed(error);
            }
        }
    }

    fn find(&mut self, reply: Reply, error: ModelError, what: &Objection, item: Option<ItemId>) {
        if let Objection::Picture(fault) = what {
            return self.find_picture(reply, error, *fault, item);
        }
        if *what == Objection::Reasoning {
            // It is of no use to anybody else, so all of it goes, whichever is meant.
            let data = self.in_context(|item| matches!(&item.body, ItemBody::Thinking { data: Some(_), .. }));
            if !data.is_empty() {
                return self.set_aside(reply, &error, &data, AsidePart::Whole);
            }
        }
        if let Some(item) = item.filter(|item| self.may_be_set_aside(item)) {
            return self.set_aside(reply, &error, &[item], AsidePart::Whole);
        }
        let suspects = self.suspects();
        if suspects.is_empty() {
            return self.finish(TurnOutcome::Failed { error: error.error });
        }
        self.probe(Probing {
            reply,
            error,
            without: suspects.len(),
            suspects,
            rest: Vec::new(),
            sure: false,
            probes: 0,
        });
    }

    fn find_picture(&mut self, reply: Reply, error: ModelError, fault: PictureFault, item: Option<ItemId>) {
        let with_pictures = self.in_context(|item| !history::pictures_of(item).is_empty());
        let named = item.filter(|item| with_pictures.contains(item));
        let these = match (named, fault) {
            (Some(named), _) => vec![named],
            (None, PictureFault::TooMany) => {
                // The older half: the newest are what the work is about.
                let half = with_pictures.len().div_ceil(2);
                with_pictures.get(..half).unwrap_or_default().to_vec()
            }
            (None, PictureFault::Unsupported) => with_pictures,
            (None, _) => {
                let suspects = self.suspects();
                let fresh: Vec<_> = with_pictures
                    .iter()
                    .filter(|id| suspects.contains(id))
                    .cloned()
                    .collect();
                // What the server took before it takes again; where nothing is new, the newest is tried first.
                let newest = || with_pictures.last().cloned().into_iter().collect();
                if fresh.is_empty() { newest() } else { fresh }
            }
        };
        if these.is_empty() {
            return self.finish(TurnOutcome::Failed { error: error.error });
        }
        self.set_aside(reply, &error, &these, AsidePart::Pictures);
    }

    fn set_aside(&mut self, mut reply: Reply, error: &ModelError, items: &[ItemId], part: AsidePart) {
        let reason: String = error.error.message.chars().take(REASON).collect();
        let mut named = Vec::new();
        for id in items {
            named.extend(self.log.item(id).map(name_of));
            let mark = Some(Mark::SetAside {
                part,
                reason: reason.clone(),
            });
            self.record(EventBody::ItemMarked {
                item: id.clone(),
                mark,
            });
        }
        named.dedup();
        let more = named.len().saturating_sub(3);
        let mut names = named.into_iter().take(3).collect::<Vec<_>>().join(", ");
        if more > 0 {
            names.push_str(&format!(" and {more} more"));
        }
        let what = match part {
            AsidePart::Pictures => format!("The picture of {names}"),
            AsidePart::Whole => names,
        };
        self.notice(
            NoticeLevel::Warning,
            "set_aside",
            format!(
                "{what}: refused by the model's server and set aside; the rest was sent once more. It stays here and \
                 can be put back in the context panel. The server said: {reason}"
            ),
        );
        self.meter.marked();
        reply = reply.again();
        reply.asides += 1;
        self.send_request(reply);
    }

    /// Sends what leaves the suspects out, as far as they are not needed to tell.
    fn probe(&mut self, mut probing: Probing) {
        probing.probes += 1;
        if probing.probes > MOST_PROBES {
            let suspects = std::mem::take(&mut probing.suspects);
            return self.set_aside(probing.reply, &probing.error, &suspects, AsidePart::Whole);
        }
        let from = probing.suspects.len() - probing.without.min(probing.suspects.len());
        let mut without = probing.suspects.get(from..).unwrap_or_default().to_vec();
        without.extend(probing.rest.iter().cloned());
        self.phase = Phase::Probing(probing);
        self.set_activity(Activity::WaitingForModel { since: self.now });
        self.effects.push(Effect::Probe { without });
    }

    /// The server took a probe as soon as it says anything.
    pub(super) fn probe_said(&mut self, mut probing: Probing, event: &ModelEvent) {
        if matches!(
            event,
            ModelEvent::Loading | ModelEvent::Reading { .. } | ModelEvent::Usage(_)
        ) {
            self.phase = Phase::Probing(probing);
            return;
        }
        self.effects.push(Effect::DropModel);
        let from = probing.suspects.len() - probing.without;
        if probing.sure {
            probing.suspects.drain(..from);
        }
        probing.sure = true;
        self.halve(probing);
    }

    fn probe_failed(&mut self, mut probing: Probing, error: &ModelError) {
        self.effects.push(Effect::DropModel);
        if !probing.sure || error.rejected.is_none() {
            // Without all of them it is refused as well: they are not at fault. Or nothing can be told now.
            let error = probing.error.error;
            return self.finish(TurnOutcome::Failed { error });
        }
        let from = probing.suspects.len() - probing.without;
        let uncleared = probing.suspects.split_off(from);
        probing.rest.extend(uncleared);
        self.halve(probing);
    }

    fn halve(&mut self, mut probing: Probing) {
        match probing.suspects.len() {
            0 => self.finish(TurnOutcome::Failed {
                error: probing.error.error,
            }),
            1 => {
                let suspects = std::mem::take(&mut probing.suspects);
                self.set_aside(probing.reply, &probing.error, &suspects, AsidePart::Whole);
            }
            several => {
                probing.without = several / 2;
                self.probe(probing);
            }
        }
    }

    /// A probe that ended without the server's word on the conversation: a lost connection, a refused key.
    pub(super) fn probe_broke(&mut self, probing: Probing, error: &ModelError) {
        self.probe_failed(probing, error);
    }

    /// What was not in a request that the server took, and can be left out.
    fn suspects(&self) -> Vec<ItemId> {
        let items = self.log.items();
        let fresh: HashSet<&ItemId> = items.iter().skip(self.accepted).map(|item| &item.id).collect();
        self.in_context(|item| fresh.contains(&item.id))
            .into_iter()
            .filter(|item| self.may_be_set_aside(item))
            .collect()
    }

    fn in_context(&self, which: impl Fn(&Item) -> bool) -> Vec<ItemId> {
        let context = self.log.context();
        let sent = context
            .items
            .iter()
            .filter(|item| context.mark(item).is_none_or(|mark| *mark == Mark::Pinned));
        sent.filter(|item| which(item))
            .map(|item| item.id.clone())
            .collect()
    }

    fn may_be_set_aside(&self, id: &ItemId) -> bool {
        let kind = matches!(
            self.log.item(id).map(|item| &item.body),
            Some(
                ItemBody::User { .. }
                    | ItemBody::Assistant { .. }
                    | ItemBody::Tool(_)
                    | ItemBody::Thinking { data: Some(_), .. }
            )
        );
        let marked = self.log.marks().get(id);
        kind && marked.is_none_or(|mark| *mark == Mark::Pinned)
    }
}

/// Whether something of the conversation is at fault, and not the request around it.
fn is_of_conversation(what: &Objection) -> bool {
    match what {
        Objection::Picture(_)
        | Objection::Pairing { .. }
        | Objection::Reasoning
        | Objection::Shape
        | Objection::Unknown => true,
        Objection::TooLong { .. } | Objection::Tool { .. } | Objection::Parameter(_) => false,
    }
}

fn name_of(item: &Item) -> String {
    match &item.body {
        ItemBody::User { text, .. } => {
            let words: String = text.chars().take(40).collect();
            format!("your message \u{201c}{words}\u{201d}")
        }
        ItemBody::Assistant { .. } => "an earlier reply".to_owned(),
        ItemBody::Thinking { .. } => "earlier thinking".to_owned(),
        ItemBody::Tool(tool) => format!("{} {}", tool.title, tool.target).trim().to_owned(),
        ItemBody::Question(_) | ItemBody::Notice(_) | ItemBody::Summary(_) | ItemBody::Unknown { .. } => {
            "an earlier entry".to_owned()
        }
    }
}
