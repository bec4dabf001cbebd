use std::cell::Cell;
use std::io::{Seek as _, SeekFrom, Write as _};

use super::*;

fn request(first: u64, count: u64) -> PageRequest {
    PageRequest {
        first,
        count,
        chars: 100_000,
    }
}

fn open(path: &std::path::Path) -> (File, Stamp) {
    let file = File::open(path).unwrap();
    let stamp = Stamp::of(&rustix::fs::fstat(&file).unwrap());
    (file, stamp)
}

fn text(lines: Lines) -> Page {
    match lines {
        Lines::Text(page) => page,
        Lines::Binary { .. } => panic!("binary"),
    }
}

#[test]
fn t10_a_file_that_grows_while_it_is_read_ends_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, "one\ntwo\nthr").unwrap();
    let (file, stamp) = open(&path);
    let mut more = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    more.write_all(b"ee\nfour\n").unwrap();
    let page = text(page(file, stamp, &request(1, 2_000), &|| false).unwrap());
    let lines: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["one", "two", "thr"]);
    assert_eq!(page.total, Total::Bytes(11));
    assert_eq!(
        page.content, None,
        "what was shown is not what is there: it does not count as seen"
    );
}

#[test]
fn t10_a_hole_of_any_size_stops_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut file = File::create(&path).unwrap();
    file.write_all("text\n".repeat(4_000).as_bytes()).unwrap();
    file.set_len(1 << 36).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"\nend\n").unwrap();
    // Once while lines before it are skipped, once while the line itself is shown.
    for first in [4_010, 4_001] {
        let (file, stamp) = open(&path);
        let asked = Cell::new(0);
        let stopped = || {
            asked.set(asked.get() + 1);
            asked.get() > 20
        };
        let error = page(file, stamp, &request(first, 5), &stopped).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        assert_eq!(asked.get(), 21);
    }
    // What comes before it is there at once.
    let (file, stamp) = open(&path);
    let page = text(page(file, stamp, &request(3_999, 2), &|| false).unwrap());
    assert_eq!((page.lines.len(), page.next), (2, Some(4_001)));
}

#[test]
fn t10_skips_to_any_line_wherever_the_pieces_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    // Lines of every length around a piece's, some of them longer; the last without an end.
    let line = |number: u64| format!("{number} {}", "x".repeat((number * 7_919 % 90_000) as usize));
    let all: Vec<String> = (1..=12).map(line).collect();
    std::fs::write(&path, all.join("\n")).unwrap();
    for first in 1..=14 {
        let (file, stamp) = open(&path);
        let page = text(page(file, stamp, &request(first, 1), &|| false).unwrap());
        let start = page
            .lines
            .first()
            .map(|line| (line.number, line.text.split(' ').next().unwrap().to_owned()));
        assert_eq!(
            start,
            (first <= 12).then(|| (first, first.to_string())),
            "{first}"
        );
        assert_eq!(page.next, (first < 12).then_some(first + 1));
    }
}
