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
struct Owned(Child);

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
fn command(program: &str) -> Command {
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

fn session_bus() -> (Owned, String) {
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

fn config(home: &Path, base_url: &str) {
    let text = format!(
        "default_profile = \"scripted\"\n\n[profiles.scripted]\nbase_url = \"{base_url}\"\nmodel = \"scripted\"\n"
    );
    std::fs::write(home.join("config.toml"), text).unwrap();
}

fn web_driver(home: &Path, bus: &str) -> (Owned, u16) {
    let port = free_port();
    let child = command("WebKitWebDriver")
        .arg(format!("--port={port}"))
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

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_cairn-desktop");

impl App {
    /// A window on a project with these files, and a model that gives these replies.
    pub(crate) fn start<P: AsRef<str>, C: AsRef<[u8]>>(files: &[(P, C)], replies: Vec<Reply>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let server = runtime
            .block_on(ScriptedServer::start(Script::new(replies)))
            .unwrap();
        let project =
            TempProject::new(files.iter().map(|(path, text)| (path.as_ref(), text.as_ref()))).unwrap();
        let home = TempDir::new().unwrap();
        config(home.path(), &server.base_url());
        let bus = session_bus();
        let (owned, port) = web_driver(home.path(), &bus.1);
        let driver = Driver::start(port, PROGRAM, &[project.root().to_str().unwrap()]);
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
        let (owned, port) = web_driver(self.home.path(), &self.bus.1);
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

    /// Sends a message as a person does.
    pub(crate) fn say(&self, text: &str) {
        self.driver.type_into(COMPOSER, text);
        self.driver.type_into(COMPOSER, "\u{E007}");
    }

    /// Waits until a card of that title would take a click: it has been shown for its 400 ms.
    pub(crate) fn card(&self, title: &str) {
        self.driver
            .wait_for(&format!("//*[@data-approval]//*[contains(text(), '{title}')]"));
        let script = "const done = arguments[arguments.length - 1]; let since = null; let id = null; \
            const look = (now) => { const card = document.querySelector('[data-approval]'); \
            const seen = card && card.getAttribute('data-approval'); \
            if (seen !== id) { id = seen; since = now; } \
            if (id !== null && now - since > 600) { done(id); } else { requestAnimationFrame(look); } }; \
            requestAnimationFrame(look);";
        self.driver.run_async(script);
    }

    /// Waits for a file of the project to hold a text.
    pub(crate) fn file_holds(&self, path: &str, text: &str) {
        until(&format!("{text:?} in {path}"), || {
            let now = self.project.text(path).unwrap_or_default();
            if now.contains(text) { Ok(()) } else { Err(now) }
        });
    }

    pub(crate) fn shot(&self, name: &str) {
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

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the page shows: {}", self.driver.page_text());
            eprintln!(
                "the model was told: {}",
                self.asked().last().cloned().unwrap_or_default()
            );
            for log in std::fs::read_dir(self.home.path().join("logs"))
                .into_iter()
                .flatten()
                .filter_map(Result::ok)
            {
                eprintln!(
                    "the log says: {}",
                    std::fs::read_to_string(log.path()).unwrap_or_default()
                );
            }
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
