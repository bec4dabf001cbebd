//! JSON whose `\u` escapes are halves of characters. Owns: keeping such text instead of losing the frame.
//!
//! `serde_json` refuses a lone surrogate. Servers that cut text by UTF-16 units send the two halves of an emoji in
//! two frames. Here a half becomes a stand-in character of a private plane; a [`Joiner`] puts two halves that meet
//! together again, and a half that stays alone becomes U+FFFD.

use serde_json::Value;

/// Stand-ins are `U+10F800` and on: private use, one per surrogate.
const STAND_IN: u32 = 0x10_F800;

/// Parses JSON; where only lone halves stand in the way, with stand-ins for them. None when it is no JSON.
pub(crate) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| {
        let mended = with_stand_ins(text)?;
        serde_json::from_str(&mended).ok()
    })
}

/// The text with every stand-in turned into U+FFFD, or into its character where two halves meet.
pub(crate) fn plain(text: &str) -> String {
    let mut joiner = Joiner::default();
    let mut whole = joiner.push(text);
    whole.push_str(&joiner.finish());
    whole
}

/// [`plain`] for every string in a value.
pub(crate) fn plain_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(text)),
        Value::Array(items) => Value::Array(items.iter().map(plain_value).collect()),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), plain_value(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Joins halves over the pieces of one text.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    high: Option<u32>,
}

impl Joiner {
    /// Takes a piece; a half at its end is held back.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if self.high.is_none() && !text.chars().any(|character| half(character).is_some()) {
            return text.to_owned();
        }
        let mut whole = String::with_capacity(text.len());
        for character in text.chars() {
            match (self.high.take(), half(character)) {
                (Some(high), Some(low)) if low >= 0xDC00 => whole.push(join(high, low)),
                (before, now) => {
                    if before.is_some() {
                        whole.push(char::REPLACEMENT_CHARACTER);
                    }
                    match now {
                        Some(high) if high < 0xDC00 => self.high = Some(high),
                        Some(_) => whole.push(char::REPLACEMENT_CHARACTER),
                        None => whole.push(character),
                    }
                }
            }
        }
        whole
    }

    /// The end of the text.
    pub(crate) fn finish(&mut self) -> String {
        self.high
            .take()
            .map_or_else(String::new, |_| char::REPLACEMENT_CHARACTER.to_string())
    }
}

fn half(character: char) -> Option<u32> {
    let code = u32::from(character);
    (STAND_IN..STAND_IN + 0x800)
        .contains(&code)
        .then(|| code - STAND_IN + 0xD800)
}

fn join(high: u32, low: u32) -> char {
    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The text with lone `\ud800` to `\udfff` escapes replaced by stand-ins; none when there is no such escape.
fn with_stand_ins(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match surrogate(escape) {
            None => escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end),
            Some(high)
                if high < 0xDC00
                    && escape
                        .get(6..)
                        .and_then(surrogate)
                        .is_some_and(|low| low >= 0xDC00) =>
            {
                12
            }
            Some(lone) => {
                mended.extend(char::from_u32(STAND_IN + (lone - 0xD800)));
                changed = true;
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
        };
        mended.push_str(escape.get(..length).unwrap_or(escape));
        rest = escape.get(length..).unwrap_or_default();
    }
    mended.push_str(rest);
    changed.then_some(mended)
}

/// The surrogate that an escape at the start of the text stands for.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..0xE000).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn t1_halves_in_two_frames_become_one_character() {
        let first = parse(r#"{"t":"a\ud83c"}"#).unwrap();
        let second = parse(r#"{"t":"\udf0cb"}"#).unwrap();
        let mut joiner = Joiner::default();
        let mut whole = joiner.push(first["t"].as_str().unwrap());
        whole += &joiner.push(second["t"].as_str().unwrap());
        assert_eq!(whole + &joiner.finish(), "a🌌b");
    }

    #[test]
    fn m16_lone_halves_are_replaced_and_the_rest_is_kept() {
        let table = [
            (r#""\ud800""#, "\u{fffd}"),
            (r#""a\udc00b""#, "a\u{fffd}b"),
            (r#""\ud83c\ud83c\udf0c""#, "\u{fffd}🌌"),
            (r#""\ud83c\udf0c \ud83c""#, "🌌 \u{fffd}"),
            (r#""\\ud800 \ud800\n""#, "\\ud800 \u{fffd}\n"),
            (r#""\u0000""#, "\0"),
        ];
        for (json, expected) in table {
            assert_eq!(plain(parse(json).unwrap().as_str().unwrap()), expected, "{json}");
        }
        assert_eq!(parse(r#"{"a": "b" "#), None);
        assert_eq!(parse(r#""\ud8"#), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\\ud8c0-9a-f"{}: \u{90a3}]{0,40}"#) {
            let _ = parse(&text).map(|value| plain_value(&value));
        }
    }
}
