//! The words of a `run:` rule, in plain shell quoting.

use std::fmt;

use super::RuleError;

/// A program and its leading words. Printed with the fewest quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadingWords(Vec<String>);

impl LeadingWords {
    /// Program first.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// The rule for exactly these leading words; none where a rule cannot hold them.
    pub(crate) fn of(words: &[String]) -> Option<Self> {
        let rule = Self(words.to_vec());
        let again = Self::read(&rule.to_string()).ok()?;
        let seen = rule.to_string();
        (again == rule && !seen.contains(['\n', '\r']) && !crate::show::has_hidden(&seen)).then_some(rule)
    }

    pub(super) fn read(value: &str) -> Result<Self, RuleError> {
        let wrong = |problem: &str| RuleError::Value {
            value: value.trim().to_owned(),
            expected: "a program and its leading words",
            problem: problem.to_owned(),
        };
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut chars = value.chars();
        while let Some(c) = chars.next() {
            match c {
                ' ' | '\t' => words.extend(word.take()),
                '\'' | '"' => {
                    let inside = quoted(c, &mut chars).map_err(wrong)?;
                    word.get_or_insert_default().push_str(&inside);
                }
                '\\' => word
                    .get_or_insert_default()
                    .push(chars.next().ok_or_else(|| wrong("it ends in a backslash"))?),
                '#' if word.is_none() => return Err(wrong("`#` begins a comment; quote it")),
                '~' if word.is_none() => return Err(wrong("`~` is expanded by the shell; quote it")),
                '$' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']'
                | '!' => {
                    return Err(wrong(
                        "characters with a meaning to the shell are not plain words; quote them, or use `run-exact:`",
                    ));
                }
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        match words.first() {
            None => Err(RuleError::Empty {
                kind: "run",
                expected: "a program and its leading words",
                example: "run: cargo test",
            }),
            Some(program) if program.trim().is_empty() => Err(wrong("the program has no name")),
            Some(program) if program.contains('=') => {
                Err(wrong("it begins with an assignment; begin with the program"))
            }
            Some(_) => Ok(Self(words)),
        }
    }
}

/// What stands between two quotes; inside double ones only `\"` and `\\` are escapes, and nothing is expanded.
fn quoted(quote: char, chars: &mut std::str::Chars<'_>) -> Result<String, &'static str> {
    let mut inside = String::new();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(inside),
            '$' | '`' if quote == '"' => {
                return Err("the shell expands `$` and backticks in double quotes; use single ones");
            }
            '\\' if quote == '"' => match chars.next() {
                Some(next @ ('"' | '\\')) => inside.push(next),
                _ => return Err("only `\\\"` and `\\\\` are escapes in double quotes; use single ones"),
            },
            c => inside.push(c),
        }
    }
    Err("a quote is not closed")
}

impl fmt::Display for LeadingWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            let plain = |b: u8| {
                b.is_ascii_alphanumeric()
                    || matches!(
                        b,
                        b'-' | b'_' | b'.' | b'/' | b'=' | b':' | b',' | b'+' | b'@' | b'%'
                    )
            };
            if !word.is_empty() && word.bytes().all(plain) {
                f.write_str(word)?;
            } else {
                write!(f, "'{}'", word.replace('\'', "'\\''"))?;
            }
        }
        Ok(())
    }
}
