//! HTTP to one model server. Owns: connecting, the key's header, time limits, and failures in words.
//! Must never know: what is in a request or a reply.
//!
//! Redirects are never followed, so that a key never goes to a second host (SPEC M4). Loopback never goes through a
//! proxy. A plain `http` address never loads certificates, which would cost more than the rest of the start (F1).

pub(crate) mod refusal;
pub(crate) mod rejected;
pub(crate) mod retry_after;
pub(crate) mod words;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cairn_agent::model::ModelError;
use cairn_protocol::ErrorCode;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response};
use serde_json::Value;
use url::Url;

use crate::address::{Address, Place};
use crate::dialect::KeyHeader;
use crate::registry::{self, ModelConfig};
use refusal::Refusal;

/// Bytes of a reply that is read whole: an error, a list of models, a reply of a server that does not stream.
const MAX_WHOLE_BYTES: usize = 16 * 1024 * 1024;

/// The version of Anthropic's protocol that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// How long to wait for what. A local model may load and read for as long as it needs (SPEC M4, T14).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Until the connection stands.
    pub(crate) connect: Duration,
    /// From the request to the first byte of the reply; none for local models.
    pub(crate) first_byte: Option<Duration>,
    /// Between two bytes of the reply; none for local models.
    pub(crate) silence: Option<Duration>,
}

impl Limits {
    fn of(address: &Address) -> Self {
        let hosted = !address.is_local();
        Self {
            connect: Duration::from_secs(10),
            first_byte: hosted.then_some(Duration::from_mins(5)),
            silence: hosted.then_some(Duration::from_mins(2)),
        }
    }
}

/// Why a small question got no answer: in a few words for a list, and as a whole error.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) short: String,
    pub(crate) error: ModelError,
}

/// A way to one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    client: Client,
    headers: HeaderMap,
    pub(crate) address: Arc<Address>,
    pub(crate) model: Arc<str>,
    /// Where the server lists its models.
    pub(crate) models: Arc<Url>,
    pub(crate) limits: Limits,
}

impl Connection {
    /// Prepares; nothing is sent. Fails with `BadConfig`.
    pub(crate) fn new(config: &ModelConfig) -> Result<Self, ModelError> {
        let address = Address::parse(&config.base_url).map_err(|error| bad_config(&error.to_string()))?;
        Ok(Self {
            client: client(&address, Limits::of(&address).connect)?,
            headers: headers(config)?,
            limits: Limits::of(&address),
            models: Arc::new(registry::models_url(config.api, &address)),
            address: Arc::new(address),
            model: config.model.as_str().into(),
        })
    }

    /// Sends a JSON body and gives the reply as soon as its head is there.
    pub(crate) async fn post(&self, url: Url, body: Vec<u8>) -> Result<Response, ModelError> {
        let request = self
            .client
            .request(Method::POST, url)
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body)
            .send();
        let sent = match self.limits.first_byte {
            Some(limit) => tokio::time::timeout(limit, request)
                .await
                .map_err(|_| self.no_answer(limit))?,
            None => request.await,
        };
        sent.map_err(|error| self.unreachable(&error))
    }

    /// Reads a JSON document, all within the limit. What is no success or no JSON is a trouble.
    pub(crate) async fn get(&self, url: Url, limit: Duration) -> Result<Value, Trouble> {
        self.fetch(self.client.get(url), limit).await
    }

    /// Sends JSON and reads the JSON answer, all within the limit.
    pub(crate) async fn ask(&self, url: Url, body: &Value, limit: Duration) -> Result<Value, Trouble> {
        self.fetch(
            self.client
                .post(url)
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string()),
            limit,
        )
        .await
    }

    async fn fetch(&self, request: reqwest::RequestBuilder, limit: Duration) -> Result<Value, Trouble> {
        let whole = async {
            let response = request
                .headers(self.headers.clone())
                .send()
                .await
                .map_err(|error| Trouble {
                    short: if error.is_timeout() {
                        "no connection in time".to_owned()
                    } else {
                        words::reason(&error)
                    },
                    error: self.unreachable(&error),
                })?;
            let status = response.status();
            if !status.is_success() {
                let error = self.refusal(response).await.into_error();
                return Err(Trouble {
                    short: format!("it answers with status {}", status.as_u16()),
                    error,
                });
            }
            let garbage = |error| Trouble {
                short: "something else answers there".to_owned(),
                error,
            };
            let (head, body) = self.read_whole(response).await.map_err(garbage)?;
            serde_json::from_slice(&body).map_err(|_| garbage(self.garbage(&head, &body)))
        };
        tokio::time::timeout(limit, whole).await.map_err(|_| Trouble {
            short: format!("no answer within {}", words::span(limit)),
            error: self.no_answer(limit),
        })?
    }

    /// Reads the rest of a reply, bounded.
    pub(crate) async fn read_whole(
        &self,
        mut response: Response,
    ) -> Result<(HeaderMap, Vec<u8>), ModelError> {
        let head = response.headers().clone();
        let mut body = Vec::new();
        loop {
            match self.next_bytes(&mut response).await? {
                Some(bytes) if body.len() + bytes.len() <= MAX_WHOLE_BYTES => body.extend_from_slice(&bytes),
                Some(_) => {
                    let text = format!("{} answered with more than 16 MB.", self.address.described());
                    return Err(ModelError::fatal(ErrorCode::ModelGarbage, text));
                }
                None => return Ok((head, body)),
            }
        }
    }

    /// The next bytes of a reply; none at its end.
    pub(crate) async fn next_bytes(&self, response: &mut Response) -> Result<Option<Vec<u8>>, ModelError> {
        let chunk = within(self.limits.silence, response.chunk())
            .await
            .map_err(|limit| self.fell_silent(limit))?;
        match chunk {
            Ok(bytes) => Ok(bytes.map(|bytes| bytes.to_vec())),
            Err(error) => Err(self.broke_off(&error)),
        }
    }

    /// Reads what a server says with a status that is no success.
    pub(crate) async fn refusal(&self, response: Response) -> Refusal {
        let status = response.status().as_u16();
        let head = response.headers().clone();
        // A refusal whose text breaks off is a refusal all the same.
        let body = self
            .read_whole(response)
            .await
            .map(|(_, body)| body)
            .unwrap_or_default();
        Refusal::of_response(
            &self.address,
            &self.model,
            status,
            &head,
            &body,
            SystemTime::now(),
        )
    }

    /// The error for a reply that is not what was asked for.
    pub(crate) fn garbage(&self, head: &HeaderMap, body: &[u8]) -> ModelError {
        refusal::garbage(&self.address, head, body)
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let server = self.address.described();
        let reason = words::reason(error);
        if error.is_builder() || error.is_request() && !error.is_connect() && words::is_broken(error) {
            let text =
                format!("{server} closed the connection before it answered: {reason}. Retrying may work.");
            return ModelError::passing(ErrorCode::ModelServer, text);
        }
        let advice = match (self.address.place(), self.address.known_name()) {
            (Place::Hosted, _) => "Check the connection and the address, then retry.",
            (_, Some(_)) => "Start it, then retry.",
            (_, None) => "Start it or mend its address, then retry.",
        };
        let reason = if error.is_timeout() {
            format!("no connection within {} seconds", self.limits.connect.as_secs())
        } else {
            reason
        };
        ModelError::passing(
            ErrorCode::ModelUnreachable,
            format!("Could not reach {server}: {reason}. {advice}"),
        )
    }

    fn no_answer(&self, limit: Duration) -> ModelError {
        let text = format!(
            "{} did not begin to answer within {}. Retrying may work.",
            self.address.described(),
            words::span(limit)
        );
        ModelError::passing(ErrorCode::ModelServer, text)
    }

    fn fell_silent(&self, limit: Duration) -> ModelError {
        let text = format!(
            "{} fell silent for {} in the middle of its answer. What came before is kept; Retry asks again.",
            self.address.described(),
            words::span(limit)
        );
        ModelError::passing(ErrorCode::ModelServer, text)
    }

    fn broke_off(&self, error: &reqwest::Error) -> ModelError {
        let text = format!(
            "The connection to {} broke off: {}. What came before is kept; Retry asks again.",
            self.address.described(),
            words::reason(error)
        );
        ModelError::passing(ErrorCode::ModelServer, text)
    }
}

/// Waits for a future as long as the limit allows; the limit itself when it strikes.
pub(crate) async fn within<T>(
    limit: Option<Duration>,
    future: impl Future<Output = T>,
) -> Result<T, Duration> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, future).await.map_err(|_| limit),
        None => Ok(future.await),
    }
}

fn client(address: &Address, connect: Duration) -> Result<Client, ModelError> {
    let mut builder = Client::builder()
        .connect_timeout(connect)
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")));
    if address.place() == Place::Loopback {
        builder = builder.no_proxy();
    }
    if address.is_encrypted() {
        install_crypto();
    } else {
        // Nothing here is encrypted and redirects are off, so the certificates of the system are not loaded.
        builder = builder.tls_backend_preconfigured(without_certificates()?);
    }
    builder.build().map_err(|error| {
        bad_config(&format!(
            "the connection cannot be prepared: {}",
            words::reason(&error)
        ))
    })
}

fn without_certificates() -> Result<rustls::ClientConfig, ModelError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| bad_config(&error.to_string()))?;
    Ok(versions
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth())
}

/// Tells rustls which cryptography to use. It keeps one choice per process; a choice made before stays.
fn install_crypto() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        rustls::crypto::ring::default_provider().install_default().ok();
    }
}

fn headers(config: &ModelConfig) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    let place = registry::dialect(config.api).map_or(KeyHeader::Bearer, |dialect| dialect.key);
    if let Some(key) = config.key.as_ref().filter(|key| !key.reveal().is_empty()) {
        let (name, text) = match place {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
            KeyHeader::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
        };
        let value = HeaderValue::from_str(&text);
        let value = value.map_err(|_| bad_config("the key holds characters that cannot be sent"))?;
        headers.insert(name, value);
    }
    if place == KeyHeader::Anthropic {
        let version = HeaderName::from_static("anthropic-version");
        headers.insert(version, HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    for (name, value) in &config.headers {
        let header = HeaderName::from_bytes(name.as_bytes());
        let header = header.map_err(|_| bad_config(&format!("\"{name}\" is no name of a header")))?;
        let value = HeaderValue::from_str(value.reveal());
        let value = value
            .map_err(|_| bad_config(&format!("the header {name} holds characters that cannot be sent")))?;
        headers.insert(header, value);
    }
    for value in headers.values_mut() {
        value.set_sensitive(true);
    }
    Ok(headers)
}

fn bad_config(reason: &str) -> ModelError {
    ModelError::fatal(
        ErrorCode::BadConfig,
        format!("The model profile cannot be used: {reason}. Mend it in the settings."),
    )
}

#[cfg(test)]
mod tests;
