//! How the end of a command reads, for the model and for its card.

use std::fmt::Write as _;
use std::time::Duration;

use cairn_agent::tool::ToolOutcome;
use cairn_exec::{ExecError, Facts, Finished, Output, Printed, Ran};
use cairn_protocol::{CommandEnd, ContentBlock, ProcessState, Terminal};

/// How much longer than its limit a command takes at most that was not given more time.
const NEAR_LIMIT: Duration = Duration::from_secs(5);

/// A command that could not be started, or of which nothing more is known.
pub(super) fn not_run(error: &ExecError) -> ToolOutcome {
    let note = match error {
        ExecError::HelperLost => "interrupted",
        _ => "not started",
    };
    ToolOutcome {
        note: note.to_owned(),
        ..ToolOutcome::failed(format!("The command was not run to its end: {error}."))
    }
}

/// A command in the background that was stopped before it began.
pub(super) fn stopped_before(terminal: Terminal) -> ToolOutcome {
    let finished = Finished {
        end: CommandEnd::Stopped,
        output: Output::default(),
        elapsed: Duration::ZERO,
        survivors: Vec::new(),
    };
    ended(terminal, finished, None, Duration::ZERO)
}

/// A command that was waited for.
pub(super) fn ran(terminal: Terminal, ran: Ran, limit: Duration) -> ToolOutcome {
    match ran {
        Ran::Finished { finished, handle } => ended(terminal, finished, handle.as_deref(), limit),
        Ran::Moved { facts, output } => {
            let words = format!(
                "The user moved it to the background, where it runs on as {}. What it printed until then:",
                named(&facts)
            );
            running(terminal, &facts, &words, &output)
        }
    }
}

/// A command that was started in the background, with its first output.
pub(super) fn started(terminal: Terminal, first: Printed) -> ToolOutcome {
    let Printed { facts, text } = first;
    let output = Output {
        tail: text,
        printed: facts.printed,
        ..Output::default()
    };
    match &facts.state {
        ProcessState::Running | ProcessState::Left { .. } => {
            let words = format!("Started in the background as {}. Its log so far:", named(&facts));
            running(terminal, &facts, &words, &output)
        }
        ProcessState::Ended { end } => {
            let elapsed = facts
                .ended_at
                .and_then(|at| at.duration_since(facts.started_at).ok());
            let finished = Finished {
                end: end.clone(),
                output,
                elapsed: elapsed.unwrap_or_default(),
                survivors: Vec::new(),
            };
            ended(terminal, finished, None, Duration::ZERO)
        }
    }
}

/// `p1 (process 4242)`.
fn named(facts: &Facts) -> String {
    facts.pid.map_or_else(
        || facts.handle.clone(),
        |pid| format!("{} (process {pid})", facts.handle),
    )
}

fn running(terminal: Terminal, facts: &Facts, words: &str, output: &Output) -> ToolOutcome {
    let text = output.text();
    let shown = match text.trim_end_matches('\n') {
        "" => "(no output yet)",
        text => text,
    };
    let content = format!(
        "{words}\n{shown}\n[process_output with handle {0} tells what it prints next and how it ends; process_kill \
         ends it]",
        facts.handle
    );
    ToolOutcome {
        note: format!("{} in the background", facts.handle),
        commands: 1,
        blocks: vec![ContentBlock::Terminal(Terminal {
            output: text,
            total_bytes: output.printed,
            omitted_bytes: output.omitted,
            end: CommandEnd::Running,
            ..terminal
        })],
        ..ToolOutcome::ok(content)
    }
}

fn ended(terminal: Terminal, finished: Finished, handle: Option<&str>, limit: Duration) -> ToolOutcome {
    let end = finished.end;
    // One that was given more time took longer.
    let limit = if finished.elapsed > limit + NEAR_LIMIT {
        Duration::from_secs(finished.elapsed.as_secs())
    } else {
        limit
    };
    let output = finished.output.text();
    let mut content = headline(&end, limit);
    content.push('\n');
    content.push_str(match output.trim_end_matches('\n') {
        "" => "(no output)",
        text => text,
    });
    if !finished.survivors.is_empty() {
        let name = handle.unwrap_or("unnamed");
        let _written = write!(
            content,
            "\n[still running in the background as {name}, for process_output and process_kill:"
        );
        for survivor in &finished.survivors {
            let _written = write!(content, "\n process {}: {}", survivor.pid, survivor.command);
        }
        content.push(']');
    }
    let mut note = note(&end, finished.elapsed, limit);
    if let Some(name) = handle {
        let _written = write!(note, ", {name} runs on");
    }
    ToolOutcome {
        ok: end == CommandEnd::Exited { code: 0 },
        timed_out: end == CommandEnd::TimedOut,
        stopped: end == CommandEnd::Stopped,
        content,
        note,
        commands: 1,
        blocks: vec![ContentBlock::Terminal(Terminal {
            output,
            total_bytes: finished.output.printed,
            omitted_bytes: finished.output.omitted,
            end,
            elapsed_ms: finished.elapsed.as_millis() as u64,
            ..terminal
        })],
        ..ToolOutcome::default()
    }
}

/// How it ended, for the model. No times: the same end of the same command has to read the same (SPEC L3).
fn headline(end: &CommandEnd, limit: Duration) -> String {
    match end {
        CommandEnd::Exited { code } => format!("Exit code {code}."),
        CommandEnd::Signalled { signal } => format!("Ended by {signal}."),
        CommandEnd::TimedOut => format!(
            "Timed out after {} s: the command and all that it had started were ended. What it printed until then:",
            limit.as_secs()
        ),
        CommandEnd::Stopped => {
            "Stopped by the user: the command and all that it had started were ended. What it printed until then:"
                .to_owned()
        }
        CommandEnd::Running | CommandEnd::Interrupted => {
            "Interrupted: how it ended is not known. What it printed until then:".to_owned()
        }
    }
}

/// How it ended, for the card.
fn note(end: &CommandEnd, elapsed: Duration, limit: Duration) -> String {
    match end {
        CommandEnd::Exited { code: 0 } => format!("{:.1} s", elapsed.as_secs_f64()),
        CommandEnd::Exited { code } => format!("exit code {code}"),
        CommandEnd::Signalled { signal } => signal.clone(),
        CommandEnd::TimedOut => format!("timed out after {} s", limit.as_secs()),
        CommandEnd::Stopped => "stopped".to_owned(),
        CommandEnd::Running | CommandEnd::Interrupted => "interrupted".to_owned(),
    }
}
