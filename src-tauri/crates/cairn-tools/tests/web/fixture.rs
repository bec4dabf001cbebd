//! A server that answers by path, a canary that nobody may reach, and a network between them and the tools.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cairn_agent::tool::{Action, Prepared, Tool, ToolError, ToolOutcome};
use cairn_tools::web::{Limits, Network, Web, WebConfig};
use cairn_tools::web_fetch::WebFetch;
use cairn_tools::web_search::WebSearch;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::support::{Live, context, processes};

/// The public address that leads to the server.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// What the server does for a request: bytes at once, or something longer.
#[derive(Clone)]
pub(crate) enum Does {
    /// Answers with these bytes and closes.
    Bytes(Vec<u8>),
    /// Answers with these, then sends that piece again and again.
    Endless(Vec<u8>, Vec<u8>, Duration),
    /// Says nothing.
    Nothing,
    /// Closes at once.
    Closes,
}

/// A server on loopback.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&str, usize) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    let Some(head) = read_head(&stream).await else {
                        return;
                    };
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let number = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(head);
                        seen.len()
                    };
                    perform(stream, answer(&path, number)).await;
                });
            }
        });
        Self { address, requests }
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

async fn read_head(stream: &TcpStream) -> Option<String> {
    let mut head = Vec::new();
    loop {
        stream.readable().await.ok()?;
        let mut piece = [0; 4_096];
        match stream.try_read(&mut piece) {
            Ok(0) => return None,
            Ok(read) => head.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(_) => return None,
        }
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return Some(String::from_utf8_lossy(&head).into_owned());
        }
    }
}

async fn perform(mut stream: TcpStream, does: Does) {
    match does {
        Does::Closes => {}
        Does::Nothing => {
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.ok();
        }
        Does::Bytes(bytes) => {
            stream.write_all(&bytes).await.ok();
            stream.shutdown().await.ok();
        }
        Does::Endless(head, piece, pause) => {
            if stream.write_all(&head).await.is_err() {
                return;
            }
            while stream.write_all(&piece).await.is_ok() {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }
}

/// A whole answer.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Does {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"connection: close\r\n\r\n");
    bytes.extend_from_slice(body);
    Does::Bytes(bytes)
}

pub(crate) fn text(body: impl AsRef<[u8]>) -> Does {
    answer("200 OK", &[("content-type", "text/plain; charset=utf-8")], body)
}

pub(crate) fn to(location: &str) -> Does {
    answer("302 Found", &[("location", location)], "")
}

/// Answers names, and leads checked public addresses to the server; any other goes where it says, which would be seen by
/// a canary.
pub(crate) struct Doubles {
    pub(crate) server: SocketAddr,
    /// Answers of names in turn; the last one stays. Other names are [`PUBLIC`].
    pub(crate) names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub(crate) lookups: AtomicUsize,
}

impl Network for Doubles {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut names = self.names.lock().unwrap();
        let found = match names.get_mut(&host) {
            Some(answers) if answers.len() > 1 => answers.remove(0),
            Some(answers) => answers[0].clone(),
            None => vec![PUBLIC.parse().unwrap()],
        };
        Box::pin(std::future::ready(Ok(found)))
    }

    fn route(&self, checked: IpAddr) -> SocketAddr {
        if checked == PUBLIC.parse::<IpAddr>().unwrap() {
            self.server
        } else {
            SocketAddr::new(checked, 0)
        }
    }
}

/// The tools over a server.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) network: Arc<Doubles>,
    pub(crate) web: Arc<Web>,
    pub(crate) budget: usize,
}

/// Limits that do not keep anybody waiting.
pub(crate) fn quick() -> Limits {
    Limits {
        total: Duration::from_secs(20),
        pause: Duration::from_millis(2),
        ..Limits::default()
    }
}

impl Bench {
    pub(crate) async fn new(answer: impl Fn(&str, usize) -> Does + Send + Sync + 'static) -> Self {
        Self::with(quick(), answer).await
    }

    pub(crate) async fn with(
        limits: Limits,
        answer: impl Fn(&str, usize) -> Does + Send + Sync + 'static,
    ) -> Self {
        let server = Server::start(answer).await;
        let network = Arc::new(Doubles {
            server: server.address,
            names: Mutex::default(),
            lookups: AtomicUsize::new(0),
        });
        let web = Arc::new(Web::over(Arc::clone(&network) as Arc<dyn Network>, limits));
        Self {
            server,
            network,
            web,
            budget: 80_000,
        }
    }

    pub(crate) fn name(&self, host: &str, answers: &[&[&str]]) {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.network
            .names
            .lock()
            .unwrap()
            .insert(host.to_owned(), answers);
    }

    pub(crate) async fn prepare(&self, url: &str, offset: u64) -> Result<Prepared, ToolError> {
        let tool = WebFetch::new(Arc::clone(&self.web), processes());
        self.prepare_with(&tool, json!({"url": url, "offset": offset}))
            .await
    }

    async fn prepare_with(&self, tool: &dyn Tool, arguments: Value) -> Result<Prepared, ToolError> {
        let arguments = arguments.as_object().cloned().unwrap();
        let context = context(Arc::new(Live::default()), CancellationToken::new());
        tool.prepare(arguments, &context).await
    }

    pub(crate) async fn fetch(&self, url: &str) -> ToolOutcome {
        self.fetch_from(url, 0).await
    }

    pub(crate) async fn fetch_from(&self, url: &str, offset: u64) -> ToolOutcome {
        match self.prepare(url, offset).await {
            Ok(prepared) => self.execute(prepared, CancellationToken::new()).await,
            Err(error) => ToolOutcome::failed(error.message),
        }
    }

    pub(crate) async fn execute(&self, prepared: Prepared, cancel: CancellationToken) -> ToolOutcome {
        let Action::Execute(execute) = prepared.action else {
            panic!("it asks nothing")
        };
        let mut context = context(Arc::new(Live::default()), cancel);
        context.budget = self.budget;
        execute.execute(context).await
    }

    pub(crate) async fn search(&self, config: WebConfig, query: &str) -> ToolOutcome {
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let tool = WebSearch::new(
            Arc::clone(&self.web),
            config,
            processes(),
            environment,
            "/tmp".into(),
        );
        match self.prepare_with(&tool, json!({"query": query})).await {
            Ok(prepared) => self.execute(prepared, CancellationToken::new()).await,
            Err(error) => ToolOutcome::failed(error.message),
        }
    }
}

/// Counts who connects to it.
pub(crate) struct Canary {
    pub(crate) port: u16,
    hits: Arc<AtomicUsize>,
}

impl Canary {
    pub(crate) async fn new() -> Self {
        // Of both kinds of addresses, where the machine has both.
        let listener = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).await {
            Ok(both) => both,
            Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap(),
        };
        let port = listener.local_addr().unwrap().port();
        let hits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&hits);
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, hits }
    }

    /// Nobody came, and somebody who does is counted.
    pub(crate) async fn is_silent(&self) -> bool {
        let silent = self.hits.load(Ordering::SeqCst) == 0;
        let _stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .await
            .unwrap();
        while self.hits.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        silent && self.hits.load(Ordering::SeqCst) == 1
    }
}
