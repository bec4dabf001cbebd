//! A network of its own, in which whoever asks for a name or for a page is written down, and a trace of who tried.

use std::io::Read;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use crate::app::command;

/// Set for the test that runs inside.
const INSIDE: &str = "CAIRN_TEST_NAMESPACE";

pub(crate) struct Namespace;

impl Namespace {
    pub(crate) fn is_outside() -> bool {
        std::env::var_os(INSIDE).is_none()
    }

    /// Runs that test of this program again, in namespaces of its own: no network but loopback, and loopback answers
    /// for every name. All processes in it end with it. Skipped, by name, where the system has no way to do so.
    pub(crate) fn run(test: &str) {
        let folder = TempDir::new().unwrap();
        let names = folder.path().join("resolv.conf");
        std::fs::write(&names, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").unwrap();
        let enter = ["-r", "-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"];
        let ready = "ip link set lo up && mount --bind \"$1\" /etc/resolv.conf && strace -V >/dev/null && shift && exec \"$@\"";
        let inside = |line: &[&str]| {
            let mut unshare = command("unshare");
            unshare
                .args(enter)
                .args(["sh", "-c", ready, "sh"])
                .arg(&names)
                .args(line);
            for proxy in [
                "http_proxy",
                "https_proxy",
                "all_proxy",
                "HTTP_PROXY",
                "HTTPS_PROXY",
                "ALL_PROXY",
            ] {
                unshare.env_remove(proxy);
            }
            unshare.env(INSIDE, "1").status()
        };
        if !inside(&["true"]).is_ok_and(|status| status.success()) {
            eprintln!("skipped: {test}: it needs unshare with user and network namespaces, ip, and strace");
            return;
        }
        let own = std::env::current_exe().unwrap();
        let status = inside(&[own.to_str().unwrap(), "--exact", test, "--nocapture"]).unwrap();
        assert!(status.success(), "inside its own network: {status}");
    }
}

/// Who came.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

pub(crate) struct Watch {
    notes: Notes,
    folder: TempDir,
}

impl Watch {
    /// Listens for names and pages, and makes sure that it would notice.
    pub(crate) fn begin() -> Self {
        let notes = Notes::default();
        let names = UdpSocket::bind(("127.0.0.1", 53)).unwrap();
        let noted = notes.clone();
        std::thread::spawn(move || answer_names(&names, &noted));
        for port in [80, 443] {
            let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
            let noted = notes.clone();
            std::thread::spawn(move || note_visitors(&listener, port, &noted));
        }
        drop(TcpStream::connect(("control.evil.example", 80)).unwrap());
        let control = crate::driver::until("the control", || {
            let notes = notes.0.lock().unwrap().clone();
            if notes.iter().any(|note| note.starts_with("a visitor")) {
                Ok(notes)
            } else {
                Err(format!("{notes:?}"))
            }
        });
        assert!(
            control.iter().any(|note| note == "the name control.evil.example"),
            "{control:?}"
        );
        notes.take();
        Self {
            notes,
            folder: TempDir::new().unwrap(),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("connects.txt")
    }

    /// Beginning of a command line that writes down every connection that the program and its children try.
    pub(crate) fn trace(&self) -> Vec<String> {
        let file = self.file();
        [
            "strace",
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-e",
            "trace=connect",
            "-e",
            "signal=none",
            "-o",
            file.to_str().unwrap(),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// No name was asked for, nobody came, and nobody tried to connect but to these ports of this machine.
    pub(crate) fn saw_nobody_but(&self, known: &[u16]) {
        // What was begun last may still be on its way.
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(self.notes.take(), Vec::<String>::new());
        let trace = std::fs::read_to_string(self.file()).unwrap();
        let tried: Vec<&str> = trace
            .lines()
            .filter(|line| line.contains("sa_family=AF_INET"))
            .collect();
        assert!(!tried.is_empty(), "the model was asked, so something was traced");
        let foreign: Vec<&&str> = tried
            .iter()
            .filter(|line| {
                let local = line.contains("inet_addr(\"127.0.0.1\")");
                let port = line
                    .split_once("htons(")
                    .and_then(|(_, rest)| rest.split(')').next()?.parse::<u16>().ok());
                !local || port.is_none_or(|port| !known.contains(&port))
            })
            .collect();
        assert!(foreign.is_empty(), "{foreign:#?}");
    }
}

fn note_visitors(listener: &TcpListener, port: u16, notes: &Notes) {
    for visitor in listener.incoming() {
        let mut first = [0; 200];
        let read = visitor.and_then(|mut visitor| {
            visitor.set_read_timeout(Some(Duration::from_millis(300)))?;
            visitor.read(&mut first)
        });
        let said = first.get(..read.unwrap_or(0)).unwrap_or_default();
        notes.add(format!("a visitor at {port}: {}", String::from_utf8_lossy(said)));
    }
}

/// Every name is at home here.
fn answer_names(socket: &UdpSocket, notes: &Notes) {
    let mut question = [0; 1_500];
    while let Ok((length, from)) = socket.recv_from(&mut question) {
        let asked = &question[..length];
        let (mut at, mut labels) = (12, Vec::new());
        while let Some(size) = asked
            .get(at)
            .map(|size| usize::from(*size))
            .filter(|size| *size > 0)
        {
            labels.push(String::from_utf8_lossy(&asked[at + 1..at + 1 + size]).into_owned());
            at += 1 + size;
        }
        notes.add(format!("the name {}", labels.join(".")));
        let end = at + 5;
        let wants_v4 = asked.get(at + 1..at + 3) == Some(&[0, 1]);
        let mut answer = asked[..end].to_vec();
        answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(wants_v4), 0, 0, 0, 0]);
        if wants_v4 {
            answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
        }
        socket.send_to(&answer, from).map(drop).unwrap_or_default();
    }
}
