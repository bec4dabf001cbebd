//! The context meter: one number, the same that decides whether a request still fits. SPEC C1.
//!
//! Pure arithmetic over the log. Tokens are estimated from bytes and corrected by what the provider reports.

use cairn_protocol::{AsidePart, ContextMeter, Item, ItemBody, Mark, MeterPart, MeterShare, Picture};

use crate::context::{Context, is_told};
use crate::log::SessionLog;
use crate::model::ModelInfo;

/// Bytes per token for English, code and (three bytes a character) Chinese alike, roughly.
const BYTES_PER_TOKEN: u64 = 4;
/// A provider's count beyond this many times our estimate, and this many more, is no count.
const MOST_PER_ESTIMATE: u64 = 8;
const MOST_MORE: u64 = 20_000;
/// A request smaller than this is not said to be cut: the estimate of little text is rough.
const LEAST_CUT: u64 = 2_000;
/// Tokens a call or message costs beside its text.
const FRAME: u64 = 8;
/// Share of the window kept for the reply when the model names no limit of its own: a quarter, at most this much.
const RESERVE_MOST: u64 = 16_384;

/// Tokens of a text, estimated.
pub fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Tokens of a picture: pixels over 750 after scaling to at most 1,568 an edge, as hosted providers publish it.
pub fn picture_tokens(picture: &Picture) -> u64 {
    let (width, height) = (u64::from(picture.width).max(1), u64::from(picture.height).max(1));
    let longest = width.max(height).max(1_568);
    (width * 1_568 / longest) * (height * 1_568 / longest) / 750
}

/// What a provider's count of a request is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// It is the number from now on.
    Taken,
    /// None, or one that no text of this size can have.
    NoCount,
    /// Far less than was sent: the server read only a part. SPEC M5, case T13.
    Cut {
        /// Tokens that were sent, estimated.
        sent: u64,
    },
}

/// What the meter knows.
#[derive(Clone, Debug)]
pub struct Meter {
    rules: u64,
    notes: u64,
    reported: Option<Reported>,
    /// The provider's tokens for one of ours, by its last count.
    factor: f64,
    /// The same by a refusal that told no count: a guess, and gone with the next count.
    guess: Option<f64>,
    /// Older parts were summarised, and no reply has told yet what is left.
    unknown: bool,
}

#[derive(Clone, Copy, Debug)]
struct Reported {
    tokens: u64,
    /// What the transcript was estimated at, the reply included. A call's result comes later into an item that is there
    /// already, so that counting items would miss it.
    estimate: u64,
}

/// Estimated tokens of a transcript by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shares {
    results: u64,
    pictures: u64,
    conversation: u64,
}

impl Shares {
    fn of(context: &Context<'_>) -> Self {
        let mut shares = Self::default();
        if let Some(summary) = context.summary {
            shares.conversation += tokens(&summary.text) + 4 * FRAME;
        }
        for item in context.pinned.iter().chain(&context.items) {
            shares.add(Self::of_item(item, context.mark(item)));
        }
        shares
    }

    fn of_item(item: &Item, mark: Option<&Mark>) -> Self {
        let mut shares = Self::default();
        match mark {
            None | Some(Mark::Pinned) => {}
            Some(
                Mark::TakenOut
                | Mark::SetAside {
                    part: AsidePart::Whole,
                    ..
                },
            ) => {
                // A sentence in its place.
                shares.conversation += 4 * FRAME;
                return shares;
            }
            Some(Mark::SetAside {
                part: AsidePart::Pictures,
                ..
            }) => {
                let plain = Self::of_item(item, None);
                return Self {
                    pictures: 0,
                    conversation: plain.conversation + 4 * FRAME,
                    ..plain
                };
            }
        }
        match &item.body {
            ItemBody::User { text, attachments } => {
                shares.conversation += tokens(text) + FRAME;
                for attachment in attachments {
                    if let cairn_protocol::Attachment::Picture(picture) = attachment {
                        shares.pictures += picture_tokens(picture);
                    }
                }
            }
            ItemBody::Assistant { text } => shares.conversation += tokens(text) + FRAME,
            ItemBody::Tool(tool) => {
                shares.conversation += tokens(&tool.arguments) + tokens(&tool.name) + FRAME;
                if let Some(result) = &tool.result {
                    shares.results += tokens(&result.content) + FRAME;
                    shares.pictures += result.pictures.iter().map(picture_tokens).sum::<u64>();
                }
            }
            ItemBody::Notice(notice) if is_told(notice) => {
                shares.conversation += tokens(&notice.text) + FRAME;
            }
            ItemBody::Thinking { .. }
            | ItemBody::Question(_)
            | ItemBody::Notice(_)
            | ItemBody::Summary(_)
            | ItemBody::Unknown { .. } => {}
        }
        shares
    }

    fn add(&mut self, more: Self) {
        self.results += more.results;
        self.pictures += more.pictures;
        self.conversation += more.conversation;
    }

    fn sum(self) -> u64 {
        self.results + self.pictures + self.conversation
    }
}

/// Tokens of one item as the model gets it, estimated and not corrected.
pub fn item_tokens(item: &Item, mark: Option<&Mark>) -> u64 {
    Shares::of_item(item, mark).sum()
}

impl Meter {
    /// A meter for a prompt whose rules and notes have these estimated sizes.
    pub fn new(rules: u64, notes: u64) -> Self {
        Self {
            rules,
            notes,
            reported: None,
            factor: 1.0,
            guess: None,
            unknown: false,
        }
    }

    /// The prompt was put together again.
    pub fn prompt(&mut self, rules: u64, notes: u64) {
        (self.rules, self.notes) = (rules, notes);
    }

    /// The provider reported what a request took: `sent` items of the log were in it, all are there now with the reply.
    pub fn reported(&mut self, log: &SessionLog, sent: usize, input: u64, output: u64) -> Count {
        let items = log.items();
        let context = Context::of(items.get(..sent).unwrap_or(items), log.marks());
        let estimate = self.rules + self.notes + Shares::of(&context).sum();
        // No count at all, or one that no text of this size can have, would only mislead.
        if input == 0
            || input
                > estimate
                    .saturating_mul(MOST_PER_ESTIMATE)
                    .saturating_add(MOST_MORE)
        {
            return Count::NoCount;
        }
        // By what was counted: a guess that was too high must not call the next count a lie.
        let sent = self.counted().scaled(estimate);
        if estimate >= LEAST_CUT && input < sent / 10 * 4 {
            return Count::Cut { sent };
        }
        if estimate > 200 {
            self.factor = (input as f64 / estimate as f64).clamp(0.5, 4.0);
        }
        self.guess = None;
        self.unknown = false;
        self.reported = Some(Reported {
            tokens: input.saturating_add(output.min(MOST_MORE * 100)),
            estimate: Shares::of(&log.context()).sum(),
        });
        Count::Taken
    }

    /// The server refused as too long what was thought to take `used` tokens of a window: it seems to count more. That
    /// is only a guess, since a server may refuse for another reason with the same words.
    pub fn overflowed(&mut self, used: u64, window: u64) {
        let more = window as f64 / used.max(1) as f64;
        self.guess = Some((self.factor() * more.max(1.1)).clamp(0.5, 4.0));
        self.reported = None;
    }

    /// The meter by counts alone, without what was guessed from a refusal. Only this may say that something can never be
    /// sent: a guess makes room, and then the server decides.
    #[must_use]
    pub fn counted(&self) -> Self {
        Self {
            guess: None,
            ..self.clone()
        }
    }

    fn factor(&self) -> f64 {
        self.guess.unwrap_or(self.factor)
    }

    /// Older parts were summarised: nothing is known until the next reply.
    pub fn summarised(&mut self) {
        self.reported = None;
        self.unknown = true;
    }

    /// What the model gets of some item changed.
    pub fn marked(&mut self) {
        self.reported = None;
    }

    /// Another model was chosen: its tokenizer counts differently.
    pub fn model_changed(&mut self) {
        self.reported = None;
        self.factor = 1.0;
        self.guess = None;
        self.unknown = false;
    }

    /// Tokens of that which is in every request: rules, tools, instructions, memory.
    pub fn fixed(&self) -> u64 {
        self.scaled(self.rules + self.notes)
    }

    /// Tokens the next request would take.
    pub fn used(&self, log: &SessionLog) -> u64 {
        let estimate = Shares::of(&log.context()).sum();
        let (base, added) = match self.reported {
            Some(reported) => (reported.tokens, estimate.saturating_sub(reported.estimate)),
            None => (self.scaled(self.rules + self.notes), estimate),
        };
        base.saturating_add(self.scaled(added))
    }

    /// An estimate, corrected by what the provider counts.
    pub fn scaled(&self, estimate: u64) -> u64 {
        (estimate as f64 * self.factor()).round() as u64
    }

    /// How many estimated tokens make this many of the provider's.
    pub fn estimated(&self, tokens: u64) -> u64 {
        (tokens as f64 / self.factor()).round() as u64
    }

    /// The reading for a model; without one the window is not known.
    pub fn read(&self, log: &SessionLog, model: Option<&ModelInfo>) -> ContextMeter {
        let shares = Shares::of(&log.context());
        let room = model.and_then(Room::of);
        let part = |part, tokens| MeterShare {
            part,
            tokens: self.scaled(tokens),
        };
        ContextMeter {
            used: (!self.unknown).then(|| self.used(log)),
            window: room.map(|room| room.window),
            assumed: model.is_some_and(|model| model.window_assumed),
            reserve: reserve(
                room.map(|room| room.window),
                model.and_then(|model| model.max_output_tokens),
            ),
            compacts_at: room.map(Room::compacts_at),
            parts: vec![
                part(MeterPart::Rules, self.rules),
                part(MeterPart::Notes, self.notes),
                part(MeterPart::Results, shares.results),
                part(MeterPart::Pictures, shares.pictures),
                part(MeterPart::Conversation, shares.conversation),
            ],
        }
    }
}

/// What fits into a model's window, tokens. SPEC C2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All of it.
    pub window: u64,
    /// What a request may take, so that the reply has its reserve.
    pub request: u64,
}

impl Room {
    /// The room of a model whose window is known.
    pub fn of(model: &ModelInfo) -> Option<Self> {
        let window = model.window?;
        let request = window.saturating_sub(reserve(Some(window), model.max_output_tokens));
        Some(Self { window, request })
    }

    /// Where older parts get summarised.
    pub fn compacts_at(self) -> u64 {
        self.request / 5 * 4
    }
}

/// Tokens kept free for the reply: the model's own limit, never more than half of the window.
pub fn reserve(window: Option<u64>, max_output: Option<u64>) -> u64 {
    let window = window.unwrap_or(RESERVE_MOST * 4);
    max_output
        .unwrap_or_else(|| (window / 4).min(RESERVE_MOST))
        .min(window / 2)
}

#[cfg(test)]
mod tests {
    use cairn_protocol::{EventBody, ItemState};

    use super::*;

    fn log(words: &[&str]) -> SessionLog {
        let mut log = SessionLog::new(crate::turn::tests::session());
        for (at, text) in words.iter().enumerate() {
            let item = Item {
                id: format!("i{at}").into(),
                turn: "t".into(),
                at: 0,
                state: ItemState::Done,
                step: None,
                body: ItemBody::User {
                    text: (*text).to_owned(),
                    attachments: Vec::new(),
                },
                rendered: None,
            };
            log.apply(EventBody::ItemStarted { item });
        }
        log
    }

    #[test]
    fn c2_learns_from_a_provider_whose_tokenizer_counts_more() {
        let mut meter = Meter::new(1_000, 0);
        let words = "x".repeat(4_000);
        let one = log(&[&words]);
        let before = meter.used(&one);
        meter.reported(&one, 1, before * 14 / 10, 0);
        assert_eq!(
            meter.used(&one),
            before * 14 / 10,
            "what was reported is the number"
        );
        let grown = meter.used(&log(&[&words, &words])) - before * 14 / 10;
        assert!(
            (1_350..1_450).contains(&grown),
            "what is added counts 1.4 times as well: {grown}"
        );
    }

    #[test]
    fn c3_after_a_summary_nothing_is_known_until_a_reply_tells() {
        let mut meter = Meter::new(1_000, 0);
        let log = log(&["hello"]);
        meter.reported(&log, 1, 1_400, 0);
        assert_eq!(meter.read(&log, None).used, Some(1_400));
        meter.summarised();
        assert_eq!(meter.read(&log, None).used, None);
        assert!(meter.used(&log) > 1_000, "what decides is still estimated");
        meter.reported(&log, 1, 1_300, 0);
        assert_eq!(meter.read(&log, None).used, Some(1_300));
    }

    #[test]
    fn t13_a_count_far_below_what_was_sent_is_a_cut_prompt_and_teaches_nothing() {
        let mut meter = Meter::new(9_000, 0);
        let log = log(&["hello"]);
        let before = meter.used(&log);
        assert!(matches!(meter.reported(&log, 1, 2_048, 10), Count::Cut { sent } if sent > 9_000));
        assert_eq!(meter.used(&log), before);
        assert_eq!(meter.reported(&log, 1, 0, 10), Count::NoCount);
        assert_eq!(meter.reported(&log, 1, 6_000, 10), Count::Taken);
        // A little text is counted as it comes.
        assert_eq!(Meter::new(100, 0).reported(&log, 1, 20, 1), Count::Taken);
    }

    #[test]
    fn c1_a_refusal_without_a_count_is_a_guess_that_the_next_count_ends() {
        let mut meter = Meter::new(3_000, 0);
        let log = log(&["hello"]);
        meter.overflowed(meter.used(&log), 16_000);
        assert!(meter.fixed() > 10_000, "room is made as if it were true");
        assert_eq!(meter.counted().fixed(), 3_000, "but nothing is given up for it");
        assert_eq!(
            meter.reported(&log, 1, 3_100, 10),
            Count::Taken,
            "and the next count is no lie"
        );
        assert!((3_000..3_200).contains(&meter.fixed()), "{}", meter.fixed());
    }

    #[test]
    fn the_reserve_never_takes_more_than_half_of_the_window() {
        assert_eq!(reserve(Some(65_536), Some(65_536)), 32_768);
        assert_eq!(reserve(Some(4_096), None), 1_024);
        assert_eq!(reserve(Some(1_000_000), None), 16_384);
    }
}
