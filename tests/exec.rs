//! The headless command as a person or a script runs it: output, exit codes, bad input, kills.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by a panic, and says why on the terminal"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cairn_testkit::TempProject;
use cairn_testkit::provider::{Reply, Script, ScriptedServer, Step};
use serde_json::{Value, json};
use tempfile::TempDir;

#[path = "exec/inside.rs"]
mod inside;
#[path = "exec/trust.rs"]
mod trust;

struct Bench {
    home: TempDir,
    project: TempProject,
    server: ScriptedServer,
    runtime: tokio::runtime::Runtime,
}

const AXIS: &str = "margin = 24\n";

impl Bench {
    fn new(replies: Vec<Reply>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let server = runtime
            .block_on(ScriptedServer::start(Script::new(replies)))
            .unwrap();
        let bench = Self {
            home: TempDir::new().unwrap(),
            project: TempProject::new([("axis.txt", AXIS)]).unwrap(),
            server,
            runtime,
        };
        bench.configure(&format!(
            "[profiles.s]\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
            bench.server.base_url()
        ));
        bench
    }

    fn configure(&self, text: &str) {
        std::fs::write(self.home.path().join("config.toml"), text).unwrap();
    }

    #[allow(clippy::disallowed_methods, reason = "a test starts the program it is about")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command
            .args(arguments)
            .current_dir(self.project.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("CAIRN_HOME", self.home.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn ends(&self, code: i32, says: &str) {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.out,
            self.err
        );
        assert!(
            self.out.contains(says) || self.err.contains(says),
            "{says:?} in\n{}\n{}",
            self.out,
            self.err
        );
    }
}

fn read() -> Reply {
    Reply::call("read_file", json!({ "path": "axis.txt" }))
}

fn edit() -> Reply {
    Reply::call(
        "edit_file",
        json!({ "path": "axis.txt", "old_string": "24", "new_string": "40" }),
    )
}

#[test]
fn the_answer_is_on_stdout_and_the_diff_on_stderr() {
    let bench = Bench::new(vec![read(), edit(), Reply::text("The margin is 40 now.")]);
    let ran = bench.run(&["exec", "--approve", "edits", "Widen the margin"]);
    ran.ends(0, "The margin is 40 now.");
    assert_eq!(ran.out, "The margin is 40 now.\n");
    for part in ["-margin = 24", "+margin = 40", "Done · 1 file +1 −1"] {
        assert!(ran.err.contains(part), "{part} in {}", ran.err);
    }
    assert_eq!(bench.project.text("axis.txt").unwrap(), "margin = 40\n");
}

#[test]
fn x81_what_would_ask_is_denied_and_the_model_is_told() {
    let bench = Bench::new(vec![read(), edit(), Reply::text("I could not.")]);
    bench.run(&["exec", "Widen the margin"]).ends(3, "1 denied");
    assert_eq!(bench.project.text("axis.txt").unwrap(), AXIS);
    assert!(
        bench.server.chats()[2]
            .body
            .to_string()
            .contains("nobody is there to give it")
    );
}

#[test]
fn t32_without_a_person_the_plan_is_the_answer_and_nothing_changes() {
    let plan = "1. Rename the axis";
    let bench = Bench::new(vec![
        read(),
        Reply::call("exit_plan_mode", json!({ "plan": plan })),
        Reply::text("never asked for"),
    ]);
    let ran = bench.run(&["exec", "--mode", "plan", "--approve", "all", "Rename it"]);
    ran.ends(0, "");
    assert_eq!(ran.out.trim(), plan, "{}", ran.err);
    assert_eq!(bench.server.chats().len(), 2, "nobody is asked for more");
    assert_eq!(bench.project.text("axis.txt").unwrap(), AXIS);
}

#[test]
fn approve_edits_covers_no_command_and_all_covers_it() {
    let shell = || Reply::call("shell", json!({ "command": "cp axis.txt ran.txt" }));
    let bench = Bench::new(vec![shell(), Reply::text("No."), shell(), Reply::text("Yes.")]);
    bench
        .run(&["exec", "--approve", "edits", "Run it"])
        .ends(3, "1 denied");
    assert!(bench.project.text("ran.txt").is_err());
    bench
        .run(&["exec", "--approve", "all", "Run it"])
        .ends(0, "1 command");
    assert_eq!(bench.project.text("ran.txt").unwrap(), AXIS);
}

#[test]
fn a3_json_is_one_event_per_line_with_what_came_of_each_call() {
    let bench = Bench::new(vec![read(), Reply::pieces(["Twenty", "-four."])]);
    let ran = bench.run(&["exec", "--json", "How wide?"]);
    ran.ends(0, "item_completed");
    let events: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        events
            .iter()
            .all(|event| event["v"] == 1 && event["session"].is_string() && event["type"].is_string())
    );
    assert!(
        events.iter().all(|event| event["type"] != "item_delta"),
        "deltas only when asked for"
    );
    let result = events.iter().find_map(|event| {
        event["item"]["result"]
            .as_object()
            .or(event["item"]["body"]["result"].as_object())
    });
    let result = result.expect("a tool result");
    assert_eq!(
        (&result["ok"], &result["timed_out"], &result["denied"]),
        (&json!(true), &json!(false), &json!(false))
    );
    assert!(result["content"].as_str().unwrap().contains("margin = 24"));

    let bench = Bench::new(vec![Reply::pieces(["Twenty", "-four."])]);
    bench
        .run(&["exec", "--json=deltas", "How wide?"])
        .ends(0, "item_delta");
}

#[test]
fn bad_usage_and_broken_config_send_nothing() {
    let bench = Bench::new(vec![Reply::text("Hello.")]);
    bench.run(&["exec", "--nonsense"]).ends(2, "--nonsense");
    bench.run(&["exec"]).ends(2, "nothing to do");
    bench
        .run(&["exec", "--profile", "nope", "Hi"])
        .ends(2, "no model profile `nope`");
    bench
        .run(&["exec", "--project", "/nowhere/at/all", "Hi"])
        .ends(2, "There is no folder");
    bench
        .run(&["exec", "--project", "axis.txt", "Hi"])
        .ends(2, "is a file");
    bench.configure("[profiles.s\nmodel = 1\n");
    bench.run(&["exec", "Hi"]).ends(2, "config.toml:1:");
    assert_eq!(bench.server.chats().len(), 0);
    assert_eq!(
        std::fs::read_to_string(bench.home.path().join("config.toml")).unwrap(),
        "[profiles.s\nmodel = 1\n"
    );
}

#[test]
fn servers_that_fail_are_said_in_words() {
    let html = Reply::body(200, "text/html", "<html><title>Sign in</title></html>");
    let bench = Bench::new(vec![Reply::error(401, "Incorrect API key provided"), html]);
    bench.run(&["exec", "Hi"]).ends(1, "key");
    bench.run(&["exec", "Hi"]).ends(1, "Sign in");
    let gone = bench.server.base_url();
    let Bench {
        home,
        project,
        server,
        runtime,
    } = bench;
    drop(server);
    drop(runtime);
    let bench = Bench::new(vec![]);
    std::fs::copy(
        home.path().join("config.toml"),
        bench.home.path().join("config.toml"),
    )
    .unwrap();
    let ran = bench.run(&["exec", "--project", project.root().to_str().unwrap(), "Hi"]);
    ran.ends(1, "refused");
    assert!(
        ran.err
            .contains(gone.trim_start_matches("http://").trim_end_matches("/v1")),
        "names the address: {}",
        ran.err
    );
}

#[test]
fn sessions_are_listed_shown_found_and_deleted() {
    let bench = Bench::new(vec![Reply::text("The lighthouse is white.")]);
    bench
        .run(&["exec", "What colour is the lighthouse?"])
        .ends(0, "white");
    let listed = bench.run(&["sessions", "list"]);
    listed.ends(0, "What colour is the lighthouse?");
    let id = listed.out.split_whitespace().next().unwrap().to_owned();
    bench
        .run(&["sessions", "show", &id])
        .ends(0, "The lighthouse is white.");
    bench
        .run(&["sessions", "search", "LIGHTHOUSE white"])
        .ends(0, &id);
    bench.run(&["exec", "--session", "nope", "Hi"]).ends(1, "nope");
    bench.run(&["sessions", "delete", &id]).ends(0, "Deleted");
    assert!(!bench.run(&["sessions", "list"]).out.contains(&id));
}

#[test]
fn continue_goes_on_with_the_newest_session() {
    let bench = Bench::new(vec![Reply::text("One."), Reply::text("Two.")]);
    bench.run(&["exec", "First"]).ends(0, "One.");
    bench.run(&["exec", "--continue", "Second"]).ends(0, "Two.");
    let asked = bench.server.chats()[1].body.to_string();
    assert!(
        asked.contains("First") && asked.contains("One."),
        "the history goes along: {asked}"
    );
}

#[test]
fn rules_are_added_hold_and_are_revoked_and_the_agent_cannot_add_any() {
    let shell = || Reply::call("shell", json!({ "command": "echo ran > ran.txt" }));
    let bench = Bench::new(vec![shell(), Reply::text("Yes."), shell(), Reply::text("No.")]);
    let rule = "run-exact: echo ran > ran.txt";
    bench.run(&["allow", "add", rule]).ends(0, "");
    bench.run(&["allow", "list"]).ends(0, rule);
    bench.run(&["exec", "Run it"]).ends(0, "1 command");
    bench.run(&["allow", "revoke", rule]).ends(0, "");
    bench.run(&["exec", "Run it"]).ends(3, "1 denied");
    bench.run(&["allow", "add", "nonsense"]).ends(2, "is not a rule");
    for inside in [
        vec!["allow", "add", rule],
        vec!["exec", "Hi"],
        vec!["config", "path"],
    ] {
        let ran = Ran::of(bench.command(&inside).env("CAIRN_INSIDE", "1").output().unwrap());
        ran.ends(2, "inside a command that Cairn started");
    }
}

#[test]
fn a2_a_limit_and_an_interrupt_have_their_own_exit_codes() {
    let bench = Bench::new(vec![
        read(),
        Reply::steps([Step::Text("Half of it".to_owned()), Step::Hang]),
    ]);
    let plain = std::fs::read_to_string(bench.home.path().join("config.toml")).unwrap();
    bench.configure(&format!("{plain}[limits]\nsteps = 1\n"));
    bench.run(&["exec", "How wide?"]).ends(3, "");
    assert_eq!(bench.server.chats().len(), 1, "it stopped at the limit");

    bench.configure(&plain);
    let mut child = bench
        .command(&["exec", "--json=deltas", "How wide?"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.find(|line| line.as_ref().unwrap().contains("Half of it"));
    assert!(said.is_some(), "it speaks");
    interrupt(child.id());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:#?}");
    let ended = |line: &String| line.contains("turn_completed") && line.contains("\"stopped\"");
    assert!(rest.iter().any(ended), "{rest:#?}");
}

#[allow(
    clippy::disallowed_methods,
    reason = "a test interrupts the program it is about"
)]
fn interrupt(pid: u32) {
    let sent = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn t21_a_command_gets_no_key_of_ours_or_of_a_provider_and_is_told_that_it_is_inside() {
    let shell = Reply::call("shell", json!({ "command": "env; echo \"end of it\"" }));
    let bench = Bench::new(vec![shell, Reply::text("Seen.")]);
    let mut command = bench.command(&["exec", "--approve", "all", "Look around"]);
    let secrets = [
        "CAIRN_API_KEY",
        "CAIRN_BASE_URL",
        "OPENAI_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "DEPLOY_TOKEN",
    ];
    // Its value alone would be masked: what counts is that the variable is not there.
    for name in secrets {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env("COLOUR", "lichen");
    Ran::of(command.output().unwrap()).ends(0, "1 command");
    let told = bench.server.chats()[1].body.to_string();
    for there in ["CAIRN_INSIDE=1", "COLOUR=lichen", "end of it"] {
        assert!(told.contains(there), "{there} in {told}");
    }
    for name in secrets {
        assert!(!told.contains(&format!("{name}=")), "{name} in {told}");
    }
}

#[test]
fn the_prompt_may_come_from_standard_input() {
    let bench = Bench::new(vec![Reply::text("Heard.")]);
    let mut child = bench
        .command(&["exec", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all("Grüße aus der Röhre".as_bytes())
        .unwrap();
    Ran::of(child.wait_with_output().unwrap()).ends(0, "Heard.");
    assert!(
        bench.server.chats()[0]
            .body
            .to_string()
            .contains("Grüße aus der Röhre")
    );
}

#[test]
fn the_demo_runs_to_its_end() {
    let bench = Bench::new(vec![]);
    bench
        .run(&["exec", "--profile", "demo", "--approve", "all"])
        .ends(0, "Done · 1 file +2 −1 · 1 command");
}

#[test]
fn what_lies_where_the_data_folder_belongs_is_said_and_stays() {
    let bench = Bench::new(vec![Reply::text("Hello.")]);
    let data = bench.home.path().join("data");
    std::fs::write(&data, "in the way").unwrap();
    let ran = bench.run(&["exec", "Hi"]);
    ran.ends(1, data.to_str().unwrap());
    assert_eq!(std::fs::read_to_string(data).unwrap(), "in the way");
}

/// Rights hold for this user, too: the superuser's way around them is taken away.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test starts the program it is about")]
fn a_read_only_data_folder_is_said_and_works_once_it_can_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(vec![Reply::text("Hello.")]);
    let rights = |mode| {
        std::fs::set_permissions(bench.home.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    rights(0o500);
    let mut command = Command::new("setpriv");
    command
        .args([
            "--bounding-set=-dac_override,-dac_read_search",
            env!("CARGO_BIN_EXE_cairn"),
            "exec",
            "Hi",
        ])
        .current_dir(bench.project.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("CAIRN_HOME", bench.home.path())
        .stdin(Stdio::null());
    let ran = Ran::of(command.output().unwrap());
    ran.ends(1, bench.home.path().to_str().unwrap());
    assert!(ran.err.contains("ermission"), "{}", ran.err);
    assert_eq!(
        bench.server.chats().len(),
        0,
        "nothing is sent that cannot be kept"
    );
    rights(0o700);
    bench.run(&["exec", "Hi"]).ends(0, "Hello.");
}

#[test]
fn s2_after_a_crash_continue_runs_its_own_prompt() {
    for end in ["-KILL", "-TERM"] {
        let hangs = Reply::steps([Step::Text("partial".into()), Step::Hang]);
        let bench = Bench::new(vec![hangs, Reply::text("The second answer.")]);
        let mut child = bench
            .command(&["exec", "--json=deltas", "First"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains("partial")));
        signal(child.id(), end);
        let status = child.wait().unwrap();
        if end == "-TERM" {
            assert_eq!(status.code(), Some(130), "it ends in order");
        }
        let ran = bench.run(&["exec", "--continue", "Second"]);
        assert_eq!(
            (ran.code, ran.out.trim()),
            (Some(0), "The second answer."),
            "{end}: {}",
            ran.err
        );
        let asked = bench.server.chats().last().unwrap().body.to_string();
        assert!(
            asked.contains("Second") && !asked.contains("First\\n\\nSecond"),
            "{asked}"
        );
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a test ends the program that it started"
)]
fn signal(pid: u32, how: &str) {
    assert!(
        Command::new("kill")
            .args([how, &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_profile_that_is_not_there_is_named_and_leaves_no_session() {
    let bench = Bench::new(vec![]);
    bench.run(&["exec", "--profile", "zzz", "Hi"]).ends(2, "`zzz`");
    bench.configure("default_profile = \"gone\"\n");
    bench.run(&["exec", "Hi"]).ends(2, "`gone`");
    assert!(!bench.run(&["sessions", "list"]).out.contains("zzz"));
    assert_eq!(bench.server.chats().len(), 0);
}

#[test]
fn r3_a_count_that_no_number_can_hold_ends_nothing() {
    let usage = "{\"prompt_tokens\":18446744073709551615,\"completion_tokens\":18446744073709551615}";
    let stream = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"Hi.\"}},\"finish_reason\":\"stop\"}}],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"
    );
    let bench = Bench::new(vec![Reply::stream(&stream), Reply::text("Again.")]);
    bench.run(&["exec", "One"]).ends(0, "Hi.");
    bench.run(&["exec", "--continue", "Two"]).ends(0, "Again.");
}

#[test]
fn m2_a_reply_that_ends_without_an_end_is_kept_and_marked() {
    let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"par\"}}]}\n\ndata: {\"choi";
    let bench = Bench::new(vec![Reply::stream(stream)]);
    let ran = bench.run(&["exec", "One"]);
    assert!(
        ran.out.contains("par") && ran.err.contains("may be cut"),
        "{} {}",
        ran.out,
        ran.err
    );
}

#[test]
fn a7_a_key_that_the_server_says_back_is_neither_printed_nor_kept() {
    let bench = Bench::new(vec![
        Reply::error(401, "Incorrect API key provided: sk-CANARY-123456"),
        Reply::text("Your key is sk-CANARY-123456."),
        Reply::call("read_file", json!({ "path": "sk-CANARY-123456" })),
        Reply::text("Done."),
    ]);
    for prompt in ["One", "Two", "Three"] {
        let output = bench
            .command(&["exec", "--json=deltas", prompt])
            .env("CAIRN_API_KEY", "sk-CANARY-123456")
            .output()
            .unwrap();
        let ran = Ran::of(output);
        assert!(
            !ran.out.contains("CANARY") && !ran.err.contains("CANARY"),
            "{} {}",
            ran.out,
            ran.err
        );
    }
    for file in ["data/cairn.db", "data/cairn.db-wal"] {
        let bytes = std::fs::read(bench.home.path().join(file)).unwrap_or_default();
        assert!(
            !bytes.windows(6).any(|six| six == b"CANARY"),
            "{file} keeps the key"
        );
    }
}

#[test]
fn a_full_disk_behind_standard_output_is_said_and_is_a_failure() {
    let bench = Bench::new(vec![Reply::text("Here I am."), Reply::text("Still here.")]);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [&["exec", "Hello"][..], &["exec", "--json", "Hello"]] {
        let mut child = bench.command(arguments);
        let output = child.stdout(full()).output().unwrap();
        Ran::of(output).ends(1, "could be written to standard output");
    }
    bench.run(&["sessions", "search", "Still here"]).ends(0, "Hello");
}

#[test]
fn a7_an_edit_beside_keys_shows_and_keeps_none_of_them_and_leaves_them_in_the_file() {
    let bench = Bench::new(vec![read(), edit(), Reply::text("Done.")]);
    let keys = "margin = 24\nkey = env-CANARY-1\nteam = head-CANARY-2\nsearch = brave-CANARY-3\n";
    std::fs::write(bench.project.root().join("axis.txt"), keys).unwrap();
    let config = std::fs::read_to_string(bench.home.path().join("config.toml")).unwrap();
    bench.configure(&format!(
        "{config}headers = {{ x-team = \"Bearer head-CANARY-2\" }}\n[web_search]\nkey = \"brave-CANARY-3\"\n"
    ));
    let output = bench
        .command(&[
            "exec",
            "--json=deltas",
            "--approve",
            "edits",
            "Widen it, not env-CANARY-1",
        ])
        .env("CAIRN_API_KEY", "env-CANARY-1")
        .output()
        .unwrap();
    let ran = Ran::of(output);
    ran.ends(0, "key = [key removed]");
    let id = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find_map(|event| Some(event.get("session")?.as_str()?.to_owned()))
        .unwrap();
    let kept = bench.run(&["sessions", "show", &id]);
    for said in [&ran.out, &ran.err, &kept.out] {
        assert!(!said.contains("CANARY"), "{said}");
    }
    kept.ends(0, "Done.");
    let edited = keys.replace("24", "40");
    assert_eq!(bench.project.text("axis.txt").unwrap(), edited);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a test makes its FIFO with the program for it"
)]
fn g01_a_fifo_in_place_of_a_repositorys_head_holds_nobody_up() {
    let bench = Bench::new(vec![Reply::text("Here I am.")]);
    let git = bench.project.root().join(".git");
    std::fs::create_dir(&git).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(git.join("HEAD"))
            .status()
            .unwrap()
            .success()
    );
    bench.run(&["exec", "Hello"]).ends(0, "Here I am.");
}

/// The file system is as small as a full disk: a mount of its own, seen by this run only.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test starts the program it is about")]
fn a_full_disk_is_said_and_what_was_there_stays() {
    let replies = ["First answer.", "Second answer.", "Third answer."];
    let bench = Bench::new(replies.map(Reply::text).to_vec());
    let script = r#"
        cp "$CAIRN_HOME/config.toml" "$CAIRN_HOME.kept" &&
        mount -t tmpfs -o size=6m,mode=700 tmpfs "$CAIRN_HOME" && mv "$CAIRN_HOME.kept" "$CAIRN_HOME/config.toml" || exit 99
        "$0" exec One; echo "first $?"
        for size in 65536 512 1; do dd if=/dev/zero bs=$size >>"$CAIRN_HOME/fill" 2>/dev/null; done
        "$0" exec Two; echo "second $?"
        "$0" sessions list; echo "listed $?"
        rm "$CAIRN_HOME/fill"
        "$0" exec Three; echo "third $?"
        "$0" sessions search answer; echo "found $?"
    "#;
    let mut command = Command::new("unshare");
    command
        .args([
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            env!("CARGO_BIN_EXE_cairn"),
        ])
        .current_dir(bench.project.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("CAIRN_HOME", bench.home.path())
        .stdin(Stdio::null());
    let ran = Ran::of(command.output().unwrap());
    assert!(
        ran.out.contains("First answer.\nfirst 0"),
        "{} {}",
        ran.out,
        ran.err
    );
    assert!(ran.out.contains("second 1"), "{} {}", ran.out, ran.err);
    assert!(
        ran.err.contains("The disk with Cairn's data is full"),
        "{}",
        ran.err
    );
    assert!(
        ran.out.contains("third 0") && ran.out.contains("found 0"),
        "{} {}",
        ran.out,
        ran.err
    );
    assert!(
        ran.out.rsplit("third 0").next().unwrap().contains("First answer"),
        "{}",
        ran.out
    );
}

/// About as many lines as the run prints that is killed: the kills are spread over all of it.
const LINES: u32 = 55;

/// `CAIRN_KILLS` sets how often; the figure in the notes is for 50.
#[test]
fn s2_a_kill_at_any_point_loses_nothing_that_was_printed() {
    let kills: u32 = std::env::var("CAIRN_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(12);
    let (mut left_a_child, mut edited) = (0, 0);
    for round in 0..kills {
        // The child outlives its command and, by a long way, the wait for its end.
        let line = "(setsid sleep 600 &) ; sleep 0.05; echo step";
        let call = || Reply::call("shell", json!({ "command": line }));
        let bench = Bench::new(vec![call(), read(), edit(), call(), Reply::text("Done.")]);
        let mut child = bench
            .command(&["exec", "--json", "--approve", "all", "Widen the margin"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let printed = read_lines_then_kill(&mut child, 1 + round * LINES / kills.max(1));
        left_a_child += u32::from(printed.iter().any(|line| line.contains("step\\n")));
        let stored = stored_events(&bench);
        for line in &printed {
            let event: Value = serde_json::from_str(line).unwrap();
            if ["item_delta", "meter_changed", "activity_changed", "notice"]
                .contains(&event["type"].as_str().unwrap())
            {
                continue;
            }
            assert!(
                stored.contains(&event),
                "round {round}: printed and not stored: {line}"
            );
        }
        let text = bench.project.text("axis.txt").unwrap();
        assert!(
            text == AXIS || text == "margin = 40\n",
            "round {round}: {text:?} is half written"
        );
        edited += u32::from(text != AXIS);
        none_alive(bench.home.path());
    }
    let came = format!("{left_a_child} kills came after a command, {edited} after the edit");
    assert!(kills < 12 || left_a_child > 0 && edited > 0, "{came}");
}

/// Kills the program after that many lines, and gives all that it printed.
fn read_lines_then_kill(child: &mut std::process::Child, count: u32) -> Vec<String> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut printed: Vec<String> = lines.by_ref().take(count as usize).map(Result::unwrap).collect();
    child.kill().unwrap();
    printed.extend(lines.map_while(Result::ok));
    child.wait().unwrap();
    // The last line may have been cut off by the kill: it was not printed.
    printed.retain(|line| serde_json::from_str::<Value>(line).is_ok());
    printed
}

fn stored_events(bench: &Bench) -> Vec<Value> {
    let environment = cairn_host::Environment::new([("CAIRN_HOME".into(), bench.home.path().into())]);
    let helper = cairn_host::parts::HelperProgram::at(PathBuf::from(env!("CARGO_BIN_EXE_cairn")));
    bench.runtime.block_on(async {
        let host = cairn_host::Host::start(environment, helper, cairn_host::parts::Pace::INSTANT).unwrap();
        let params = cairn_protocol::SessionListParams::default();
        let mut all = Vec::new();
        for session in host.list_sessions(None, &params).await.unwrap().sessions {
            let events = host.store().load(&session.id).await.unwrap().events;
            all.extend(events.iter().map(|event| serde_json::to_value(event).unwrap()));
        }
        host.shutdown().await;
        all
    })
}

/// Waits until no process with that data folder or of its commands is left.
fn none_alive(home: &Path) {
    let mark = format!("CAIRN_HOME={}", home.display());
    let mine = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let left: Vec<u32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(mine)
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(std::time::Instant::now() < end, "still alive: {left:?}");
        std::thread::yield_now();
    }
}
