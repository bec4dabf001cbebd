#![allow(clippy::format_collect)] // Shorter, and tests may be slow.

use std::io::Write as _;

use super::*;

fn project() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    (folder, root)
}

fn request(first: u64, count: u64, chars: usize) -> PageRequest {
    PageRequest { first, count, chars }
}

fn text(root: &Root, name: &str, wanted: PageRequest) -> Page {
    match page(root, &root.path().join(name), &wanted, &|| false).unwrap() {
        Lines::Text(page) => page,
        Lines::Binary { .. } => panic!("binary"),
    }
}

/// Follows the next offsets and gives all lines in the order they came.
fn follow(root: &Root, name: &str, chars: usize) -> Vec<PageLine> {
    let mut all = Vec::new();
    let mut next = Some(1);
    while let Some(first) = next {
        let page = text(root, name, request(first, 2_000, chars));
        assert!(!page.lines.is_empty(), "no progress at line {first}");
        all.extend(page.lines);
        next = page.next;
    }
    all
}

#[test]
fn x5_following_the_offsets_gives_every_line_exactly_once() {
    let (folder, root) = project();
    for (chars, count) in [(10, 100), (400, 3_000), (4_000, 3_000), (1_000_000, 3_000)] {
        let lines: Vec<String> = (1..=count)
            .map(|line| format!("{line} {}", "x".repeat(line % 90)))
            .collect();
        std::fs::write(folder.path().join("f"), lines.join("\n")).unwrap();
        let all = follow(&root, "f", chars);
        assert_eq!(all.len(), count);
        assert!(all.iter().zip(1..).all(|(line, number)| line.number == number));
        if chars > 399 {
            assert!(
                all.iter()
                    .zip(&lines)
                    .all(|(line, text)| line.text == *text && line.hidden == 0)
            );
        }
    }
}

#[test]
fn x7_a_line_shown_cut_is_not_seen() {
    let (folder, root) = project();
    std::fs::write(
        folder.path().join("f"),
        format!("one\n{}\nthree\n", "é".repeat(10_000)),
    )
    .unwrap();
    let page = text(&root, "f", request(1, 100, 100_000));
    assert_eq!(
        (page.lines[1].hidden, page.lines[1].text.chars().count()),
        (8_000, 2_000)
    );
    assert_eq!(
        page.seen(),
        [LineRange { first: 1, last: 1 }, LineRange { first: 3, last: 3 }]
    );
    let tight = text(&root, "f", request(2, 100, 10 + LINE_COST + CUT_COST));
    assert_eq!(
        (tight.lines[0].text.as_str(), tight.lines[0].hidden),
        ("éééééééééé", 9_990)
    );
    assert_eq!(tight.seen(), []);
}

#[test]
fn x12_shows_every_kind_of_text_without_its_line_ends() {
    let (folder, root) = project();
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("a\r\nß".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let cases: [(&[u8], &[&str]); 7] = [
        (b"", &[]),
        (b"a\nb", &["a", "b"]),
        (b"a\r\nb\n", &["a", "b"]),
        (b"a\rb\r", &["a", "b"]),
        (b"\xef\xbb\xbfa\n", &["a"]),
        (b"caf\xe9\n", &["café"]),
        (&utf16, &["a", "ß"]),
    ];
    for (bytes, lines) in cases {
        std::fs::write(folder.path().join("f"), bytes).unwrap();
        let page = text(&root, "f", request(1, 100, 10_000));
        assert_eq!(
            page.lines
                .iter()
                .map(|line| line.text.as_str())
                .collect::<Vec<_>>(),
            lines
        );
        assert_eq!((page.total, page.next), (Total::Lines(lines.len() as u64), None));
    }
    std::fs::write(folder.path().join("f"), b"PK\x03\x04\0\0").unwrap();
    let lines = page(&root, &root.path().join("f"), &request(1, 1, 100), &|| false).unwrap();
    assert_eq!(lines, Lines::Binary { bytes: 6 });
}

/// How text becomes bytes.
type Encode = fn(&str) -> Vec<u8>;

/// A file just above the limit: `line 1`, `line 2`, … padded, with the given end and encoding.
fn large(folder: &Path, encode: impl Fn(&str) -> Vec<u8>) -> u64 {
    let mut file = std::io::BufWriter::new(File::create(folder.join("big")).unwrap());
    let mut written = 0;
    let mut line = 0;
    while written <= WHOLE_LIMIT as usize {
        line += 1;
        let bytes = encode(&format!("line {line} {}\n", "é".repeat(line % 150)));
        file.write_all(&bytes).unwrap();
        written += bytes.len();
    }
    file.flush().unwrap();
    line as u64
}

#[test]
fn x6_serves_ranges_of_files_above_the_limit() {
    let utf8 = |text: &str| text.as_bytes().to_vec();
    let utf16le = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let utf16be = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect::<Vec<u8>>()
    };
    let encodings: [Encode; 3] = [utf8, utf16le, utf16be];
    for encode in encodings {
        let (folder, root) = project();
        let last = large(folder.path(), encode);
        let path = root.path().join("big");
        let size = std::fs::metadata(&path).unwrap().len();
        let page = text(&root, "big", request(5_001, 3, 10_000));
        let shown: Vec<(u64, &str)> = page
            .lines
            .iter()
            .map(|line| (line.number, &line.text[..9]))
            .collect();
        assert_eq!(
            shown,
            [(5_001, "line 5001"), (5_002, "line 5002"), (5_003, "line 5003")]
        );
        assert_eq!((page.total, page.next), (Total::Bytes(size), Some(5_004)));
        let end = text(&root, "big", request(last - 1, 2_000, 100_000));
        assert_eq!((end.lines.len(), end.next), (2, None));
        assert_eq!(text(&root, "big", request(last + 50, 5, 100)).lines, []);

        let whole = whole(&root, &path, EDIT_LIMIT).unwrap();
        let mut coverage = crate::coverage::Coverage::default();
        coverage.note_read(&path, page.content.clone().unwrap(), &page.seen(), None);
        assert_eq!(coverage.check_edit(&path, &whole), Ok(()));
    }
}

#[test]
fn x6_the_pages_of_a_large_file_join_without_a_gap() {
    let (folder, root) = project();
    large(folder.path(), |text| text.as_bytes().to_vec());
    let mut end = 0;
    let mut next = Some(1);
    for _ in 0..40 {
        let page = text(&root, "big", request(next.unwrap(), 2_000, 5_000));
        let Some(ContentId::Parts { parts, .. }) = &page.content else {
            panic!("no parts")
        };
        assert_eq!(parts[0].start, end);
        end = parts[0].end;
        next = page.next;
    }
}

#[test]
fn one_endless_line_is_read_in_constant_memory() {
    let (folder, root) = project();
    let bytes = [vec![b'x'; WHOLE_LIMIT as usize + 10], b"\nnext\n".to_vec()].concat();
    std::fs::write(folder.path().join("f"), bytes).unwrap();
    let page = text(&root, "f", request(1, 10, 100_000));
    assert_eq!(page.lines[0].text.len(), LINE_WIDTH);
    assert_eq!(page.lines[0].hidden, WHOLE_LIMIT + 11 - LINE_WIDTH as u64);
    assert_eq!(page.lines[1].text, "next");
    assert_eq!(page.seen(), [LineRange { first: 2, last: 2 }]);
}

#[test]
fn refuses_what_is_larger_than_asked() {
    let (folder, root) = project();
    std::fs::write(folder.path().join("f"), "12345").unwrap();
    let error = whole(&root, &root.path().join("f"), 4).unwrap_err();
    assert_eq!(
        error,
        FileError::TooLarge {
            shown: "f".into(),
            size: 5,
            limit: 4
        }
    );
}

#[test]
fn pages_a_text_that_is_no_file() {
    let (lines, total, next) = page_of_text("a\nb\nc", &request(2, 1, 100));
    assert_eq!(
        (lines[0].number, lines[0].text.as_str(), total, next),
        (2, "b", Total::Lines(3), Some(3))
    );
}
