//! Reads a line into a script, or says why it cannot be one.
//!
//! Every rule here is one that bash and dash agree on; where they differ, or where the reading depends on what is on
//! the disk or in a variable, the line is opaque. Cases S04 to S80 and the corpus of shell lines.

use std::iter::Peekable;
use std::str::Chars;

use super::{Joint, MAX_COMMANDS, Opaque, Redirect, Script, Simple, Stream};

const UNCLOSED: Opaque = Opaque("A quote in it is not closed, so it cannot be judged.");
const EMPTY: Opaque = Opaque("It is no complete command line.");
const EXPANDS: Opaque =
    Opaque("The shell would fill something in (`$` or a backtick), so what runs cannot be told.");
const GLOB: Opaque =
    Opaque("The shell would fill in file names (`*`, `?`, `[` or `{`), so what runs cannot be told.");
const TILDE: Opaque =
    Opaque("It names a home folder by `~`, which the shell fills in; write the whole path.");
const GROUP: Opaque =
    Opaque("It holds a subshell, a function or another bracket, so what runs cannot be told.");
const BACKGROUND: Opaque = Opaque("It runs something in the background (`&`).");
const REDIRECT: Opaque =
    Opaque("It holds a redirection that is not judged (only `<`, `>`, `>>`, `2>&1` are).");
const RESERVED: Opaque = Opaque("It holds a word of the shell's own grammar, so what runs cannot be told.");
const CONTROL: Opaque = Opaque("It holds a control character.");
const MANY: Opaque = Opaque("It holds more than 64 commands.");

/// Words that are grammar where a command may begin, in bash or dash.
const RESERVED_WORDS: &[&str] = &[
    "!", "{", "}", "[[", "]]", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for",
    "case", "esac", "in", "select", "function", "time", "coproc",
];

pub(super) fn script(line: &str) -> Result<Script, Opaque> {
    if line.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(CONTROL);
    }
    let mut reader = Reader {
        chars: line.chars().peekable(),
        script: Script::default(),
        command: Simple::default(),
        word: None,
        target: None,
    };
    reader.run()?;
    Ok(reader.script)
}

/// A word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    /// Some of it stood in quotes or after a backslash.
    quoted: bool,
    /// Where the `=` of an assignment stands.
    equals: Option<usize>,
}

/// A redirection whose file name comes next.
#[derive(Clone, Copy)]
enum Target {
    Read,
    Write(Stream),
    Append(Stream),
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    script: Script,
    command: Simple,
    word: Option<Word>,
    target: Option<Target>,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), Opaque> {
        while let Some(c) = self.chars.next() {
            match c {
                ' ' | '\t' => self.end_word()?,
                '\n' => self.end_line()?,
                ';' => self.end_command(Joint::Then)?,
                '&' => match self.chars.next_if_eq(&'&') {
                    Some(_) => self.end_command(Joint::And)?,
                    None => return Err(BACKGROUND),
                },
                '|' => self.bar()?,
                '<' | '>' => self.redirect(c)?,
                '#' if self.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
                _ => self.in_word(c)?,
            }
        }
        self.end_word()?;
        if self.target.is_some() {
            return Err(REDIRECT);
        }
        if !self.is_empty() {
            return self.push_command(Joint::Then);
        }
        // Nothing may be missing after an operator, and something must be there at all.
        if self.script.commands.is_empty() || self.command.joint != Joint::Then {
            return Err(EMPTY);
        }
        Ok(())
    }

    fn in_word(&mut self, c: char) -> Result<(), Opaque> {
        match c {
            '\'' => self.single_quotes(),
            '"' => self.double_quotes(),
            '\\' => match self.chars.next() {
                Some('\n') => Ok(()),
                Some(c) => {
                    self.quote().push(c);
                    Ok(())
                }
                None => Err(UNCLOSED),
            },
            '$' | '`' => Err(EXPANDS),
            '(' | ')' => Err(GROUP),
            '[' if self.word.is_none() && self.ends_here() => {
                self.bare('[');
                Ok(())
            }
            '{' => self.braces(),
            '*' | '?' | '[' | '}' => Err(GLOB),
            '~' if self.tilde_expands() => Err(TILDE),
            c => {
                self.bare(c);
                Ok(())
            }
        }
    }

    fn bare(&mut self, c: char) {
        let word = self.word.get_or_insert_default();
        if c == '=' && word.equals.is_none() && !word.quoted && is_name(&word.text) {
            word.equals = Some(word.text.len());
        }
        word.text.push(c);
    }

    fn quote(&mut self) -> &mut String {
        let word = self.word.get_or_insert_default();
        word.quoted = true;
        &mut word.text
    }

    /// Whether the word ends with the character just read.
    fn ends_here(&mut self) -> bool {
        self.chars
            .peek()
            .is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&'))
    }

    /// At the start of a word, and in bash after `=` and `:` of what looks like an assignment.
    fn tilde_expands(&self) -> bool {
        self.word
            .as_ref()
            .is_none_or(|word| word.text.is_empty() || word.text.ends_with(['=', ':']))
    }

    /// `stash@{0}` and `@{upstream}` are plain text; every other brace may be filled in.
    fn braces(&mut self) -> Result<(), Opaque> {
        let after_at = self.word.as_ref().is_some_and(|word| word.text.ends_with('@'));
        if !after_at {
            return Err(GLOB);
        }
        self.bare('{');
        let mut letters = 0;
        while let Some(c) = self.chars.next_if(char::is_ascii_alphanumeric) {
            self.bare(c);
            letters += 1;
        }
        match self.chars.next() {
            Some('}') if letters > 0 => {
                self.bare('}');
                Ok(())
            }
            _ => Err(GLOB),
        }
    }

    fn single_quotes(&mut self) -> Result<(), Opaque> {
        self.quote();
        loop {
            match self.chars.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.quote().push(c),
                None => return Err(UNCLOSED),
            }
        }
    }

    fn double_quotes(&mut self) -> Result<(), Opaque> {
        self.quote();
        loop {
            match self.chars.next().ok_or(UNCLOSED)? {
                '"' => return Ok(()),
                '`' => return Err(EXPANDS),
                // A dollar that nothing can follow up is one: the end of a pattern.
                '$' => match self.chars.peek() {
                    Some('"' | ' ' | '|') => self.quote().push('$'),
                    _ => return Err(EXPANDS),
                },
                '\\' => match self.chars.next().ok_or(UNCLOSED)? {
                    '\n' => {}
                    c @ ('"' | '\\' | '$' | '`') => self.quote().push(c),
                    c => self.quote().extend(['\\', c]),
                },
                c => self.quote().push(c),
            }
        }
    }

    fn bar(&mut self) -> Result<(), Opaque> {
        match self.chars.peek() {
            Some('|') => {
                self.chars.next();
                self.end_command(Joint::Or)
            }
            Some('&') => Err(BACKGROUND),
            _ => self.end_command(Joint::Pipe),
        }
    }

    fn redirect(&mut self, c: char) -> Result<(), Opaque> {
        let number = self
            .word
            .take_if(|word| !word.quoted && word.text.bytes().all(|b| b.is_ascii_digit()));
        self.end_word()?;
        if self.target.is_some() {
            return Err(REDIRECT);
        }
        let number = number.as_ref().map(|word| word.text.as_str());
        self.target = Some(match (c, number, self.chars.peek()) {
            (_, _, Some('(')) => return Err(EXPANDS),
            ('<', _, Some('<')) => {
                return Err(Opaque("It holds a here-document, so what runs cannot be told."));
            }
            (_, _, Some('|')) | ('<', _, Some('&' | '>')) => return Err(REDIRECT),
            ('<', None | Some("0"), _) => Target::Read,
            ('>', _, Some('&')) => {
                self.chars.next();
                return self.join(number);
            }
            ('>', _, next) => {
                let appends = next == Some(&'>');
                let stream = stream(number.unwrap_or("1"))?;
                if appends {
                    self.chars.next();
                    if matches!(self.chars.peek(), Some('>' | '|' | '&' | '(')) {
                        return Err(REDIRECT);
                    }
                    Target::Append(stream)
                } else {
                    Target::Write(stream)
                }
            }
            _ => return Err(REDIRECT),
        });
        Ok(())
    }

    /// What follows `>&`: one of the two streams and the end of the word.
    fn join(&mut self, number: Option<&str>) -> Result<(), Opaque> {
        let from = stream(number.unwrap_or("1"))?;
        let to = match self.chars.next() {
            Some('1') => Stream::Output,
            Some('2') => Stream::Errors,
            _ => return Err(REDIRECT),
        };
        if !self.ends_here() || from == to {
            return Err(REDIRECT);
        }
        self.command.redirects.push(Redirect::Join(from, to));
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), Opaque> {
        let Some(word) = self.word.take() else {
            return Ok(());
        };
        if let Some(target) = self.target.take() {
            if word.text.is_empty() {
                return Err(REDIRECT);
            }
            self.command.redirects.push(match target {
                Target::Read => Redirect::Read(word.text),
                Target::Write(stream) => Redirect::Write(stream, word.text),
                Target::Append(stream) => Redirect::Append(stream, word.text),
            });
            return Ok(());
        }
        if self.command.words.is_empty() {
            if let Some((name, value)) = word.equals.and_then(|at| word.text.split_at_checked(at)) {
                let value = value.strip_prefix('=').unwrap_or(value);
                self.command.assignments.push((name.to_owned(), value.to_owned()));
                return Ok(());
            }
            let adds = word.text.split_once("+=").is_some_and(|(name, _)| is_name(name));
            if word.text.is_empty() || adds || RESERVED_WORDS.contains(&word.text.as_str()) {
                return Err(RESERVED);
            }
        }
        self.command.words.push(word.text);
        Ok(())
    }

    /// Nothing of a command was read since the last operator.
    fn is_empty(&self) -> bool {
        let command = &self.command;
        command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty()
    }

    fn end_line(&mut self) -> Result<(), Opaque> {
        self.end_word()?;
        if self.is_empty() && self.target.is_none() {
            // An empty line, or the rest of the command stands on the next one.
            return Ok(());
        }
        self.end_command(Joint::Then)
    }

    fn end_command(&mut self, next: Joint) -> Result<(), Opaque> {
        self.end_word()?;
        if self.target.is_some() {
            return Err(REDIRECT);
        }
        self.push_command(next)
    }

    fn push_command(&mut self, next: Joint) -> Result<(), Opaque> {
        // Without a program it would set variables of the shell itself, or only make a file.
        if self.command.words.is_empty() {
            return Err(EMPTY);
        }
        if self.script.commands.len() == MAX_COMMANDS {
            return Err(MANY);
        }
        let ended = std::mem::take(&mut self.command);
        self.script.commands.push(ended);
        self.command.joint = next;
        Ok(())
    }
}

fn stream(number: &str) -> Result<Stream, Opaque> {
    match number {
        "1" => Ok(Stream::Output),
        "2" => Ok(Stream::Errors),
        _ => Err(REDIRECT),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
