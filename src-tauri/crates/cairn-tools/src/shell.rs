//! The `shell` tool: one command line in the foreground. SPEC T21.
//!
//! Owns: what a command is told to be, and how its end reads. Must never know: whether it may run, or how processes
//! are kept and ended.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_exec::{CommandSpec, ExecError, Finished, Processes, Program};
use cairn_files::Kind;
use cairn_policy::{Effect, Show, show};
use cairn_protocol::{ApprovalSubject, CommandEnd, ContentBlock, Terminal};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::place::Workspace;
use crate::prepared::digest;

const NAME: &str = "shell";

/// Time limit unless the call says otherwise, seconds.
const USUAL_SECONDS: u64 = 120;

/// Longest time limit, seconds. Fixed.
const MOST_SECONDS: u64 = 600;

/// Characters of the line that stand for it on one line.
const TARGET: usize = 200;

/// A call that was cancelled this close to its limit was cancelled by it.
const NEAR_LIMIT: Duration = Duration::from_millis(500);

/// Run a command line and wait for its end. Use it to build, test and inspect; read, search and change files with
/// the file tools instead.
///
/// Each call is a fresh shell: no variable, function or folder carries over. Nothing can be typed in: standard input
/// is empty, there is no terminal, editors and pagers are off. Standard output and error come back together, with
/// the exit code; of very long output the beginning and the end.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The command line.
    command: String,
    /// What it is for, in a few words, for the person who allows it.
    #[serde(default)]
    description: Option<String>,
    /// Seconds after which it and all that it started are ended; default 120, at most 600.
    #[serde(default)]
    timeout: Option<u64>,
    /// The folder to run in, relative to the project; default the project folder.
    #[serde(default)]
    workdir: Option<String>,
}

/// Runs command lines.
pub struct Shell {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    processes: Processes,
    runner: cairn_exec::Shell,
    environment: Vec<(OsString, OsString)>,
}

impl Shell {
    /// The tool for that project. `environment` is all that commands get, see [`cairn_exec::child_environment`];
    /// the shell is looked for in its `PATH`.
    pub fn new(
        workspace: Arc<Workspace>,
        processes: Processes,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        let path = environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, path)| path.as_os_str());
        let runner = cairn_exec::Shell::find(path.or(Some(OsStr::new("/bin"))));
        let limit = Duration::from_secs(USUAL_SECONDS);
        let mut spec = args::spec::<Input>(NAME, ToolClass::Run, Some(limit));
        let _written = write!(
            spec.description,
            "\nThe line is run by `{}`.",
            runner.invocation()
        );
        Self {
            spec,
            workspace,
            processes,
            runner,
            environment,
        }
    }

    fn prepare_now(&self, arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let line = checked(input.command)?;
        let limit = limit(input.timeout)?;
        let folder = input
            .workdir
            .filter(|folder| !folder.is_empty())
            .unwrap_or_else(|| ".".to_owned());
        let at = self.workspace.resolve(&folder)?;
        match at.kind {
            Kind::Folder => {}
            Kind::Missing => return Err(self.workspace.explain(&cairn_files::FileError::Missing(at.shown))),
            Kind::File | Kind::Special(_) => {
                let text = format!(
                    "`workdir` must be a folder, and {} is none; the command was not run",
                    at.shown
                );
                return Err(ToolError::new(text));
            }
        }
        let parts = [
            line.as_bytes(),
            at.real.as_os_str().as_encoded_bytes(),
            &limit.as_secs().to_le_bytes(),
        ];
        let run = Run {
            workspace: Arc::clone(&self.workspace),
            processes: self.processes.clone(),
            program: Program::Line {
                shell: self.runner.clone(),
                line: line.clone(),
            },
            environment: self.environment.clone(),
            real: at.real.clone(),
            terminal: Terminal {
                command: line.clone(),
                workdir: at.shown.clone(),
                output: String::new(),
                total_bytes: 0,
                omitted_bytes: 0,
                end: CommandEnd::Running,
                elapsed_ms: 0,
            },
            limit,
        };
        Ok(Prepared {
            title: "Run".to_owned(),
            target: target(&line),
            digest: digest(NAME, &parts),
            subject: Some(ApprovalSubject::Command {
                shown: show(&line, Show::Command),
                workdir: at.shown,
            }),
            effects: vec![Effect::RunCommand {
                line,
                workdir: at.real,
                place: at.place,
                network: false,
            }],
            says: input.description.filter(|text| !text.trim().is_empty()),
            blocks: vec![ContentBlock::Terminal(run.terminal.clone())],
            limit: Some(limit),
            action: Action::Execute(Box::new(run)),
        })
    }
}

impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(std::future::ready(self.prepare_now(arguments)))
    }
}

/// The line, unless no shell could run it.
fn checked(line: String) -> Result<String, ToolError> {
    if line.contains('\0') {
        return Err(ToolError::new(
            "the command holds a NUL byte, which no program can be given; it was not run",
        ));
    }
    if line.trim().is_empty() {
        return Err(ToolError::new(
            "`command` is empty; it was not run. Give the command line to run",
        ));
    }
    Ok(line)
}

fn limit(seconds: Option<u64>) -> Result<Duration, ToolError> {
    match seconds.unwrap_or(USUAL_SECONDS) {
        0 => Err(ToolError::new(
            "`timeout` must be at least 1 second; the command was not run",
        )),
        seconds if seconds > MOST_SECONDS => Err(ToolError::new(format!(
            "`timeout` is {seconds} seconds, and at most {MOST_SECONDS} are possible; the command was not run. Split \
             the work into shorter commands"
        ))),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

/// The line on one line, cut.
fn target(line: &str) -> String {
    let one_line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= TARGET {
        return one_line;
    }
    one_line.chars().take(TARGET).chain(['…']).collect()
}

/// A command line that was judged.
struct Run {
    workspace: Arc<Workspace>,
    processes: Processes,
    program: Program,
    environment: Vec<(OsString, OsString)>,
    real: PathBuf,
    /// How it is drawn; filled in at its end.
    terminal: Terminal,
    limit: Duration,
}

impl Execute for Run {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let workspace = Arc::clone(&self.workspace);
            let noted = tokio::task::spawn_blocking(move || workspace.note_names_before_command());
            // The names only serve a later check; Stop must not wait for them.
            tokio::select! {
                _noted = noted => {}
                () = context.cancel.cancelled() => {}
            }
            let spec = CommandSpec {
                program: self.program,
                workdir: self.real,
                environment: self.environment,
                limit: Some(self.limit),
                cancel: context.cancel.clone(),
            };
            let progress = Arc::clone(&context.progress);
            let ran = self
                .processes
                .run(spec, |live| progress.output(live.offset, live.text))
                .await;
            match ran {
                Ok(finished) => outcome(self.terminal, finished, self.limit),
                Err(error) => not_run(&error),
            }
        })
    }
}

fn not_run(error: &ExecError) -> ToolOutcome {
    let note = match error {
        ExecError::HelperLost => "interrupted",
        _ => "not started",
    };
    ToolOutcome {
        note: note.to_owned(),
        ..ToolOutcome::failed(format!("The command was not run to its end: {error}."))
    }
}

fn outcome(terminal: Terminal, finished: Finished, limit: Duration) -> ToolOutcome {
    let mut end = finished.end;
    // The limit of the turn's clock may strike a moment before that of the supervisor's.
    if end == CommandEnd::Stopped && finished.elapsed + NEAR_LIMIT >= limit {
        end = CommandEnd::TimedOut;
    }
    let output = finished.output.text();
    let mut content = headline(&end, limit);
    content.push('\n');
    content.push_str(if output.is_empty() {
        "(no output)"
    } else {
        output.trim_end_matches('\n')
    });
    if !finished.survivors.is_empty() {
        content.push_str("\n[still running, and ended with Cairn at the latest:");
        for survivor in &finished.survivors {
            let _written = write!(content, "\n process {}: {}", survivor.pid, survivor.command);
        }
        content.push(']');
    }
    ToolOutcome {
        ok: end == CommandEnd::Exited { code: 0 },
        timed_out: end == CommandEnd::TimedOut,
        stopped: end == CommandEnd::Stopped,
        content,
        note: note(&end, finished.elapsed, limit),
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
