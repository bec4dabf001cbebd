//! The `shell` tool over real processes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and tells its figures"
)]

#[path = "shell/support.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_agent::tool::{
    Action, CallContext, LimitBy, Prepared, Tool as _, ToolClass, ToolError, ToolOutcome,
};
use cairn_exec::{Group, Processes, child_environment};
use cairn_files::Root;
use cairn_policy::{CommandFacts, Effect, Found, Place, RealKind, Repository, Surroundings as _};
use cairn_protocol::{ApprovalSubject, CommandEnd, ContentBlock, ShownKind, Terminal};
use cairn_tools::place::{RepositoryTrust, Workspace};
use cairn_tools::shell::Shell;
use serde_json::{Value, json};
use support::{Live, context, processes};
use tokio_util::sync::CancellationToken;

struct Project {
    folder: tempfile::TempDir,
    processes: Processes,
    group: Group,
    shell: Shell,
}

impl Project {
    fn new() -> Self {
        Self::with_first_in_path(None)
    }

    /// With a folder of the project in front of the others in `PATH`.
    fn with_first_in_path(first: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        let root = Arc::new(Root::open(folder.path()).unwrap());
        let processes = processes();
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::env::split_paths(&path).collect::<Vec<_>>();
        let first = first.map(|first| folder.path().join(first));
        let path = std::env::join_paths(first.into_iter().chain(folders)).unwrap();
        let parent = [("PATH".into(), path), ("OPENAI_API_KEY".into(), "CANARY".into())];
        let environment = child_environment(parent, &[]);
        let group = Group::new(processes.clone(), |_| {});
        let trusted = || RepositoryTrust::Trusted { accepted: vec![] };
        let workspace = Arc::new(Workspace::new(root, vec![]).with_trust(trusted));
        let shell = Shell::new(workspace, group.clone(), environment);
        Self {
            folder,
            processes,
            group,
            shell,
        }
    }

    async fn prepare(&self, arguments: Value, context: &CallContext) -> Result<Prepared, ToolError> {
        let Value::Object(arguments) = arguments else {
            unreachable!()
        };
        self.shell.prepare(arguments, context).await
    }

    async fn run(&self, arguments: Value) -> ToolOutcome {
        let context = context(Arc::new(Live::default()), CancellationToken::new());
        execute(self.prepare(arguments, &context).await.unwrap(), context).await
    }

    async fn refuse(&self, arguments: Value) -> String {
        let context = context(Arc::new(Live::default()), CancellationToken::new());
        self.prepare(arguments, &context).await.err().unwrap().message
    }
}

async fn execute(prepared: Prepared, context: CallContext) -> ToolOutcome {
    let Action::Execute(run) = prepared.action else {
        unreachable!()
    };
    run.execute(context).await
}

fn terminal(outcome: &ToolOutcome) -> &Terminal {
    match outcome.blocks.as_slice() {
        [ContentBlock::Terminal(terminal)] => terminal,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn x60_the_end_is_always_stated() {
    let project = Project::new();
    for (line, ok, content) in [
        ("echo hi", true, "Exit code 0.\nhi"),
        ("true", true, "Exit code 0.\n(no output)"),
        ("false", false, "Exit code 1.\n(no output)"),
        ("echo out; echo err >&2; exit 3", false, "Exit code 3.\nout\nerr"),
        ("kill -SEGV $$", false, "Ended by SIGSEGV.\n(no output)"),
        ("printf '\\033[1mbold\\033[0m'", true, "Exit code 0.\nbold"),
        (
            "for i in 1 2 3; do printf '\\r%d%%' $i; done",
            true,
            "Exit code 0.\n3%",
        ),
    ] {
        let outcome = project.run(json!({ "command": line })).await;
        assert_eq!((outcome.ok, outcome.content.as_str()), (ok, content), "{line}");
        assert_eq!(outcome.commands, 1);
        assert_eq!(terminal(&outcome).command, line);
        assert!(!outcome.note.is_empty() && !outcome.timed_out && !outcome.stopped);
    }
}

#[tokio::test]
async fn the_same_command_with_the_same_end_reads_the_same() {
    let project = Project::new();
    let first = project.run(json!({ "command": "echo x; sleep 0.1" })).await;
    let second = project.run(json!({ "command": "echo x; sleep 0.1" })).await;
    assert_eq!(first.content, second.content);
}

#[tokio::test]
async fn x66_it_runs_in_the_project_or_the_folder_named_without_keys() {
    let project = Project::new();
    let root = project.folder.path().canonicalize().unwrap();
    let outcome = project.run(json!({ "command": "pwd" })).await;
    assert_eq!(terminal(&outcome).output, format!("{}\n", root.display()));
    let outcome = project.run(json!({ "command": "pwd", "workdir": "sub" })).await;
    assert_eq!(terminal(&outcome).output, format!("{}/sub\n", root.display()));
    assert_eq!(terminal(&outcome).workdir, "sub");
    let outcome = project.run(json!({ "command": "env; cd sub; x=1" })).await;
    assert!(outcome.content.contains("CAIRN_INSIDE=1") && !outcome.content.contains("CANARY"));
    let outcome = project
        .run(json!({ "command": "echo \"$x\"; pwd; read y || echo closed" }))
        .await;
    assert_eq!(
        terminal(&outcome).output,
        format!("\n{}\nclosed\n", root.display())
    );
}

#[tokio::test]
async fn s8_git_never_waits_for_an_editor_a_pager_or_a_password() {
    let project = Project::new();
    let line = "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty; \
                git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --oneline | wc -l; \
                git log; \
                git checkout -q -b other && echo a >f && git add f && git -c user.name=a -c user.email=a@b commit -qm a && \
                git checkout -q -b third HEAD~1 && echo b >f && git add f && git -c user.name=a -c user.email=a@b commit -qm b && \
                { git -c user.name=a -c user.email=a@b rebase -q other; echo c >f; git add f; \
                  git -c user.name=a -c user.email=a@b rebase --continue && echo rebased; }; \
                git -c credential.helper= ls-remote https://127.0.0.1:1/x; \
                git -c credential.helper= clone https://127.0.0.1:1/x; echo came through";
    let since = Instant::now();
    let outcome = project.run(json!({ "command": line, "timeout": 20 })).await;
    assert!(!outcome.timed_out, "{}", outcome.content);
    for told in ["Aborting commit", "rebased", "came through"] {
        assert!(outcome.content.contains(told), "{told}: {}", outcome.content);
    }
    assert!(since.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn what_would_run_is_what_is_shown_and_judged() {
    let project = Project::new();
    let context = context(Arc::new(Live::default()), CancellationToken::new());
    let line = "  echo a\u{202e}b \t; ls  ";
    let arguments = json!({ "command": line, "description": "list", "workdir": "sub", "timeout": 9 });
    let prepared = project.prepare(arguments.clone(), &context).await.unwrap();
    let workdir = project.folder.path().canonicalize().unwrap().join("sub");
    let [
        Effect::RunCommand {
            line: told,
            workdir: folder,
            place: Place::Inside,
            network: false,
            outside: false,
            facts,
        },
    ] = &prepared.effects[..]
    else {
        panic!("{:?}", prepared.effects)
    };
    assert_eq!((told.as_str(), folder), (line, &workdir));
    assert!(
        matches!(facts.program("ls"), Some(Found::Program(_))),
        "{facts:?}"
    );
    let Some(ApprovalSubject::Command { shown, workdir }) = &prepared.subject else {
        unreachable!()
    };
    assert_eq!(workdir, "sub");
    assert!(
        shown
            .iter()
            .any(|span| span.kind == ShownKind::Chip && span.text.contains("202e")),
        "{shown:?}"
    );
    assert_eq!(prepared.says.as_deref(), Some("list"));
    assert_eq!(prepared.limit, Some(Duration::from_secs(9)));
    assert_eq!(prepared.target, "echo a\u{202e}b ; ls");

    let mut digests = vec![prepared.digest];
    for (field, value) in [
        ("command", json!("  echo a\u{202e}b \t; ls ")),
        ("workdir", json!(".")),
        ("timeout", json!(10)),
        ("background", json!(true)),
        ("network", json!(true)),
    ] {
        let mut other = arguments.clone();
        other[field] = value;
        digests.push(project.prepare(other, &context).await.unwrap().digest);
    }
    let mut other = arguments;
    other["description"] = json!("something else");
    assert_eq!(project.prepare(other, &context).await.unwrap().digest, digests[0]);
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(
        digests.len(),
        6,
        "line, folder, limit, background and network are all part of the digest"
    );
}

#[tokio::test]
async fn what_cannot_run_is_refused_with_words() {
    let project = Project::new();
    for (arguments, words) in [
        (json!({ "command": "echo \0" }), "NUL"),
        (json!({ "command": "  \n" }), "empty"),
        (json!({ "command": "ls", "timeout": 601 }), "at most 600"),
        (json!({ "command": "ls", "timeout": 0 }), "at least 1"),
        (json!({ "command": "ls", "workdir": "nowhere" }), "nowhere"),
        (json!({ "command": "ls", "workdir": "file" }), "must be a folder"),
        (json!({}), "command"),
    ] {
        let message = project.refuse(arguments.clone()).await;
        assert!(message.contains(words), "{arguments}: {message}");
    }
}

#[tokio::test]
async fn its_description_names_the_shell_and_its_schema_is_flat() {
    let project = Project::new();
    let spec = project.shell.spec();
    assert_eq!((spec.name.as_str(), spec.class), ("shell", ToolClass::Run));
    assert!(
        spec.description.contains("`bash --noprofile --norc -c`"),
        "{}",
        spec.description
    );
    let mut fields: Vec<_> = spec.schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "background",
            "command",
            "description",
            "network",
            "outside",
            "timeout",
            "workdir"
        ]
    );
    assert_eq!(spec.schema["required"], json!(["command"]));
}

#[tokio::test]
async fn x62_the_time_limit_strikes_and_what_there_was_is_kept() {
    let project = Project::new();
    let since = Instant::now();
    let outcome = project
        .run(json!({ "command": "echo begun; (sleep 61 &); sleep 61", "timeout": "1" }))
        .await;
    assert!(outcome.timed_out && !outcome.ok && !outcome.stopped);
    assert_eq!(terminal(&outcome).end, CommandEnd::TimedOut);
    assert!(outcome.content.starts_with("Timed out after 1 s") && outcome.content.ends_with("begun"));
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

#[tokio::test]
async fn s5_stop_keeps_what_there_was() {
    let project = Project::new();
    let cancel = CancellationToken::new();
    let live = Arc::new(Live {
        cancel: Some(cancel.clone()),
        ..Live::default()
    });
    let context = context(Arc::clone(&live) as _, cancel);
    let prepared = project
        .prepare(
            json!({ "command": "echo begun; setsid sleep 61 & wait" }),
            &context,
        )
        .await
        .unwrap();
    let outcome = execute(prepared, context).await;
    assert!(outcome.stopped && !outcome.timed_out && !outcome.ok);
    assert!(outcome.content.starts_with("Stopped by the user") && outcome.content.ends_with("begun"));
    assert_eq!(*live.text.lock().unwrap(), "begun\n");
    project.processes.settled().await;
}

#[tokio::test]
async fn s3_what_is_left_running_is_named() {
    let project = Project::new();
    let outcome = project
        .run(json!({ "command": "nohup sleep 61 & sleep 0.1; echo up" }))
        .await;
    assert!(outcome.ok);
    let (_, named) = outcome
        .content
        .split_once("[still running in the background as p1,")
        .unwrap();
    assert!(
        named.contains("process_kill") && named.ends_with("sleep 61]"),
        "{named}"
    );
    assert!(outcome.note.ends_with(", p1 runs on"), "{}", outcome.note);
    assert!(project.group.get("p1").unwrap().state.is_alive());
    assert_eq!(
        project.group.get("p1").unwrap().label.tag,
        "c",
        "the call is known"
    );
    project.processes.shutdown().await;
}

#[tokio::test]
async fn x61_of_endless_output_head_and_tail_are_kept() {
    let project = Project::new();
    let outcome = project
        .run(json!({ "command": "echo first; yes | head -c 5M; echo last" }))
        .await;
    let block = terminal(&outcome);
    assert_eq!(block.total_bytes, (5 << 20) + 11);
    assert!(block.omitted_bytes > 4 << 20);
    assert!(
        outcome
            .content
            .contains(&format!("[… {} bytes left out …]", block.omitted_bytes))
    );
    assert!(outcome.content.starts_with("Exit code 0.\nfirst\ny\n") && outcome.content.ends_with("y\nlast"));
}

#[tokio::test]
async fn t21_limits_and_the_network_are_what_the_card_shows() {
    let project = Project::new();
    let context = context(Arc::new(Live::default()), CancellationToken::new());
    for (arguments, limit) in [
        (json!({ "command": "ls" }), Some(120)),
        (json!({ "command": "ls", "timeout": 600 }), Some(600)),
        (json!({ "command": "ls", "background": "true" }), None),
        (
            json!({ "command": "ls", "background": true, "timeout": 5 }),
            Some(5),
        ),
        (json!({ "command": "ls", "background": false }), Some(120)),
    ] {
        let prepared = project.prepare(arguments.clone(), &context).await.unwrap();
        assert_eq!(prepared.limit, limit.map(Duration::from_secs), "{arguments}");
        let Action::Execute(run) = &prepared.action else {
            unreachable!()
        };
        assert_eq!(
            run.limit_by(),
            LimitBy::Itself,
            "the person can give it more time"
        );
        assert_eq!(
            prepared.title.contains("background"),
            arguments["background"].to_string().contains("true"),
            "{arguments}"
        );
    }
    let arguments = json!({ "command": "ls", "network": true });
    let prepared = project.prepare(arguments, &context).await.unwrap();
    assert!(matches!(
        prepared.effects[..],
        [Effect::RunCommand { network: true, .. }]
    ));
}

#[tokio::test]
async fn a_folder_outside_the_project_is_told_to_the_gate() {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    let context = context(Arc::new(Live::default()), CancellationToken::new());
    let arguments = json!({ "command": "ls", "workdir": outside.path() });
    let prepared = project.prepare(arguments, &context).await.unwrap();
    let [Effect::RunCommand { workdir, place, .. }] = &prepared.effects[..] else {
        unreachable!()
    };
    assert_eq!(
        (workdir, *place),
        (&outside.path().canonicalize().unwrap(), Place::Outside)
    );
}

#[tokio::test]
async fn x63_in_the_background_the_answer_comes_at_once_with_handle_process_and_log() {
    let project = Project::new();
    let since = Instant::now();
    let outcome = project
        .run(json!({ "command": "echo ready; exec sleep 61", "background": true }))
        .await;
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    let facts = project.group.get("p1").unwrap();
    let expected = format!(
        "Started in the background as p1 (process {}). Its log so far:\nready\n[process_output with handle p1",
        facts.pid.unwrap()
    );
    assert!(
        outcome.ok && outcome.content.starts_with(&expected),
        "{}",
        outcome.content
    );
    assert_eq!(outcome.note, "p1 in the background");
    assert_eq!(terminal(&outcome).end, CommandEnd::Running);
    assert!(facts.state.is_alive() && facts.limit.is_none());
    // What fails at once is told at once.
    let outcome = project
        .run(json!({ "command": "echo no >&2; exit 4", "background": true }))
        .await;
    let settled = outcome.content == "Exit code 4.\nno"
        || (outcome.content.starts_with("Started in the background as p2")
            && outcome.content.contains("\nno\n"));
    assert!(settled, "{}", outcome.content);
    // What cannot be started says so and leaves no handle.
    let outcome = project
        .run(json!({ "command": "true", "background": true, "workdir": "sub" }))
        .await;
    assert!(!outcome.content.contains("not run"), "{}", outcome.content);
}

#[tokio::test]
async fn a_command_that_the_person_moves_says_where_it_went() {
    let project = Project::new();
    let live = Arc::new(Live::default());
    let context = context(Arc::clone(&live) as _, CancellationToken::new());
    let arguments = json!({ "command": "echo begun; exec sleep 61" });
    let prepared = project.prepare(arguments, &context).await.unwrap();
    let group = project.group.clone();
    let moves = async {
        // Its output and its process id come by different ways.
        while live.text.lock().unwrap().is_empty() || group.get("p1").unwrap().pid.is_none() {
            tokio::task::yield_now().await;
        }
        group.to_background("p1").unwrap()
    };
    let (outcome, facts) = tokio::join!(execute(prepared, context), moves);
    let expected = format!(
        "The user moved it to the background, where it runs on as p1 (process {}). What it printed until \
         then:\nbegun\n[process_output",
        facts.pid.unwrap()
    );
    assert!(
        outcome.ok && outcome.content.starts_with(&expected),
        "{}",
        outcome.content
    );
    assert!(group.get("p1").unwrap().state.is_alive());
}

#[tokio::test]
async fn a_command_that_the_person_ends_by_its_name_was_stopped() {
    let project = Project::new();
    let live = Arc::new(Live::default());
    let context = context(Arc::clone(&live) as _, CancellationToken::new());
    let arguments = json!({ "command": "echo begun; sleep 61" });
    let prepared = project.prepare(arguments, &context).await.unwrap();
    let group = project.group.clone();
    let stops = async {
        while live.text.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        group.stop("p1").await.unwrap();
    };
    let (outcome, ()) = tokio::join!(execute(prepared, context), stops);
    assert!(outcome.stopped && !outcome.timed_out && !outcome.ok);
    assert!(
        outcome.content.starts_with("Stopped by the user"),
        "{}",
        outcome.content
    );
}

#[tokio::test]
async fn p10_what_was_judged_runs_and_is_shown_in_place_of_what_came_in() {
    let project = Project::new();
    let mut context = context(Arc::new(Live::default()), CancellationToken::new());
    let arguments = json!({ "command": "echo   one  # note" });
    let prepared = project.prepare(arguments, &context).await.unwrap();
    context.runs = Some("echo one; echo two".to_owned());
    let outcome = execute(prepared, context).await;
    let Some(ContentBlock::Terminal(terminal)) = outcome.blocks.first() else {
        unreachable!()
    };
    assert_eq!(terminal.command, "echo one; echo two");
    assert!(outcome.content.contains("one\ntwo"), "{}", outcome.content);
}

fn facts(prepared: &Prepared) -> &CommandFacts {
    let [Effect::RunCommand { facts, .. }] = &prepared.effects[..] else {
        panic!("{:?}", prepared.effects)
    };
    facts
}

#[tokio::test]
async fn p72_p73_the_gate_is_told_where_programs_and_paths_really_lead() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::with_first_in_path(Some("bin"));
    let root = project.folder.path().canonicalize().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.join("bin")).unwrap();
    std::fs::write(root.join("bin/wc"), "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(root.join("bin/wc"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(root.join("bin/cat"), "not executable").unwrap();
    // A link inside the project counts as the project's, wherever it leads at the moment.
    std::os::unix::fs::symlink("/bin/sh", root.join("bin/head")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
    let context = context(Arc::new(Live::default()), CancellationToken::new());
    let line = "cat link/x file missing sub/../file | head | wc; nothing-of-that-name";
    let prepared = project
        .prepare(json!({ "command": line }), &context)
        .await
        .unwrap();
    let facts = facts(&prepared);
    assert_eq!(facts.program("wc"), Some(Found::Program(root.join("bin/wc"))));
    assert_eq!(facts.program("head"), Some(Found::Program(root.join("bin/head"))));
    assert_eq!(facts.program("nothing-of-that-name"), Some(Found::Missing));
    let Some(Found::Program(cat)) = facts.program("cat") else {
        panic!("{facts:?}")
    };
    assert!(!cat.starts_with(&root), "{cat:?}");
    let real = |path: &str| facts.real(&root.join(path)).unwrap();
    assert_eq!(
        real("link/x").path,
        outside.path().canonicalize().unwrap().join("x")
    );
    assert_eq!((real("file").kind, real("file").links), (RealKind::File, 1));
    assert_eq!(real("missing").kind, RealKind::Missing);
    assert_eq!(real("sub/../file").path, root.join("file"));
}

#[tokio::test]
async fn g02b_g09_g12_the_gate_is_told_what_git_would_run_by_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    let root = project.folder.path().canonicalize().unwrap();
    let context = context(Arc::new(Live::default()), CancellationToken::new());
    let repository = async || {
        let prepared = project
            .prepare(json!({ "command": "git status" }), &context)
            .await
            .unwrap();
        facts(&prepared).repository(&root).unwrap()
    };
    assert_eq!(repository().await, Repository::None);
    let git = root.join(".git");
    std::fs::create_dir_all(git.join("hooks")).unwrap();
    std::fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
    for (name, mode) in [
        ("pre-commit", 0o755),
        ("pre-push", 0o644),
        ("commit-msg.sample", 0o755),
    ] {
        std::fs::write(git.join("hooks").join(name), "").unwrap();
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(git.join("hooks").join(name), rights).unwrap();
    }
    let hooks = vec!["pre-commit".to_owned()];
    assert_eq!(repository().await, Repository::Plain { hooks });
    std::fs::write(git.join("config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
    assert!(matches!(repository().await, Repository::Custom(line) if line.contains("fsmonitor")));
    std::fs::remove_dir_all(&git).unwrap();
    std::fs::create_dir(root.join("objects")).unwrap();
    std::fs::create_dir(root.join("refs")).unwrap();
    std::fs::write(root.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    assert!(matches!(repository().await, Repository::Custom(what) if what.contains("bare")));
}
