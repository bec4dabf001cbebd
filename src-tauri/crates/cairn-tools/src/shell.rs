//! The `shell` tool: one command line, waited for or in the background. SPEC T21.
//!
//! Owns: what a command is told to be. Must never know: whether it may run, or how processes are kept and ended.

mod machine;
mod outcome;
pub(crate) mod walled;

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, LimitBy, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_exec::{CommandSpec, Group, Label, Network, Program, Ran};
use cairn_files::{Kind, Resolved};
use cairn_policy::{CommandFacts, Effect, Looked, Show, show};
use cairn_protocol::{ApprovalSubject, CommandEnd, ContentBlock, ProcessPlace, Terminal};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::bounds::Bounds;
use crate::place::Workspace;
use crate::prepared::digest;
use machine::Machine;
use walled::Walled;

const NAME: &str = "shell";

/// Time limit unless the call says otherwise, seconds.
const USUAL_SECONDS: u64 = 120;

/// Longest time limit, seconds. Fixed.
const MOST_SECONDS: u64 = 600;

/// Characters of the line that stand for it on one line.
const TARGET: usize = 200;

/// How long the first output of a command in the background is waited for: what fails at once is told at once.
const FIRST_LOOK: Duration = Duration::from_millis(200);

/// What is added where commands are held in.
const SANDBOXED: &str = "\nIt runs in a sandbox: it writes only to the project, to the folder in `TMPDIR`, which only \
                         these commands see, and to caches; it reads no credentials and reaches no network unless \
                         `network` is allowed. What it makes under a name that runs code later is set aside.";

/// Run a command line and wait for its end. Use it to build, test and inspect; read, search and change files with
/// the file tools instead.
///
/// Each call is a fresh shell: no variable, function or folder carries over. Nothing can be typed in: standard input
/// is empty, there is no terminal, editors and pagers are off. Standard output and error come back together, with
/// the exit code; of very long output the beginning and the end.
///
/// With `background` it is not waited for: the answer is a handle for `process_output` and `process_kill`. What runs
/// on after its shell gets a handle too.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The command line.
    command: String,
    /// What it is for, in a few words, for the person who allows it.
    #[serde(default)]
    description: Option<String>,
    /// Seconds after which it and all that it started are ended; default 120, at most 600; none in the background.
    #[serde(default)]
    timeout: Option<u64>,
    /// Do not wait for its end: for servers and watchers.
    #[serde(default)]
    background: Option<bool>,
    /// Whether it needs the network, which the sandbox shuts otherwise; asks the person.
    #[serde(default)]
    network: Option<bool>,
    /// Run it outside the sandbox: only after it failed because of it; asks the person every time.
    #[serde(default)]
    outside: Option<bool>,
    /// The folder to run in, relative to the project; default the project folder.
    #[serde(default)]
    workdir: Option<String>,
}

/// Runs command lines.
pub struct Shell {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    processes: Group,
    runner: cairn_exec::Shell,
    environment: Vec<(OsString, OsString)>,
}

impl Shell {
    /// The tool for that project. `processes` are those of the session; `environment` is all that commands get, see [`cairn_exec::child_environment`];
    /// the shell is looked for in its `PATH`.
    pub fn new(workspace: Arc<Workspace>, processes: Group, environment: Vec<(OsString, OsString)>) -> Self {
        let path = environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, path)| path.as_os_str());
        let runner = cairn_exec::Shell::find(path.or(Some(OsStr::new("/bin"))));
        // Each call brings its own: 120 s unless it says otherwise, none in the background.
        let mut spec = args::spec::<Input>(NAME, ToolClass::Run, None);
        let _written = write!(
            spec.description,
            "\nThe line is run by `{}`.",
            runner.invocation()
        );
        if workspace.bounds().is_some() {
            spec.description.push_str(SANDBOXED);
        }
        Self {
            spec,
            workspace,
            processes,
            runner,
            environment,
        }
    }

    /// The folders in which the commands will look for programs.
    fn path(&self) -> &OsStr {
        self.environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map_or(OsStr::new(""), |(_, path)| path.as_os_str())
    }

    /// The folder to run in: the one named, else the project.
    fn folder(&self, named: Option<String>) -> Result<Resolved, ToolError> {
        let named = named
            .filter(|folder| !folder.is_empty())
            .unwrap_or_else(|| ".".to_owned());
        let at = self.workspace.resolve(&named)?;
        match at.kind {
            Kind::Folder => Ok(at),
            Kind::Missing => Err(self.workspace.explain(&cairn_files::FileError::Missing(at.shown))),
            Kind::File | Kind::Special(_) => Err(ToolError::new(format!(
                "`workdir` must be a folder, and {} is none; the command was not run",
                at.shown
            ))),
        }
    }

    /// Whether walls keep all that they should; the first time this looks through the project.
    async fn looked(&self) -> Looked {
        let Some(bounds) = self.workspace.bounds().cloned() else {
            return Looked::Whole;
        };
        let looking = tokio::task::spawn_blocking(move || bounds.looked());
        looking.await.unwrap_or_else(|error| {
            Looked::InPart(format!(
                "The project could not be looked through for protected files ({error})."
            ))
        })
    }

    fn prepare_now(&self, arguments: Map<String, Value>, looked: Looked) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let line = checked(input.command)?;
        let place = match input.background {
            Some(true) => ProcessPlace::Background,
            Some(false) | None => ProcessPlace::Foreground,
        };
        let limit = limit(input.timeout, place)?;
        let network = input.network.unwrap_or(false);
        let outside = input.outside.unwrap_or(false);
        let at = self.folder(input.workdir)?;
        let parts = [
            line.as_bytes(),
            at.real.as_os_str().as_encoded_bytes(),
            &limit.map_or(0, |limit| limit.as_secs()).to_le_bytes(),
            &[
                u8::from(place == ProcessPlace::Background),
                u8::from(network),
                u8::from(outside),
            ],
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
            terminal: terminal(&line, &at.shown),
            limit,
            place,
            bounds: self.workspace.bounds().filter(|_| !outside).cloned(),
            network: if network { Network::On } else { Network::Off },
            looked: looked.clone(),
        };
        let machine = Machine {
            workspace: &self.workspace,
            path: self.path(),
        };
        let facts = CommandFacts::gather(&line, &at.real, self.workspace.places(), &machine)
            .with_looked(looked.clone());
        let title = match place {
            ProcessPlace::Foreground => "Run",
            ProcessPlace::Background => "Run in the background",
        };
        Ok(Prepared {
            title: title.to_owned(),
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
                network,
                outside,
                facts,
            }],
            says: input.description.filter(|text| !text.trim().is_empty()),
            blocks: vec![ContentBlock::Terminal(run.terminal.clone())],
            limit,
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
        Box::pin(async move { self.prepare_now(arguments, self.looked().await) })
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

/// The time limit: 120 s where a call waits and says nothing, none in the background.
fn limit(seconds: Option<u64>, place: ProcessPlace) -> Result<Option<Duration>, ToolError> {
    let usual = match place {
        ProcessPlace::Foreground => Some(USUAL_SECONDS),
        ProcessPlace::Background => None,
    };
    match seconds.or(usual) {
        None => Ok(None),
        Some(0) => Err(ToolError::new(
            "`timeout` must be at least 1 second; the command was not run",
        )),
        Some(seconds) if seconds > MOST_SECONDS => Err(ToolError::new(format!(
            "`timeout` is {seconds} seconds, and at most {MOST_SECONDS} are possible; the command was not run. Split \
             the work into shorter commands, or run it in the background"
        ))),
        Some(seconds) => Ok(Some(Duration::from_secs(seconds))),
    }
}

/// How it is drawn before it ran.
fn terminal(line: &str, workdir: &str) -> Terminal {
    Terminal {
        command: line.to_owned(),
        workdir: workdir.to_owned(),
        output: String::new(),
        total_bytes: 0,
        omitted_bytes: 0,
        end: CommandEnd::Running,
        elapsed_ms: 0,
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
    processes: Group,
    program: Program,
    environment: Vec<(OsString, OsString)>,
    real: PathBuf,
    /// How it is drawn; filled in at its end.
    terminal: Terminal,
    limit: Option<Duration>,
    place: ProcessPlace,
    /// What holds it in; none where nothing does or it was allowed to leave.
    bounds: Option<Arc<Bounds>>,
    network: Network,
    /// What was known of the walls when it was judged.
    looked: Looked,
}

impl Execute for Run {
    fn execute(mut self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        if let Some(line) = &context.runs {
            self.take(line);
        }
        Box::pin(async move {
            let (mut spec, label) = self.spec(&context);
            let workspace = Arc::clone(&self.workspace);
            let noted = tokio::task::spawn_blocking(move || workspace.note_names_before_command());
            // The names only serve a later check; Stop must not wait for them.
            tokio::select! {
                _noted = noted => {}
                () = context.cancel.cancelled() => {}
            }
            let mut walled = None;
            if let Some(bounds) = self.bounds.clone() {
                let network = self.network;
                let putting = tokio::task::spawn_blocking(move || {
                    let walled = Walled::put(bounds, network, &mut spec);
                    (walled, spec)
                });
                match putting.await {
                    Ok((walls, within)) => {
                        if let Some(reason) = walls.is_weaker_than(&self.looked) {
                            return ToolOutcome::failed(reason);
                        }
                        (walled, spec) = (Some(walls), within);
                    }
                    // Without its walls it does not run.
                    Err(error) => return ToolOutcome::failed(format!("The command was not run: {error}.")),
                }
            }
            let (workspace, processes) = (Arc::clone(&self.workspace), self.processes.clone());
            let (outcome, handle) = match self.place {
                ProcessPlace::Foreground => self.wait_for(spec, label, context).await,
                ProcessPlace::Background => self.start(spec, label, context).await,
            };
            match walled {
                Some(walled) => {
                    walled
                        .finish(outcome, handle.as_deref(), &workspace, &processes)
                        .await
                }
                None => outcome,
            }
        })
    }

    /// The supervisor ends it at its limit, because the person can give it more time.
    fn limit_by(&self) -> LimitBy {
        LimitBy::Itself
    }
}

impl Run {
    /// What was judged is what runs: the line as it was written down again.
    fn take(&mut self, judged: &str) {
        if let Program::Line { line, .. } = &mut self.program {
            judged.clone_into(line);
        }
        judged.clone_into(&mut self.terminal.command);
    }

    fn spec(&self, context: &CallContext) -> (CommandSpec, Label) {
        let spec = CommandSpec {
            program: self.program.clone(),
            workdir: self.real.clone(),
            environment: self.environment.clone(),
            limit: self.limit,
            cancel: context.cancel.clone(),
            walls: None,
        };
        let label = Label {
            command: self.terminal.command.clone(),
            tag: context.call.as_str().to_owned(),
        };
        (spec, label)
    }

    /// The answer, and the name of what runs on.
    async fn wait_for(
        self,
        spec: CommandSpec,
        label: Label,
        context: CallContext,
    ) -> (ToolOutcome, Option<String>) {
        let progress = Arc::clone(&context.progress);
        let ran = self
            .processes
            .run(spec, label, |live| progress.output(live.offset, live.text))
            .await;
        match ran {
            Ok(ran) => {
                let handle = match &ran {
                    Ran::Finished { handle, .. } => handle.clone(),
                    Ran::Moved { facts, .. } => Some(facts.handle.clone()),
                };
                let limit = self.limit.unwrap_or_default();
                (outcome::ran(self.terminal, ran, limit), handle)
            }
            Err(error) => (outcome::not_run(&error), None),
        }
    }

    /// The same for one that nobody waits for.
    async fn start(
        self,
        spec: CommandSpec,
        label: Label,
        context: CallContext,
    ) -> (ToolOutcome, Option<String>) {
        let facts = match self.processes.start(spec, label).await {
            Ok(facts) => facts,
            // Stopped before it began.
            Err(_) if context.cancel.is_cancelled() => return (outcome::stopped_before(self.terminal), None),
            Err(error) => return (outcome::not_run(&error), None),
        };
        let first = self
            .processes
            .printed(&facts.handle, FIRST_LOOK, &context.cancel)
            .await;
        let outcome = match first {
            Ok(printed) => outcome::started(self.terminal, printed),
            Err(error) => outcome::not_run(&error),
        };
        (outcome, Some(facts.handle))
    }
}
