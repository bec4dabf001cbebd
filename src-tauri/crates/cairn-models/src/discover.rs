//! What model servers this machine runs. SPEC A8, M5.
//!
//! Owns: the usual programs, their usual ports and what each can be asked. Must never know: profiles, keys of
//! hosted services. Only loopback is ever looked at.

pub(crate) mod llama_cpp;
pub(crate) mod lm_studio;
pub(crate) mod ollama;
pub(crate) mod vllm;

use std::time::Duration;

use cairn_protocol::{Api, FoundModel, FoundServer};
use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;

use crate::http::{Connection, Trouble};
use crate::registry::ModelConfig;

/// Time that one server has to answer everything.
pub(crate) const PROBE_LIMIT: Duration = Duration::from_millis(300);

/// A model as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) found: FoundModel,
    /// Tokens that the server gives it as it is set up now, where that is known to differ from what it can hold.
    pub(crate) given: Option<u64>,
}

/// Asks for all models, or only for one where the server can be asked so.
pub(crate) type List =
    for<'a> fn(&'a Connection, Option<&'a str>) -> BoxFuture<'a, Result<Vec<Seen>, Trouble>>;

/// One program that serves models.
pub(crate) struct ServerKind {
    pub(crate) name: &'static str,
    pub(crate) port: u16,
    /// The protocol that is best spoken with it.
    pub(crate) api: Api,
    /// Path of its base address.
    pub(crate) base: &'static str,
    pub(crate) list: List,
}

/// The usual programs, in the order in which they are shown.
pub(crate) const KINDS: &[ServerKind] = &[ollama::KIND, llama_cpp::KIND, lm_studio::KIND, vllm::KIND];

/// Looks at the usual loopback ports, all at once, at most 300 ms each. One entry per program in a fixed order: with
/// its models, or with the reason why it did not answer.
pub async fn discover() -> Vec<FoundServer> {
    let spots: Vec<(&'static str, u16)> = KINDS.iter().map(|kind| (kind.name, kind.port)).collect();
    discover_at(&spots).await
}

/// [`discover`] with other ports: pairs of program name and loopback port. Unknown names are left out.
pub async fn discover_at(spots: &[(&str, u16)]) -> Vec<FoundServer> {
    let looks = spots.iter().filter_map(|(name, port)| {
        KINDS
            .iter()
            .find(|kind| kind.name == *name)
            .map(|kind| look(kind, *port))
    });
    join_all(looks).await
}

async fn look(kind: &ServerKind, port: u16) -> FoundServer {
    let base_url = format!("http://127.0.0.1:{port}{}", kind.base);
    let listed = match Connection::new(&ModelConfig::new(kind.api, base_url.as_str(), "")) {
        Ok(connection) => (kind.list)(&connection, None)
            .await
            .map_err(|trouble| trouble.short),
        Err(error) => Err(error.error.message),
    };
    let (models, problem) = match listed {
        Ok(seen) => (seen.into_iter().map(|seen| seen.found).collect(), None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    FoundServer {
        name: kind.name.to_owned(),
        api: kind.api,
        base_url,
        models,
        problem,
    }
}

/// The entries of an OpenAI-shaped list of models; a trouble when the document is none.
pub(crate) fn entries<'a>(
    connection: &Connection,
    document: &'a Value,
    field: &str,
) -> Result<&'a [Value], Trouble> {
    document
        .get(field)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| Trouble {
            short: "something else answers there".to_owned(),
            error: connection.garbage(
                &reqwest::header::HeaderMap::new(),
                document.to_string().as_bytes(),
            ),
        })
}

/// A model of which only the name is known.
pub(crate) fn named(name: &str) -> FoundModel {
    FoundModel {
        name: name.to_owned(),
        context_window: None,
        tools: None,
        vision: None,
        bytes: None,
    }
}

pub(crate) fn count(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_u64).filter(|count| *count > 0)
}

#[cfg(test)]
mod tests;
