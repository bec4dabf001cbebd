//! A model file as a model that can be asked.
//!
//! Owns: how what the thread says becomes events of a reply. Must never know: tokens, the library.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use cairn_agent::model::{Model, ModelError, ModelEvent, ModelInfo, ModelRequest};
use cairn_protocol::ErrorCode;
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::mpsc::{Receiver, channel};

use super::engine::{Engine, Job, Said};
use super::{USUAL_WINDOW, prompt};
use crate::dialect::salt;
use crate::reply::{Counts, Reply, StreamContext};
use crate::request;

/// Words that may be said and not yet heard; a page that does not draw slows the model down, memory stays bounded.
const AHEAD: usize = 64;

/// A model file.
pub(super) struct GgufModel {
    engine: Arc<Engine>,
    info: ModelInfo,
}

impl GgufModel {
    /// The model of that file; nothing is loaded.
    pub(super) fn new(file: PathBuf, info: ModelInfo) -> Self {
        let window = info.window.unwrap_or(USUAL_WINDOW);
        let window = u32::try_from(window).unwrap_or(u32::MAX);
        Self {
            engine: Engine::shared(&file, window),
            info,
        }
    }
}

impl Model for GgufModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let context = StreamContext {
            server: "the model file".to_owned(),
            model: self.info.name.clone(),
            taken_ids: request::call_ids(&request),
            salt: salt(),
            tools: Some(request.tools.clone()),
            ..StreamContext::default()
        };
        let (out, said) = channel(AHEAD);
        let job = Job {
            turns: prompt::turns(&request),
            limit: request.max_output_tokens.or(self.info.max_output_tokens),
            temperature: request.temperature.or(self.info.temperature),
            out,
        };
        let asked = Asked {
            // The thread lives as long as an answer is wanted, also when the profile changes meanwhile.
            engine: Arc::clone(&self.engine),
            job: Some(job),
            said,
            reply: Reply::new(context),
            ready: VecDeque::new(),
            over: false,
        };
        asked.into_stream()
    }
}

struct Asked {
    engine: Arc<Engine>,
    job: Option<Job>,
    said: Receiver<Result<Said, ModelError>>,
    reply: Reply,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

impl Asked {
    fn into_stream(self) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        stream::unfold(self, |mut asked| async move {
            if let Some(job) = asked.job.take() {
                asked.engine.ask(job);
            }
            loop {
                if let Some(next) = asked.ready.pop_front() {
                    return Some((next, asked));
                }
                if asked.over {
                    return None;
                }
                let said = asked.said.recv().await;
                asked.take(said);
            }
        })
        .boxed()
    }

    fn take(&mut self, said: Option<Result<Said, ModelError>>) {
        let mut out = Vec::new();
        let mut failed = None;
        match said {
            Some(Ok(said)) => self.hear(said, &mut out),
            Some(Err(error)) => failed = Some(error),
            None => {
                failed = Some(ModelError::passing(
                    ErrorCode::ModelServer,
                    "The model stopped in the middle of its answer: llama.cpp failed. Retrying loads it anew.",
                ));
            }
        }
        if failed.is_some() {
            self.over = true;
            self.reply.break_off(&mut out);
        }
        self.ready.extend(out.into_iter().map(Ok));
        self.ready.extend(failed.map(Err));
    }

    fn hear(&mut self, said: Said, out: &mut Vec<ModelEvent>) {
        match said {
            Said::Loading => out.push(ModelEvent::Loading),
            Said::Reading { done, total } => out.push(ModelEvent::Reading { done, total }),
            Said::Text(text) => self.reply.text(&text, out),
            Said::Count {
                input,
                cached,
                output,
            } => {
                let counts = Counts {
                    input: Some(input),
                    cached: Some(cached),
                    output: Some(output),
                    ..Counts::default()
                };
                self.reply.count(counts, out);
            }
            Said::End(reason) => {
                self.over = true;
                self.reply.reason = Some(reason);
                self.reply.done = true;
                self.reply.finish(out);
            }
        }
    }
}
