//! Tables of text that misleads, by the ids of the cases, and what must hold for any text.

use std::path::Path;

use cairn_protocol::{ShownKind, ShownSpan};
use proptest::prelude::*;

use super::{Show, has_hidden, is_unseen, show, show_path, shown_text};

fn command(text: &str) -> String {
    shown_text(&show(text, Show::Command))
}

#[test]
fn u01_to_u06_invisible_and_turning_characters_become_chips() {
    let table = [
        ("rm -rf \u{202e}gnp.tset", "rm -rf ⟨\\u{202e}⟩gnp.tset"),
        ("a\u{2066}b\u{2069}", "a⟨\\u{2066}⟩b⟨\\u{2069}⟩"),
        ("l\u{200b}s", "l⟨\\u{200b}⟩s"),
        (
            "l\u{200d}s\u{2060}\u{feff}",
            "l⟨\\u{200d}⟩s⟨\\u{2060}⟩⟨\\u{feff}⟩",
        ),
        ("ls\u{e0061}\u{e007f}", "ls⟨\\u{e0061}⟩⟨\\u{e007f}⟩"),
        ("so\u{ad}ft", "so⟨\\u{ad}⟩ft"),
        ("a\u{fe0f}\u{e0100}", "a⟨\\u{fe0f}⟩⟨\\u{e0100}⟩"),
        ("cargo\u{a0}test", "cargo⟨\\u{a0}⟩test"),
        (
            "a\u{3000}b\u{2800}c\u{3164}",
            "a⟨\\u{3000}⟩b⟨\\u{2800}⟩c⟨\\u{3164}⟩",
        ),
    ];
    for (text, shown) in table {
        assert_eq!(command(text), shown);
        assert!(has_hidden(text), "{text:?}");
    }
}

#[test]
fn u07_a_host_with_foreign_letters_shows_its_ascii_form() {
    assert_eq!(
        command("curl https://\u{430}pple.com"),
        "curl https://⟨\\u{430}⟩pple.com⟨xn--pple-43d.com⟩"
    );
    assert!(has_hidden("curl https://\u{430}pple.com"));
    assert_eq!(
        command("curl https://bücher.example/a?b"),
        "curl https://bücher.example/a?b⟨xn--bcher-kva.example⟩"
    );
    assert!(
        !has_hidden("curl https://bücher.example/"),
        "an honest foreign name is no trick"
    );
    assert_eq!(
        command("curl https://me@bücher.example:81/"),
        "curl https://me@bücher.example:81/⟨xn--bcher-kva.example⟩"
    );
    assert_eq!(command("curl https://docs.rs"), "curl https://docs.rs");
    assert_eq!(
        command("curl https://a\0\u{e9}.example"),
        "curl https://a⟨\\0⟩é.example",
        "no host, no other form"
    );
}

#[test]
fn u09_u10_long_runs_cannot_push_anything_out_of_sight() {
    let spaces = format!("echo ok{}; touch /tmp/canary", " ".repeat(300));
    assert_eq!(command(&spaces), "echo ok⟨300 spaces⟩; touch /tmp/canary");
    assert!(has_hidden(&spaces));
    let breaks = format!("echo ok{}touch x", "\n".repeat(300));
    assert_eq!(command(&breaks), "echo ok⟨300 line breaks⟩\ntouch x");
    assert!(has_hidden(&breaks));
    assert_eq!(command("a\nb"), "a⟨\\n⟩\nb");
    assert_eq!(command("ls    # aligned"), "ls    # aligned");
    assert!(!has_hidden("a\nb\tc    d"));
}

#[test]
fn u11_u12_escape_sequences_and_carriage_returns_are_seen() {
    assert_eq!(command("\u{1b}[2K\u{1b}[1Als"), "⟨\\x1b⟩[2K⟨\\x1b⟩[1Als");
    assert_eq!(command("\u{1b}]52;c;eA==\u{7}"), "⟨\\x1b⟩]52;c;eA==⟨\\x07⟩");
    assert_eq!(command("ls\rtouch /tmp/canary"), "ls⟨\\r⟩touch /tmp/canary");
    assert_eq!(command("a\tb\0c\u{9b}d"), "a⟨\\t⟩b⟨\\0⟩c⟨\\x9b⟩d");
    assert!(has_hidden("ls\rtouch"));
}

#[test]
fn u15_code_keeps_tabs_and_indentation_and_shows_trojans() {
    let code = |text| shown_text(&show(text, Show::Code));
    assert_eq!(
        code("\t\tif a {                    // far"),
        "\t\tif a {                    // far"
    );
    assert_eq!(
        code("/*\u{202e} } \u{2066}if admin\u{2069} */"),
        "/*⟨\\u{202e}⟩ } ⟨\\u{2066}⟩if admin⟨\\u{2069}⟩ */"
    );
    assert_eq!(code("let s = \"\u{200b}\";"), "let s = \"⟨\\u{200b}⟩\";");
    assert_eq!(code("全角１２３、名前"), "全角１２３、名前");
}

#[test]
fn letters_of_another_script_among_latin_ones_are_named() {
    let table = [
        ("p\u{430}ypal", "p⟨\\u{430}⟩ypal"),
        ("rm docs-файл", "rm docs-файл"),
        (
            "git commit -m 'Обновить README'",
            "git commit -m 'Обновить README'",
        ),
        ("echo Ελληνικά και", "echo Ελληνικά και"),
        ("ｒｍ -rf", "⟨\\u{ff52}⟩⟨\\u{ff4d}⟩ -rf"),
        ("ls\u{37e} x", "ls⟨\\u{37e}⟩ x"),
        ("a\u{2215}b", "a⟨\\u{2215}⟩b"),
        ("\u{441}\u{43e}\u{440}\u{443} a", "сору⟨not Latin letters⟩ a"),
        ("naïve café übung", "naïve café übung"),
        ("你好，世界：hello", "你好，世界：hello"),
    ];
    for (text, shown) in table {
        assert_eq!(command(text), shown);
        assert_eq!(has_hidden(text), shown.contains('⟨'), "{text}");
    }
}

#[test]
fn heaps_of_marks_are_cut_to_what_a_language_needs() {
    let heap = format!("a{}", "\u{301}".repeat(50));
    let shown = show(&heap, Show::Name);
    assert_eq!(shown.first().map(|span| span.text.chars().count()), Some(3));
    assert_eq!(shown.len(), 49);
}

#[cfg(unix)]
#[test]
fn f14_a_path_that_is_no_text_shows_its_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(OsStr::from_bytes(b"a\xffb\n-rf"));
    assert_eq!(shown_text(&show_path(path)), "a⟨\\xff⟩b⟨\\n⟩-rf");
    assert_eq!(
        shown_text(&show_path(Path::new("app/[locale]/page.tsx"))),
        "app/[locale]/page.tsx"
    );
}

/// Characters that make trouble, much more often than chance gives them.
fn any_text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        '\0',
        '\n',
        '\r',
        '\t',
        ' ',
        '\u{1b}',
        '\u{7f}',
        '\u{85}',
        '\u{ad}',
        '\u{200b}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{fe0f}',
        '\u{e0041}',
        '\u{430}',
        '\u{301}',
        '\u{37e}',
        '\u{ff52}',
        '\u{3000}',
        'a',
        ':',
        '/',
        '.',
        '@',
    ]);
    prop::collection::vec(prop_oneof![3 => odd, 1 => any::<char>()], 0..60)
        .prop_map(|chars| chars.into_iter().collect())
}

/// The characters that a chip stands for; chips that only comment stand for none.
fn named_by(chip: &ShownSpan) -> Option<String> {
    let text = &chip.text;
    let code = |hex: &str| {
        u32::from_str_radix(hex, 16)
            .ok()
            .and_then(char::from_u32)
            .map(String::from)
    };
    if let Some((count, what)) = text.split_once(' ') {
        let c = match what {
            "spaces" => " ",
            "line breaks" => "\n",
            _ => return None,
        };
        return count.parse().ok().map(|count| c.repeat(count));
    }
    match text.as_str() {
        "\\n" => Some("\n".into()),
        "\\r" => Some("\r".into()),
        "\\t" => Some("\t".into()),
        "\\0" => Some("\0".into()),
        _ => text.strip_prefix("\\x").and_then(code).or_else(|| {
            text.strip_prefix("\\u{")
                .and_then(|rest| rest.strip_suffix('}'))
                .and_then(code)
        }),
    }
}

proptest! {
    #[test]
    fn plain_spans_hold_nothing_that_is_not_seen(text in any_text()) {
        for mode in [Show::Command, Show::Code, Show::Name] {
            for span in show(&text, mode) {
                prop_assert!(!span.text.is_empty());
                let kept = |c: char| match mode {
                    Show::Command => c == '\n',
                    Show::Code => c == '\t' || c == '\n',
                    Show::Name => false,
                };
                let unsafe_char = span.text.chars().find(|c| (c.is_control() || is_unseen(*c)) && !kept(*c));
                prop_assert_eq!(unsafe_char, None, "{:?} in {:?}", span, mode);
            }
        }
    }

    #[test]
    fn every_character_is_drawn_or_named(text in any_text()) {
        for mode in [Show::Command, Show::Code, Show::Name] {
            let mut back = String::new();
            for span in show(&text, mode) {
                match span.kind {
                    // The break after a line-break chip is the chip's own.
                    ShownKind::Plain => back.push_str(span.text.trim_start_matches('\n')),
                    _ => back.extend(named_by(&span)),
                }
            }
            prop_assert_eq!(&back, &text, "{:?}", mode);
        }
    }

    #[test]
    fn plain_ascii_words_are_left_alone(text in "[!-~]{1,20}( [!-~]{1,20}){0,5}") {
        prop_assert_eq!(command(&text), text.clone());
        prop_assert!(!has_hidden(&text));
    }
}
