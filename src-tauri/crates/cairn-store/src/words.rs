//! Words of a text: what the search index holds, what a query means, where an excerpt puts its marks.
//!
//! Owns: where a word begins and ends, and which spellings are one word. Index, query and excerpt use the same.

/// Marks before and after a found word. SPEC S4; documented with [`cairn_protocol::SearchHit`].
const MARKS: (char, char) = ('\u{2}', '\u{3}');
/// Characters of an excerpt, about.
const EXCERPT: usize = 160;
/// Characters before the first found word.
const LEAD: usize = 50;
/// Words of a query that count.
const QUERY_WORDS: usize = 32;

/// One word of a text.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    /// Byte offset of its first character.
    start: usize,
    /// Byte offset after its last character.
    end: usize,
    /// Its folded spelling: lower case, Latin letters without marks.
    folded: String,
}

/// The text as the index gets it: folded words with spaces between.
pub(crate) fn indexed(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for word in words(text) {
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(&word.folded);
    }
    all
}

/// A query for the index from what a person typed: every run of letters literally, all of them wanted. None when
/// there is no word in it.
pub(crate) fn query(typed: &str, scope: &str) -> Option<String> {
    let phrases = phrases(typed);
    if phrases.is_empty() {
        return None;
    }
    // Folded words hold letters and digits only, so nothing typed can be read as query syntax.
    let wanted: Vec<String> = phrases
        .iter()
        .map(|phrase| format!("\"{}\"", phrase.join(" ")))
        .collect();
    let words = format!("{{text}} : ({})", wanted.join(" AND "));
    Some(if scope.is_empty() {
        words
    } else {
        format!("{words} AND {{scope}} : \"{scope}\"")
    })
}

/// Text around the first found word, found words between the marks, everything on one line.
pub(crate) fn excerpt(text: &str, typed: &str) -> String {
    let wanted = phrases(typed);
    let all: Vec<Word> = words(text).collect();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in 0..all.len() {
        let longest = wanted
            .iter()
            .filter(|phrase| stands_at(&all, at, phrase))
            .map(Vec::len)
            .max();
        if let Some(word) = all.get(at)
            && let Some(last) = longest.and_then(|length| all.get(at + length - 1))
            && found.last().is_none_or(|(_, end)| *end <= word.start)
        {
            found.push((word.start, last.end));
        }
    }
    let first = found.first().map_or(0, |(start, _)| *start);
    let before = text.get(..first).unwrap_or_default();
    let start = before.char_indices().rev().nth(LEAD - 1).map_or(0, |(at, _)| at);
    let rest = text.get(start..).unwrap_or_default();
    let end = rest
        .char_indices()
        .nth(EXCERPT)
        .map_or(text.len(), |(at, _)| start + at);
    marked(text, start, end, &found)
}

fn marked(text: &str, start: usize, end: usize, found: &[(usize, usize)]) -> String {
    let mut out = String::with_capacity(end - start + 16);
    if start > 0 {
        out.push('…');
    }
    let mut at = start;
    for (from, to) in found.iter().filter(|(from, to)| *from >= start && *to <= end) {
        push_plain(&mut out, text.get(at..*from).unwrap_or_default());
        out.push(MARKS.0);
        push_plain(&mut out, text.get(*from..*to).unwrap_or_default());
        out.push(MARKS.1);
        at = *to;
    }
    push_plain(&mut out, text.get(at..end).unwrap_or_default());
    if end < text.len() {
        out.push('…');
    }
    out
}

/// A text must not bring marks or lines of its own.
fn push_plain(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
}

fn stands_at(all: &[Word], at: usize, phrase: &[String]) -> bool {
    all.get(at..at + phrase.len()).is_some_and(|place| {
        place
            .iter()
            .zip(phrase)
            .all(|(word, wanted)| word.folded == *wanted)
    })
}

/// What was typed, as runs without blanks; `foo_bar` and Chinese are several words that must follow each other.
fn phrases(typed: &str) -> Vec<Vec<String>> {
    let mut left = QUERY_WORDS;
    let mut all: Vec<Vec<String>> = Vec::new();
    for run in typed.split_whitespace() {
        let phrase: Vec<String> = words(run).take(left).map(|word| word.folded).collect();
        left -= phrase.len();
        if !phrase.is_empty() && !all.contains(&phrase) {
            all.push(phrase);
        }
    }
    all
}

fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.by_ref().find(|(_, c)| c.is_alphanumeric())?;
        let mut word = Word {
            start,
            end: start + first.len_utf8(),
            folded: String::new(),
        };
        fold(first, &mut word.folded);
        // Chinese and Japanese are written without blanks: every character is a word, and phrases find the rest.
        if !stands_alone(first) {
            while let Some((at, c)) = chars.next_if(|(_, c)| is_part(*c)) {
                word.end = at + c.len_utf8();
                fold(c, &mut word.folded);
            }
        }
        Some(word)
    })
}

fn is_part(c: char) -> bool {
    (c.is_alphanumeric() && !stands_alone(c)) || is_mark(c)
}

fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Marks that a letter before them carries.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Lower case without marks, for Latin letters up to U+017F.
fn fold(c: char, out: &mut String) {
    if is_mark(c) {
        return;
    }
    for lower in c.to_lowercase() {
        match lower {
            'à'..='å' | 'ā' | 'ă' | 'ą' => out.push('a'),
            'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => out.push('c'),
            'ď' | 'đ' => out.push('d'),
            'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => out.push('e'),
            'ĝ' | 'ğ' | 'ġ' | 'ģ' => out.push('g'),
            'ĥ' | 'ħ' => out.push('h'),
            'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => out.push('i'),
            'ĵ' => out.push('j'),
            'ķ' => out.push('k'),
            'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => out.push('l'),
            'ñ' | 'ń' | 'ņ' | 'ň' => out.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => out.push('o'),
            'ŕ' | 'ŗ' | 'ř' => out.push('r'),
            'ś' | 'ŝ' | 'ş' | 'š' => out.push('s'),
            'ţ' | 'ť' | 'ŧ' => out.push('t'),
            'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => out.push('u'),
            'ŵ' => out.push('w'),
            'ý' | 'ÿ' | 'ŷ' => out.push('y'),
            'ź' | 'ż' | 'ž' => out.push('z'),
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            mark if is_mark(mark) => {}
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests;
