//! A home folder, another project and Cairn's own folders around a project, and a shell tool within walls.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_agent::tool::{Action, Prepared, Tool as _, ToolOutcome};
use cairn_exec::{Group, HelperProgram, Layer, Processes, Walls, child_environment};
use cairn_files::Root;
use cairn_policy::{Granted, Places, ReadBars, RuleOrigin, RuleSet};
use cairn_protocol::RuleScope;
use cairn_tools::bounds::Bounds;
use cairn_tools::place::Workspace;
use cairn_tools::process_output::ProcessOutput;
use cairn_tools::shell::Shell;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Live, context};

/// The user that the tests become.
const PERSON: &str = "54321";

/// Says to a test that it was started again: the layer.
const AGAIN: &str = "CAIRN_TEST_ESCAPE_LAYER";
/// The helper program, where the person can run it.
const HELPER: &str = "CAIRN_TEST_ESCAPE_HELPER";

fn helper() -> PathBuf {
    std::env::var_os(HELPER).map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_cairn-tools-helper-test")),
        PathBuf::from,
    )
}

/// Runs a test as a user without rights, with that layer; none for the best that there is. Where the layer does not
/// stand on this machine the test says so and ends.
#[allow(
    clippy::disallowed_methods,
    reason = "a test starts itself again with fewer rights"
)]
pub(crate) fn as_a_person(test: &str, layer: Option<&str>, run: impl FnOnce(Layer)) {
    if std::env::var_os(AGAIN).is_none() && is_root() {
        let folder = tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir()
            .unwrap();
        let copy = |from: &Path, name: &str| {
            let to = folder.path().join(name);
            std::fs::copy(from, &to).unwrap();
            std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755)).unwrap();
            to
        };
        let program = copy(&std::env::current_exe().unwrap(), "test");
        let helper = copy(&helper(), "helper");
        let status = std::process::Command::new("setpriv")
            .args(["--reuid", PERSON, "--regid", PERSON, "--clear-groups", "--"])
            .arg(program)
            .args(["--exact", test, "--nocapture"])
            .env(AGAIN, "1")
            .env(HELPER, helper)
            .env("HOME", "/nonexistent")
            .current_dir("/")
            .status()
            .unwrap();
        assert!(status.success(), "see above");
        return;
    }
    let walls = walls();
    match (layer, walls.layer.clone()) {
        (None, Some(layer)) | (Some("bubblewrap"), Some(layer @ Layer::Bubblewrap(_))) => run(layer),
        (Some("landlock"), Some(_)) => run(Layer::Landlock),
        _ => eprintln!("NOT TESTED: {layer:?} does not stand on this machine: {walls:?}"),
    }
}

/// Runs a test as whoever runs it, with the best layer that there is.
pub(crate) fn as_it_is(run: impl FnOnce(Layer)) {
    let walls = walls();
    match walls.layer.clone() {
        Some(layer) => run(layer),
        None => eprintln!("NOT TESTED: no layer stands on this machine: {walls:?}"),
    }
}

/// What the trial finds.
pub(crate) fn walls() -> Walls {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(Processes::new(HelperProgram::at(helper())).walls())
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .any(|line| line.starts_with("Uid:\t0\t"))
}

/// Everything around one project.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) group: Group,
    shell: Shell,
    runtime: tokio::runtime::Runtime,
}

/// Files outside of the project that nothing may read or change.
const OUTSIDE: &[(&str, &str)] = &[
    ("home/.bashrc", "# start"),
    ("home/.netrc", "CANARY"),
    ("home/.ssh/id_ed25519", "CANARY"),
    ("home/.aws/credentials", "CANARY"),
    ("home/.mozilla/logins.json", "CANARY"),
    ("home/.cargo/bin/tool", "x"),
    ("home/.cargo/registry/src/crate.rs", "x"),
    ("home/.config/autostart/there.desktop", "x"),
    ("home/.local/bin/tool", "x"),
    ("other/file", "x"),
    ("own/data/cairn.db", "CANARY"),
    ("own/keys/profile", "CANARY"),
    ("own/projects/key/permissions.toml", "CANARY"),
];

/// Files of the project.
const INSIDE: &[(&str, &str)] = &[
    (".env", "CANARY"),
    (".vscode/settings.json", "{}"),
    ("AGENTS.md", "x"),
    ("sub/deep/AGENTS.md", "x"),
    ("low/inner/.env", "CANARY"),
    ("conf/.config/gh/hosts.yml", "CANARY"),
    ("plans/secret.txt", "CANARY"),
    ("node_modules/deep/x.private", "CANARY"),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (
        ".git/config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = T\n\temail = t@example.org\n",
    ),
    (".git/hooks/post-merge", "x"),
    (".git/modules/sub/config", "x"),
    (".git/modules/sub/HEAD", "x"),
    (".git/objects/.keep", ""),
    (".git/refs/heads/.keep", ""),
    ("attempt.py", include_str!("attempt.py")),
];

/// The person's rules that deny reading.
fn barred() -> ReadBars {
    let deny = ["read: /plans/secret.txt", "read: *.private"].map(|text| Granted {
        rule: text.parse().unwrap(),
        scope: RuleScope::Project,
        origin: RuleOrigin::Config,
        at: 0,
    });
    let rules = RuleSet {
        deny: deny.into(),
        ..RuleSet::default()
    };
    rules.read_bars()
}

impl Ground {
    pub(crate) fn new(layer: Layer) -> Self {
        Self::with_environment(layer, &[("PATH", "/usr/bin:/bin".to_owned())])
    }

    /// The same with variables; `HOME` is always the folder here.
    pub(crate) fn with_environment(layer: Layer, variables: &[(&str, String)]) -> Self {
        Self::with(layer, variables, |bounds| bounds)
    }

    /// The same with other bounds.
    pub(crate) fn with(
        layer: Layer,
        variables: &[(&str, String)],
        change: impl FnOnce(Bounds) -> Bounds,
    ) -> Self {
        // Not beneath the temporary folder, whose place another one takes: nothing would be there to be attacked.
        let base = ["/var/tmp", "/dev/shm"]
            .into_iter()
            .find(|folder| tempfile::tempdir_in(folder).is_ok())
            .unwrap();
        let folder = tempfile::tempdir_in(base).unwrap();
        let at = folder.path().canonicalize().unwrap();
        for (name, text) in OUTSIDE {
            put(&at.join(name), text);
        }
        let project = at.join("project");
        for (name, text) in INSIDE {
            put(&project.join(name), text);
        }
        let root = Arc::new(Root::open(&project).unwrap());
        let places = Places {
            root: project.clone(),
            home: Some(at.join("home")),
            own: ["data", "keys", "projects"]
                .map(|name| at.join("own").join(name))
                .into(),
        };
        let walls = Walls {
            layer: Some(layer),
            gaps: Vec::new(),
            why_not: Vec::new(),
        };
        let bounds = Bounds::new(&walls, &places, &at.join("own/projects/key"))
            .unwrap()
            .unwrap()
            .with_bars(barred);
        let bounds = change(bounds);
        let workspace = Workspace::new(root, places.own).with_bounds(Some(Arc::new(bounds)));
        let workspace = Arc::new(workspace);
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        let home = ("HOME".into(), at.join("home").into());
        let mut environment = child_environment(variables.chain([home]), &[]);
        environment.push(("OTHER".into(), at.join("other").into()));
        environment.push(("OWN".into(), at.join("own").into()));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let group = Group::new(Processes::new(HelperProgram::at(helper())), |_| {});
        let shell = Shell::new(workspace.clone(), group.clone(), environment);
        Self {
            folder,
            workspace,
            group,
            shell,
            runtime,
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A program in the home folder that listens there at a name, without a path.
    #[allow(
        clippy::disallowed_methods,
        reason = "a test starts a program outside of the walls"
    )]
    pub(crate) fn listener_in_home(&self, name: &str) -> Listener {
        let text = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\n\
                    print('there', flush=True)\ns.accept()\nprint('reached', flush=True)\n";
        let mut child = std::process::Command::new("python3")
            .args(["-c", text, name])
            .current_dir(self.home())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        assert_eq!(line, "there\n");
        Listener { child, said }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The folder of what was set aside.
    pub(crate) fn aside(&self) -> PathBuf {
        self.folder.path().join("own/projects/key/aside")
    }

    /// Runs a line within the walls.
    pub(crate) fn run(&self, line: &str) -> ToolOutcome {
        self.call(json!({ "command": line, "timeout": 60 }))
    }

    /// Waits for something.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Runs the shell tool.
    pub(crate) fn call(&self, arguments: Value) -> ToolOutcome {
        self.execute(self.prepare(arguments))
    }

    /// What the gate is told about a call.
    pub(crate) fn prepare(&self, arguments: Value) -> Prepared {
        let Value::Object(arguments) = arguments else {
            unreachable!()
        };
        let context = context(Arc::new(Live::default()), CancellationToken::new());
        self.runtime
            .block_on(self.shell.prepare(arguments, &context))
            .unwrap()
    }

    /// What `process_output` says about the command that was started last.
    pub(crate) fn output_of_last(&self) -> String {
        let handle = self.group.list().last().unwrap().handle.clone();
        let tool = ProcessOutput::new(self.group.clone()).with_workspace(self.workspace.clone());
        let Value::Object(arguments) = json!({ "handle": handle }) else {
            unreachable!()
        };
        self.runtime.block_on(async {
            let context = context(Arc::new(Live::default()), CancellationToken::new());
            let prepared = tool.prepare(arguments, &context).await.unwrap();
            let Action::Execute(run) = prepared.action else {
                panic!("it executes")
            };
            run.execute(context).await.content
        })
    }

    /// Runs what was prepared.
    pub(crate) fn execute(&self, prepared: Prepared) -> ToolOutcome {
        let Action::Execute(run) = prepared.action else {
            panic!("a command executes")
        };
        let context = context(Arc::new(Live::default()), CancellationToken::new());
        self.runtime.block_on(run.execute(context))
    }

    /// Every file outside with its content and rights.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, (String, u32)> {
        let mut found = BTreeMap::new();
        for name in ["home", "other", "own"] {
            collect(&self.folder.path().join(name), &mut found);
        }
        // What the walls themselves keep for the project.
        found.retain(|path, _| {
            !path.to_string_lossy().contains("/key/sandbox") && !path.to_string_lossy().contains("/key/aside")
        });
        found
    }
}

/// What programs share by a number.
pub(crate) struct Shared {
    remove: &'static str,
    pub(crate) number: String,
}

impl Shared {
    /// Memory.
    pub(crate) fn memory() -> Self {
        Self::new("-m", &["-M", "4096"])
    }

    /// A queue of messages.
    pub(crate) fn queue() -> Self {
        Self::new("-q", &["-Q"])
    }

    /// A semaphore.
    pub(crate) fn semaphore() -> Self {
        Self::new("-s", &["-S", "1"])
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "a test starts a program outside of the walls"
    )]
    fn new(remove: &'static str, make: &[&str]) -> Self {
        let made = std::process::Command::new("ipcmk")
            .args(make)
            .args(["-p", "0600"])
            .output()
            .unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        let number = said.split_whitespace().last().unwrap().to_owned();
        assert!(number.parse::<u64>().is_ok(), "{said}");
        Self { remove, number }
    }
}

impl Drop for Shared {
    #[allow(
        clippy::disallowed_methods,
        reason = "a test starts a program outside of the walls"
    )]
    fn drop(&mut self) {
        let removed = std::process::Command::new("ipcrm")
            .args([self.remove, &self.number])
            .status();
        if !std::thread::panicking() {
            assert!(removed.unwrap().success(), "somebody removed it before");
        }
    }
}

/// A queue of messages with a name, made outside.
pub(crate) struct NamedQueue {
    name: String,
}

impl NamedQueue {
    pub(crate) fn new(name: &str) -> Self {
        attempt("make-queue", name);
        Self {
            name: name.to_owned(),
        }
    }
}

impl Drop for NamedQueue {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            attempt("remove-queue", &self.name);
        }
    }
}

/// Does outside of the walls what the commands try within.
#[allow(
    clippy::disallowed_methods,
    reason = "a test starts a program outside of the walls"
)]
fn attempt(what: &str, name: &str) {
    let told = std::process::Command::new("python3")
        .args(["-c", include_str!("attempt.py"), what, name])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&told.stdout),
        "GOT OUT\n",
        "{what} {name}"
    );
}

/// Somebody outside who listens.
pub(crate) struct Listener {
    child: std::process::Child,
    said: std::io::BufReader<std::process::ChildStdout>,
}

impl Listener {
    /// Ends it; whether somebody had connected.
    pub(crate) fn was_reached(mut self) -> bool {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.said, &mut rest).unwrap();
        rest.contains("reached")
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.runtime.block_on(self.group.processes().shutdown());
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, (String, u32)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let metadata = path.symlink_metadata().unwrap();
        let text = if metadata.is_file() {
            std::fs::read_to_string(&path).unwrap_or_default()
        } else {
            String::new()
        };
        found.insert(path.clone(), (text, metadata.permissions().mode()));
        if metadata.is_dir() {
            collect(&path, found);
        }
    }
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
