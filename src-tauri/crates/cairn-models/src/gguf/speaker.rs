//! A loaded model that answers one question after the other.
//!
//! Owns: tokens, what of the last prompt is still known, sampling, the end. Must never know: files, threads, tools.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use cairn_agent::model::{FinishReason, ModelError, Objection, Rejected};
use cairn_protocol::ErrorCode;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use super::engine::{Job, Listener, Said};
use super::prompt::{Piece, Turn, chatml, pieces, stand_in};

/// Tokens of a prompt that are read in one go: between two of them the reading can be stopped.
pub(super) const READ_AT_ONCE: usize = 128;

/// Temperature where the profile says none; what most open models are meant for.
const USUAL_TEMPERATURE: f64 = 0.7;

/// A model with its memory of what was read.
pub(super) struct Speaker<'a> {
    model: &'a LlamaModel,
    context: LlamaContext<'a>,
    batch: LlamaBatch<'a>,
    /// Tokens that the context holds, from the first on.
    held: Vec<LlamaToken>,
    template: Option<LlamaChatTemplate>,
}

/// Why an answer ended early.
enum Broken {
    /// Nobody listens any more.
    Unheard,
    Failed(ModelError),
}

impl<'a> Speaker<'a> {
    pub(super) fn new(model: &'a LlamaModel, context: LlamaContext<'a>) -> Self {
        Self {
            template: model.chat_template(None).ok(),
            batch: LlamaBatch::new(READ_AT_ONCE, 1),
            held: Vec::new(),
            model,
            context,
        }
    }

    /// Answers, as far as somebody listens.
    pub(super) fn answer(&mut self, job: &Job) {
        match self.try_answer(job) {
            Ok(()) | Err(Broken::Unheard) => {}
            Err(Broken::Failed(error)) => {
                // What the context holds after a failure is not known.
                self.forget_from(0);
                job.out.blocking_send(Err(error)).ok();
            }
        }
    }

    fn try_answer(&mut self, job: &Job) -> Result<(), Broken> {
        let prompt = self.tokens(&job.turns);
        let window = self.context.n_ctx() as usize;
        if prompt.len() >= window {
            return Err(Broken::Failed(too_long(prompt.len(), window)));
        }
        let cached = self.read(&prompt, &job.out)?;
        let room = (window - prompt.len()) as u64;
        let limit = job.limit.map_or(room, |limit| limit.min(room));
        let count = |output| Said::Count {
            input: prompt.len() as u64,
            cached: cached as u64,
            output,
        };
        say(&job.out, count(0))?;
        let mut sampler = sampler(job.temperature.unwrap_or(USUAL_TEMPERATURE));
        let mut words = Words::default();
        let mut written = 0;
        let end = loop {
            if written == limit {
                break FinishReason::Length;
            }
            let token = sampler.sample(&self.context, self.batch.n_tokens() - 1);
            if self.model.vocab().is_eog(token) {
                break FinishReason::Stop;
            }
            written += 1;
            let text = words.push(&self.model.vocab().token_to_piece(token, true, None));
            if text.is_empty() && job.out.is_closed() {
                return Err(Broken::Unheard);
            }
            if !text.is_empty() {
                say(&job.out, Said::Text(text))?;
            }
            self.decode(&[token])?;
        };
        say(&job.out, Said::Text(words.rest()))?;
        say(&job.out, count(written))?;
        say(&job.out, Said::End(end))
    }

    /// Reads a prompt, but for its beginning that is held already; gives how many tokens that were.
    fn read(&mut self, prompt: &[LlamaToken], out: &Listener) -> Result<usize, Broken> {
        let same = prompt
            .iter()
            .zip(&self.held)
            .take_while(|(new, old)| new == old)
            .count();
        // The last one is read in any case: what comes next is computed from it.
        let cached = self.forget_from(same.min(prompt.len().saturating_sub(1)));
        let total = prompt.len() as u64;
        for piece in prompt.get(cached..).unwrap_or_default().chunks(READ_AT_ONCE) {
            let done = self.held.len() as u64;
            say(out, Said::Reading { done, total })?;
            self.decode(piece)?;
        }
        Ok(cached)
    }

    /// Forgets what is held from there on; all of it where the model cannot forget a part. Gives how much is left.
    fn forget_from(&mut self, at: usize) -> usize {
        let part = at > 0 && self.context.clear_kv_cache_seq(Some(0), Some(at as u32), None) == Ok(true);
        if !part {
            self.context.clear_kv_cache();
        }
        self.held.truncate(if part { at } else { 0 });
        self.held.len()
    }

    fn decode(&mut self, tokens: &[LlamaToken]) -> Result<(), Broken> {
        self.batch.clear();
        for (index, token) in tokens.iter().enumerate() {
            let last = index + 1 == tokens.len();
            let place = (self.held.len() + index) as i32;
            self.batch
                .add(*token, place, &[0], last)
                .map_err(|error| failed(&error))?;
        }
        self.context
            .decode(&mut self.batch)
            .map_err(|error| failed(&error))?;
        self.held.extend_from_slice(tokens);
        Ok(())
    }

    /// The prompt. Marks of turns count only where the template wrote them: what is in a file or a page stays text,
    /// whatever it looks like.
    fn tokens(&self, turns: &[Turn]) -> Vec<LlamaToken> {
        let vocab = self.model.vocab();
        let mut tokens = Vec::new();
        if vocab.should_add_bos() {
            tokens.push(vocab.bos());
        }
        let role = |turn: usize| turns.get(turn).map_or("user", |turn| turn.role);
        let rendered = self.render(turns);
        let plain = chatml(turns.len(), role);
        let known = rendered.as_deref().and_then(|text| pieces(text, turns.len()));
        for piece in known.or_else(|| pieces(&plain, turns.len())).unwrap_or_default() {
            match piece {
                Piece::Template(text) => vocab.tokenize_into(text.as_bytes(), &mut tokens, false, true),
                Piece::Content(turn) => {
                    let text = turns.get(turn).map_or("", |turn| turn.text.as_str());
                    vocab.tokenize_into(text.as_bytes(), &mut tokens, false, false);
                }
            }
        }
        tokens
    }

    /// The turns in the model's own template, with a stand-in for each text.
    fn render(&self, turns: &[Turn]) -> Option<String> {
        let chat: Option<Vec<LlamaChatMessage>> = turns
            .iter()
            .enumerate()
            .map(|(index, turn)| LlamaChatMessage::new(turn.role.to_owned(), stand_in(index)).ok())
            .collect();
        self.model
            .apply_chat_template(self.template.as_ref()?, &chat?, true)
            .ok()
    }
}

fn say(out: &Listener, said: Said) -> Result<(), Broken> {
    out.blocking_send(Ok(said)).map_err(|_| Broken::Unheard)
}

fn failed(error: &dyn std::error::Error) -> Broken {
    let text = format!("The model stopped with a fault in llama.cpp: {error}. Try again.");
    Broken::Failed(ModelError::fatal(ErrorCode::ModelServer, text))
}

fn too_long(sent: usize, window: usize) -> ModelError {
    let text = format!(
        "The conversation has {sent} tokens, and the model holds {window}. Set a larger `context_window` in its profile if \
         there is memory for it, or begin a new session."
    );
    let mut error = ModelError::fatal(ErrorCode::TooLong, text);
    error.rejected = Some(Box::new(Rejected {
        what: Objection::TooLong {
            sent: Some(sent as u64),
            limit: Some(window as u64),
        },
        at: None,
    }));
    error
}

fn sampler(temperature: f64) -> LlamaSampler {
    if temperature <= 0.0 {
        return LlamaSampler::greedy();
    }
    // A seed of the process's own; nobody has to foresee it, so that a hasher's keys will do.
    let seed = RandomState::new().build_hasher().finish() as u32;
    LlamaSampler::chain_simple([
        LlamaSampler::top_k(40),
        LlamaSampler::top_p(0.95, 1),
        LlamaSampler::min_p(0.05, 1),
        LlamaSampler::temp(temperature as f32),
        LlamaSampler::dist(seed),
    ])
}

/// Puts characters together whose bytes come in several tokens.
#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    /// Whole characters so far.
    fn push(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.0) {
            Ok(_) => self.0.len(),
            // The end may only be late; bytes in the middle that are no text are shown as such.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.0.len(),
        };
        let rest = self.0.split_off(whole);
        let text = String::from_utf8_lossy(&self.0).into_owned();
        self.0 = rest;
        text
    }

    /// What never became a character.
    fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_whole_however_their_bytes_are_cut() {
        let text = "a\u{1f600}ü\u{4e2d}b";
        for cut in 0..=text.len() {
            let mut words = Words::default();
            let bytes = text.as_bytes();
            let said = [words.push(&bytes[..cut]), words.push(&bytes[cut..]), words.rest()];
            assert_eq!(said.concat(), text, "cut at {cut}");
        }
        let mut words = Words::default();
        assert_eq!(words.push(b"a\xff b"), "a\u{fffd} b");
        assert_eq!(words.push(b"\xf0\x9f"), "");
        assert_eq!(words.rest(), "\u{fffd}");
    }
}
