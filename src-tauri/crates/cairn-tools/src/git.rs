//! `git`: forms that only read run unasked and hardened, everything else is a command that asks. SPEC T23, W3.
//!
//! Owns: how git is started so that a repository's configuration runs nothing. Must never know: what the gate decides.

mod index;
mod repository;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_exec::{CommandSpec, Processes, Program};
use cairn_policy::{GitRead, git_read};
use cairn_protocol::{CommandEnd, ContentBlock, Terminal};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args;
use crate::place::{RepositoryTrust, Workspace};
use crate::prepared::digest;
use crate::shell::Shell;
pub(crate) use repository::Repository;
pub use repository::{Custom, custom_lines};

/// SPEC T2.
const LIMIT: Duration = Duration::from_secs(30);
/// Most words of one call.
const WORDS: usize = 500;
/// Longest target on the card, characters.
const TARGET: usize = 200;

/// Runs git in the project, without a shell.
///
/// `status`, `diff`, `log`, `show`, `blame`, `branch`, `ls-files` and `rev-parse` in their plain reading forms run at
/// once in a folder that the user trusts; everything else asks the user. Put files and patterns after "--". Files that hold credentials are left out of
/// what is shown. No pager, editor or prompt is ever started.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The words after `git`, one per entry, like `["diff", "--stat", "--", "src"]`.
    args: Vec<String>,
}

/// The tool.
pub struct Git {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    processes: Processes,
    environment: Vec<(OsString, OsString)>,
    /// Plays every call that is not plain reading: a command like any other.
    shell: Arc<Shell>,
}

impl Git {
    /// The tool for a project. `environment` is what commands get.
    pub fn new(
        workspace: Arc<Workspace>,
        processes: Processes,
        environment: Vec<(OsString, OsString)>,
        shell: Arc<Shell>,
    ) -> Self {
        Self {
            spec: args::spec::<Input>("git", ToolClass::Run, Some(LIMIT)),
            workspace,
            processes,
            environment,
            shell,
        }
    }

    fn reading(&self, input: &Input) -> Option<Prepared> {
        let read = git_read(&input.args)?;
        let repository = Repository::of(self.workspace.root().path())?;
        // No git before the person trusts the folder: then it is a command, and asks. SPEC P11.
        let RepositoryTrust::Trusted { accepted } = self.workspace.repository_trust() else {
            return None;
        };
        // The same where a repository configures what may run programs, and nobody saw those lines. Case G02b.
        if let Some(custom) = repository.custom(&accepted) {
            tracing::info!(custom, "git asks: the repository has a configuration of its own");
            return None;
        }
        let program = self.program()?;
        let mut effects = vec![self.workspace.places().read(self.workspace.root().path())];
        for path in read.words.iter().chain(&read.paths) {
            // A word may be a revision or a file: what it would be as a file is judged as well.
            let at = self.workspace.resolve(path).ok()?;
            effects.push(self.workspace.reads(&at.real));
        }
        let words = arguments(&read);
        let target = shown(&input.args);
        let parts: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        Some(Prepared {
            title: "Git".to_owned(),
            digest: digest("git", &parts),
            target: target.clone(),
            subject: Some(cairn_protocol::ApprovalSubject::Read {
                path: cairn_policy::show_path(self.workspace.root().path()),
            }),
            effects,
            says: None,
            blocks: Vec::new(),
            limit: Some(LIMIT),
            action: Action::Execute(Box::new(Reading {
                processes: self.processes.clone(),
                spec: CommandSpec {
                    program: Program::Direct {
                        program: program.into_os_string(),
                        arguments: words.into_iter().map(OsString::from).collect(),
                    },
                    workdir: self.workspace.root().path().to_owned(),
                    environment: self.hardened(&repository),
                    limit: Some(LIMIT),
                    cancel: tokio_util::sync::CancellationToken::new(),
                    // Hardened already, and what it reads is what it is for.
                    walls: None,
                },
                line: format!("git {target}"),
                hides: leaves_out(&read),
                only_commits: read.subcommand == "show",
            })),
        })
    }

    /// Git itself: looked for outside of the project only, so that no project brings its own.
    fn program(&self) -> Option<PathBuf> {
        let path = self
            .environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.as_os_str())?;
        let root = self.workspace.root().path();
        let is_program = |file: &PathBuf| {
            file.canonicalize().is_ok_and(|real| !real.starts_with(root))
                && file
                    .metadata()
                    .is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
        };
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("git"))
            .find(is_program)
    }

    /// The environment of commands without anything of git's, and with what shuts every door that a repository,
    /// a user's or a system's configuration could open.
    fn hardened(&self, repository: &Repository) -> Vec<(OsString, OsString)> {
        let foreign = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
        let mut environment: Vec<_> = self
            .environment
            .iter()
            .filter(|(name, _)| !foreign(name))
            .cloned()
            .collect();
        let set = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "false"),
        ];
        environment.extend(set.map(|(name, value)| (name.into(), value.into())));
        // No discovery: git reads the repository that was looked at and no other. Case G12.
        environment.push(("GIT_DIR".into(), repository.git_dir().into()));
        environment.push(("GIT_WORK_TREE".into(), repository.work_tree().into()));
        environment
    }

    /// The same call as a line for the shell tool: it asks, and shows what it would run.
    async fn as_command(&self, input: &Input, context: &CallContext) -> Result<Prepared, ToolError> {
        let line = format!("git {}", quoted(&input.args));
        let mut arguments = Map::new();
        arguments.insert("command".to_owned(), json!(line));
        self.shell.prepare(arguments, context).await
    }
}

impl Tool for Git {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(async move {
            let input: Input = args::parse("git", arguments)?;
            check(&input)?;
            match self.reading(&input) {
                Some(prepared) => Ok(prepared),
                None => self.as_command(&input, context).await,
            }
        })
    }
}

fn check(input: &Input) -> Result<(), ToolError> {
    if input.args.is_empty() {
        return Err(ToolError::new(
            "`args` is empty; git was not run. Give its words, like [\"status\", \"--short\"]",
        ));
    }
    if input.args.len() > WORDS {
        return Err(ToolError::new(format!(
            "`args` has {} words, and at most {WORDS} are possible; git was not run",
            input.args.len()
        )));
    }
    if input.args.first().is_some_and(|word| word == "git") {
        return Err(ToolError::new(
            "`args` begins with \"git\"; git was not run. Give only the words after it",
        ));
    }
    if input.args.iter().any(|word| word.contains('\0')) {
        return Err(ToolError::new("`args` holds a NUL byte; git was not run"));
    }
    Ok(())
}

/// Settings that win over every configuration file. The files were looked at; this holds if one changes meanwhile.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    // Names as they are, so that the file tools take them: an `é` is no `\303\251`.
    "core.quotePath=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "log.showSignature=false",
    "gpg.program=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// All words of the hardened call.
fn arguments(read: &GitRead) -> Vec<String> {
    let mut words = vec!["--no-pager".to_owned()];
    for setting in SETTINGS {
        words.extend(["-c".to_owned(), (*setting).to_owned()]);
    }
    if read.subcommand == "show" {
        // `show` prints any object, and the content of a credential file is one that no path leaves out. This shows
        // commits as `show` does, and nothing else.
        words.extend(["log", "--no-walk", "--cc"].map(str::to_owned));
    } else {
        words.push(read.subcommand.to_owned());
    }
    let is_history = matches!(read.subcommand, "log" | "show") && read.shows_content;
    if is_history && read.paths.is_empty() && !read.options.iter().any(|o| o == "--simplify-by-decoration") {
        // Only the leaving out names paths then: merges and empty commits must not be left out with it.
        words.extend(["--full-history", "--sparse"].map(str::to_owned));
    }
    if matches!(read.subcommand, "diff" | "log" | "show") {
        // External diffs and text conversion are programs that a repository names. Cases G03 to G05.
        words.extend(["--no-ext-diff", "--no-textconv"].map(str::to_owned));
    }
    if read.subcommand == "blame" {
        words.push("--no-textconv".to_owned());
    }
    if matches!(read.subcommand, "status" | "diff" | "show" | "log") {
        // A submodule has a configuration of its own, which nobody looked at.
        words.push("--ignore-submodules=all".to_owned());
    }
    words.extend(read.options.iter().cloned());
    words.extend(read.words.iter().cloned());
    let leaves_out = leaves_out(read);
    if leaves_out || !read.paths.is_empty() {
        words.push("--".to_owned());
        words.extend(read.paths.iter().cloned());
    }
    if leaves_out {
        if read.paths.is_empty() {
            // The project, not the repository: what lies beside the project is content outside of it. SPEC P2.
            words.push(".".to_owned());
        }
        words.extend(
            LEFT_OUT
                .iter()
                .map(|pattern| format!(":(top,exclude,icase,glob)**/{pattern}")),
        );
    }
    words
}

/// Whether credential files are left out of what is shown. `blame` shows the one file that it names, which was judged.
fn leaves_out(read: &GitRead) -> bool {
    read.shows_content && read.subcommand != "blame"
}

/// Credential files by name, as patterns of git. A test holds them against the gate's own list. SPEC P2.
const LEFT_OUT: &[&str] = &[
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    "credentials",
    ".git-credentials",
    ".ssh/**",
    ".aws/**",
    ".gnupg/**",
    ".azure/**",
    ".kube/**",
    ".oci/**",
    ".docker/**",
    ".bluemix/**",
];

/// Words for a POSIX shell, each one quoted unless it is plain.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+^".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn shown(words: &[String]) -> String {
    let text = quoted(words);
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(TARGET).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// What is said when `show` had nothing to show.
const NO_COMMIT: &str = "git printed nothing: no commit was named, or none that changes these paths. Trees and the \
                         content of single objects are shown by [\"cat-file\", \"-p\", OBJECT], which asks the user.";

/// A reading call that was judged.
struct Reading {
    processes: Processes,
    spec: CommandSpec,
    line: String,
    /// Credential files are left out of what it shows.
    hides: bool,
    /// Other objects than commits are not shown.
    only_commits: bool,
}

impl Execute for Reading {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let spec = CommandSpec {
                cancel: context.cancel.clone(),
                ..self.spec
            };
            let finished = match self.processes.run(spec, |_| {}).await {
                Ok(finished) => finished,
                Err(error) => return ToolOutcome::failed(format!("git was not run to its end: {error}.")),
            };
            let output = finished.output.text();
            let mut content = match finished.end {
                CommandEnd::Exited { code: 0 } if output.is_empty() && self.only_commits => {
                    NO_COMMIT.to_owned()
                }
                CommandEnd::Exited { code: 0 } if output.is_empty() => "git printed nothing.".to_owned(),
                CommandEnd::Exited { code: 0 } => output.clone(),
                CommandEnd::Exited { code } => format!("git ended with exit code {code}.\n{output}"),
                CommandEnd::TimedOut => format!("git was ended after {} s.\n{output}", LIMIT.as_secs()),
                _ => format!("git was interrupted.\n{output}"),
            };
            if self.hides && finished.end == (CommandEnd::Exited { code: 0 }) {
                content.push_str("\n[Files that hold credentials are left out.]");
            }
            let lines = output.lines().count() as u64;
            ToolOutcome {
                ok: finished.end == CommandEnd::Exited { code: 0 },
                timed_out: finished.end == CommandEnd::TimedOut,
                stopped: finished.end == CommandEnd::Stopped,
                content,
                note: crate::prepared::counted(lines, "line", "lines"),
                blocks: vec![ContentBlock::Terminal(Terminal {
                    command: self.line,
                    workdir: ".".to_owned(),
                    output,
                    total_bytes: finished.output.printed,
                    omitted_bytes: finished.output.omitted,
                    end: finished.end,
                    elapsed_ms: finished.elapsed.as_millis() as u64,
                })],
                ..ToolOutcome::default()
            }
        })
    }
}
