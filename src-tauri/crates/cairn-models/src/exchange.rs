//! One exchange with a model server, as a stream. Owns: its phases: ask, perhaps ask more plainly, wait for a loading
//! model, read to the end. Must never know: any one protocol. Dropping it closes the connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::model::{ModelError, ModelEvent};
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use crate::dialect::{Framing, Learned, Question};
use crate::http::{Connection, rejected, within};
use crate::ndjson::LineDecoder;
use crate::reply::StreamContext;
use crate::reply::stream::ReplyStream;
use crate::request::Extras;
use crate::sse::{Decoder, EventTooLarge, SseEvent};

/// Times that a refused body is made plainer; there are only so many things to leave out.
const MAX_PLAINER: u32 = 5;

/// Between two questions whether a local model is loaded by now.
const LOADING_PAUSE: Duration = Duration::from_millis(500);

/// After the reason of the end, a late count of tokens may come; a server that forgets `[DONE]` may send nothing.
const AFTER_THE_END: Duration = Duration::from_secs(3);

pub(crate) struct Exchange {
    connection: Connection,
    learned: Arc<Learned>,
    question: Question,
    stream: ReplyStream,
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
        decoder: Box<Frames>,
        bytes: u64,
    },
    Over,
}

impl Exchange {
    pub(crate) fn new(
        connection: Connection,
        learned: Arc<Learned>,
        question: Question,
        context: StreamContext,
    ) -> Self {
        let extras = learned.get();
        Self {
            connection,
            learned,
            stream: ReplyStream::new(question.dialect.api, context),
            question,
            phase: Phase::Ask { extras, plainer: 0 },
            ready: VecDeque::new(),
        }
    }

    pub(crate) fn into_stream(self) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
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
        let sent = self.question.compose(&self.connection.model, extras);
        let url = (self.question.dialect.endpoint)(&self.connection.address);
        let response = match self
            .connection
            .post(url, sent.body.to_string().into_bytes())
            .await
        {
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
        match (self.question.dialect.plainer)(extras, &refusal) {
            Some(extras) if plainer < MAX_PLAINER => Phase::Ask {
                extras,
                plainer: plainer + 1,
            },
            _ => {
                let rejected = rejected::read(&refusal, &sent.trace, &self.question.request);
                let mut error = refusal.into_error();
                error.rejected = rejected.map(Box::new);
                self.end_with(error)
            }
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
        let lines = self.question.dialect.framing == Framing::Lines;
        if (lines || !kind.contains("json") || kind.contains("ndjson")) && !kind.contains("html") {
            return Phase::Read {
                response: Box::new(response),
                decoder: Box::new(Frames::new(self.question.dialect.framing)),
                bytes: 0,
            };
        }
        let (head, body) = match self.connection.read_whole(response).await {
            Ok(whole) => whole,
            Err(error) => return self.end_with(error),
        };
        match serde_json::from_slice::<Value>(&body) {
            Ok(reply) if (self.question.dialect.is_reply)(&reply) || reply.get("error").is_some() => {
                let mut out = Vec::new();
                match self.stream.push_whole(&reply, &mut out) {
                    Ok(()) => self.stream.finish(&mut out),
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

    async fn read(&mut self, mut response: Box<Response>, mut decoder: Box<Frames>, bytes: u64) -> Phase {
        let limit = self.stream.has_reason().then_some(AFTER_THE_END);
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
                if self.stream.has_reason() {
                    return self.close();
                }
                self.take_events(&events);
                let mut out = Vec::new();
                self.stream.break_off(&mut out);
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
        if self.stream.is_over() {
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
            .find_map(|event| self.stream.push(event, &mut out).err());
        self.ready.extend(out.into_iter().map(Ok));
        match failed {
            Some(error) => {
                self.ready.push_back(Err(error));
                false
            }
            None => true,
        }
    }

    fn take_last(&mut self, events: &[SseEvent], decoder: &Frames, response: &Response, bytes: u64) -> Phase {
        if !self.take_events(events) {
            return Phase::Over;
        }
        let stray = decoder.stray().trim();
        if let Ok(value) = serde_json::from_str::<Value>(stray)
            && (value.get("error").is_some() || (self.question.dialect.is_reply)(&value))
            && !self.stream.has_reason()
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
        if self.stream.understood() {
            return self.close();
        }
        let shown = if stray.is_empty() {
            self.stream.broken_frame().unwrap_or_default()
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
        let mut decoder = Frames::new(self.question.dialect.framing);
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
        self.stream.finish(&mut out);
        self.ready.extend(out.into_iter().map(Ok));
        Phase::Over
    }

    fn give_up(&mut self, reason: &str) -> Phase {
        let mut out = Vec::new();
        self.stream.break_off(&mut out);
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

/// Frames out of bytes, in either way.
enum Frames {
    Events(Decoder),
    Lines(LineDecoder),
}

impl Frames {
    fn new(framing: Framing) -> Self {
        match framing {
            Framing::Events => Self::Events(Decoder::new()),
            Framing::Lines => Self::Lines(LineDecoder::new()),
        }
    }

    fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        match self {
            Self::Events(decoder) => decoder.push(bytes, events),
            Self::Lines(decoder) => decoder.push(bytes, events),
        }
    }

    fn finish(&mut self, events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        match self {
            Self::Events(decoder) => decoder.finish(events),
            Self::Lines(decoder) => {
                decoder.finish(events);
                Ok(())
            }
        }
    }

    /// Text outside the protocol.
    fn stray(&self) -> &str {
        match self {
            Self::Events(decoder) => decoder.stray(),
            Self::Lines(_) => "",
        }
    }
}

#[cfg(test)]
mod tests;
