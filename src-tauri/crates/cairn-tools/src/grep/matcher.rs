//! The regular expression of a search: which engine settings it needs, and what is wrong with it.

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};

/// Bytes of a pattern at most.
const LONGEST: usize = 20_000;
/// Bytes of a pattern that an error tells back.
const SHOWN: usize = 500;
/// Bytes of the compiled expression at most: a nested repetition asks for gigabytes in a few characters.
const SIZE_LIMIT: usize = 8 << 20;
/// Bytes of the tables that the engine builds as it goes, per thread.
const TABLE_LIMIT: usize = 64 << 20;

/// What the model asked for.
pub(super) struct Wish<'a> {
    pub(super) pattern: &'a str,
    pub(super) case_insensitive: bool,
    pub(super) literal: bool,
    pub(super) multiline: bool,
}

/// A compiled search expression.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    /// How the searcher takes lines apart; must be what the matcher was built for.
    pub(super) lines: Lines,
}

/// How lines are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// One at a time, `\n` or `\r\n` at the end; `$` matches before either.
    Either,
    /// One at a time, `\n` at the end: the pattern speaks of `\r` itself.
    Newline,
    /// All at once: a match may span several.
    Spanned,
}

impl Query {
    /// Compiles; the error shows the place with a caret where there is one.
    ///
    /// A pattern that can only match a line break (case: a snippet of several lines, taken word for word) spans lines
    /// whether that was asked for or not.
    pub(super) fn new(wish: &Wish<'_>) -> Result<Self, String> {
        if wish.pattern.is_empty() {
            return Err("The pattern is empty: say what to find.".to_owned());
        }
        if wish.pattern.len() > LONGEST {
            return Err(format!(
                "The pattern has {} bytes, and at most {LONGEST} are taken.",
                wish.pattern.len()
            ));
        }
        let ways: &[Lines] = if wish.multiline {
            &[Lines::Spanned]
        } else {
            &[Lines::Either, Lines::Newline, Lines::Spanned]
        };
        let mut problem = String::new();
        for lines in ways {
            match build(wish, *lines) {
                Ok(matcher) => {
                    return Ok(Self {
                        matcher,
                        lines: *lines,
                    });
                }
                Err(error) => {
                    problem = explain(wish.pattern, &error);
                    if !matches!(error.kind(), ErrorKind::NotAllowed(_)) {
                        break;
                    }
                }
            }
        }
        Err(problem)
    }
}

fn build(wish: &Wish<'_>, lines: Lines) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .case_insensitive(wish.case_insensitive)
        .fixed_strings(wish.literal)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(TABLE_LIMIT);
    match lines {
        Lines::Either => builder.crlf(true),
        Lines::Newline => builder.line_terminator(Some(b'\n')),
        Lines::Spanned => builder.line_terminator(None),
    };
    if wish.literal && lines == Lines::Spanned {
        // Whoever copies lines out of a file was shown them without their `\r`.
        let snippet = wish.pattern.replace("\r\n", "\n");
        let snippet = regex_syntax::escape(&snippet).replace('\n', r"\r?\n");
        return builder.fixed_strings(false).build(&snippet);
    }
    builder.build(wish.pattern).or_else(|error| {
        // The engine puts brackets around the pattern: a comment at its end, as `(?x)` has them, would swallow one.
        let is_whole = !wish.literal && wish.pattern.contains('#') && problem(wish.pattern).is_none();
        if is_whole {
            builder.build(&format!("{}\n", wish.pattern))
        } else {
            Err(error)
        }
    })
}

/// What is wrong with a pattern by itself.
fn problem(pattern: &str) -> Option<Box<regex_syntax::Error>> {
    let mut parser = regex_syntax::ParserBuilder::new().utf8(false).build();
    parser.parse(pattern).err().map(Box::new)
}

fn explain(pattern: &str, error: &grep_regex::Error) -> String {
    let said = error.to_string();
    if said.contains("size limit") {
        return "The pattern is too large when compiled: use smaller repetition counts or fewer alternatives.".to_owned();
    }
    // The engine wraps the pattern before it parses it, so that its own caret stands under the wrong character.
    let said = problem(pattern).map_or(said, |e| {
        if pattern.len() > SHOWN {
            without_pattern(&e)
        } else {
            e.to_string()
        }
    });
    let said: String = said.chars().take(SHOWN * 4).collect();
    format!("The pattern is not a valid regular expression; `literal: true` takes it word for word.\n{said}")
}

/// What is wrong and where, for a pattern too long to be told back.
fn without_pattern(error: &regex_syntax::Error) -> String {
    let at =
        |span: &regex_syntax::ast::Span| format!("line {}, column {}", span.start.line, span.start.column);
    match error {
        regex_syntax::Error::Parse(error) => format!("error at {}: {}", at(error.span()), error.kind()),
        regex_syntax::Error::Translate(error) => format!("error at {}: {}", at(error.span()), error.kind()),
        _ => "error".to_owned(),
    }
}

impl Lines {
    /// The line end that the searcher is told.
    pub(super) fn terminator(self) -> LineTerminator {
        match self {
            Self::Either => LineTerminator::crlf(),
            Self::Newline | Self::Spanned => LineTerminator::byte(b'\n'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pattern: &str, literal: bool) -> Result<Query, String> {
        Query::new(&Wish {
            pattern,
            case_insensitive: false,
            literal,
            multiline: false,
        })
    }

    #[test]
    fn t14_a_bad_pattern_is_shown_with_a_caret() {
        let error = query("foo(bar", false).unwrap_err();
        assert!(error.contains("foo(bar"), "{error}");
        let caret = error.lines().find(|line| line.trim() == "^").unwrap();
        let shown = error
            .lines()
            .find(|line| line.contains("foo(bar") && !line.contains("pattern"))
            .unwrap();
        assert_eq!(shown.trim(), "foo(bar");
        assert_eq!(caret.find('^'), shown.find('('), "{error}");
        assert!(
            error.contains("unclosed group") && error.contains("literal: true"),
            "{error}"
        );
    }

    #[test]
    fn a_comment_at_the_end_of_a_pattern_is_one() {
        use grep_matcher::Matcher as _;
        for pattern in ["(?x) foo # words", "(?x)foo#", "(?x: foo # a\n ) bar # b"] {
            let matches = |text: &str| {
                query(pattern, false).map(|query| query.matcher.is_match(text.as_bytes()).unwrap())
            };
            assert_eq!(matches("a foo b"), Ok(!pattern.contains("bar")), "{pattern}");
        }
        // Without the flag it is a letter like any other.
        assert!(query("foo#", false).unwrap().matcher.is_match(b"foo#").unwrap());
        assert!(!query("foo#", false).unwrap().matcher.is_match(b"foo\n").unwrap());
        assert!(query("(foo # a", false).unwrap_err().contains("unclosed"));
    }

    #[test]
    fn t14_a_long_bad_pattern_is_not_told_back() {
        for pattern in [
            format!("{}(", "x".repeat(19_000)),
            format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000)),
            format!("{}\\p{{Foo}}", "y\n".repeat(9_000)),
        ] {
            let error = query(&pattern, false).unwrap_err();
            assert!(
                error.len() < 300 && error.contains("column"),
                "{}: {error}",
                error.len()
            );
        }
    }

    #[test]
    fn x55_an_expression_that_would_need_gigabytes_is_refused() {
        for pattern in [
            "(a{1000}){1000}",
            r"(\w{500}){500}",
            "((((a{100}){100}){100}){100})",
        ] {
            let error = query(pattern, false).unwrap_err();
            assert!(error.contains("too large"), "{pattern}: {error}");
        }
        assert!(
            query(&"a".repeat(20_001), true)
                .unwrap_err()
                .contains("20001 bytes")
        );
        assert!(query("", false).unwrap_err().contains("empty"));
        assert!(query(&"(".repeat(5_000), false).is_err());
    }

    #[test]
    fn line_ends_in_a_pattern_choose_the_way_lines_are_taken_apart() {
        for (pattern, literal, lines) in [
            ("foo$", false, Lines::Either),
            (r"foo\r$", false, Lines::Newline),
            (r"foo\nbar", false, Lines::Spanned),
            ("foo\nbar", true, Lines::Spanned),
            ("foo\r\nbar", true, Lines::Spanned),
            (r"foo\nbar", true, Lines::Either),
        ] {
            assert_eq!(query(pattern, literal).unwrap().lines, lines, "{pattern:?}");
        }
    }
}
