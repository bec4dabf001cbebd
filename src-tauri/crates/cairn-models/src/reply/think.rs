//! `<think>` tags in the text of an answer, split at any byte. Owns: what of the text is thinking.
//! Must never know: frames, calls, servers. No character is lost but the tags themselves.

/// A piece of text and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Part of the answer.
    Text(String),
    /// Part of the thinking.
    Thinking(String),
}

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but white space so far: a tag may open here.
    Start,
    /// Inside a tag that this closes.
    Inside(&'static str),
    /// The answer proper: tags are words, since a model may well write about them.
    Answer,
}

/// Splits the text of one reply. A tag opens only where nothing but white space (or another thought) came before.
#[derive(Debug)]
pub(crate) struct ThinkSplitter {
    state: State,
    held: String,
}

impl ThinkSplitter {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Start,
            held: String::new(),
        }
    }

    /// Takes more text; gives what can be told already.
    pub(crate) fn push(&mut self, text: &str, said: &mut Vec<Said>) {
        if self.state == State::Answer {
            say(said, Said::Text, text);
            return;
        }
        self.held.push_str(text);
        while self.advance(said) {}
    }

    /// The text has ended: what was held back is said. An unclosed thought stays a thought.
    pub(crate) fn finish(&mut self, said: &mut Vec<Said>) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Inside(_) => say(said, Said::Thinking, &held),
            State::Start | State::Answer => say(said, Said::Text, &held),
        }
    }

    /// Does one step; whether another may follow.
    fn advance(&mut self, said: &mut Vec<Said>) -> bool {
        match self.state {
            State::Start => {
                let begun = self.held.trim_start();
                if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
                    let blank = self.held.len() - begun.len();
                    let rest = begun.get(open.len()..).unwrap_or_default().to_owned();
                    say(said, Said::Text, self.held.get(..blank).unwrap_or_default());
                    self.held = rest;
                    self.state = State::Inside(close);
                    return true;
                }
                if TAGS.iter().any(|(open, _)| open.starts_with(begun)) {
                    return false;
                }
                self.state = State::Answer;
                say(said, Said::Text, &std::mem::take(&mut self.held));
                false
            }
            State::Inside(close) => {
                if let Some((thought, rest)) = self.held.split_once(close) {
                    say(said, Said::Thinking, thought);
                    self.held = rest.to_owned();
                    self.state = State::Start;
                    return true;
                }
                let keep = tail_that_may_close(&self.held, close);
                let rest = self.held.split_off(self.held.len() - keep);
                say(said, Said::Thinking, &std::mem::replace(&mut self.held, rest));
                false
            }
            State::Answer => false,
        }
    }
}

/// Length of the longest end of the text that a closing tag may begin with.
fn tail_that_may_close(text: &str, close: &str) -> usize {
    (1..close.len())
        .rev()
        .find(|&length| close.get(..length).is_some_and(|start| text.ends_with(start)))
        .unwrap_or(0)
}

fn say(said: &mut Vec<Said>, kind: fn(String) -> Said, text: &str) {
    if !text.is_empty() {
        said.push(kind(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut splitter = ThinkSplitter::new();
        let mut said = Vec::new();
        pieces
            .into_iter()
            .for_each(|piece| splitter.push(piece, &mut said));
        splitter.finish(&mut said);
        let (mut text, mut thinking) = (String::new(), String::new());
        for piece in said {
            match piece {
                Said::Text(piece) => text.push_str(&piece),
                Said::Thinking(piece) => thinking.push_str(&piece),
            }
        }
        (text, thinking)
    }

    #[test]
    fn x101_think_tags_split_at_every_byte_are_thinking() {
        let table = [
            ("<think>hm</think>yes", "yes", "hm"),
            ("\n <think>hm</think>\n\nyes", "\n \n\nyes", "hm"),
            ("<thinking>a < b </thin</thinking>c", "c", "a < b </thin"),
            ("<think>never closed", "", "never closed"),
            ("<think>never closed</thi", "", "never closed</thi"),
            ("<think></think>", "", ""),
            ("<think>a</think> <think>b</think>c", " c", "ab"),
            (
                "The tag <think> opens a thought.",
                "The tag <think> opens a thought.",
                "",
            ),
            ("<thinker>", "<thinker>", ""),
            ("<thi", "<thi", ""),
            ("<", "<", ""),
            ("{ a lone brace", "{ a lone brace", ""),
            ("<think>那🌌</think>é", "é", "那🌌"),
        ];
        for (input, text, thinking) in table {
            let expected = (text.to_owned(), thinking.to_owned());
            assert_eq!(split([input]), expected, "{input}");
            for (cut, _) in input.char_indices() {
                let (a, b) = input.split_at(cut);
                assert_eq!(split([a, b]), expected, "{input} cut at {cut}");
            }
            let single: Vec<String> = input.chars().map(String::from).collect();
            assert_eq!(split(single.iter().map(String::as_str)), expected, "{input}");
        }
    }

    #[test]
    fn an_answer_is_not_held_back() {
        let mut splitter = ThinkSplitter::new();
        let mut said = Vec::new();
        splitter.push("a", &mut said);
        splitter.push("<", &mut said);
        assert_eq!(said, [Said::Text("a".into()), Said::Text("<".into())]);
    }

    proptest! {
        #[test]
        fn x101_nothing_but_tags_is_lost(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just("<think>"), Just("</think>"), Just("<thinking>"), Just("</thinking>"), Just("<"), Just("</th"),
                    Just(" "), Just("\n"), Just("word"), Just("那"), Just("{"),
                ], 0..14),
        ) {
            let input = pieces.concat();
            let whole = split([input.as_str()]);
            let single: Vec<String> = input.chars().map(String::from).collect();
            prop_assert_eq!(split(single.iter().map(String::as_str)), whole.clone());
            prop_assert_eq!(split(pieces.iter().copied()), whole.clone());
            let without = |text: &str| TAGS.iter().fold(text.to_owned(), |text, (open, close)| {
                text.replace(open, "").replace(close, "")
            });
            let mut kept: Vec<char> = without(&(whole.0 + "\u{1}" + &whole.1)).chars().filter(|c| *c != '\u{1}').collect();
            let mut given: Vec<char> = without(&input).chars().collect();
            kept.sort_unstable();
            given.sort_unstable();
            prop_assert_eq!(kept, given);
        }
    }
}
