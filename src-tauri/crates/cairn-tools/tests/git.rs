//! `git` against real repositories, friendly and hostile. SPEC T23, W3; cases G01 to G12.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test fails by a panic, and makes its repositories with git itself"
)]

#[path = "shell/support.rs"]
mod support;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use cairn_agent::tool::{Action, Prepared, Tool as _, ToolOutcome};
use cairn_files::Root;
use cairn_policy::Surroundings as _;
use cairn_policy::{Effect, Repository};
use cairn_tools::git::Git;
use cairn_tools::place::{RepositoryTrust, Workspace};
use cairn_tools::shell::Shell;
use serde_json::{Map, Value, json};
use support::{Live, context, processes};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Bench {
    temp: TempDir,
    tool: Git,
}

/// A repository with one commit and one change that is not committed.
fn bench() -> Bench {
    let temp = TempDir::new().unwrap();
    let root = temp.path().join("p");
    std::fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("f"), "one\n").unwrap();
    std::fs::write(root.join(".env"), "KEY=hunter2\n").unwrap();
    git(&root, &["add", "-A", "-f"]);
    git(
        &root,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "first",
        ],
    );
    std::fs::write(root.join("f"), "two\n").unwrap();
    std::fs::write(root.join(".env"), "KEY=hunter3\n").unwrap();
    let tool = tool(&temp, &root);
    Bench { temp, tool }
}

fn tool(temp: &TempDir, root: &Path) -> Git {
    tool_with(temp, root, trusted)
}

fn trusted() -> RepositoryTrust {
    RepositoryTrust::Trusted { accepted: Vec::new() }
}

fn tool_with(temp: &TempDir, root: &Path, trust: fn() -> RepositoryTrust) -> Git {
    let workspace = Workspace::new(Arc::new(Root::open(root).unwrap()), Vec::new());
    let workspace = Arc::new(workspace.with_trust(trust));
    let environment: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("HOME".into(), temp.path().into()),
        // What a person's own environment may bring must not get through either.
        ("GIT_EXTERNAL_DIFF".into(), hook(temp.path()).into()),
        ("GIT_CONFIG_COUNT".into(), "1".into()),
        ("GIT_CONFIG_KEY_0".into(), "core.fsmonitor".into()),
        ("GIT_CONFIG_VALUE_0".into(), hook(temp.path()).into()),
    ];
    let processes = processes();
    let shell = Arc::new(Shell::new(
        workspace.clone(),
        cairn_exec::Group::new(processes.clone(), |_| {}),
        environment.clone(),
    ));
    Git::new(workspace, processes, environment, shell)
}

fn git(root: &Path, args: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(status.unwrap().success(), "{args:?}");
}

/// A program that leaves a trace when anybody runs it.
fn hook(folder: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("h.sh");
    if !path.exists() {
        std::fs::write(
            &path,
            format!("#!/bin/sh\ntouch {}\ncat\n", folder.join("canary").display()),
        )
        .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    path.display().to_string()
}

impl Bench {
    fn root(&self) -> std::path::PathBuf {
        self.temp.path().join("p")
    }

    async fn prepare(&self, args: &[&str]) -> Prepared {
        let mut arguments: Map<String, Value> = Map::new();
        arguments.insert("args".to_owned(), json!(args));
        let context = context(Arc::new(Live::default()), CancellationToken::new());
        self.tool
            .prepare(arguments, &context)
            .await
            .unwrap_or_else(|error| panic!("{error}"))
    }

    async fn run(&self, args: &[&str]) -> ToolOutcome {
        run(self.prepare(args).await).await
    }

    fn temp_root_is(&mut self, root: &Path) {
        self.tool = tool(&self.temp, root);
    }

    fn ran_something(&self) -> bool {
        self.temp.path().join("canary").exists()
    }
}

async fn run(prepared: Prepared) -> ToolOutcome {
    let Action::Execute(action) = prepared.action else {
        panic!("git asks no questions")
    };
    action
        .execute(context(Arc::new(Live::default()), CancellationToken::new()))
        .await
}

fn reads(prepared: &Prepared) -> bool {
    prepared
        .effects
        .iter()
        .all(|effect| matches!(effect, Effect::ReadPath { .. }))
}

#[tokio::test]
async fn t23_reading_forms_read_and_tell_what_git_tells() {
    let bench = bench();
    for (args, words) in [
        (&["status", "--short"][..], " M f"),
        (&["diff"], "+two"),
        (&["diff", "--", "f"], "-one"),
        (&["log", "--oneline"], "first"),
        (&["log", "-p"], "+one"),
        (&["show", "HEAD"], "+one"),
        (&["blame", "f"], "two"),
        (&["branch", "--show-current"], "main"),
        (&["ls-files"], "f"),
        (&["rev-parse", "--abbrev-ref", "HEAD"], "main"),
    ] {
        let prepared = bench.prepare(args).await;
        assert!(reads(&prepared), "{args:?}: {:?}", prepared.effects);
        let outcome = run(prepared).await;
        assert!(
            outcome.ok && outcome.content.contains(words),
            "{args:?}: {}",
            outcome.content
        );
        assert!(
            !outcome.content.contains("hunter"),
            "{args:?} shows a credential: {}",
            outcome.content
        );
    }
    assert!(!bench.ran_something(), "the environment's own helpers ran");
}

#[tokio::test]
async fn t23_names_are_told_as_the_file_tools_take_them() {
    let bench = bench();
    let name = "caf\u{e9} \u{6f22}.txt";
    std::fs::write(bench.temp.path().join("p").join(name), "x\n").unwrap();
    git(&bench.temp.path().join("p"), &["add", "-A"]);
    for args in [
        &["status", "--short"][..],
        &["diff", "--cached", "--stat"],
        &["diff", "--cached", "--name-only"],
        &["ls-files"],
    ] {
        let outcome = run(bench.prepare(args).await).await;
        assert!(outcome.content.contains(name), "{args:?}: {}", outcome.content);
    }
}

#[tokio::test]
async fn p2_only_what_leaves_credentials_out_says_so() {
    const REMARK: &str = "[Files that hold credentials are left out.]";
    let bench = bench();
    for (args, leaves_out) in [
        (&["diff"][..], true),
        (&["log", "-p"], true),
        (&["blame", "f"], false),
        // Shown to whoever was allowed to see it.
        (&["blame", ".env"], false),
        (&["status"], false),
    ] {
        let outcome = run(bench.prepare(args).await).await;
        assert!(outcome.ok, "{args:?}: {}", outcome.content);
        assert_eq!(
            outcome.content.contains(REMARK),
            leaves_out,
            "{args:?}: {}",
            outcome.content
        );
    }
}

#[tokio::test]
async fn p2_a_credential_file_named_is_judged_as_what_it_is() {
    let bench = bench();
    for args in [
        &["diff", "--", ".env"][..],
        &["blame", ".env"],
        &["diff", ".env"],
        &["show", "HEAD", "--", ".env"],
    ] {
        let prepared = bench.prepare(args).await;
        let secret = |effect: &Effect| {
            matches!(
                effect,
                Effect::ReadPath {
                    care: cairn_policy::Care::Credential,
                    ..
                }
            )
        };
        assert!(
            prepared.effects.iter().any(secret),
            "{args:?}: {:?}",
            prepared.effects
        );
    }
    let outside = bench.prepare(&["diff", "/etc/passwd", "/etc/group"]).await;
    let away = |effect: &Effect| {
        matches!(
            effect,
            Effect::ReadPath {
                place: cairn_policy::Place::Outside,
                ..
            }
        )
    };
    assert!(outside.effects.iter().any(away), "{:?}", outside.effects);
}

#[tokio::test]
async fn t23_all_else_is_a_command_byte_for_byte() {
    let bench = bench();
    for (args, line) in [
        (
            &["commit", "-m", "it's done"][..],
            r"git commit -m 'it'\''s done'",
        ),
        (&["reset", "--hard"], "git reset --hard"),
        (&["-c", "alias.z=!x", "z"], "git -c 'alias.z=!x' z"),
        (
            &["stash", "push", "-m", "$(touch x)"],
            "git stash push -m '$(touch x)'",
        ),
        (&["add", ""], "git add ''"),
    ] {
        let prepared = bench.prepare(args).await;
        match prepared.effects.as_slice() {
            [Effect::RunCommand { line: ran, .. }] => assert_eq!(ran, line),
            other => panic!("{args:?}: {other:?}"),
        }
    }
}

/// Every way in which a repository names a program: it asks, and when the check is got around nothing runs either.
#[tokio::test]
async fn g01_g03_g04_g05_a_repository_runs_nothing() {
    let configurations: &[(&str, &str, &str)] = &[
        ("core.fsmonitor", "HOOK", ""),
        ("core.hooksPath", "FOLDER", ""),
        ("diff.external", "HOOK", ""),
        ("diff.x.textconv", "HOOK", "f diff=x\n"),
        ("diff.x.command", "HOOK", "f diff=x\n"),
        ("core.pager", "HOOK", ""),
        ("pager.log", "HOOK", ""),
        ("alias.status", "!HOOK", ""),
        ("core.sshCommand", "HOOK", ""),
        ("core.attributesFile", "HOOK", ""),
        ("gpg.program", "HOOK", ""),
        ("log.showSignature", "true", ""),
        ("include.path", "other", ""),
        ("filter.y.clean", "HOOK", "f filter=y\n"),
        ("filter.y.process", "HOOK", "f filter=y\n"),
    ];
    for (key, value, attributes) in configurations {
        let bench = bench();
        // Looked at while it was still plain.
        let mut early = Vec::new();
        for args in [
            &["status"][..],
            &["diff"],
            &["log", "-p"],
            &["show", "HEAD"],
            &["blame", "f"],
        ] {
            early.push(bench.prepare(args).await);
        }
        let value = value
            .replace("HOOK", &hook(bench.temp.path()))
            .replace("FOLDER", &bench.temp.path().display().to_string());
        git(&bench.root(), &["config", key, &value]);
        if !attributes.is_empty() {
            std::fs::write(bench.root().join(".gitattributes"), attributes).unwrap();
        }
        for args in [
            &["status"][..],
            &["diff"],
            &["log", "-1"],
            &["branch"],
            &["ls-files", "-m"],
        ] {
            let prepared = bench.prepare(args).await;
            assert!(!reads(&prepared), "{key}: {args:?} ran unasked");
        }
        if key.starts_with("filter.") {
            // Content filters cannot be switched off by name: here only the check stands.
            continue;
        }
        for prepared in early {
            run(prepared).await;
        }
        assert!(!bench.ran_something(), "{key} ran");
    }
}

#[tokio::test]
async fn g12_a_planted_repository_is_not_found_and_no_repository_asks() {
    let bench = bench();
    let bare = bench.root().join("sub");
    git(&bench.root(), &["init", "-q", "--bare", "sub"]);
    git(&bare, &["config", "core.fsmonitor", &hook(bench.temp.path())]);
    let outcome = bench.run(&["status", "--short"]).await;
    assert!(
        outcome.ok && outcome.content.contains(" M f"),
        "{}",
        outcome.content
    );
    assert!(!bench.ran_something());
    std::fs::remove_dir_all(bench.root().join(".git")).unwrap();
    assert!(!reads(&bench.prepare(&["status"]).await));
}

#[tokio::test]
async fn a_git_inside_the_project_is_not_git() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = bench();
    let own = bench.root().join("git");
    std::fs::write(
        &own,
        format!(
            "#!/bin/sh\ntouch {}\n",
            bench.temp.path().join("canary").display()
        ),
    )
    .unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = Workspace::new(Arc::new(Root::open(&bench.root()).unwrap()), Vec::new());
    let workspace = Arc::new(workspace.with_trust(trusted));
    let mut path = bench.root().into_os_string();
    path.push(":/usr/local/bin:/usr/bin:/bin");
    let environment: Vec<(OsString, OsString)> = vec![("PATH".into(), path)];
    let processes = processes();
    let shell = Arc::new(Shell::new(
        workspace.clone(),
        cairn_exec::Group::new(processes.clone(), |_| {}),
        environment.clone(),
    ));
    let other = Bench {
        temp: TempDir::new().unwrap(),
        tool: Git::new(workspace, processes, environment, shell),
    };
    let outcome = other.run(&["branch", "--show-current"]).await;
    assert!(
        outcome.ok && outcome.content.contains("main"),
        "{}",
        outcome.content
    );
    assert!(!bench.ran_something());
}

#[tokio::test]
async fn t1_wrong_words_are_said() {
    let bench = bench();
    let context = context(Arc::new(Live::default()), CancellationToken::new());
    for (args, says) in [
        (json!([]), "`args` is empty"),
        (json!(["git", "status"]), "begins with \"git\""),
        (json!(["log", "a\0b"]), "NUL"),
        (json!(vec!["x"; 501]), "at most 500"),
        (json!("status"), "args"),
    ] {
        let mut arguments: Map<String, Value> = Map::new();
        arguments.insert("args".to_owned(), args.clone());
        let error = bench.tool.prepare(arguments, &context).await.err();
        assert!(
            error.as_ref().is_some_and(|error| error.message.contains(says)),
            "{args}: {error:?}"
        );
    }
}

#[tokio::test]
async fn p2_the_content_of_a_credential_file_is_not_shown_by_the_name_of_its_object() {
    let bench = bench();
    let listed = bench.run(&["ls-files", "-s"]).await;
    let line = listed
        .content
        .lines()
        .find(|line| line.split_whitespace().last() == Some(".env"))
        .unwrap();
    let object = line.split_whitespace().nth(1).unwrap();
    for args in [
        vec!["show", object],
        vec!["show", "HEAD", object],
        vec!["show", &object[..9]],
        vec!["show", "--all", object],
        vec!["diff", object, "HEAD"],
        vec!["log", "-p", object],
    ] {
        let prepared = bench.prepare(&args).await;
        if reads(&prepared) {
            let outcome = run(prepared).await;
            assert!(
                !outcome.content.contains("hunter2"),
                "{args:?}: {}",
                outcome.content
            );
        }
    }
    let told = bench.run(&["show", object]).await.content;
    assert!(told.contains("cat-file"), "{told}");
}

#[tokio::test]
async fn p2_searching_history_tells_nothing_of_a_credential_file() {
    let bench = bench();
    for search in ["-Shunter2", "-GKEY=h"] {
        let outcome = bench.run(&["log", "--oneline", search]).await;
        assert!(!outcome.content.contains("first"), "{}", outcome.content);
    }
}

#[tokio::test]
async fn t23_empty_commits_and_merges_are_shown_as_git_shows_them() {
    let bench = bench();
    let root = bench.root();
    let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let by = |args: &[&str]| git(&root, &[&who[..], args].concat());
    git(&root, &["checkout", "-q", "--", "."]);
    by(&["commit", "-q", "--allow-empty", "-m", "nothing in it"]);
    let outcome = bench.run(&["show", "HEAD"]).await;
    assert!(outcome.content.contains("nothing in it"), "{}", outcome.content);
    git(&root, &["checkout", "-q", "-b", "side", "HEAD~1"]);
    std::fs::write(root.join("g"), "g\n").unwrap();
    git(&root, &["add", "g"]);
    by(&["commit", "-qm", "on the side"]);
    git(&root, &["checkout", "-q", "main"]);
    by(&["merge", "-q", "--no-ff", "-m", "both together", "side"]);
    let outcome = bench.run(&["show", "HEAD"]).await;
    assert!(outcome.content.contains("both together"), "{}", outcome.content);
    let outcome = bench.run(&["log", "-p"]).await;
    for message in ["first", "nothing in it", "on the side", "both together"] {
        assert!(
            outcome.content.contains(message),
            "{message}: {}",
            outcome.content
        );
    }
}

#[tokio::test]
async fn p2_of_a_repository_around_the_project_only_the_project_is_shown() {
    let mut bench = bench();
    let sub = bench.root().join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(sub.join("own"), "first own\n").unwrap();
    git(&bench.root(), &["add", "-A"]);
    let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git(
        &bench.root(),
        &[&author[..], &["commit", "-qm", "second"]].concat(),
    );
    std::fs::write(sub.join("own"), "second own\n").unwrap();
    std::fs::write(bench.root().join("f"), "three\n").unwrap();
    bench.tool = tool(&bench.temp, &sub);
    for args in [&["diff"][..], &["show"], &["log", "-p"]] {
        let prepared = bench.prepare(args).await;
        assert!(reads(&prepared), "{args:?}");
        let outcome = run(prepared).await;
        assert!(outcome.content.contains("own\n"), "{args:?}: {}", outcome.content);
        for beside in ["+two", "+three", "-one"] {
            assert!(!outcome.content.contains(beside), "{args:?}: {}", outcome.content);
        }
    }
}

#[tokio::test]
async fn t23_a_followed_patch_asks_as_nothing_could_be_left_out_of_it() {
    let bench = bench();
    assert!(reads(&bench.prepare(&["log", "--follow", "--", "f"]).await));
    assert!(!reads(
        &bench.prepare(&["log", "-p", "--follow", "--", "f"]).await
    ));
}

/// Another repository, in which the project has no part.
fn private(bench: &Bench) -> std::path::PathBuf {
    let root = bench.temp.path().join("private");
    std::fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("diary"), "dear diary\n").unwrap();
    git(&root, &["add", "-A"]);
    let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git(&root, &[&who[..], &["commit", "-qm", "diary"]].concat());
    root.join(".git")
}

#[tokio::test]
async fn g11_another_repository_is_not_read_through_what_points_at_it() {
    use std::os::unix::fs::symlink;
    type Plant = fn(&Path, &Path);
    let plants: [(&str, Plant); 6] = [
        ("a file", |git, private| {
            std::fs::rename(git, git.with_file_name("old")).unwrap();
            std::fs::write(git, format!("gitdir: {}\n", private.display())).unwrap();
        }),
        ("a link", |git, private| {
            std::fs::rename(git, git.with_file_name("old")).unwrap();
            symlink(private, git).unwrap();
        }),
        ("commondir", |git, private| {
            std::fs::write(git.join("commondir"), format!("{}\n", private.display())).unwrap();
        }),
        ("a work tree of its own making", |git, private| {
            let made = git.with_file_name("old");
            std::fs::rename(git, &made).unwrap();
            std::fs::write(git, "gitdir: old\n").unwrap();
            std::fs::write(made.join("gitdir"), format!("{}\n", git.display())).unwrap();
            std::fs::write(made.join("commondir"), format!("{}\n", private.display())).unwrap();
        }),
        ("alternates", |git, private| {
            let lists = git.join("objects/info");
            std::fs::create_dir_all(&lists).unwrap();
            std::fs::write(
                lists.join("alternates"),
                format!("{}\n", private.join("objects").display()),
            )
            .unwrap();
        }),
        ("linked objects", |git, private| {
            std::fs::rename(git.join("objects"), git.join("old")).unwrap();
            symlink(private.join("objects"), git.join("objects")).unwrap();
        }),
    ];
    for (what, plant) in plants {
        let bench = bench();
        let private = private(&bench);
        // A plain one above must not answer in its place either.
        git(bench.temp.path(), &["init", "-q", "-b", "main"]);
        plant(&bench.root().join(".git"), &private);
        let head = Command::new("git")
            .arg("--git-dir")
            .arg(&private)
            .args(["rev-parse", "main"])
            .output();
        let head = String::from_utf8(head.unwrap().stdout).unwrap();
        assert!(!reads(&bench.prepare(&["show", head.trim()]).await), "{what}");
    }
}

#[tokio::test]
async fn g11_a_work_tree_that_its_repository_knows_is_read() {
    let mut bench = bench();
    let tree = bench.temp.path().join("tree");
    git(
        &bench.root(),
        &["worktree", "add", "-q", &tree.display().to_string()],
    );
    bench.temp_root_is(&tree);
    let outcome = bench.run(&["show", "HEAD"]).await;
    assert!(
        outcome.ok && outcome.content.contains("first"),
        "{}",
        outcome.content
    );
}

#[tokio::test]
async fn p11_before_trust_every_git_call_is_a_command_that_asks() {
    let bench = bench();
    let untrusted = tool_with(&bench.temp, &bench.root(), RepositoryTrust::default);
    let live = context(Arc::new(Live::default()), CancellationToken::new());
    for args in [json!(["status"]), json!(["diff"]), json!(["log", "-1"])] {
        let arguments = Map::from_iter([("args".to_owned(), args.clone())]);
        let prepared = untrusted.prepare(arguments.clone(), &live).await.unwrap();
        let [Effect::RunCommand { workdir, facts, .. }] = prepared.effects.as_slice() else {
            panic!("{args}: {:?}", prepared.effects);
        };
        assert_eq!(facts.repository(workdir), Some(Repository::Untrusted), "{args}");
        let prepared = bench.tool.prepare(arguments, &live).await.unwrap();
        assert!(
            matches!(prepared.effects.as_slice(), [Effect::ReadPath { .. }, ..]),
            "{args}: trusted, it reads at once"
        );
    }
}

#[tokio::test]
async fn w3_a_configuration_that_the_person_saw_is_read_and_another_is_not() {
    let bench = bench();
    git(&bench.root(), &["config", "core.abbrev", "12"]);
    let seen = || RepositoryTrust::Trusted {
        accepted: vec!["[core] abbrev = 12".to_owned()],
    };
    let live = context(Arc::new(Live::default()), CancellationToken::new());
    let reads = async |tool: &Git| {
        let arguments = Map::from_iter([("args".to_owned(), json!(["status"]))]);
        let prepared = tool.prepare(arguments, &live).await.unwrap();
        matches!(prepared.effects.as_slice(), [Effect::ReadPath { .. }, ..])
    };
    assert!(!reads(&bench.tool).await, "nobody saw that line");
    let tool = tool_with(&bench.temp, &bench.root(), seen);
    assert!(reads(&tool).await);
    git(&bench.root(), &["config", "core.abbrev", "13"]);
    assert!(!reads(&tool).await, "it is another line now");
}
