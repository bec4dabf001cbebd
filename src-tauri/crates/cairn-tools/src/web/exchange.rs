//! Asking a host: attempts, redirects by hand, and a body that is read within limits. SPEC T24.
//!
//! Owns: HTTP. Must never know: what a page means.

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response};
use tokio::time::timeout;
use url::Url;

use super::address::Target;
use super::decode::{self, Body, DecodeError};
use super::error::WebError;
use super::network::{BarredAddress, Unresolved, Vetted};
use super::{Web, wait};

/// Attempts in all, for connections that fail and answers with a status of 500 and more.
const TRIES: u32 = 3;
/// Redirects that are followed.
const MOST_HOPS: u32 = 10;
/// Bytes of the text of an answer that is no success.
const REFUSAL_BYTES: usize = 64 * 1024;
/// Header lines of an answer. Case N46.
const MOST_HEADERS: usize = 200;
/// Who is asking. Some hosts answer only to what calls itself a browser; this does not pretend to be one.
const USER_AGENT: &str = concat!("Mozilla/5.0 (compatible; cairn/", env!("CARGO_PKG_VERSION"), ")");

/// Which machines may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of the public internet.
    Public,
    /// Also others: the user named this very host in the configuration.
    Configured,
}

/// What is asked for.
pub(crate) struct Asked<'a> {
    pub(crate) target: &'a Target,
    pub(crate) headers: HeaderMap,
    pub(crate) reach: Reach,
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Got {
    /// An answer, whatever its status.
    Answer(Answer),
    /// The host sends to another one, which was not asked.
    Elsewhere(Box<Target>),
}

/// An answer, unpacked.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Where it came from in the end.
    pub(crate) from: Target,
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// The wait that the host asks for.
    pub(crate) asked_wait: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

impl Web {
    /// Asks, within the limits of the whole call.
    pub(crate) async fn get(&self, asked: Asked<'_>) -> Result<Got, WebError> {
        let host = asked.target.shown();
        match timeout(self.limits.total, self.follow(asked)).await {
            Ok(got) => got,
            Err(_) => Err(WebError::TooSlow {
                host,
                seconds: self.limits.total.as_secs_f64().ceil() as u64,
            }),
        }
    }

    async fn follow(&self, asked: Asked<'_>) -> Result<Got, WebError> {
        let mut target = asked.target.clone();
        let client = self.client(asked.reach)?;
        for _ in 0..=MOST_HOPS {
            let response = self.attempts(&client, &target, &asked.headers).await?;
            let Some(there) = redirect(&response, &target) else {
                return self.read(response, target).await.map(Got::Answer);
            };
            let there = match asked.reach {
                Reach::Public => Target::of(there)?,
                Reach::Configured => Target::of_any_host(there)?,
            };
            if !target.stays_at(&there) {
                return Ok(Got::Elsewhere(Box::new(there)));
            }
            target = there;
        }
        Err(WebError::Redirects {
            host: target.shown(),
            most: MOST_HOPS,
        })
    }

    /// The head of an answer. The last one counts whatever its status; one that is no server's fault counts at once.
    async fn attempts(
        &self,
        client: &Client,
        target: &Target,
        headers: &HeaderMap,
    ) -> Result<Response, WebError> {
        let mut attempt = 1;
        loop {
            let request = client.get(target.url().clone()).headers(headers.clone()).send();
            let asked_wait = match timeout(self.limits.silence, request).await {
                Err(_) if attempt == TRIES => {
                    return Err(WebError::Silent {
                        host: target.shown(),
                        seconds: self.limits.silence.as_secs(),
                    });
                }
                Err(_) => None,
                Ok(Err(error)) => match failure(&error, target, attempt) {
                    Failure::Passing(error) if attempt == TRIES => return Err(error),
                    Failure::Passing(_) => None,
                    Failure::Final(error) => return Err(error),
                },
                Ok(Ok(response)) if response.status().is_server_error() && attempt < TRIES => {
                    let asked_wait = wait::asked(response.headers(), SystemTime::now());
                    if asked_wait.is_some_and(|asked| asked > self.limits.patience) {
                        return Ok(response);
                    }
                    asked_wait
                }
                Ok(Ok(response)) => return Ok(response),
            };
            let pause = wait::pause(self.limits.pause, attempt, wait::chance());
            tokio::time::sleep(asked_wait.map_or(pause, |asked| asked.max(pause))).await;
            attempt += 1;
        }
    }

    async fn read(&self, mut response: Response, from: Target) -> Result<Answer, WebError> {
        let host = from.shown();
        let is_success = response.status().is_success();
        let most = if is_success {
            self.limits.bytes
        } else {
            REFUSAL_BYTES
        };
        let encoding = encodings(response.headers());
        let explain = |error| explained(error, &host, most);
        let told = response.content_length().unwrap_or(0);
        if is_success && told > most as u64 {
            return Err(explain(DecodeError::TooLarge));
        }
        let mut body = Body::new(encoding.as_deref(), most).map_err(explain)?;
        let mut is_whole = true;
        loop {
            let chunk = match timeout(self.limits.silence, response.chunk()).await {
                Err(_) => {
                    return Err(WebError::Silent {
                        host,
                        seconds: self.limits.silence.as_secs(),
                    });
                }
                Ok(Err(error)) => {
                    return Err(WebError::Unreachable {
                        host,
                        reason: format!("the connection broke off within the answer ({})", reason(&error)),
                        tries: 1,
                    });
                }
                Ok(Ok(chunk)) => chunk,
            };
            let Some(chunk) = chunk else { break };
            match body.push(&chunk) {
                Ok(()) => {}
                // What an answer that is no success says at its beginning is enough.
                Err(_) if !is_success => {
                    is_whole = false;
                    break;
                }
                Err(error) => return Err(explain(error)),
            }
        }
        let status = response.status().as_u16();
        let content_type = response
            .headers()
            .get(reqwest::header::CONTENT_TYPE)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let asked_wait = wait::asked(response.headers(), SystemTime::now());
        Ok(Answer {
            from,
            status,
            content_type,
            asked_wait,
            body: match (is_success, is_whole) {
                (true, _) => body.finish().map_err(explain)?,
                (false, true) => body.finish().unwrap_or_default(),
                (false, false) => body.so_far(),
            },
        })
    }

    /// Made anew for each call: nothing of one call, no connection and no session of encryption, is there in another.
    fn client(&self, reach: Reach) -> Result<Client, WebError> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // One choice for each process; one made before stays.
            rustls::crypto::ring::default_provider().install_default().ok();
        }
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(decode::ACCEPTED));
        let resolver = Vetted {
            network: Arc::clone(&self.network),
            reach,
        };
        let builder = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(self.limits.connect)
            .pool_max_idle_per_host(0)
            .http1_max_headers(MOST_HEADERS)
            .user_agent(USER_AGENT)
            .default_headers(headers)
            .dns_resolver(resolver);
        builder.build().map_err(|error| WebError::Unprepared {
            reason: reason(&error),
        })
    }
}

/// All codings, in the order in which they were applied.
fn encodings(headers: &HeaderMap) -> Option<String> {
    let all: Vec<&str> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|value| value.to_str().unwrap_or("unreadable"))
        .collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// Where an answer sends to; none when it stays.
fn redirect(response: &Response, from: &Target) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
    from.url().join(location.trim()).ok()
}

/// Whether another attempt can help.
enum Failure {
    Passing(WebError),
    Final(WebError),
}

fn failure(error: &reqwest::Error, target: &Target, tries: u32) -> Failure {
    let host = target.shown();
    let mut cause = error.source();
    while let Some(here) = cause {
        if let Some(barred) = here.downcast_ref::<BarredAddress>() {
            return Failure::Final(WebError::Barred {
                host: format!("{host} ({})", barred.address),
                what: barred.why.as_str().to_owned(),
            });
        }
        if here.downcast_ref::<Unresolved>().is_some() {
            return if tries == TRIES {
                Failure::Final(WebError::NoHost { host })
            } else {
                Failure::Passing(WebError::NoHost { host })
            };
        }
        cause = here.source();
    }
    let reason = reason(error);
    let is_garbage = [
        "invalid HTTP",
        "message head",
        "parsed",
        "certificate",
        "invalid peer",
    ]
    .iter()
    .any(|word| reason.contains(word));
    if is_garbage {
        Failure::Final(WebError::Garbage { host, reason })
    } else {
        Failure::Passing(WebError::Unreachable { host, reason, tries })
    }
}

/// The innermost cause in a few words.
fn reason(error: &reqwest::Error) -> String {
    let mut innermost = error.to_string();
    let mut cause = error.source();
    while let Some(here) = cause {
        innermost = match here.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => return "connection refused".to_owned(),
            Some(io::ErrorKind::ConnectionReset) => return "the connection was reset".to_owned(),
            Some(io::ErrorKind::TimedOut) => return "no connection in time".to_owned(),
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                return "there is no way to it".to_owned();
            }
            _ => here.to_string(),
        };
        cause = here.source();
    }
    innermost.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// What is wrong with an answer's body, with whose it is.
fn explained(error: DecodeError, host: &str, most: usize) -> WebError {
    let host = host.to_owned();
    match error {
        DecodeError::TooLarge => WebError::TooLarge { host, most },
        DecodeError::Broken(reason) => WebError::Garbage {
            host,
            reason: format!("it is not packed as it says ({reason})"),
        },
        DecodeError::Unknown(what) => WebError::Garbage {
            host,
            reason: format!("it is packed in a way that was not asked for, {what}"),
        },
    }
}
