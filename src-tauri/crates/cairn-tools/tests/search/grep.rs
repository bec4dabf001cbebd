//! `grep`, SPEC T14.

use cairn_policy::{Care, Effect, Place};
use cairn_protocol::{ContentBlock, ShownKind};
use serde_json::{Value, json};

use super::fixture::{Project, lines};

fn grep(project: &Project, arguments: Value) -> String {
    project.run(&project.grep(), arguments).content
}

fn hits(project: &Project, arguments: Value) -> Vec<String> {
    lines(&project.run(&project.grep(), arguments))
}

fn margin() -> Project {
    let project = Project::new();
    project.write(
        "src/axis.rs",
        "fn a() {}\nlet margin_left = 12;\nlet y = 1;\nmargin_left + margin_left\n",
    );
    project.write("src/chart.rs", "use axis::margin_left;\n");
    project.write("readme.md", "Margin_Left is the margin.\n");
    project
}

#[test]
fn t14_grouped_by_file_in_path_order_one_line_per_hit() {
    let project = margin();
    assert_eq!(
        grep(&project, json!({"pattern": "margin_left"})),
        "src/axis.rs:2:let margin_left = 12;\nsrc/axis.rs:4:margin_left + margin_left\n\
         src/chart.rs:1:use axis::margin_left;\n[3 matches in 2 files]"
    );
    assert_eq!(
        project
            .run(&project.grep(), json!({"pattern": "margin_left"}))
            .note,
        "3 matches in 2 files"
    );
}

#[test]
fn t14_each_option_does_what_it_says() {
    let project = margin();
    project.write("src/dots.txt", "a.b\naxb\nstart\nmiddle\nend\n");
    for (arguments, expected) in [
        (
            json!({"pattern": "a.b", "path": "src/dots.txt"}),
            vec!["src/dots.txt:1:a.b", "src/dots.txt:2:axb"],
        ),
        (
            json!({"pattern": "a.b", "path": "src/dots.txt", "literal": "true"}),
            vec!["src/dots.txt:1:a.b"],
        ),
        (
            json!({"pattern": "margin_left", "glob": "*.md", "case_insensitive": true}),
            vec!["readme.md:1:Margin_Left is the margin."],
        ),
        (
            json!({"pattern": "margin_left", "glob": "!axis.rs"}),
            vec!["src/chart.rs:1:use axis::margin_left;"],
        ),
        (
            json!({"pattern": "margin_left", "glob": "src/c*.rs"}),
            vec!["src/chart.rs:1:use axis::margin_left;"],
        ),
        (
            json!({"pattern": "margin_left", "glob": "src/c*.rs", "path": "src"}),
            vec!["src/chart.rs:1:use axis::margin_left;"],
        ),
        (
            json!({"pattern": "margin_left", "output": "files"}),
            vec!["src/axis.rs", "src/chart.rs"],
        ),
        (
            json!({"pattern": "margin_left", "output": "count"}),
            vec!["src/axis.rs:2", "src/chart.rs:1"],
        ),
        (
            json!({"pattern": "start\\nmiddle", "multiline": true}),
            vec!["src/dots.txt:3:start", "src/dots.txt:4:middle"],
        ),
        (
            json!({"pattern": "start\nmiddle", "literal": true}),
            vec!["src/dots.txt:3:start", "src/dots.txt:4:middle"],
        ),
        (json!({"pattern": "start.middle"}), vec![]),
        (json!({"pattern": "^end$"}), vec!["src/dots.txt:5:end"]),
    ] {
        assert_eq!(hits(&project, arguments.clone()), expected, "{arguments}");
    }
}

/// E3, for searches: what is shown without `\r` is found without it.
#[test]
fn t14_a_snippet_of_several_lines_is_found_whatever_ends_them() {
    let project = Project::new();
    project.write("crlf.txt", "a.b\r\nc(d\r\ne\r\n");
    project.write("lf.txt", "a.b\nc(d\ne\n");
    project.write("none.txt", "axb\nc(d\na.b c(d\n");
    for pattern in ["a.b\nc(d\n", "a.b\r\nc(d\r\n", ".b\nc"] {
        for multiline in [false, true] {
            let arguments =
                json!({"pattern": pattern, "literal": true, "multiline": multiline, "output": "files"});
            assert_eq!(
                hits(&project, arguments),
                ["crlf.txt", "lf.txt"],
                "{pattern:?} {multiline}"
            );
        }
    }
}

#[test]
fn t14_no_match_is_no_error() {
    let project = margin();
    let outcome = project.run(&project.grep(), json!({"pattern": "zebra"}));
    assert!(outcome.ok);
    assert_eq!(outcome.content, "No match for `zebra` (3 files searched).");
    assert_eq!(outcome.note, "no matches");
    assert_eq!(
        grep(&project, json!({"pattern": "zebra", "path": "src"})),
        "No match for `zebra` in src (2 files searched)."
    );
}

#[test]
fn t14_mistakes_are_named() {
    let project = margin();
    for (arguments, says) in [
        (json!({}), "`pattern` is missing"),
        (json!({"pattern": ""}), "The pattern is empty"),
        (
            json!({"pattern": "foo(bar"}),
            "foo(bar\n       ^\nerror: unclosed group",
        ),
        (json!({"pattern": "(a{1000}){1000}"}), "too large when compiled"),
        (
            json!({"pattern": "a", "context": 11}),
            "`context` must be a whole number from 0 to 10",
        ),
        (
            json!({"pattern": "a", "output": "lines"}),
            "`output` must be one of `content`, `files`, `count`",
        ),
        (
            json!({"pattern": "a", "path": "missing"}),
            "missing does not exist",
        ),
        (json!({"pattern": "a", "glob": "[a"}), "`glob` is not a pattern"),
        (
            json!({"pattern": "a", "ignore_case": true, "regex": "x", "paths": "x"}),
            "did you mean",
        ),
    ] {
        let message = project
            .prepare(&project.grep(), arguments.clone())
            .err()
            .unwrap()
            .message;
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn x53_windows_merge_when_they_touch_and_matches_are_told_from_their_surroundings() {
    let project = Project::new();
    let text: String = (1..=20)
        .map(|n| {
            if [5, 8, 15].contains(&n) {
                format!("hit {n}\n")
            } else {
                format!("line {n}\n")
            }
        })
        .collect();
    project.write("a.txt", text);
    project.write("b.txt", "hit\n");
    assert_eq!(
        grep(&project, json!({"pattern": "hit", "context": 1})),
        "a.txt-4-line 4\na.txt:5:hit 5\na.txt-6-line 6\na.txt-7-line 7\na.txt:8:hit 8\na.txt-9-line 9\n--\n\
         a.txt-14-line 14\na.txt:15:hit 15\na.txt-16-line 16\n--\nb.txt:1:hit\n[4 matches in 2 files]"
    );
    // Overlapping ones too, each line once.
    let wide = grep(&project, json!({"pattern": "hit", "context": 3, "path": "a.txt"}));
    assert_eq!(wide.lines().filter(|line| line.starts_with("a.txt")).count(), 17);
    assert!(!wide.contains("--\n"), "{wide}");
    let outcome = project.run(&project.grep(), json!({"pattern": "hit", "context": 1}));
    let [ContentBlock::Locations(locations)] = outcome.blocks.as_slice() else {
        panic!("locations")
    };
    let matched: Vec<(u32, bool)> = locations.files[0]
        .lines
        .iter()
        .map(|line| (line.line, line.matched))
        .collect();
    assert_eq!(matched[..3], [(4, false), (5, true), (6, false)]);
    let marked: Vec<&str> = locations.files[0].lines[1]
        .spans
        .iter()
        .filter(|span| span.kind == ShownKind::Changed)
        .map(|span| span.text.as_str())
        .collect();
    assert_eq!(marked, ["hit"]);
}

#[test]
fn g1_one_enormous_line_costs_one_window() {
    let project = Project::new();
    let mut line = "x=1;".repeat(250_000);
    line.replace_range(500_000..500_012, "var needle=1");
    line.push_str("needle");
    project.write("bundle.js", &line);
    let text = grep(&project, json!({"pattern": "needle"}));
    assert!(text.len() < 600, "{}", text.len());
    assert!(
        text.contains("var needle=1")
            && text.contains(&format!("[2 matches in this line of {} bytes]", line.len())),
        "{text}"
    );
    // Around a match as well.
    project.write(
        "b.js",
        format!("{}\nneedle\n{}\n", "y".repeat(1_000_000), "z".repeat(1_000_000)),
    );
    let text = grep(
        &project,
        json!({"pattern": "needle", "path": "b.js", "context": 2}),
    );
    assert!(text.len() < 1_200, "{}", text.len());
    assert!(text.contains("[line of 1000000 bytes]"), "{text}");
}

#[test]
fn g2_a_match_far_into_a_line_is_in_view() {
    let project = Project::new();
    project.write("a.txt", format!("{}needle{}", "x".repeat(4_900), "y".repeat(94)));
    let text = grep(&project, json!({"pattern": "needle"}));
    assert!(
        text.contains("xneedley") && text.contains("[1 match in this line of 5000 bytes]"),
        "{text}"
    );
}

#[test]
fn x52_stops_at_250_matches_and_says_so() {
    let project = Project::new();
    for file in 0..10 {
        project.write(&format!("f{file}.txt"), "hit\n".repeat(100));
    }
    let outcome = project.run(&project.grep(), json!({"pattern": "hit"}));
    assert_eq!(lines(&outcome).len(), 250);
    assert!(
        outcome.content.contains("f2.txt:50:hit") && !outcome.content.contains("f2.txt:51:"),
        "{}",
        outcome.note
    );
    assert!(
        outcome
            .content
            .contains("[Stopped at 250 matches of 1000 matches in 10 files."),
        "{}",
        outcome.content
    );
    let [ContentBlock::Locations(locations)] = outcome.blocks.as_slice() else {
        panic!("locations")
    };
    assert_eq!((locations.files.len(), locations.omitted), (3, 750));
    // The count is of everything.
    assert!(
        grep(&project, json!({"pattern": "hit", "output": "count"}))
            .contains("f9.txt:100\n[1000 matches in 10 files]")
    );
    // Exactly 250 are not too many, and one file alone can be too many.
    project.write("exact/a", "hit\n".repeat(250));
    project.write("over/a", "hit\n".repeat(251));
    assert!(grep(&project, json!({"pattern": "hit", "path": "exact"})).ends_with("[250 matches in 1 file]"));
    let over = project.run(&project.grep(), json!({"pattern": "hit", "path": "over"}));
    assert!(
        over.content
            .contains("[Stopped at 250 matches of 251 matches in 1 file."),
        "{}",
        over.content
    );
}

#[test]
fn x52_many_files_keep_the_first_in_path_order_every_time() {
    let project = Project::new();
    for file in 0..900 {
        project.write(&format!("d{}/f{file:04}.txt", file % 9), "hit\nmiss\n");
    }
    let first = project.run(&project.grep(), json!({"pattern": "hit"}));
    let shown = lines(&first);
    assert_eq!(shown.len(), 250);
    let mut sorted = shown.clone();
    sorted.sort();
    assert_eq!(shown, sorted);
    assert!(shown[249].starts_with("d2/"), "{}", shown[249]);
    for _ in 0..5 {
        assert_eq!(
            project.run(&project.grep(), json!({"pattern": "hit"})).content,
            first.content
        );
    }
    let files = project.run(&project.grep(), json!({"pattern": "hit", "output": "files"}));
    assert_eq!(lines(&files).len(), 250);
    assert!(
        files
            .content
            .ends_with("[Stopped at 250 of 900 files. Narrow the pattern, `path` or `glob`.]"),
        "{}",
        files.content
    );
}

#[test]
fn x52_fits_the_budget() {
    let mut project = Project::new();
    project.write("a.txt", "a line with a hit in it\n".repeat(200));
    project.budget = 2_000;
    for output in ["content", "count", "files"] {
        let outcome = project.run(
            &project.grep(),
            json!({"pattern": "hit", "output": output, "context": 1}),
        );
        assert!(outcome.content.chars().count() <= 2_000, "{output}");
    }
    let outcome = project.run(&project.grep(), json!({"pattern": "hit"}));
    let shown = lines(&outcome).len();
    assert!(
        shown > 20
            && outcome
                .content
                .contains(&format!("[Stopped at {shown} matches of 200 matches")),
        "{}",
        outcome.content
    );
}

#[test]
fn x55_ignored_and_hidden_files_are_not_searched_unless_named() {
    let project = Project::with(&["a.txt", "target/b.txt", ".github/c.txt", "own/d.txt"]);
    project.write(".gitignore", "target\n");
    project.write(".cairnignore", "own\n");
    assert_eq!(
        hits(&project, json!({"pattern": "txt", "output": "files"})),
        ["a.txt"]
    );
    for path in ["target/b.txt", ".github/c.txt", "own/d.txt"] {
        let folder = path.split('/').next().unwrap();
        assert_eq!(
            hits(
                &project,
                json!({"pattern": "txt", "output": "files", "path": folder})
            ),
            [path]
        );
        assert_eq!(
            hits(
                &project,
                json!({"pattern": "txt", "output": "files", "path": path})
            ),
            [path]
        );
    }
}

#[test]
fn x55_g8_binary_files_are_skipped_and_counted() {
    let project = Project::new();
    project.write("a.txt", "needle\n");
    project.write("b.zip", b"PK\x03\x04\0\0needle\n");
    project.write("c.bin", [b"needle\n".repeat(100).as_slice(), b"\0"].concat());
    assert_eq!(
        grep(&project, json!({"pattern": "needle"})),
        "a.txt:1:needle\n[1 match in 1 file]\n[skipped: 2 binary files]"
    );
    let named = grep(&project, json!({"pattern": "needle", "path": "b.zip"}));
    assert_eq!(
        named,
        "No match for `needle` in b.zip (0 files searched).\n[skipped: 1 binary file]"
    );
}

#[test]
fn p2_f15_a_folder_search_skips_credentials_and_counts_them_whatever_the_pattern() {
    let project = Project::new();
    for name in [
        "server.pem",
        "config/credentials",
        "id_rsa",
        "deploy/id_ed25519",
        ".env",
        "a.key",
    ] {
        project.write(name, "CANARY\n");
    }
    for name in ["id_rsa.pub", "env.rs", "keyboard.rs", "credentials.md"] {
        project.write(name, "CANARY open\n");
    }
    for output in ["content", "files", "count"] {
        let text = grep(&project, json!({"pattern": "CANARY", "output": output}));
        for secret in ["pem", "config/", "id_rsa:", "deploy", ".env", "a.key"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(
            text.contains("in 4 files]") || text.contains("[4 files]"),
            "{text}"
        );
        assert!(text.contains("[skipped: 5 credential files]"), "{text}");
    }
    // Whether the pattern matches must not show in what is skipped.
    let other = grep(&project, json!({"pattern": "zebra"}));
    assert!(other.contains("[skipped: 5 credential files]"), "{other}");
    // An own filter does not open the door.
    assert!(!grep(&project, json!({"pattern": "CANARY", "glob": "*.pem"})).contains("server.pem:"));
}

#[test]
fn p2_naming_a_credential_tells_the_gate_and_then_searches_it() {
    let project = Project::new();
    project.write(".env", "TOKEN=1\n");
    project.write(".ssh/config", "TOKEN\n");
    project.write("src/a.rs", "TOKEN\n");
    for (path, care) in [
        (".env", Care::Credential),
        (".ssh", Care::Credential),
        ("src", Care::Plain),
        (".", Care::Plain),
    ] {
        let prepared = project
            .prepare(&project.grep(), json!({"pattern": "TOKEN", "path": path}))
            .unwrap();
        let [
            Effect::ReadPath {
                place: Place::Inside,
                care: found,
                ..
            },
        ] = prepared.effects.as_slice()
        else {
            panic!("one read")
        };
        assert_eq!(*found, care, "{path}");
        assert!(prepared.subject.is_some());
    }
    assert_eq!(
        hits(&project, json!({"pattern": "TOKEN", "path": ".env"})),
        [".env:1:TOKEN=1"]
    );
    assert_eq!(
        hits(&project, json!({"pattern": "TOKEN", "path": ".ssh"})),
        [".ssh/config:1:TOKEN"]
    );
}

#[test]
fn f04_links_out_of_the_project_are_not_followed_and_named_ones_are_told_to_the_gate() {
    let project = Project::with(&["a.txt"]);
    project.write_outside("secret.txt", "CANARY\n");
    project.link("out", project.outside(""));
    project.link("file", project.outside("secret.txt"));
    project.link("up", "..");
    assert!(grep(&project, json!({"pattern": "CANARY"})).starts_with("No match"));
    for (path, real) in [
        ("out", ""),
        ("file", "secret.txt"),
        ("out/secret.txt", "secret.txt"),
        ("../out", ""),
    ] {
        let prepared = project
            .prepare(&project.grep(), json!({"pattern": "x", "path": path}))
            .unwrap();
        let path: std::path::PathBuf = project.outside(real).components().collect();
        let effect = Effect::ReadPath {
            path,
            place: Place::Outside,
            care: Care::Plain,
        };
        assert_eq!(prepared.effects, [effect]);
    }
}

#[test]
fn a_folder_that_became_a_link_after_it_was_judged_is_not_searched() {
    let project = Project::with(&["sub/a.txt"]);
    project.write_outside("a.txt", "sub/a.txt CANARY\n");
    let prepared = project
        .prepare(&project.grep(), json!({"pattern": "a.txt", "path": "sub"}))
        .unwrap();
    std::fs::rename(project.path("sub"), project.path("moved")).unwrap();
    project.link("sub", project.outside(""));
    let outcome =
        super::fixture::runtime().block_on(super::fixture::execute(prepared).execute(project.context()));
    assert!(!outcome.content.contains("CANARY"), "{}", outcome.content);
}

#[test]
fn x55_an_expression_that_explodes_elsewhere_ends_in_time() {
    let project = Project::new();
    project.write("a.txt", format!("{}!\n", "a".repeat(200_000)));
    let begun = std::time::Instant::now();
    for pattern in ["(a+)+$", "(a|aa)+$", "(.*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
        grep(&project, json!({"pattern": pattern}));
    }
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn line_ends_and_encodings_are_read_as_text() {
    let project = Project::new();
    project.write("crlf.txt", "one;\r\ntwo;\r\n");
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("naïve match\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    project.write("utf16.txt", utf16);
    project.write("latin1.txt", b"caf\xe9 match\n");
    project.write("bom.txt", "\u{feff}match\n");
    assert_eq!(hits(&project, json!({"pattern": "one;$"})), ["crlf.txt:1:one;"]);
    assert_eq!(
        hits(&project, json!({"pattern": "one;\\r$"})),
        ["crlf.txt:1:one;"]
    );
    assert_eq!(
        hits(&project, json!({"pattern": "^match$", "path": "bom.txt"})),
        ["bom.txt:1:match"]
    );
    assert_eq!(
        hits(&project, json!({"pattern": "match"})),
        [
            "bom.txt:1:match",
            "latin1.txt:1:caf\u{fffd} match",
            "utf16.txt:1:naïve match"
        ]
    );
}

#[test]
fn a_match_of_many_lines_is_shown_short_and_counted_once() {
    let project = Project::new();
    project.write("a.txt", format!("begin\n{}end\nbegin\nend\n", "x\n".repeat(100)));
    let text = grep(&project, json!({"pattern": "(?s)begin.*?end", "multiline": true}));
    assert!(
        text.contains("[72 more lines of this match]") || text.contains("more lines of this match]"),
        "{text}"
    );
    assert!(text.contains("[2 matches in 1 file]"), "{text}");
    project.write("b.txt", "aXa\nXa\n");
    let text = grep(
        &project,
        json!({"pattern": "a\\nX", "multiline": true, "path": "b.txt"}),
    );
    assert_eq!(text, "b.txt:1:aXa\nb.txt:2:Xa\n[1 match in 1 file]");
}

#[test]
fn t3_a_kept_output_is_searched_unasked() {
    let project = Project::new();
    let prepared = project
        .prepare(&project.grep(), json!({"pattern": "error", "path": "output:o1"}))
        .unwrap();
    assert_eq!(prepared.effects, [Effect::Own]);
    assert_eq!(prepared.target, "error in output:o1");
    assert_eq!(
        hits(&project, json!({"pattern": "error", "path": "output:o1"})),
        ["output:o1:2:error: one\u{0}two", "output:o1:3:last error"]
    );
    let missing = project.run(&project.grep(), json!({"pattern": "error", "path": "output:zz"}));
    assert!(
        !missing.ok && missing.content.contains("output:zz could not be searched"),
        "{}",
        missing.content
    );
}

#[test]
fn p45_the_environment_of_ripgrep_means_nothing() {
    // By construction: no program is started and no configuration file read. What would be read is named here so
    // that the test says what it is about.
    let source = include_str!("../../src/grep/search.rs");
    assert!(!source.contains("RIPGREP_CONFIG_PATH") && !source.contains("Command"));
}

#[test]
fn f14_names_that_break_lines_are_escaped() {
    let project = Project::new();
    project.write("a\nb", "hit\n");
    assert_eq!(hits(&project, json!({"pattern": "hit"})), ["a\\x0ab:1:hit"]);
}

#[test]
fn the_card_is_named_after_the_pattern() {
    let project = margin();
    let title = |arguments| {
        let prepared = project.prepare(&project.grep(), arguments).unwrap();
        (prepared.title, prepared.target)
    };
    assert_eq!(
        title(json!({"pattern": "margin_left"})),
        ("Search".to_owned(), "margin_left".to_owned())
    );
    assert_eq!(title(json!({"pattern": "x", "path": "src/"})).1, "x in src");
}

/// The most memory that this process ever held, bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn bad_input_a_line_of_200_mb_is_left_out_and_said() {
    let project = Project::new();
    project.write("a", "needle\n");
    {
        let mut file = std::fs::File::create(project.path("line")).unwrap();
        let piece = vec![b'x'; 1_000_000];
        for _ in 0..200 {
            std::io::Write::write_all(&mut file, &piece).unwrap();
        }
        std::io::Write::write_all(&mut file, b"needle\n").unwrap();
    }
    let before = peak();
    let outcome = project.run(&project.grep(), json!({ "pattern": "needle" }));
    let more = peak() - before;
    assert!(outcome.content.contains("1 match"), "{}", outcome.content);
    assert!(outcome.content.contains("skipped"), "{}", outcome.content);
    // A buffer of 64 MB, and one of half its size while it grows.
    assert!(more <= 128 << 20, "{more} bytes more");
}
