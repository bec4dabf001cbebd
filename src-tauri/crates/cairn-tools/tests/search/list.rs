//! `list_dir`, SPEC T12.

use cairn_policy::{Care, Effect, Place};
use cairn_protocol::ContentBlock;
use serde_json::json;

use super::fixture::Project;

fn list(project: &Project, arguments: serde_json::Value) -> String {
    let outcome = project.run(&project.list_dir(), arguments);
    assert!(outcome.ok, "{}", outcome.content);
    outcome.content
}

#[test]
fn t12_folders_come_first_then_files_with_their_sizes() {
    let project = Project::with(&["src/a.rs", "assets/x", ".hidden/y"]);
    project.write("b.txt", "12345");
    project.write("a.txt", "");
    project.write(".env", "SECRET=1");
    assert_eq!(
        list(&project, json!({})),
        ".hidden/\nassets/\nsrc/\n.env  8\na.txt  0\nb.txt  5"
    );
    assert_eq!(list(&project, json!({"path": "src"})), "a.rs  8");
    assert_eq!(
        list(&project, json!({"path": ""})),
        list(&project, json!({"path": "."}))
    );
}

#[test]
fn t12_links_are_marked_with_where_they_lead() {
    let project = Project::with(&["src/a.rs"]);
    project.link("inside", "src/a.rs");
    project.link("folder", "src");
    project.link("dangling", "nothing");
    project.link("loop", "loop");
    project.link("outside", project.outside(""));
    let out = project.outside("");
    assert_eq!(
        list(&project, json!({})),
        format!(
            "src/\ndangling -> nothing (leads nowhere)\nfolder -> src\ninside -> src/a.rs\n\
             loop -> loop (leads nowhere)\noutside -> {} (outside the project)",
            out.display()
        )
    );
}

#[test]
fn t12_shows_500_entries_and_counts_the_rest() {
    let project = Project::new();
    for number in 0..510 {
        project.write(&format!("d{number:03}/x"), "");
    }
    for number in 0..30 {
        project.write(&format!("f{number:03}"), "");
    }
    let text = list(&project, json!({}));
    assert_eq!(text.lines().filter(|line| line.starts_with('d')).count(), 500);
    assert!(
        text.ends_with("[500 shown; 40 more: 10 folders, 30 files. `glob` finds files by name.]"),
        "{text}"
    );
}

#[test]
fn x52_a_listing_fits_the_budget_and_says_how_many_are_left() {
    let mut project = Project::new();
    for number in 0..100 {
        project.write(&format!("file-{number:03}"), "");
    }
    project.budget = 600;
    let text = list(&project, json!({}));
    assert!(text.chars().count() <= 600, "{}", text.len());
    let shown = text.lines().filter(|line| line.starts_with("file-")).count();
    assert!(shown > 10 && shown < 60, "{text}");
    assert!(
        text.contains(&format!(
            "[{shown} shown; {} more: 0 folders, {} files",
            100 - shown,
            100 - shown
        )),
        "{text}"
    );
}

#[test]
fn f14_names_that_break_lines_are_escaped() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::new();
    project.write("a\nb", "");
    std::fs::write(project.path("").join(std::ffi::OsStr::from_bytes(b"bad\xff")), "").unwrap();
    project.write("-rf", "");
    assert_eq!(list(&project, json!({})), "-rf  0\na\\x0ab  0\nbad\\xff  0");
}

#[test]
fn pipes_and_sockets_are_named_and_not_opened() {
    let project = Project::new();
    let _socket = std::os::unix::net::UnixListener::bind(project.path("socket")).unwrap();
    assert_eq!(list(&project, json!({})), "socket (a socket)");
}

#[test]
fn an_empty_folder_says_so_and_mistakes_are_named() {
    let project = Project::with(&["a.rs"]);
    std::fs::create_dir(project.path("empty")).unwrap();
    assert_eq!(
        list(&project, json!({"path": "empty"})),
        "empty is an empty folder."
    );
    for (arguments, says) in [
        (json!({"path": "missing"}), "missing does not exist"),
        (
            json!({"path": "missing"}),
            project.path("").to_str().unwrap().trim_end_matches('/'),
        ),
        (
            json!({"path": "a.rs"}),
            "a.rs is a file, not a folder: use `read_file`",
        ),
        (json!({"path": "a.rs/x"}), "a.rs is not a folder"),
        (json!({"path": "a\u{0}b"}), "NUL"),
        (json!({"path": 7}), "`path` must be a string"),
    ] {
        let message = project
            .prepare(&project.list_dir(), arguments.clone())
            .err()
            .unwrap()
            .message;
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn p2_names_are_listed_freely_and_outside_is_told_to_the_gate() {
    let project = Project::new();
    project.write(".ssh/id_rsa", "key");
    project.link("out", project.outside(""));
    let effect = |path: &str| {
        project
            .prepare(&project.list_dir(), json!({"path": path}))
            .unwrap()
            .effects
    };
    let read = |path, place| {
        vec![Effect::ReadPath {
            path,
            place,
            care: Care::Plain,
        }]
    };
    assert_eq!(effect(".ssh"), read(project.path(".ssh"), Place::Inside));
    // F04: the link's target is what is asked about.
    let out = project.outside("").components().collect();
    assert_eq!(effect("out"), read(out, Place::Outside));
    assert_eq!(
        effect(".."),
        read(project.path("").parent().unwrap().to_owned(), Place::Outside)
    );
}

#[test]
fn the_card_is_a_table() {
    let project = Project::with(&["a", "b/c"]);
    let prepared = project.prepare(&project.list_dir(), json!({})).unwrap();
    assert_eq!((prepared.title.as_str(), prepared.target.as_str()), ("List", "."));
    let outcome = project.run(&project.list_dir(), json!({}));
    assert_eq!(outcome.note, "2 entries");
    let [ContentBlock::Table(table)] = outcome.blocks.as_slice() else {
        panic!("a table")
    };
    assert_eq!(table.rows, [["b/", ""], ["a", "1"]]);
}
