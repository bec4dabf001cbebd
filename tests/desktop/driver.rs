//! A WebDriver client as small as these tests need it: one session, plain HTTP over loopback.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The key under which WebDriver names elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// How long anything that must come may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks for something that must come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Looks until what is wanted is there; the last look is the failure's message.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(last) if Instant::now() > end => panic!("{what} did not come: {last}"),
            Err(_) => std::thread::sleep(BETWEEN_LOOKS),
        }
    }
}

pub(crate) struct Driver {
    port: u16,
    session: String,
}

impl Driver {
    /// A session on the program with that argument; the driver's server listens on `port`.
    pub(crate) fn start(port: u16, program: &str, arguments: &[&str]) -> Self {
        let options = json!({ "binary": program, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let made = until("a WebDriver session", || {
            http(port, "POST", "/session", Some(&wanted))
        });
        let session = made["sessionId"].as_str().unwrap_or_default().to_owned();
        assert!(!session.is_empty(), "no session in {made}");
        Self { port, session }
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        http(
            self.port,
            method,
            &format!("/session/{}{path}", self.session),
            body,
        )
    }

    pub(crate) fn windows(&self) -> Vec<String> {
        let handles = self.ask("GET", "/window/handles", None).unwrap_or_default();
        handles
            .as_array()
            .map(|all| all.iter().filter_map(|h| h.as_str().map(str::to_owned)).collect())
            .unwrap_or_default()
    }

    pub(crate) fn switch(&self, handle: &str) {
        self.ask("POST", "/window", Some(&json!({ "handle": handle })))
            .unwrap();
    }

    pub(crate) fn find(&self, xpath: &str) -> Result<String, String> {
        let found = self.ask(
            "POST",
            "/element",
            Some(&json!({ "using": "xpath", "value": xpath })),
        )?;
        found[ELEMENT]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("no element in {found}"))
    }

    pub(crate) fn wait_for(&self, xpath: &str) -> String {
        until(xpath, || {
            self.find(xpath)
                .map_err(|why| format!("{why}; the page shows: {}", self.page_text()))
        })
    }

    pub(crate) fn click(&self, xpath: &str) {
        let element = self.wait_for(xpath);
        until(&format!("a click on {xpath}"), || {
            self.ask("POST", &format!("/element/{element}/click"), Some(&json!({})))
        });
    }

    pub(crate) fn type_into(&self, xpath: &str, text: &str) {
        let element = self.wait_for(xpath);
        self.ask(
            "POST",
            &format!("/element/{element}/value"),
            Some(&json!({ "text": text })),
        )
        .unwrap();
    }

    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask(
            "POST",
            "/execute/sync",
            Some(&json!({ "script": script, "args": [] })),
        )
        .unwrap()
    }

    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.ask(
            "POST",
            "/execute/async",
            Some(&json!({ "script": script, "args": [] })),
        )
        .unwrap()
    }

    pub(crate) fn page_text(&self) -> String {
        self.run("return document.body ? document.body.innerText : ''")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// What the page shows, or why it cannot be told: for a test that has failed already, perhaps without a window.
    pub(crate) fn last_text(&self) -> String {
        let script = json!({ "script": "return document.body ? document.body.innerText : ''", "args": [] });
        match self.ask("POST", "/execute/sync", Some(&script)) {
            Ok(text) => text.as_str().unwrap_or_default().to_owned(),
            Err(why) => why,
        }
    }

    pub(crate) fn screenshot(&self, file: &Path) {
        let picture = self.ask("GET", "/screenshot", None).unwrap();
        let bytes = decode_base64(picture.as_str().unwrap_or_default());
        assert!(bytes.starts_with(b"\x89PNG"), "a screenshot is a PNG");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// Gives the window that inner size.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let inner = format!("return window.innerWidth === {width} && window.innerHeight === {height}");
        until(&format!("a window of {width} by {height}"), || {
            // Its frame, if there is one, comes on top.
            let frame = self.run(
                "return [window.outerWidth - window.innerWidth, window.outerHeight - window.innerHeight]",
            );
            let more = |at: usize| frame[at].as_i64().filter(|n| (0..200).contains(n)).unwrap_or(0);
            let rect = json!({ "width": i64::from(width) + more(0), "height": i64::from(height) + more(1) });
            self.ask("POST", "/window/rect", Some(&rect))?;
            match self.run(&inner).as_bool() {
                Some(true) => Ok(()),
                _ => Err(self
                    .run("return [innerWidth, innerHeight, outerWidth, outerHeight]")
                    .to_string()),
            }
        });
    }

    pub(crate) fn end(&self) {
        // The window may be gone already.
        self.ask("DELETE", "", None).unwrap_or_default();
    }
}

fn http(port: u16, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    stream
        .set_read_timeout(Some(PATIENCE))
        .map_err(|error| error.to_string())?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .map_err(|e| e.to_string())?;
    let answer = read_answer(&mut stream)?;
    let value: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    match value["value"]["error"].as_str() {
        Some(error) => Err(format!(
            "{error}: {}",
            value["value"]["message"].as_str().unwrap_or_default()
        )),
        None => Ok(value["value"].clone()),
    }
}

/// The body of an answer by its length: the driver keeps connections open whatever it is asked.
fn read_answer(stream: &mut TcpStream) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16_384];
    loop {
        let read = stream.read(&mut buffer).map_err(|error| error.to_string())?;
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            if length.is_some_and(|length| bytes.len() >= end + 4 + length) {
                return Ok(bytes.split_off(end + 4));
            }
        }
        if read == 0 {
            return Err("the driver's answer was cut off".to_owned());
        }
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let sixes: Vec<u8> = text.bytes().filter_map(value).collect();
    let mut bytes = Vec::new();
    for four in sixes.chunks(4) {
        let bits = four.iter().fold(0_u32, |sum, six| sum << 6 | u32::from(*six)) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}
