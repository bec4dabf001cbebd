//! The server's loop: a request in, the scripted reply out. Owns: connections. Knows no rule of the protocol.

use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::protocol::Protocol;
use super::script::{Reply, Script, Step};
use super::strict::{self, Limits};
use super::wire::{self, Length, Request};
use super::{End, Recorded, Shared};

/// Takes connections until the task is dropped, and all of them with it.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, shared.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// What becomes of a connection after a reply.
enum After {
    Keep,
    Close,
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    stream.set_nodelay(true).ok();
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    while let Ok(Some(request)) = wire::read(&mut reader).await {
        match exchange(&mut reader, &mut writer, &shared, request).await {
            Ok(After::Keep) => {}
            Ok(After::Close) | Err(_) => return,
        }
    }
}

async fn exchange(
    reader: &mut BufReader<OwnedReadHalf>,
    writer: &mut OwnedWriteHalf,
    shared: &Shared,
    request: Request,
) -> io::Result<After> {
    if let Some(path) = request.path.strip_prefix("/_scripted/") {
        let (status, document) = control(shared, &request, path);
        return json_reply(writer, status, &document).await;
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let number = note(shared, &request, &body);
    let change = |change: &dyn Fn(&mut Recorded)| {
        shared.record.update(|all| {
            all.iter_mut()
                .filter(|entry| entry.number == number)
                .for_each(change);
        });
    };
    let ended = |end: End| change(&|entry| entry.end = end);
    let path = request.path.split('?').next().unwrap_or_default();
    if request.method == "POST"
        && let Some(protocol) = Protocol::of_path(path)
    {
        let refusal = refusal(shared, &request, protocol, &body);
        if let Some((status, refusal)) = refusal {
            let words = refusal
                .pointer("/error/message")
                .or_else(|| refusal.get("error"))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            change(&|entry| entry.refused = Some(words.clone()));
            let after = json_reply(writer, status, &refusal).await;
            ended(End::Answered);
            return after;
        }
        let (reply, counts) = {
            let mut script = shared.script.lock().unwrap_or_else(PoisonError::into_inner);
            (script.take(&body), script.counts)
        };
        let reply = reply.map(|reply| reply.counted(&body, counts));
        let reply = reply.unwrap_or_else(|| Reply::error(500, "the script has no reply for this request"));
        let wants_usage = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        let saying = say(writer, shared, &reply, protocol, (number, wants_usage));
        // A client that goes away is noticed also while nothing is written. Pipelining is not for clients of this.
        let outcome = tokio::select! {
            outcome = saying => Some(outcome),
            () = wire::closed(reader) => None,
        };
        let Some(Ok(after)) = outcome else {
            ended(End::ClosedByClient);
            return Ok(After::Close);
        };
        ended(End::Answered);
        return Ok(after);
    }
    let (status, document) = document(shared, path);
    let after = json_reply(writer, status, &document).await;
    ended(End::Answered);
    after
}

fn note(shared: &Shared, request: &Request, body: &Value) -> usize {
    let mut number = 0;
    shared.record.update(|all| {
        number = all.len();
        all.push(Recorded {
            number,
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: body.clone(),
            bytes: request.body.len(),
            refused: None,
            end: End::Open,
        });
    });
    number
}

fn refusal(shared: &Shared, request: &Request, protocol: Protocol, body: &Value) -> Option<(u16, Value)> {
    let limits = {
        let script = shared.script.lock().unwrap_or_else(PoisonError::into_inner);
        if !script.strict {
            return None;
        }
        Limits {
            tokens: script.holds,
            pictures: script.most_pictures,
            picture_bytes: script.most_picture_bytes,
        }
    };
    if protocol == Protocol::Messages && request.header("anthropic-version").is_none() {
        return Some((400, protocol.error("anthropic-version: header is required")));
    }
    if !request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
    {
        return Some((
            415,
            json!({ "error": { "message": "content-type must be application/json" } }),
        ));
    }
    strict::check(protocol, body, limits)
        .err()
        .map(|refusal| (400, refusal))
}

/// What other paths say.
fn document(shared: &Shared, path: &str) -> (u16, Value) {
    let script = shared.script.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(document) = script.documents.get(path) {
        return (200, document.clone());
    }
    match path {
        "/v1/models" => (200, models(&script)),
        "/props" if script.context_window > 0 => (
            200,
            json!({
                "default_generation_settings": { "n_ctx": script.context_window },
                "modalities": { "vision": script.vision, "audio": false },
                "chat_template": "{% if tools %}{{ tools }}{% endif %}",
            }),
        ),
        _ => (
            404,
            json!({ "error": { "message": format!("no {path} here"), "type": "not_found_error" } }),
        ),
    }
}

fn models(script: &Script) -> Value {
    let mut entry = json!({ "id": script.model, "object": "model", "owned_by": "scripted" });
    if let (Some(entry), true) = (entry.as_object_mut(), script.context_window > 0) {
        entry.insert("max_model_len".to_owned(), script.context_window.into());
    }
    json!({ "object": "list", "data": [entry] })
}

fn control(shared: &Shared, request: &Request, path: &str) -> (u16, Value) {
    match (request.method.as_str(), path.split_once('/')) {
        ("GET", None) if path == "requests" => (
            200,
            serde_json::to_value(shared.record.all()).unwrap_or(Value::Null),
        ),
        ("GET", None) if path == "waiting" => {
            let waiting = shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            (200, waiting.iter().cloned().collect())
        }
        ("POST", Some(("open", gate))) => {
            shared.open.push(gate.to_owned());
            (200, json!({ "open": gate }))
        }
        ("POST", None) if path == "replies" => match serde_json::from_slice::<Vec<Reply>>(&request.body) {
            Ok(replies) => {
                let count = replies.len();
                shared
                    .script
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .replies
                    .extend(replies);
                (200, json!({ "added": count }))
            }
            Err(error) => (400, json!({ "error": error.to_string() })),
        },
        _ => (404, json!({ "error": "requests, waiting, open/NAME, replies" })),
    }
}

async fn json_reply(writer: &mut OwnedWriteHalf, status: u16, document: &Value) -> io::Result<After> {
    let text = document.to_string();
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    wire::head(writer, status, &headers, Length::Known(text.len())).await?;
    writer.write_all(text.as_bytes()).await?;
    Ok(After::Keep)
}

/// Sends a scripted reply.
async fn say(
    writer: &mut OwnedWriteHalf,
    shared: &Shared,
    reply: &Reply,
    protocol: Protocol,
    (number, wants_usage): (usize, bool),
) -> io::Result<After> {
    if let Some(gate) = &reply.gate {
        pass(shared, gate).await?;
    }
    let whole = whole_body(reply, protocol);
    let status = reply.status.unwrap_or(200);
    let usual = if whole.is_some() {
        "application/json"
    } else {
        protocol.media_type()
    };
    let mut headers: Vec<(String, String)> = reply
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .collect();
    if !headers.iter().any(|(name, _)| name == "content-type") {
        headers.push(("content-type".to_owned(), usual.to_owned()));
    }
    if let Some(whole) = whole {
        wire::head(writer, status, &headers, Length::Known(whole.len())).await?;
        let end = reply.cut_after.unwrap_or(whole.len()).min(whole.len());
        writer
            .write_all(whole.as_bytes().get(..end).unwrap_or_default())
            .await?;
        return Ok(if end < whole.len() {
            After::Close
        } else {
            After::Keep
        });
    }
    wire::head(writer, status, &headers, Length::Chunked).await?;
    let mut left = reply.cut_after.unwrap_or(usize::MAX);
    for step in protocol.steps(reply, number, wants_usage) {
        let text = match step {
            Step::Gate(gate) => {
                pass(shared, &gate).await?;
                continue;
            }
            Step::PauseMs(milliseconds) => {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                continue;
            }
            Step::Hang => std::future::pending().await,
            Step::Cut => return Ok(After::Close),
            other => text_of(other, number),
        };
        let bytes = text.as_bytes();
        wire::chunk(writer, bytes.get(..left.min(bytes.len())).unwrap_or_default()).await?;
        if bytes.len() > left {
            return Ok(After::Close);
        }
        left -= bytes.len();
    }
    writer.write_all(b"0\r\n\r\n").await?;
    Ok(After::Keep)
}

/// The body of a reply that does not stream.
fn whole_body(reply: &Reply, protocol: Protocol) -> Option<String> {
    match (&reply.error, &reply.body) {
        (Some(Value::String(message)), _) if protocol != Protocol::Chat => {
            Some(protocol.error(message).to_string())
        }
        (Some(Value::String(message)), _) => Some(
            json!({ "error": { "message": message, "type": "scripted", "param": null, "code": null } })
                .to_string(),
        ),
        (Some(error), _) => Some(error.to_string()),
        (None, Some(body)) => Some(body.clone()),
        (None, None) => None,
    }
}

/// What a step writes.
fn text_of(step: Step, number: usize) -> String {
    let frame = |choice: Value| {
        let document = json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [choice],
        });
        format!("data: {document}\n\n")
    };
    let delta = |delta: Value| frame(json!({ "index": 0, "delta": delta, "finish_reason": null }));
    match step {
        Step::Text(text) => delta(json!({ "content": text })),
        Step::Thinking(text) => delta(json!({ "reasoning_content": text })),
        Step::Delta(value) => delta(value),
        Step::Frame(document) => format!("data: {document}\n\n"),
        Step::Finish(reason) => frame(json!({ "index": 0, "delta": {}, "finish_reason": reason })),
        Step::Raw(text) => text,
        Step::Done => "data: [DONE]\n\n".to_owned(),
        Step::Gate(_) | Step::PauseMs(_) | Step::Hang | Step::Cut => String::new(),
    }
}

/// Waits at a gate.
async fn pass(shared: &Shared, gate: &str) -> io::Result<()> {
    let waiting = || shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
    waiting().insert(gate.to_owned());
    // A person may look at the window for longer than any test waits.
    while shared
        .open
        .wait_for(|open| open.iter().any(|name| name == gate))
        .await
        .is_none()
    {}
    waiting().remove(gate);
    Ok(())
}
