//! What a command sees, and what is seen of it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and tells its figures"
)]

#[path = "support/processes.rs"]
mod support;

use std::time::{Duration, Instant};

use cairn_exec::{ExecError, LiveOutput, Program};
use cairn_protocol::CommandEnd;
use support::*;

#[tokio::test]
async fn x60_output_and_end_are_told() {
    let processes = processes();
    for (text, end, output) in [
        ("echo hi", CommandEnd::Exited { code: 0 }, "hi\n"),
        ("true", CommandEnd::Exited { code: 0 }, ""),
        ("false", CommandEnd::Exited { code: 1 }, ""),
        ("exit 7", CommandEnd::Exited { code: 7 }, ""),
        (
            "kill -SEGV $$",
            CommandEnd::Signalled {
                signal: "SIGSEGV".into(),
            },
            "",
        ),
        (
            "kill -KILL $$",
            CommandEnd::Signalled {
                signal: "SIGKILL".into(),
            },
            "",
        ),
        (
            "echo a; echo b >&2; echo c",
            CommandEnd::Exited { code: 0 },
            "a\nb\nc\n",
        ),
        ("-x", CommandEnd::Exited { code: 127 }, ""),
        (
            "printf '\\033[31mred\\033[0m\\n'",
            CommandEnd::Exited { code: 0 },
            "red\n",
        ),
        (
            "for i in $(seq 1 5000); do printf '\\r%d%%' $i; done",
            CommandEnd::Exited { code: 0 },
            "5000%",
        ),
    ] {
        let finished = run(&processes, text).await;
        assert_eq!(finished.end, end, "{text}");
        if text != "-x" {
            assert_eq!(finished.output.text(), output, "{text}");
        }
        assert!(finished.survivors.is_empty(), "{text}: {:?}", finished.survivors);
    }
}

#[tokio::test]
async fn x66_s7_nothing_can_be_typed_and_there_is_no_terminal() {
    let processes = processes();
    for (text, output) in [
        ("read x; echo $?", "1\n"),
        ("readlink /proc/$$/fd/0", "/dev/null\n"),
        ("(: </dev/tty) 2>/dev/null || echo none", "none\n"),
        ("test -t 1 || test -t 2 || echo none", "none\n"),
        ("pwd", "/tmp\n"),
        (
            "echo $CAIRN_INSIDE $PAGER $EDITOR $GIT_TERMINAL_PROMPT",
            "1 cat true 0\n",
        ),
        (
            "ps -o pgid=,sid= -p $$ | awk -v p=$$ '{ print ($1 == p && $2 == p) }'",
            "1\n",
        ),
        // Signals are as they are for a program started by hand.
        (
            // (32 and 33 are the C library's own.)
            "awk '/^Sig(Blk|Ign)/ { sub(/[08]0000000$/, \"\", $2); print $2 }' /proc/self/status",
            "00000000\n00000000\n",
        ),
    ] {
        assert_eq!(run(&processes, text).await.output.text(), output, "{text}");
    }
}

#[tokio::test]
async fn l08_only_the_three_standard_descriptors_are_inherited() {
    // A descriptor that an exec would pass on, as a careless library makes them.
    let careless = rustix::io::dup(std::fs::File::open("/dev/null").unwrap()).unwrap();
    assert!(rustix::io::fcntl_getfd(&careless).unwrap().is_empty());
    // No pipe, of which bash itself would hold an end; and not the last command, which bash would become.
    let finished = run(&processes(), "ls /proc/$$/fd; true").await;
    assert_eq!(finished.output.text(), "0\n1\n2\n");
}

#[tokio::test]
async fn what_cannot_be_started_is_told_as_such() {
    let processes = processes();
    let mut missing = line("", &mark());
    missing.program = Program::Direct {
        program: "/no/such/program".into(),
        arguments: vec![],
    };
    let error = processes.run(missing, |_| {}).await.unwrap_err();
    assert!(
        matches!(&error, ExecError::NotStarted { program, .. } if program == "/no/such/program"),
        "{error}"
    );

    for workdir in ["/no/such/folder", "/dev/null"] {
        let mut nowhere = line("true", &mark());
        nowhere.workdir = workdir.into();
        let error = processes.run(nowhere, |_| {}).await.unwrap_err();
        assert!(matches!(error, ExecError::Workdir { .. }), "{error}");
    }
    let error = processes.run(line("echo \0", &mark()), |_| {}).await.unwrap_err();
    assert_eq!(error, ExecError::Nul);

    let mut direct = line("", &mark());
    direct.program = Program::Direct {
        program: "printf".into(),
        arguments: vec!["%s|".into(), "a b".into(), "*".into()],
    };
    assert_eq!(
        processes.run(direct, |_| {}).await.unwrap().output.text(),
        "a b|*|"
    );

    let nowhere = cairn_exec::Processes::new(cairn_exec::HelperProgram::at("/no/such/helper"));
    let error = nowhere.run(line("true", &mark()), |_| {}).await.unwrap_err();
    assert!(matches!(error, ExecError::HelperNotStarted { .. }), "{error}");
}

#[tokio::test]
async fn live_output_adds_up_to_the_result() {
    let processes = processes();
    let mut live = String::new();
    let mut pieces = 0;
    let text = "for i in $(seq 1 60); do echo line $i; printf '\\r%d%%' $i; sleep 0.01; done; echo";
    let follow = |LiveOutput { offset, text }: LiveOutput<'_>| {
        live.truncate(usize::try_from(offset).unwrap());
        live.push_str(text);
        pieces += 1;
    };
    let finished = processes.run(line(text, &mark()), follow).await.unwrap();
    assert!(pieces >= 3, "only {pieces} pieces");
    let millis = u32::try_from(finished.elapsed.as_millis()).unwrap();
    assert!(pieces <= millis / 30 + 2, "{pieces} pieces in {millis} ms");
    assert!(
        finished.output.text().starts_with(
            live.trim_end_matches(['\n', '%'])
                .trim_end_matches(char::is_numeric)
        )
    );
}

#[tokio::test]
async fn x61_memory_stays_bounded_whatever_is_printed() {
    let processes = processes();
    run(&processes, "true").await;
    let own = std::process::id();
    let supervisor = processes.supervisor().await.unwrap();
    let before = (kilobytes(own, "VmHWM"), kilobytes(supervisor, "VmHWM"));
    let since = Instant::now();
    let finished = run(&processes, "yes | head -c 200M").await;
    let took = since.elapsed();
    let after = (kilobytes(own, "VmHWM"), kilobytes(supervisor, "VmHWM"));
    assert_eq!(finished.output.printed, 200 << 20);
    assert_eq!(finished.output.omitted, (200 << 20) - (64 << 10) - (256 << 10));
    assert_eq!(finished.output.head.len() + finished.output.tail.len(), 320 << 10);
    let grown = (after.0 - before.0, after.1 - before.1);
    println!(
        "200 MB of output: app +{} kB, supervisor +{} kB, {took:?}",
        grown.0, grown.1
    );
    assert!(grown.0 + grown.1 <= 32 << 10, "grew by {grown:?} kB");
}

#[tokio::test]
async fn one_line_without_an_end_is_bounded_too() {
    let processes = processes();
    run(&processes, "true").await;
    let supervisor = processes.supervisor().await.unwrap();
    let before = kilobytes(supervisor, "VmHWM");
    let finished = run(&processes, "head -c 50M /dev/zero | tr '\\0' x").await;
    assert_eq!(finished.output.printed, 50 << 20);
    assert!(kilobytes(supervisor, "VmHWM") - before <= 16 << 10);
}

#[tokio::test]
async fn a_command_costs_little() {
    let processes = processes();
    run(&processes, "true").await;
    let mut took: Vec<Duration> = Vec::new();
    for _ in 0..40 {
        let since = Instant::now();
        run(&processes, "true").await;
        took.push(since.elapsed());
    }
    took.sort_unstable();
    println!("`true`: median {:?}, slowest {:?}", took[20], took[39]);
    assert!(took[20] < Duration::from_millis(100), "{took:?}");
}

#[tokio::test]
async fn l04_neither_the_command_nor_the_helper_has_a_key() {
    let text = "env; tr '\\0' '\\n' </proc/$PPID/environ; \
                for p in $(ps -o ppid= -p $PPID) $$; do tr '\\0' '\\n' </proc/$p/environ; done";
    #[allow(clippy::disallowed_methods, reason = "plays the person who starts the app")]
    let output = std::process::Command::new(HELPER)
        .args(["app", text])
        .env("OPENAI_API_KEY", "sk-test-CANARY")
        .env("CAIRN_API_KEY", "sk-test-CANARY")
        .env("GITHUB_TOKEN", "CANARY")
        .env("ORDINARY", "seen")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.contains("ORDINARY=seen") && printed.contains("CAIRN_INSIDE=1"),
        "{printed}"
    );
    assert!(!printed.contains("CANARY"), "{printed}");
}
