//! Writes a script down again: the text that runs, and that is shown. SPEC P10.

use std::fmt;

use super::{Joint, Redirect, Script, Simple, Stream};

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, command) in self.commands.iter().enumerate() {
            if at > 0 {
                f.write_str(match command.joint {
                    Joint::Then => "; ",
                    Joint::And => " && ",
                    Joint::Or => " || ",
                    Joint::Pipe => " | ",
                })?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Simple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (name, value) in &self.assignments {
            write!(f, "{gap}{name}={}", quoted(value))?;
            gap = " ";
        }
        for (at, word) in self.words.iter().enumerate() {
            f.write_str(gap)?;
            // A bare `a=b` in front would set a variable.
            if at == 0 && word.contains('=') {
                f.write_str(&in_quotes(word))?;
            } else {
                f.write_str(&quoted(word))?;
            }
            gap = " ";
        }
        for redirect in &self.redirects {
            write!(f, " {redirect}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "<{}", quoted(path)),
            Self::Write(stream, path) => write!(f, "{}>{}", stream.before(), quoted(path)),
            Self::Append(stream, path) => write!(f, "{}>>{}", stream.before(), quoted(path)),
            Self::Join(Stream::Output, _) => f.write_str("1>&2"),
            Self::Join(Stream::Errors, _) => f.write_str("2>&1"),
        }
    }
}

impl Stream {
    fn before(self) -> &'static str {
        match self {
            Self::Output => "",
            Self::Errors => "2",
        }
    }
}

/// The word as every shell reads it back: bare where nothing in it means anything, else in single quotes.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./,:+@%=".contains(&b);
    if matches!(word, "[" | "]") || (!word.is_empty() && word.bytes().all(plain)) {
        word.to_owned()
    } else {
        in_quotes(word)
    }
}

fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
