//! The context meter: one number, the same that decides whether a request still fits. SPEC C1.
//!
//! Pure arithmetic over the log. Tokens are estimated from bytes and corrected by what the provider reports.

use cairn_protocol::{ContextMeter, Item, ItemBody, MeterPart, MeterShare, Picture};

use crate::model::ModelInfo;

/// Bytes per token for English, code and (three bytes a character) Chinese alike, roughly.
const BYTES_PER_TOKEN: u64 = 4;
/// A provider's count beyond this many times our estimate, and this many more, is no count.
const MOST_PER_ESTIMATE: u64 = 8;
const MOST_MORE: u64 = 20_000;
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

/// What the meter knows.
#[derive(Clone, Debug)]
pub struct Meter {
    rules: u64,
    notes: u64,
    reported: Option<Reported>,
    factor: f64,
}

#[derive(Clone, Copy, Debug)]
struct Reported {
    tokens: u64,
    items: usize,
}

/// Estimated tokens of a transcript by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shares {
    results: u64,
    pictures: u64,
    conversation: u64,
}

impl Shares {
    fn of(items: &[Item]) -> Self {
        let mut shares = Self::default();
        for item in items {
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
                _ => {}
            }
        }
        shares
    }

    fn sum(self) -> u64 {
        self.results + self.pictures + self.conversation
    }
}

impl Meter {
    /// A meter for a prompt whose rules and notes have these estimated sizes.
    pub fn new(rules: u64, notes: u64) -> Self {
        Self {
            rules,
            notes,
            reported: None,
            factor: 1.0,
        }
    }

    /// The prompt was put together again.
    pub fn prompt(&mut self, rules: u64, notes: u64) {
        (self.rules, self.notes) = (rules, notes);
    }

    /// The provider reported what a request took: `sent` items were in it, `items` are there now with the reply.
    pub fn reported(&mut self, items: &[Item], sent: usize, input: u64, output: u64) {
        let estimate = self.rules + self.notes + Shares::of(items.get(..sent).unwrap_or(items)).sum();
        // No count at all, or one that no text of this size can have, would only mislead.
        if input == 0
            || input
                > estimate
                    .saturating_mul(MOST_PER_ESTIMATE)
                    .saturating_add(MOST_MORE)
        {
            return;
        }
        if estimate > 200 {
            self.factor = (input as f64 / estimate as f64).clamp(0.5, 4.0);
        }
        self.reported = Some(Reported {
            tokens: input.saturating_add(output.min(MOST_MORE * 100)),
            items: items.len(),
        });
    }

    /// Another model was chosen: its tokenizer counts differently.
    pub fn model_changed(&mut self) {
        self.reported = None;
        self.factor = 1.0;
    }

    /// Tokens of that which is in every request: rules, tools, instructions, memory.
    pub fn fixed(&self) -> u64 {
        self.scaled(self.rules + self.notes)
    }

    /// Tokens the next request would take.
    pub fn used(&self, items: &[Item]) -> u64 {
        let (base, since) = match self.reported {
            Some(reported) => (reported.tokens, items.get(reported.items..).unwrap_or_default()),
            None => (self.scaled(self.rules + self.notes), items),
        };
        base.saturating_add(self.scaled(Shares::of(since).sum()))
    }

    fn scaled(&self, estimate: u64) -> u64 {
        (estimate as f64 * self.factor).round() as u64
    }

    /// The reading for a model; without one the window is not known.
    pub fn read(&self, items: &[Item], model: Option<&ModelInfo>) -> ContextMeter {
        let shares = Shares::of(items);
        let window = model.and_then(|model| model.window);
        let reserve = reserve(window, model.and_then(|model| model.max_output_tokens));
        let part = |part, tokens| MeterShare {
            part,
            tokens: self.scaled(tokens),
        };
        ContextMeter {
            used: Some(self.used(items)),
            window,
            assumed: model.is_some_and(|model| model.window_assumed),
            reserve,
            // Nothing is summarised yet: a full window is an error with its numbers.
            compacts_at: None,
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

/// Tokens kept free for the reply: the model's own limit, never more than half of the window.
pub fn reserve(window: Option<u64>, max_output: Option<u64>) -> u64 {
    let window = window.unwrap_or(RESERVE_MOST * 4);
    max_output
        .unwrap_or_else(|| (window / 4).min(RESERVE_MOST))
        .min(window / 2)
}

#[cfg(test)]
mod tests {
    use cairn_protocol::ItemState;

    use super::*;

    fn said(text: &str) -> Item {
        Item {
            id: "i".into(),
            turn: "t".into(),
            at: 0,
            state: ItemState::Done,
            step: None,
            body: ItemBody::User {
                text: text.to_owned(),
                attachments: Vec::new(),
            },
            rendered: None,
        }
    }

    #[test]
    fn c2_learns_from_a_provider_whose_tokenizer_counts_more() {
        let mut meter = Meter::new(1_000, 0);
        let mut items = vec![said(&"x".repeat(4_000))];
        let before = meter.used(&items);
        meter.reported(&items, 1, before * 14 / 10, 0);
        assert_eq!(
            meter.used(&items),
            before * 14 / 10,
            "what was reported is the number"
        );
        items.push(said(&"x".repeat(4_000)));
        let grown = meter.used(&items) - before * 14 / 10;
        assert!(
            (1_350..1_450).contains(&grown),
            "what is added counts 1.4 times as well: {grown}"
        );
    }

    #[test]
    fn the_reserve_never_takes_more_than_half_of_the_window() {
        assert_eq!(reserve(Some(65_536), Some(65_536)), 32_768);
        assert_eq!(reserve(Some(4_096), None), 1_024);
        assert_eq!(reserve(Some(1_000_000), None), 16_384);
    }
}
