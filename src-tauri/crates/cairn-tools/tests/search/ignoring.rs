//! Rule files that are no plain files, too large, or elsewhere.

use std::collections::BTreeSet;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use cairn_tools::place::Workspace;
use rustix::fs::{FileType, Mode};
use serde_json::json;

use super::fixture::{Project, lines};

/// The files that `glob` and `grep` find; both must find the same, and must not wait for anybody.
fn found(project: Project) -> (Project, BTreeSet<String>, String) {
    let (sender, receiver) = std::sync::mpsc::channel();
    // On a thread that is left behind where it hangs, so that the test fails instead of hanging too.
    std::thread::spawn(move || {
        let globbed = project.run(&project.glob(), json!({"pattern": "*.md"}));
        let grepped = project.run(
            &project.grep(),
            json!({"pattern": "md", "output": "files", "glob": "*.md"}),
        );
        let [files, others] = [globbed.clone(), grepped].map(|outcome| {
            let files = lines(&outcome).into_iter();
            files.filter(|line| !line.is_empty()).collect::<BTreeSet<_>>()
        });
        assert_eq!(files, others);
        sender.send((project, files, globbed.content)).unwrap();
    });
    receiver
        .recv_timeout(Duration::from_secs(20))
        .expect("the search waits for somebody")
}

fn set(files: &[&str]) -> BTreeSet<String> {
    files.iter().map(|file| (*file).to_owned()).collect()
}

fn pipe(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
}

const RULES: [&str; 3] = [".gitignore", ".ignore", ".cairnignore"];

#[test]
fn a_pipe_socket_or_folder_named_like_a_rule_file_keeps_no_search_waiting() {
    for name in RULES {
        for folder in ["", "src/"] {
            for repository in [false, true] {
                for kind in [
                    "pipe",
                    "socket",
                    "folder",
                    "dangling link",
                    "link to a pipe",
                    "link to itself",
                ] {
                    let project = Project::with(&["a.md", "src/b.md", "src/deep/c.md"]);
                    if repository {
                        std::fs::create_dir(project.path(".git")).unwrap();
                    }
                    let path = project.path(&format!("{folder}{name}"));
                    match kind {
                        "pipe" => pipe(&path),
                        "socket" => drop(UnixListener::bind(&path).unwrap()),
                        "folder" => std::fs::create_dir(&path).unwrap(),
                        "dangling link" => project.link(&format!("{folder}{name}"), "nothing"),
                        "link to a pipe" => {
                            pipe(&project.path("pipe"));
                            project.link(&format!("{folder}{name}"), project.path("pipe"));
                        }
                        _ => project.link(&format!("{folder}{name}"), name),
                    }
                    let (_, files, _) = found(project);
                    let all = set(&["a.md", "src/b.md", "src/deep/c.md"]);
                    assert_eq!(files, all, "{folder}{name} is a {kind}, {repository}");
                }
            }
        }
    }
}

#[test]
fn a_device_named_like_a_rule_file_is_not_opened() {
    let project = Project::with(&["a.md"]);
    let zero = rustix::fs::makedev(1, 5);
    let path = project.path(".gitignore");
    if rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o600),
        zero,
    )
    .is_err()
    {
        println!("skipped: only root may make devices");
        return;
    }
    assert_eq!(found(project).1, set(&["a.md"]));
}

#[test]
fn a_pipe_in_the_store_of_git_keeps_no_search_waiting() {
    for place in [
        ".git",
        ".git/info/exclude",
        ".gitdir/commondir",
        ".gitdir/info/exclude",
    ] {
        let project = Project::with(&["a.md"]);
        if place.starts_with(".gitdir") {
            project.write(".git", "gitdir: .gitdir\n");
        }
        std::fs::create_dir_all(project.path(place).parent().unwrap()).unwrap();
        pipe(&project.path(place));
        assert_eq!(found(project).1, set(&["a.md"]), "{place}");
    }
}

#[test]
fn a_pipe_named_like_a_rule_file_keeps_no_command_and_no_missing_file_waiting() {
    let project = Project::with(&["alpha.md"]);
    pipe(&project.path(".gitignore"));
    let workspace = project.workspace();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        workspace.note_names_before_command();
        sender.send(knows(&workspace, "alpha.md")).unwrap();
    });
    assert!(
        receiver
            .recv_timeout(Duration::from_secs(20))
            .expect("it waits for somebody")
    );
}

fn knows(workspace: &Workspace, name: &str) -> bool {
    workspace.has_existed(&workspace.root().path().join(name))
}

#[test]
fn names_are_kept_before_a_command_with_folders_and_hidden_ones_but_without_ignored_ones() {
    let project = Project::with(&["a.md", ".hidden/b.md", "target/c.md", "src/d.md"]);
    project.write(".gitignore", "target\n");
    let workspace = project.workspace();
    workspace.note_names_before_command();
    for (name, known) in [
        ("a.md", true),
        (".hidden/b.md", true),
        ("src", true),
        ("src/d.md", true),
        ("target/c.md", false),
        ("new.md", false),
    ] {
        assert_eq!(knows(&workspace, name), known, "{name}");
    }
}

#[test]
fn a_link_to_a_rule_file_counts_inside_the_project_only() {
    for name in RULES {
        let project = Project::with(&["a.md", "b.md"]);
        project.write("rules", "b.md\n");
        project.link(name, "rules");
        assert_eq!(found(project).1, set(&["a.md"]), "{name}");

        let project = Project::with(&["a.md", "b.md"]);
        project.write_outside("rules", "b.md\n");
        project.link(name, project.outside("rules"));
        assert_eq!(found(project).1, set(&["a.md", "b.md"]), "{name}");
    }
}

#[test]
fn of_an_enormous_rule_file_the_beginning_counts_and_it_is_said() {
    let project = Project::with(&["a.md", "b.md", "c.md"]);
    let mut rules = "b.md\n".to_owned();
    rules.push_str(&"# nothing to see in this line\n".repeat(40_000));
    rules.push_str("c.md\n");
    project.write(".gitignore", &rules);
    let (_, files, said) = found(project);
    assert_eq!(files, set(&["a.md", "c.md"]));
    assert!(said.contains("1 folder or file could not be looked at"), "{said}");
}

#[test]
fn rules_are_read_as_git_reads_them() {
    for rules in [
        "\u{feff}b.md\n".as_bytes(),
        b"b.md\r\n",
        b"b.md",
        b"\xff\xfe broken \n\nb.md\n",
        b"[z-a]\nb.md   \n",
    ] {
        let project = Project::with(&["a.md", "b.md"]);
        project.write(".gitignore", rules);
        assert_eq!(
            found(project).1,
            set(&["a.md"]),
            "{:?}",
            String::from_utf8_lossy(rules)
        );
    }
}

#[test]
fn excludes_of_a_repository_count_in_its_other_working_trees_too() {
    for common in ["../..\n", "ABSOLUTE"] {
        let project = Project::with(&["a.md", "b.md"]);
        project.write_outside("main/.git/info/exclude", "b.md\n");
        let store = project.outside("main/.git");
        let own = store.join("worktrees/p");
        std::fs::create_dir_all(&own).unwrap();
        let common = common.replace("ABSOLUTE", store.to_str().unwrap());
        std::fs::write(own.join("commondir"), common).unwrap();
        project.write(".git", format!("gitdir: {}\n", own.display()));
        assert_eq!(found(project).1, set(&["a.md"]));
    }
}

#[test]
fn a_tree_deeper_than_there_are_file_handles_is_walked_to_its_end() {
    let project = Project::new();
    let deep = "d/".repeat(1_500);
    project.write(&format!("{deep}a.md"), "md\n");
    let (_, files, _) = found(project);
    assert_eq!(files, set(&[&format!("{deep}a.md")]));
}
