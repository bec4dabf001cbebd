//! Code with its colours: few roles, made by syntect's parsers, never by its themes.

use std::sync::LazyLock;

use cairn_protocol::{CodeRole, CodeSpan};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Code longer than this is drawn without colours: nobody reads it, and parsing would take long.
const MOST: usize = 100_000;
/// A line longer than this is drawn without colours.
const LINE: usize = 2_000;
/// While more is on its way, code longer than this waits for its colours.
const SHORT: usize = 8_000;

/// The grammars: constant data, made when the first code is drawn.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Prefixes of scopes and their role; of several that fit the longest counts.
static ROLES: LazyLock<Vec<(Scope, CodeRole)>> = LazyLock::new(|| {
    [
        ("comment", CodeRole::Comment),
        ("string", CodeRole::String),
        ("constant", CodeRole::Constant),
        ("constant.character.escape", CodeRole::Constant),
        ("keyword", CodeRole::Keyword),
        ("keyword.operator", CodeRole::Punctuation),
        ("storage", CodeRole::Keyword),
        ("storage.type.function", CodeRole::Keyword),
        ("entity.name.function", CodeRole::Function),
        ("support.function", CodeRole::Function),
        ("support.macro", CodeRole::Function),
        ("variable.function", CodeRole::Function),
        ("entity.name.type", CodeRole::Type),
        ("entity.name.class", CodeRole::Type),
        ("entity.name.struct", CodeRole::Type),
        ("entity.name.tag", CodeRole::Keyword),
        ("entity.other.attribute-name", CodeRole::Type),
        ("support.type", CodeRole::Type),
        ("support.class", CodeRole::Type),
        ("variable.language", CodeRole::Keyword),
        ("punctuation", CodeRole::Punctuation),
        ("punctuation.definition.comment", CodeRole::Comment),
        ("punctuation.definition.string", CodeRole::String),
    ]
    .into_iter()
    .filter_map(|(name, role)| Scope::new(name).ok().map(|scope| (scope, role)))
    .collect()
});

/// Lines of highlighted pieces.
pub(super) fn lines(language: &str, text: &str, more_comes: bool) -> Vec<Vec<CodeSpan>> {
    let most = if more_comes { SHORT } else { MOST };
    let text = text.strip_suffix('\n').unwrap_or(text);
    match grammar(language).filter(|_| text.len() <= most) {
        Some(grammar) => coloured(grammar, text),
        None => text.split('\n').map(plain).collect(),
    }
}

fn grammar(language: &str) -> Option<&'static SyntaxReference> {
    if language.is_empty() || language.eq_ignore_ascii_case("text") {
        return None;
    }
    GRAMMARS
        .find_syntax_by_token(language)
        .filter(|found| found.name != "Plain Text")
}

fn plain(line: &str) -> Vec<CodeSpan> {
    vec![CodeSpan {
        role: CodeRole::Plain,
        text: line.to_owned(),
    }]
}

fn coloured(grammar: &SyntaxReference, text: &str) -> Vec<Vec<CodeSpan>> {
    let mut state = ParseState::new(grammar);
    let mut stack = ScopeStack::new();
    text.split('\n')
        .map(|line| {
            let with_end = format!("{line}\n");
            if line.len() > LINE {
                return plain(line);
            }
            match state.parse_line(&with_end, &GRAMMARS) {
                Ok(changes) => spans(line, &changes, &mut stack),
                Err(_) => plain(line),
            }
        })
        .collect()
}

fn spans(
    line: &str,
    changes: &[(usize, syntect::parsing::ScopeStackOp)],
    stack: &mut ScopeStack,
) -> Vec<CodeSpan> {
    let mut spans: Vec<CodeSpan> = Vec::new();
    let mut push = |text: &str, role| match spans.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.role == role => last.text.push_str(text),
        _ => spans.push(CodeSpan {
            role,
            text: text.to_owned(),
        }),
    };
    let mut from = 0;
    for (at, change) in changes {
        push(
            line.get(from..(*at).min(line.len())).unwrap_or_default(),
            role_of(stack),
        );
        from = (*at).min(line.len());
        if stack.apply(change).is_err() {
            break;
        }
    }
    push(line.get(from..).unwrap_or_default(), role_of(stack));
    spans
}

fn role_of(stack: &ScopeStack) -> CodeRole {
    stack
        .scopes
        .iter()
        .rev()
        .find_map(|scope| {
            let fits = ROLES.iter().filter(|(prefix, _)| prefix.is_prefix_of(*scope));
            fits.max_by_key(|(prefix, _)| prefix.len()).map(|(_, role)| *role)
        })
        .unwrap_or(CodeRole::Plain)
}
