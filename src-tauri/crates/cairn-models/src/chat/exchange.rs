//! One exchange with a Chat Completions server, as a stream. Owns: its phases. Dropping it closes the connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::model::{ModelError, ModelEvent, ModelRequest};
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::request::{self, Extras, LimitField};
use super::{ChatStream, Learned, StreamContext};
use crate::http::refusal::Refusal;
use crate::http::{Connection, within};
use crate::sse::{Decoder, SseEvent};

/// Times that a refused body is made plainer; there are only so many things to leave out.
const MAX_PLAINER: u32 = 5;

/// Between two questions whether a local model is loaded by now.
const LOADING_PAUSE: Duration = Duration::from_millis(500);

/// After the reason of the end, a late count of tokens may come; a server that forgets `[DONE]` may send nothing.
const AFTER_THE_END: Duration = Duration::from_secs(3);

pub(super) struct Exchange {
    connection: Connection,
    learned: Arc<Learned>,
    request: ModelRequest,
    chat: ChatStream,
    phase: Phase,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
}

enum Phase {
    Ask {
        extras: Extras,
        plainer: u32,
    },
    Read {
        response: Box<Response>,
        decoder: Box<Decoder>,
        bytes: u64,
    },
    Over,
}

impl Exchange {
    pub(super) fn new(
        connection: Connection,
        learned: Arc<Learned>,
        request: ModelRequest,
        context: StreamContext,
    ) -> Self {
        let extras = learned.get();
        Self {
            connection,
            learned,
            request,
            chat: ChatStream::new(context),
            phase: Phase::Ask { extras, plainer: 0 },
            ready: VecDeque::new(),
        }
    }

    pub(super) fn into_stream(self) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        stream::unfold(self, |mut exchange| async move {
            loop {
                if let Some(next) = exchange.ready.pop_front() {
                    return Some((next, exchange));
                }
                exchange.phase = match std::mem::replace(&mut exchange.phase, Phase::Over) {
                    Phase::Ask { extras, plainer } => exchange.ask(extras, plainer).await,
                    Phase::Read {
                        response,
                        decoder,
                        bytes,
                    } => exchange.read(response, decoder, bytes).await,
                    Phase::Over => return None,
                };
            }
        })
        .boxed()
    }

    async fn ask(&mut self, extras: Extras, plainer: u32) -> Phase {
        let body = request::body(&self.connection.model, &self.request, extras).to_string();
        let response = match self.connection.post("chat/completions", body.into_bytes()).await {
            Ok(response) => response,
            Err(error) => return self.end_with(error),
        };
        if response.status().is_success() {
            self.learned.set(extras);
            return self.begin(response).await;
        }
        let refusal = self.connection.refusal(response).await;
        if refusal.is_loading() && self.connection.address.is_local() {
            self.ready.push_back(Ok(ModelEvent::Loading));
            tokio::time::sleep(LOADING_PAUSE).await;
            return Phase::Ask { extras, plainer };
        }
        match plain(extras, &refusal) {
            Some(extras) if plainer < MAX_PLAINER => Phase::Ask {
                extras,
                plainer: plainer + 1,
            },
            _ => self.end_with(refusal.into_error()),
        }
    }

    /// Looks at the head of a success: a stream, a whole reply, or something else altogether.
    async fn begin(&mut self, response: Response) -> Phase {
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        if !kind.contains("json") && !kind.contains("html") || kind.contains("ndjson") {
            return Phase::Read {
                response: Box::new(response),
                decoder: Box::default(),
                bytes: 0,
            };
        }
        let (head, body) = match self.connection.read_whole(response).await {
            Ok(whole) => whole,
            Err(error) => return self.end_with(error),
        };
        match serde_json::from_slice::<Value>(&body) {
            Ok(reply) if reply.get("choices").is_some() || reply.get("error").is_some() => {
                let mut out = Vec::new();
                match self.chat.push_whole(&reply, &mut out) {
                    Ok(()) => self.chat.finish(&mut out),
                    Err(error) => {
                        self.ready.extend(out.into_iter().map(Ok));
                        return self.end_with(error);
                    }
                }
                self.ready.extend(out.into_iter().map(Ok));
                Phase::Over
            }
            _ => {
                // Some servers send a stream under the wrong name.
                if body.trim_ascii_start().starts_with(b"data:") {
                    return self.take_rest(&body);
                }
                self.end_with(self.connection.garbage(&head, &body))
            }
        }
    }

    async fn read(&mut self, mut response: Box<Response>, mut decoder: Box<Decoder>, bytes: u64) -> Phase {
        let limit = self.chat.has_reason().then_some(AFTER_THE_END);
        let chunk = within(limit, self.connection.next_bytes(&mut response)).await;
        let mut events = Vec::new();
        let mut count = bytes;
        let taken = match chunk {
            Ok(Ok(Some(chunk))) => {
                count += chunk.len() as u64;
                decoder.push(&chunk, &mut events)
            }
            // Its end, or an end that it forgot to make.
            Ok(Ok(None)) | Err(_) => {
                let taken = decoder.finish(&mut events);
                return match taken {
                    Ok(()) => self.take_last(&events, &decoder, &response, count),
                    Err(error) => self.give_up(&error.to_string()),
                };
            }
            Ok(Err(error)) => {
                // After the reason nothing is missing but the count of tokens.
                if self.chat.has_reason() {
                    return self.close();
                }
                self.take_events(&events);
                let mut out = Vec::new();
                self.chat.break_off(&mut out);
                self.ready.extend(out.into_iter().map(Ok));
                return self.end_with(error);
            }
        };
        if !self.take_events(&events) {
            return Phase::Over;
        }
        if let Err(error) = taken {
            return self.give_up(&error.to_string());
        }
        if self.chat.is_over() {
            return self.close();
        }
        Phase::Read {
            response,
            decoder,
            bytes: count,
        }
    }

    /// Hands events on; false when one of them was an error, which ends the exchange.
    fn take_events(&mut self, events: &[SseEvent]) -> bool {
        let mut out = Vec::new();
        let failed = events
            .iter()
            .find_map(|event| self.chat.push(event, &mut out).err());
        self.ready.extend(out.into_iter().map(Ok));
        match failed {
            Some(error) => {
                self.ready.push_back(Err(error));
                false
            }
            None => true,
        }
    }

    fn take_last(
        &mut self,
        events: &[SseEvent],
        decoder: &Decoder,
        response: &Response,
        bytes: u64,
    ) -> Phase {
        if !self.take_events(events) {
            return Phase::Over;
        }
        let stray = decoder.stray().trim();
        if let Ok(value) = serde_json::from_str::<Value>(stray)
            && (value.get("error").is_some() || value.get("choices").is_some())
            && !self.chat.has_reason()
        {
            // An error, or a whole reply, written plainly into what should have been a stream.
            let event = SseEvent {
                name: String::new(),
                data: stray.to_owned(),
            };
            return if self.take_events(&[event]) {
                self.close()
            } else {
                Phase::Over
            };
        }
        if self.chat.understood() {
            return self.close();
        }
        let shown = if stray.is_empty() {
            self.chat.broken_frame().unwrap_or_default()
        } else {
            stray
        };
        let shown = if shown.is_empty() && bytes > 0 {
            "an event stream without an event"
        } else {
            shown
        };
        self.end_with(self.connection.garbage(response.headers(), shown.as_bytes()))
    }

    /// A stream that came as one piece.
    fn take_rest(&mut self, body: &[u8]) -> Phase {
        let mut decoder = Decoder::new();
        let mut events = Vec::new();
        if let Err(error) = decoder
            .push(body, &mut events)
            .and_then(|()| decoder.finish(&mut events))
        {
            return self.give_up(&error.to_string());
        }
        if self.take_events(&events) {
            self.close()
        } else {
            Phase::Over
        }
    }

    fn close(&mut self) -> Phase {
        let mut out = Vec::new();
        self.chat.finish(&mut out);
        self.ready.extend(out.into_iter().map(Ok));
        Phase::Over
    }

    fn give_up(&mut self, reason: &str) -> Phase {
        let mut out = Vec::new();
        self.chat.break_off(&mut out);
        self.ready.extend(out.into_iter().map(Ok));
        let text = format!(
            "{} cannot be followed: {reason}.",
            self.connection.address.described()
        );
        self.end_with(ModelError::fatal(cairn_protocol::ErrorCode::ModelGarbage, text))
    }

    fn end_with(&mut self, error: ModelError) -> Phase {
        self.ready.push_back(Err(error));
        Phase::Over
    }
}

/// The same request without what the server refuses; none when there is nothing to leave out. SPEC X105.
fn plain(extras: Extras, refusal: &Refusal) -> Option<Extras> {
    let mut plainer = extras;
    if extras.limit == LimitField::MaxTokens && refusal.refuses_field("max_completion_tokens") {
        plainer.limit = LimitField::MaxCompletionTokens;
    } else if extras.limit == LimitField::MaxCompletionTokens
        && refusal.refuses_field("max_completion_tokens")
    {
        plainer.limit = LimitField::MaxTokens;
    } else if refusal.refuses_field("return_progress") {
        plainer.return_progress = false;
    } else if refusal.refuses_field("stream_options") || refusal.refuses_field("include_usage") {
        plainer.stream_options = false;
    } else if refusal.refuses_field("temperature") {
        plainer.temperature = false;
    } else if refusal.refuses_something() {
        plainer.return_progress = false;
        plainer.stream_options = false;
    }
    (plainer != extras).then_some(plainer)
}

#[cfg(test)]
mod tests;
