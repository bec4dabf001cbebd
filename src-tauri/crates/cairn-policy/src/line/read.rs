//! Takes a line apart into stretches of words, with quotes removed.

use super::programs;
use super::{Line, MAX_NESTING, MAX_STARTS};

/// How often text inside text (`sh -c "sh -c …"`) is read.
const MAX_TEXT_IN_TEXT: usize = 6;

/// Adds what is in `text` to `line`.
pub(super) fn take_apart(text: &str, line: &mut Line, inside: usize) {
    let first = line.stretches.len();
    let mut reader = Reader::default();
    reader.read(text);
    line.too_deep |= reader.too_deep;
    line.unclosed |= reader.unclosed;
    line.stretches.append(&mut reader.stretches);
    let mut texts = Vec::new();
    for (at, words) in line.stretches.iter().enumerate().skip(first) {
        let start = command_start(words, &mut line.assigned);
        let Some(command) = words.get(start..).filter(|command| !command.is_empty()) else {
            continue;
        };
        if line.starts.len() == MAX_STARTS {
            line.too_many = true;
            break;
        }
        line.starts.push((at, start));
        let inner = programs::inner_starts(command);
        let text = |at: &usize| {
            command
                .get(*at)
                .filter(|word| word.contains([' ', '\t', '\n', ';', '&', '|']))
                .cloned()
        };
        texts.extend(inner.iter().filter_map(text));
        let left = MAX_STARTS.saturating_sub(line.starts.len());
        line.too_many |= inner.len() > left;
        line.starts
            .extend(inner.into_iter().take(left).map(|word| (at, start + word)));
    }
    if inside < MAX_TEXT_IN_TEXT {
        for text in texts {
            take_apart(&text, line, inside + 1);
        }
    } else if !texts.is_empty() {
        line.too_deep = true;
    }
}

/// Skips the shell's own words and assignments; notes what is assigned.
fn command_start(words: &[String], assigned: &mut Vec<String>) -> usize {
    let mut start = 0;
    for word in words {
        if let Some((name, _)) = word.split_once('=')
            && is_name(name.trim_end_matches('+'))
        {
            assigned.push(name.trim_end_matches('+').to_owned());
        } else if !programs::is_shell_word(word) {
            break;
        }
        start += 1;
    }
    // `export PATH=…` and `env PATH=… x` assign as well.
    for word in words.iter().skip(start) {
        if let Some((name, _)) = word.split_once('=')
            && is_name(name)
            && words.get(start).is_some_and(|program| programs::assigns(program))
        {
            assigned.push(name.to_owned());
        }
    }
    start
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// What a closing bracket goes back to.
#[derive(Clone, Copy)]
enum Outer {
    Bare,
    InQuotes,
}

#[derive(Default)]
struct Reader {
    stretches: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the target of a redirection, not part of the command.
    redirected: bool,
    in_quotes: bool,
    brackets: Vec<Outer>,
    backtick: Option<Outer>,
    braces: usize,
    too_deep: bool,
    unclosed: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            match c {
                '\\' => self.escape(chars.next()),
                '$' | '<' | '>' if next == Some('(') && (c == '$' || !self.in_quotes) => {
                    chars.next();
                    self.open();
                }
                '$' if next == Some('{') => {
                    chars.next();
                    self.braces += 1;
                    self.push_text("${");
                }
                '`' => self.backtick(),
                '"' => {
                    self.in_quotes = !self.in_quotes;
                    self.push_text("");
                }
                c if self.in_quotes => self.push(c),
                '\'' => self.single_quoted(&mut chars),
                '(' => self.open(),
                ')' => self.close(),
                ';' | '&' | '|' | '\n' => self.end_stretch(),
                '<' | '>' => {
                    while chars.next_if(|c| matches!(c, '<' | '>' | '&' | '|')).is_some() {}
                    self.redirect();
                }
                '#' if self.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
                ' ' | '\t' | '\r' => self.end_word(),
                c => self.push(c),
            }
            if self.brackets.len() + self.braces > MAX_NESTING {
                self.too_deep = true;
                return;
            }
        }
        self.unclosed |= self.in_quotes || self.backtick.is_some() || !self.brackets.is_empty();
        self.end_stretch();
    }

    fn escape(&mut self, escaped: Option<char>) {
        match escaped {
            Some('\n') => {}
            Some(c) => self.push(c),
            None => self.unclosed = true,
        }
    }

    fn single_quoted(&mut self, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        // `$'…'` knows escapes; the word then reads as `$` and its text, which no program's name is.
        let with_escapes = self.word.as_deref().is_some_and(|word| word.ends_with('$'));
        self.push_text("");
        loop {
            match chars.next() {
                Some('\'') => return,
                Some('\\') if with_escapes => {
                    self.push('\\');
                    if let Some(c) = chars.next() {
                        self.push(c);
                    }
                }
                Some(c) => self.push(c),
                None => {
                    self.unclosed = true;
                    return;
                }
            }
        }
    }

    fn open(&mut self) {
        self.end_stretch();
        self.brackets.push(self.outer());
        self.in_quotes = false;
    }

    fn close(&mut self) {
        self.end_stretch();
        if let Some(outer) = self.brackets.pop() {
            self.in_quotes = matches!(outer, Outer::InQuotes);
        }
    }

    fn backtick(&mut self) {
        self.end_stretch();
        if let Some(outer) = self.backtick.take() {
            self.in_quotes = matches!(outer, Outer::InQuotes);
        } else {
            self.backtick = Some(self.outer());
            self.in_quotes = false;
        }
    }

    fn outer(&self) -> Outer {
        if self.in_quotes {
            Outer::InQuotes
        } else {
            Outer::Bare
        }
    }

    fn redirect(&mut self) {
        if self
            .word
            .as_deref()
            .is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        self.redirected = true;
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn push_text(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match word.as_str() {
            "{" => self.braces += 1,
            "}" => self.braces = self.braces.saturating_sub(1),
            // Inside `${…}` the words do not end the brace by themselves; its end is in the word.
            _ => self.braces = self.braces.saturating_sub(word.matches('}').count()),
        }
        if std::mem::take(&mut self.redirected) {
            return;
        }
        self.words.push(word);
    }

    fn end_stretch(&mut self) {
        self.end_word();
        self.redirected = false;
        if !self.words.is_empty() {
            self.stretches.push(std::mem::take(&mut self.words));
        }
    }
}
