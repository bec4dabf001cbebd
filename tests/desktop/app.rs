//! The real window under test: its own data folder, its own session bus, its own driver, a scripted model.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cairn_testkit::TempProject;
use cairn_testkit::provider::{Reply, Script, ScriptedServer};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::driver::{Driver, until};

/// A process that ends with the test, whatever becomes of it.
pub(crate) struct Owned(pub(crate) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

pub(crate) struct App {
    pub(crate) driver: Driver,
    pub(crate) project: TempProject,
    pub(crate) server: ScriptedServer,
    _runtime: Runtime,
    pub(crate) home: TempDir,
    bus: (Owned, String),
    /// Kept for its end.
    web_driver: Owned,
}

#[allow(clippy::disallowed_methods, reason = "a test starts the programs it drives")]
pub(crate) fn command(program: &str) -> Command {
    Command::new(program)
}

/// A port that was free a moment ago; the driver's server takes no other way to be told one.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

pub(crate) fn session_bus() -> (Owned, String) {
    let mut daemon = command("dbus-daemon")
        .args(["--session", "--nofork", "--nopidfile", "--print-address"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("dbus-daemon is installed by ./dev setup");
    let mut address = String::new();
    BufReader::new(daemon.stdout.take().unwrap())
        .read_line(&mut address)
        .unwrap();
    (Owned(daemon), address.trim().to_owned())
}

/// A configuration with one model at that address, and more lines after it.
pub(crate) fn config(base_url: &str, more: &str) -> String {
    format!(
        "default_profile = \"scripted\"\n\n[profiles.scripted]\nbase_url = \"{base_url}\"\nmodel = \"scripted\"\n{more}\n"
    )
}

/// The driver's server; `before` is the beginning of a command line that runs another, if any.
fn web_driver(home: &Path, bus: &str, before: &[String]) -> (Owned, u16) {
    let port = free_port();
    let mut line = before.to_vec();
    line.extend(["WebKitWebDriver".to_owned(), format!("--port={port}")]);
    let child = command(&line[0])
        .args(&line[1..])
        .env("CAIRN_HOME", home)
        .env("DBUS_SESSION_BUS_ADDRESS", bus)
        .env("TAURI_AUTOMATION", "true")
        .env("TAURI_WEBVIEW_AUTOMATION", "true")
        .env("LANG", "C.UTF-8")
        // The desktop's own theme must not decide how the pictures look.
        .env("GTK_THEME", "Adwaita")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("WebKitWebDriver is installed by ./dev setup");
    (Owned(child), port)
}

/// How a window is started where not everything is as usual.
pub(crate) struct Setup {
    /// What the model answers.
    pub(crate) script: Script,
    /// Files of the project.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Makes `config.toml` out of the scripted server's address.
    pub(crate) config: Box<dyn Fn(&str) -> String>,
    /// The folder to open instead of the project's.
    pub(crate) folder: Option<PathBuf>,
    /// Beginning of a command line that runs the program.
    pub(crate) before: Box<dyn Fn(&Path) -> Vec<String>>,
}

impl Setup {
    pub(crate) fn new(replies: Vec<Reply>) -> Self {
        Self {
            script: Script::new(replies),
            files: vec![("src/axis.txt".to_owned(), b"margin = 24\nlabels = 3\n".to_vec())],
            config: Box::new(|base_url| config(base_url, "")),
            folder: None,
            before: Box::new(|_| Vec::new()),
        }
    }
}

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_cairn-desktop");

impl App {
    /// A window on a project with these files, and a model that gives these replies.
    pub(crate) fn start<P: AsRef<str>, C: AsRef<[u8]>>(files: &[(P, C)], replies: Vec<Reply>) -> Self {
        let own = |(path, text): &(P, C)| (path.as_ref().to_owned(), text.as_ref().to_vec());
        Self::start_with(Setup {
            files: files.iter().map(own).collect(),
            ..Setup::new(replies)
        })
    }

    /// A window on what the set-up says.
    pub(crate) fn start_with(setup: Setup) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let server = runtime.block_on(ScriptedServer::start(setup.script)).unwrap();
        let files = setup
            .files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_slice()));
        let project = TempProject::new(files).unwrap();
        let home = TempDir::new().unwrap();
        let text = (setup.config)(&server.base_url());
        std::fs::write(home.path().join("config.toml"), text).unwrap();
        let bus = session_bus();
        let (owned, port) = web_driver(home.path(), &bus.1, &(setup.before)(home.path()));
        let folder = setup.folder.as_deref().unwrap_or(project.root());
        let driver = Driver::start(port, PROGRAM, &[folder.to_str().unwrap()]);
        Self {
            driver,
            project,
            server,
            _runtime: runtime,
            home,
            bus,
            web_driver: owned,
        }
    }

    /// Ends the program at once, as `kill -9` does, and starts it again.
    pub(crate) fn kill_and_start_again(&mut self) {
        let pid = self.pid();
        kill(pid);
        until("the end of the program", || {
            if alive(pid) {
                Err("it lives".to_owned())
            } else {
                Ok(())
            }
        });
        self.start_again();
    }

    /// The same program on the same data from another session bus: a process of its own that knows nothing of the first.
    pub(crate) fn another(&self) -> Another {
        let bus = session_bus();
        let (owned, port) = web_driver(self.home.path(), &bus.1, &[]);
        let driver = Driver::start(port, PROGRAM, &[self.project.root().to_str().unwrap()]);
        Another {
            driver,
            _owned: [owned, bus.0],
        }
    }

    /// Starts the program anew after its end.
    pub(crate) fn start_again(&mut self) {
        let (owned, port) = web_driver(self.home.path(), &self.bus.1, &[]);
        self.web_driver = owned;
        self.driver = Driver::start(port, PROGRAM, &[self.project.root().to_str().unwrap()]);
    }

    /// Starts the program a second time, as a person does from a terminal, and waits for its end.
    pub(crate) fn second_start(&self, folder: &Path) {
        let status = command(PROGRAM)
            .arg(folder)
            .env("CAIRN_HOME", self.home.path())
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus.1)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(
            status.success(),
            "a second start hands over and ends well: {status}"
        );
    }

    /// Process id of the window's program: the one with our data folder that is no helper.
    pub(crate) fn pid(&self) -> u32 {
        let home = format!("CAIRN_HOME={}", self.home.path().display());
        let mine = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == home.as_bytes())
                && line.starts_with(PROGRAM.as_bytes())
                && !line.windows(14).any(|part| part == b"--cairn-helper")
        };
        until("the program's process", || {
            pids()
                .into_iter()
                .find(mine)
                .ok_or_else(|| "no such process".to_owned())
        })
    }

    /// Where the driver reaches into the program.
    pub(crate) fn inspector_port(&self) -> u16 {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid())).unwrap();
        let address = environment
            .split(|byte| *byte == 0)
            .find_map(|variable| variable.strip_prefix(b"WEBKIT_INSPECTOR_SERVER=127.0.0.1:"));
        String::from_utf8_lossy(address.unwrap()).parse().unwrap()
    }

    /// Sends a message as a person does.
    pub(crate) fn say(&self, text: &str) {
        self.driver.type_into(COMPOSER, text);
        self.driver.type_into(COMPOSER, "\u{E007}");
    }

    /// Waits until a card of that title would take a click: it has been shown for its 400 ms.
    pub(crate) fn card(&self, title: &str) {
        self.driver
            .wait_for(&format!("//*[@data-approval]//*[contains(text(), '{title}')]"));
        self.stands("data-approval");
    }

    /// Waits for the list of all that one reply asks about, and past the time in which nothing can be pressed.
    pub(crate) fn list(&self) {
        self.driver.wait_for("//*[@data-together]");
        self.stands("data-together");
    }

    /// Waits until what has that attribute has stood unchanged for longer than presses are ignored.
    fn stands(&self, attribute: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1]; let since = null; let id = null; \
            const look = (now) => {{ const card = document.querySelector('[{attribute}]'); \
            const seen = card && card.getAttribute('{attribute}'); \
            if (seen !== id) {{ id = seen; since = now; }} \
            if (id !== null && now - since > 600) {{ done(id); }} else {{ requestAnimationFrame(look); }} }}; \
            requestAnimationFrame(look);"
        );
        self.driver.run_async(&script);
    }

    /// Waits for a file of the project to hold a text.
    pub(crate) fn file_holds(&self, path: &str, text: &str) {
        until(&format!("{text:?} in {path}"), || {
            let now = self.project.text(path).unwrap_or_default();
            if now.contains(text) { Ok(()) } else { Err(now) }
        });
    }

    /// Waits for the page to show all of these words.
    pub(crate) fn shows(&self, words: &[&str]) {
        until(&format!("{words:?} on the page"), || {
            let text = self.driver.page_text();
            if words.iter().all(|word| text.contains(word)) {
                Ok(())
            } else {
                Err(text)
            }
        });
    }

    /// All that stands in the logs.
    pub(crate) fn log(&self) -> String {
        let logs = std::fs::read_dir(self.home.path().join("logs"));
        logs.into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|log| std::fs::read_to_string(log.path()).unwrap_or_default())
            .collect()
    }

    /// A path as the started programs see it: some of them live behind a mount of their own.
    pub(crate) fn inside(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.pid()));
        root.join(path.strip_prefix("/").unwrap())
    }

    pub(crate) fn shot(&self, name: &str) {
        // What is there must also be painted, in its own letters, before it is looked at.
        self.driver.run_async(
            "const done = arguments[arguments.length - 1]; document.fonts.ready.then(() => \
             requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))));",
        );
        self.driver.screenshot(&shots().join(format!("{name}.png")));
    }

    /// Bodies of the requests so far, as text.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.server
            .chats()
            .iter()
            .map(|request| request.body.to_string())
            .collect()
    }

    pub(crate) fn wait_for_asked(&self, count: usize) -> Vec<String> {
        until(&format!("request {count}"), || {
            let asked = self.asked();
            if asked.len() >= count {
                Ok(asked)
            } else {
                Err(format!("only {}; {}", asked.len(), self.driver.page_text()))
            }
        })
    }
}

/// A second process on the data of an [`App`].
pub(crate) struct Another {
    pub(crate) driver: Driver,
    _owned: [Owned; 2],
}

impl Drop for Another {
    fn drop(&mut self) {
        self.driver.end();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the page shows: {}", self.driver.last_text());
            eprintln!(
                "the model was told: {}",
                self.asked().last().cloned().unwrap_or_default()
            );
            eprintln!("the log says: {}", self.log());
        }
        self.driver.end();
    }
}

/// The composer's field.
pub(crate) const COMPOSER: &str =
    "//textarea[@aria-label='Message' or @id=//label[contains(., 'Message')]/@for]";

/// A button by the beginning of its words.
pub(crate) fn button(words: &str) -> String {
    format!("//button[starts-with(normalize-space(.), '{words}')]")
}

fn shots() -> PathBuf {
    let target = Path::new(PROGRAM).parent().and_then(Path::parent).unwrap();
    std::env::var_os("CAIRN_SHOTS").map_or_else(|| target.join("shots/window"), PathBuf::from)
}

pub(crate) fn pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

pub(crate) fn alive(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended; only its parent has not looked yet.
    !state.is_empty()
        && !state
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with('Z')
}

pub(crate) fn kill(pid: u32) {
    let status = command("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
}
