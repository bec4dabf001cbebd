//! Patterns for paths: what `*.rs`, `src/**/test_*` and `app/[id]/page.tsx` match.
//!
//! Owns: the meaning of a pattern. Must never know: a disk.

use std::path::Path;

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// Characters that make a segment a pattern.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Bytes of a pattern at most; longer ones compile into something enormous.
const LONGEST: usize = 4_096;

/// A compiled pattern, matched against paths relative to a folder.
///
/// A pattern without a slash matches the name at any depth; one with a slash is anchored at the folder. `*` and `?`
/// stop at slashes, `**` does not. Next to its meaning as a pattern every text also matches itself, and its
/// brackets match brackets: `app/[id]/*.tsx` finds what is in a folder called `[id]` (case G4).
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    set: GlobSet,
    /// Every path matches, which need not be tried for each.
    all: bool,
}

/// Where a pattern's slashes are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// A pattern without a slash matches at any depth.
    ByShape,
    /// The pattern begins at the folder even without a slash: it is the rest of a longer one.
    Folder,
}

impl Pattern {
    /// Compiles a pattern; the error says what is wrong with it.
    pub(crate) fn new(text: &str, anchor: Anchor) -> Result<Self, String> {
        short_enough(text)?;
        let text = text.strip_prefix("./").unwrap_or(text);
        let any_depth = anchor == Anchor::ByShape && !text.trim_end_matches('/').contains('/');
        let mut whole = if any_depth {
            format!("**/{text}")
        } else {
            text.to_owned()
        };
        if whole.ends_with('/') {
            whole.push_str("**");
        }
        let all = matches!(whole.as_str(), "**" | "**/*" | "**/**");
        let mut set = GlobSetBuilder::new();
        set.add(compile(&whole).map_err(|error| error.kind().to_string())?);
        if text.contains(['[', '{', '\\']) {
            let prefix = if any_depth { "**/" } else { "" };
            // These two are made of escaped characters; where one does not compile, nothing is lost but the courtesy.
            set = [brackets_literal(text), globset::escape(text)]
                .iter()
                .filter_map(|literal| compile(&format!("{prefix}{literal}")).ok())
                .fold(set, |mut set, glob| {
                    set.add(glob);
                    set
                });
        }
        set.build()
            .map(|set| Self { set, all })
            .map_err(|error| error.kind().to_string())
    }

    /// Whether the path, relative to the folder, matches.
    pub(crate) fn is_match(&self, relative: &Path) -> bool {
        self.all || self.set.is_match_candidate(&Candidate::new(relative))
    }
}

/// Whether a pattern is short enough to be compiled; the error gives the numbers and not the pattern.
pub(crate) fn short_enough(text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!(
            "the pattern has {} bytes, and at most {LONGEST} are taken",
            text.len()
        ));
    }
    Ok(())
}

fn compile(text: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .empty_alternates(true)
        .backslash_escape(true)
        .build()
}

/// The pattern with its square brackets taken as they are.
fn brackets_literal(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len() + 8), |mut out, c| {
            match c {
                '[' => out.push_str("[[]"),
                ']' => out.push_str("[]]"),
                other => out.push(other),
            }
            out
        })
}

/// Splits a pattern into the folder that its first segments name plainly and the rest, which has at least one
/// segment. `src/a/*.rs` is `src/a` and `*.rs`; `../x` is `..` and `x`; `*.rs` is nothing and itself.
pub(crate) fn split(pattern: &str) -> (&str, &str) {
    let plain_until = pattern.find(SPECIAL).unwrap_or(pattern.len());
    let plain = pattern.get(..plain_until).unwrap_or_default();
    // A pattern without anything special keeps its last segment, and the slash at its end.
    let cut = if plain_until == pattern.len() {
        plain.trim_end_matches('/')
    } else {
        plain
    };
    match cut.rfind('/') {
        Some(0) => ("/", pattern.get(1..).unwrap_or_default()),
        Some(at) => (
            plain.get(..at).unwrap_or_default(),
            pattern.get(at + 1..).unwrap_or_default(),
        ),
        None => ("", pattern),
    }
}

/// How many folders deep a pattern can match, when its slashes tell; none when it can match at any depth. `/*` must not
/// walk the whole disk.
pub(crate) fn depth(pattern: &str, anchor: Anchor) -> Option<usize> {
    let any_depth = anchor == Anchor::ByShape && !pattern.trim_end_matches('/').contains('/');
    // A class may match a slash.
    let open = any_depth || pattern.ends_with('/') || pattern.contains("**") || pattern.contains('[');
    (!open).then(|| pattern.matches('/').count())
}

/// Whether any segment of the pattern begins with a dot, so that it can only mean hidden files.
pub(crate) fn names_hidden(pattern: &str) -> bool {
    pattern
        .split(['/', '{', ','])
        .any(|segment| segment.starts_with('.') && !segment.trim_matches('.').is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern, Anchor::ByShape)
            .unwrap()
            .is_match(Path::new(path))
    }

    #[test]
    fn t13_patterns_mean_what_people_expect() {
        for (pattern, path, expected) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "a.rsx", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/*.rs", "x/src/a.rs", false),
            ("./src/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/b/c/a.rs", true),
            ("**/b/**/c/*.rs", "a/b/x/y/c/z.rs", true),
            ("**/b/**/c/**", "b/c/z.rs", true),
            ("**", "a/b", true),
            ("src/", "src/a/b.rs", true),
            ("src/", "x/src/a.rs", true),
            ("*.{ts,tsx}", "x/a.tsx", true),
            ("*.{ts,tsx}", "x/a.js", false),
            ("{src,lib}/**/*.rs", "lib/a/b.rs", true),
            ("a{,b}.c", "a.c", true),
            ("*_test*", "x/my_test.go", true),
            ("?.c", "a.c", true),
            ("?.c", "ab.c", false),
            ("[ab].c", "b.c", true),
            ("[!ab].c", "b.c", false),
            ("a b.c", "x/a b.c", true),
            ("ü*.c", "übung.c", true),
            ("-rf", "-rf", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} against {path}");
        }
    }

    #[test]
    fn a_pattern_is_walked_for_as_deep_as_it_can_match() {
        for (pattern, anchor, expected) in [
            ("*", Anchor::Folder, Some(0)),
            ("*", Anchor::ByShape, None),
            ("*/a.rs", Anchor::ByShape, Some(1)),
            ("{a,b/c}/*.rs", Anchor::Folder, Some(2)),
            ("**/a", Anchor::Folder, None),
            ("x/", Anchor::Folder, None),
            ("[!a]b/*", Anchor::Folder, None),
        ] {
            assert_eq!(depth(pattern, anchor), expected, "{pattern}");
        }
    }

    #[test]
    fn g4_brackets_in_a_pattern_match_brackets_in_a_path() {
        for (pattern, path) in [
            (
                "app/[locale]/blog/[slug]/page.tsx",
                "app/[locale]/blog/[slug]/page.tsx",
            ),
            ("app/[locale]/**/*.tsx", "app/[locale]/blog/[slug]/page.tsx"),
            ("**/[slug]/page.tsx", "app/[locale]/blog/[slug]/page.tsx"),
            ("[id].tsx", "x/[id].tsx"),
            ("[...all].ts", "api/[...all].ts"),
            ("{a}.txt", "{a}.txt"),
            ("a*b.txt", "a*b.txt"),
            (r"\[id\].tsx", "[id].tsx"),
        ] {
            assert!(matches(pattern, path), "{pattern} against {path}");
        }
        // Its meaning as a pattern stays.
        assert!(matches("[id].tsx", "i.tsx"));
        assert!(!matches("[id].tsx", "x.tsx"));
    }

    #[test]
    fn a_broken_pattern_is_an_error_in_words() {
        for pattern in ["[a", "{a", "a}", "[z-a]"] {
            let error = Pattern::new(pattern, Anchor::ByShape).map(|_| ()).unwrap_err();
            assert!(!error.is_empty(), "{pattern}");
        }
        assert!(Pattern::new(&"{a,b}".repeat(2_000), Anchor::ByShape).is_err());
    }

    #[test]
    fn a_plain_beginning_is_a_folder() {
        for (pattern, folder, rest) in [
            ("*.rs", "", "*.rs"),
            ("a.rs", "", "a.rs"),
            ("src/*.rs", "src", "*.rs"),
            ("src/a/**/b", "src/a", "**/b"),
            ("src/a.rs", "src", "a.rs"),
            ("src/a{b,c}/d", "src", "a{b,c}/d"),
            ("../x/*.rs", "../x", "*.rs"),
            ("/w/p/*.rs", "/w/p", "*.rs"),
            ("/*.rs", "/", "*.rs"),
            ("src/", "", "src/"),
            ("a/src/", "a", "src/"),
            ("app/[id]/x", "app", "[id]/x"),
        ] {
            assert_eq!(split(pattern), (folder, rest), "{pattern}");
        }
    }

    #[test]
    fn a_dot_at_the_start_of_a_segment_means_hidden() {
        for (pattern, hidden) in [
            (".env*", true),
            ("**/.eslintrc", true),
            ("a/.github/*", true),
            ("{.a,b}", true),
            ("*.rs", false),
            ("a.b/c.d", false),
            ("./a", false),
            ("../a", false),
        ] {
            assert_eq!(names_hidden(pattern), hidden, "{pattern}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_matches_itself(text in r"[a-z\[\]{} ü.-]{1,12}(/[a-z\[\]{}!-]{1,8}){0,3}") {
            // No file is called `.` or `..`.
            proptest::prop_assume!(!text.split('/').any(|part| matches!(part, "." | "..")));
            if let Ok(pattern) = Pattern::new(&text, Anchor::ByShape) {
                proptest::prop_assert!(pattern.is_match(Path::new(&text)), "{text}");
            }
        }

        #[test]
        fn splitting_loses_nothing(text in r"/?([a-z*\[{.]{1,6}/){0,3}[a-z*\[{.]{1,6}/?") {
            let (folder, rest) = split(&text);
            let joined = match folder { "" => rest.to_owned(), "/" => format!("/{rest}"), _ => format!("{folder}/{rest}") };
            proptest::prop_assert_eq!(joined, text);
        }
    }
}
