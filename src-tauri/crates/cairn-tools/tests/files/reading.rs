//! What a model gets to see of a file.

use cairn_agent::store::StoreError;
use cairn_policy::{Care, Effect, Place};
use cairn_protocol::ContentBlock;
use serde_json::json;

use super::fixture::{Project, done, refused};

#[test]
fn numbers_lines_and_tells_the_end() {
    let project = Project::with("src/a.rs", "fn main() {\n\tx();\n}\n");
    let outcome = project.read("src/a.rs");
    done(&outcome);
    assert_eq!(
        outcome.content,
        "1\tfn main() {\n2\t\tx();\n3\t}\n[Lines 1 to 3 of 3; this is the end.]"
    );
    assert_eq!(outcome.note, "3 lines");
    let [ContentBlock::Code(code)] = outcome.blocks.as_slice() else {
        panic!("{:?}", outcome.blocks)
    };
    assert_eq!((code.language.as_str(), code.first_line), ("rust", 1));
    assert_eq!(code.text, "fn main() {\n\tx();\n}");
}

#[test]
fn x5_a_small_budget_still_tells_where_to_go_on_and_misses_no_line() {
    let lines: Vec<String> = (1..=700)
        .map(|line| format!("line {line} {}", "x".repeat(line % 60)))
        .collect();
    let mut project = Project::with("f", lines.join("\n"));
    project.budget = 4_000;
    let mut got = Vec::new();
    let mut offset = 1;
    loop {
        let outcome = project.run("read_file", json!({ "path": "f", "offset": offset }));
        done(&outcome);
        assert!(
            outcome.content.chars().count() <= project.budget,
            "{}",
            outcome.content.len()
        );
        let (text, footer) = outcome.content.rsplit_once("\n[").unwrap();
        got.extend(
            text.lines()
                .map(|line| line.split_once('\t').unwrap().1.to_owned()),
        );
        assert!(footer.contains("of 700"), "{footer}");
        match footer.split_once("go on with offset ") {
            Some((_, next)) => offset = next.split_once('.').unwrap().0.parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(got, lines);
    done(&project.write("f", "all was seen\n"));
}

#[test]
fn x6_a_large_file_needs_a_range() {
    let project = Project::with("big.txt", "0123456789\n".repeat(200_000));
    refused(&project.read("big.txt"), "Give offset and limit");
    let outcome = project.read_range("big.txt", 150_000, 2);
    done(&outcome);
    assert_eq!(
        outcome.content,
        "150000\t0123456789\n150001\t0123456789\n[Lines 150000 to 150001 of 200000; go on with offset 150002.]"
    );
    assert_eq!(outcome.note, "lines 150000\u{2013}150001 of 200000");
}

#[test]
fn x7_a_line_shown_cut_does_not_count_as_seen() {
    let project = Project::with("f", format!("a\n{}\n", "x".repeat(10_000)));
    let outcome = project.read("f");
    assert!(
        outcome.content.contains(" [cut: 8000 more characters]"),
        "{}",
        outcome.content
    );
    assert!(
        outcome
            .content
            .contains("1 line is shown cut and does not count as seen")
    );
    refused(&project.write("f", "new"), "lines 2 never shown whole");
    done(&project.edit("f", "a\n", "b\n"));
}

#[test]
fn x8_a_missing_file_names_the_folder_and_what_resembles_it() {
    let project = Project::with("src/axis.rs", "x");
    project.put("src/other.rs", "x");
    project.put("docs/reader.rs", "x");
    let outcome = project.read("src/axes.rs");
    let folder = project
        .path("")
        .to_string_lossy()
        .trim_end_matches('/')
        .to_owned();
    refused(
        &outcome,
        &format!("src/axes.rs does not exist. Paths are relative to the project folder {folder}."),
    );
    refused(&outcome, "Similar names: src/axis.rs.");
    refused(&project.read("reader.rs"), "Similar names: docs/reader.rs.");
    refused(
        &project.read("src"),
        "src is a folder, not a file: list what is in it with list_dir",
    );
    refused(&project.read("src/axis.rs/deeper"), "src/axis.rs is not a folder");
    assert!(!project.read("zzzzzzzz.qqq").content.contains("Similar"));
}

#[test]
fn x12_reads_every_encoding_and_says_which() {
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("ä\r\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let project = Project::with("wide.txt", utf16);
    project.put("old.txt", b"caf\xe9\n");
    project.put("empty.txt", "");
    assert_eq!(
        project.read("wide.txt").content,
        "1\tä\n[Lines 1 to 1 of 1; this is the end. It is written in UTF-16 LE.]"
    );
    assert!(project.read("old.txt").content.starts_with("1\tcafé\n"));
    let empty = project.read("empty.txt");
    assert_eq!(
        (empty.content.as_str(), empty.note.as_str()),
        ("empty.txt is empty (0 bytes of text).", "empty")
    );
    done(&project.write("empty.txt", "no longer\n"));
}

#[test]
fn g8_binary_is_named_as_such() {
    let project = Project::with("book.ods", b"PK\x03\x04\x14\0\0\0\x08\0rest");
    let outcome = project.read("book.ods");
    refused(&outcome, "book.ods is a binary file of 14 bytes");
    assert!(!outcome.content.contains('\0'));
    refused(&project.write("book.ods", "text"), "has not been read");
}

#[test]
fn an_offset_past_the_end_is_told() {
    let project = Project::with("f", "a\nb\n");
    refused(
        &project.read_range("f", 9, 5),
        "f has 2 lines: there is no line 9",
    );
}

#[test]
fn refuses_a_pipe_at_once() {
    let project = Project::new();
    let pipe = project.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    refused(&project.read("pipe"), "a named pipe (FIFO), which is never read");
}

#[test]
fn f02_f20_kernel_files_and_impossible_paths_are_refused_with_a_sentence() {
    let project = Project::new();
    for path in ["/proc/self/environ", "/dev/stdin", "/proc/self/root/etc/shadow"] {
        refused(&project.read(path), "paths in /proc and /dev are refused");
    }
    refused(&project.read("a\0b"), "NUL");
    refused(&project.read(&"x".repeat(5_000)), "too long");
    refused(&project.read(""), "the path is empty");
    refused(&project.read("file:///etc/passwd"), "is a URL");
}

#[test]
fn g4_f14_names_are_literal() {
    let names = [
        "app/[locale]/blog/[slug]/page.tsx",
        "-rf",
        "a b'c\"d.txt",
        "日本/übung.md",
        "~x",
        "{a,b}*?.rs",
    ];
    for name in names {
        let project = Project::with(name, "one\n");
        done(&project.read(name));
        done(&project.edit(name, "one", "two"));
        assert_eq!(project.text(name), "two\n");
        assert_eq!(
            project
                .prepare("read_file", json!({ "path": name }))
                .unwrap()
                .target,
            name
        );
    }
}

#[test]
fn f15_a_credential_file_is_declared_as_one() {
    let project = Project::with(".env", "KEY=1");
    let prepared = project.prepare("read_file", json!({ "path": ".env" })).unwrap();
    let path = project.path(".env");
    assert_eq!(
        prepared.effects,
        [Effect::ReadPath {
            path,
            place: Place::Inside,
            care: Care::Credential
        }]
    );
}

#[test]
fn a_cut_result_is_read_as_output_in_its_own_session() {
    let project = Project::new();
    *project.journal.output.lock().unwrap() = Some((1..=50).map(|line| format!("out {line}\n")).collect());
    let prepared = project
        .prepare("read_file", json!({ "path": "output:o1", "offset": 49 }))
        .unwrap();
    assert_eq!(
        (prepared.target.as_str(), prepared.effects.as_slice()),
        ("output:o1", &[Effect::Own][..])
    );
    let outcome = project.execute(prepared);
    assert_eq!(
        outcome.content,
        "49\tout 49\n50\tout 50\n[Lines 49 to 50 of 50; this is the end.]"
    );
    let missing = project.read("output:o2");
    refused(&missing, &StoreError::Missing("the output o2".into()).to_string());
}

#[test]
fn a_stopped_read_ends_at_once() {
    let project = Project::with("f", "x");
    project.cancel.cancel();
    let outcome = project.read("f");
    assert!(outcome.stopped && !outcome.ok);
}

#[test]
fn numbers_may_come_as_strings_and_wrong_ones_are_named() {
    let project = Project::with("f", "a\nb\nc\n");
    let outcome = project.run("read_file", json!({ "path": "f", "offset": "2", "limit": "1" }));
    assert!(outcome.content.starts_with("2\tb\n["), "{}", outcome.content);
    refused(
        &project.run("read_file", json!({ "path": "f", "offset": "two" })),
        "offset",
    );
    refused(&project.run("read_file", json!({})), "path");
}
