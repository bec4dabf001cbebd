//! What a server says instead of an answer. Owns: its kind ([`ErrorCode`]), whether to try again, the words.
//! Must never know: how the bytes came here.

use std::time::{Duration, SystemTime};

use cairn_agent::model::ModelError;
use cairn_protocol::ErrorCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use serde_json::Value;
use url::Url;

use super::retry_after::retry_after;
use super::words::{MAX_FOREIGN_CHARS, safe};
use crate::address::Address;

/// A refusal, read but not yet judged.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    server: String,
    model: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    moved_to: Option<String>,
    said: Said,
}

/// The body of a refusal.
#[derive(Clone, Debug)]
enum Said {
    /// The usual JSON: the message, and all short marks beside it (`code`, `type`) in lower case.
    Json { message: String, marks: String },
    /// A web page; its title.
    Page(String),
    /// Other text.
    Text(String),
}

impl Refusal {
    /// Reads a reply that is no success.
    pub(crate) fn of_response(
        address: &Address,
        model: &str,
        status: u16,
        head: &HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Self {
        let location = head.get(LOCATION).and_then(|value| value.to_str().ok());
        Self {
            server: address.described(),
            model: model.to_owned(),
            status: Some(status),
            retry_after: retry_after(head, now),
            // Only the host: what stands behind it may hold secrets.
            moved_to: location.map(|to| {
                let url = Url::parse(to).or_else(|_| address.at_root("/").join(to));
                url.ok()
                    .and_then(|url| url.host_str().map(str::to_owned))
                    .unwrap_or_default()
            }),
            said: read(head, body),
        }
    }

    /// Reads an error that came inside a stream.
    pub(crate) fn in_stream(server: &str, model: &str, error: &Value) -> Self {
        let marks = marks_of(error);
        let status = ["code", "status", "status_code"]
            .iter()
            .filter_map(|field| error.get(field))
            .find_map(|code| {
                code.as_u64()
                    .or_else(|| code.as_str().and_then(|text| text.parse().ok()))
            })
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..=599).contains(code));
        Self {
            server: server.to_owned(),
            model: model.to_owned(),
            status,
            retry_after: None,
            moved_to: None,
            said: Said::Json {
                message: message_of(error),
                marks,
            },
        }
    }

    /// Whether the server does not know or support that field of the request.
    pub(crate) fn refuses_field(&self, field: &str) -> bool {
        let all = self.everything();
        self.is_shape_complaint() && all.contains(field) && speaks_of_support(&all) && !is_too_long(&all)
    }

    /// Whether the server complains about a field that it does not name.
    pub(crate) fn refuses_something(&self) -> bool {
        let all = self.everything();
        self.is_shape_complaint() && speaks_of_support(&all) && !is_too_long(&all)
    }

    fn is_shape_complaint(&self) -> bool {
        matches!(self.status, Some(400 | 422))
    }

    /// Whether the server says that it is still loading the model.
    pub(crate) fn is_loading(&self) -> bool {
        self.status == Some(503) && self.everything().contains("loading model")
    }

    /// Whether the effort or the thinking that was asked for is not known or not supported.
    pub(crate) fn refuses_effort(&self) -> bool {
        let all = self.everything();
        let names = ["effort", "thinking", "reasoning", "think value"];
        // A path into the conversation is about what was thought, not about what is asked for.
        self.is_shape_complaint()
            && names.iter().any(|name| all.contains(name))
            && !all.contains("messages.")
            && (speaks_of_support(&all) || all.contains("invalid value") || all.contains("supported values"))
    }

    /// The most tokens that a reply may ask for, where the server complains about that: `max_tokens: 9 > 5, …`.
    pub(crate) fn most_output(&self) -> Option<u64> {
        let all = self.everything();
        if !self.is_shape_complaint() || !all.contains("max_tokens") || !all.contains("maximum allowed") {
            return None;
        }
        let (_, rest) = all.split_once(" > ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }

    /// Whether the server says those words, in lower case.
    pub(crate) fn mentions(&self, words: &str) -> bool {
        self.everything().contains(words)
    }

    /// Whether it is about what was sent, not about the server, the key or the money.
    pub(crate) fn is_about_the_request(&self) -> bool {
        let code = self.code();
        matches!(code, ErrorCode::TooLong | ErrorCode::ModelRejected)
            || code == ErrorCode::ModelServer && matches!(self.status, Some(500) | None)
    }

    /// Whether the conversation does not fit.
    pub(crate) fn is_overflow(&self) -> bool {
        self.code() == ErrorCode::TooLong
    }

    /// Everything that was said, in lower case.
    pub(crate) fn everything(&self) -> String {
        match &self.said {
            Said::Json { message, marks } => format!("{} {marks}", message.to_lowercase()),
            Said::Page(text) | Said::Text(text) => text.to_lowercase(),
        }
    }

    /// Judges it.
    pub(crate) fn into_error(self) -> ModelError {
        let code = self.code();
        let text = self.words(code);
        let passes = match code {
            ErrorCode::RateLimited => true,
            ErrorCode::ModelServer => !matches!(self.status, Some(501 | 505)),
            _ => false,
        };
        let mut error = if passes {
            ModelError::passing(code, text)
        } else {
            ModelError::fatal(code, text)
        };
        error.retry_after = self.retry_after.filter(|_| passes);
        error
    }

    fn code(&self) -> ErrorCode {
        let all = self.everything();
        let json = matches!(self.said, Said::Json { .. });
        let page = matches!(self.said, Said::Page(_));
        if json && is_no_credit(&all) {
            return ErrorCode::NoCredit;
        }
        match self.status {
            Some(401 | 403) => ErrorCode::BadKey,
            Some(402) => ErrorCode::NoCredit,
            Some(429) => ErrorCode::RateLimited,
            Some(413) => ErrorCode::TooLong,
            Some(_) | None if json && is_too_long(&all) => ErrorCode::TooLong,
            Some(408 | 409 | 425 | 500..) => ErrorCode::ModelServer,
            Some(300..=399) => ErrorCode::ModelRejected,
            Some(_) if page => ErrorCode::ModelGarbage,
            Some(_) => ErrorCode::ModelRejected,
            // An error in mid-stream without a number: what the marks say, else a fault of the server's.
            None if all.contains("rate_limit") || all.contains("rate limit") => ErrorCode::RateLimited,
            None if all.contains("invalid_api_key") || all.contains("authentication") => ErrorCode::BadKey,
            None if all.contains("invalid_request") => ErrorCode::ModelRejected,
            None => ErrorCode::ModelServer,
        }
    }

    fn words(&self, code: ErrorCode) -> String {
        let server = &self.server;
        let said = self.quoted();
        match code {
            ErrorCode::BadKey if self.status == Some(403) => {
                format!("{server} does not allow this{said}. Check the key and what it may do.")
            }
            ErrorCode::BadKey => {
                format!("{server} did not accept the key{said}. Enter another key, then retry.")
            }
            ErrorCode::NoCredit => {
                format!(
                    "{server} says that there is no credit left{said}. Add credit there, or choose another model."
                )
            }
            ErrorCode::RateLimited => format!("{server} asks to wait{said}."),
            ErrorCode::TooLong => format!(
                "The conversation is too long for {}{said}. Shorten it, or choose a model with a larger window.",
                self.model
            ),
            ErrorCode::ModelServer => {
                let number = self
                    .status
                    .map(|status| format!(" ({status})"))
                    .unwrap_or_default();
                format!("{server} failed{number}{said}.")
            }
            ErrorCode::ModelGarbage => format!(
                "{server} answered with a web page{said} where a model's answer was expected. Check the address: it \
                 usually ends in /v1."
            ),
            _ => self.rejected(&said),
        }
    }

    fn rejected(&self, said: &str) -> String {
        let server = &self.server;
        let all = self.everything();
        match (self.status, &self.moved_to) {
            (Some(300..=399), Some(host)) => format!(
                "{server} sends requests on to {}. The key is not sent there; put that address into the profile if it \
                 is right.",
                safe(host, 200)
            ),
            (Some(300..=399), None) => format!("{server} sends requests on, but does not say where to."),
            (Some(404), _) if all.contains("model") => {
                format!(
                    "{server} has no model named \"{}\"{said}. Choose another model.",
                    self.model
                )
            }
            (Some(404 | 405), _) => {
                format!(
                    "{server} does not know this request{said}. Check the address: it usually ends in /v1."
                )
            }
            _ => format!("{server} refused the request{said}."),
        }
    }

    /// What the server said, ready to follow a clause; empty when it said nothing.
    fn quoted(&self) -> String {
        let text = match &self.said {
            Said::Json { message, .. } | Said::Text(message) => message,
            Said::Page(title) => title,
        };
        let text = safe(text, MAX_FOREIGN_CHARS);
        let text = text.trim_end_matches('.');
        match &self.said {
            _ if text.is_empty() => String::new(),
            Said::Page(_) => format!(" (\"{text}\")"),
            _ => format!(": {text}"),
        }
    }
}

/// The error for a success whose body is not what was asked for.
pub(crate) fn garbage(address: &Address, head: &HeaderMap, body: &[u8]) -> ModelError {
    let server = address.described();
    if body.iter().all(u8::is_ascii_whitespace) {
        let text = format!("{server} answered with nothing. Retrying may work.");
        return ModelError::passing(ErrorCode::ModelGarbage, text);
    }
    let text = match read(head, body) {
        Said::Page(title) => {
            let title = safe(&title, 200);
            let title = if title.is_empty() {
                String::new()
            } else {
                format!(" (\"{title}\")")
            };
            format!(
                "{server} answered with a web page{title} where a model's answer was expected. Check the address: it \
                 usually ends in /v1."
            )
        }
        Said::Json { message: text, .. } | Said::Text(text) => format!(
            "{server} answered something that is not a model's answer: \"{}\". Check the address and the protocol.",
            safe(&text, 200)
        ),
    };
    ModelError::fatal(ErrorCode::ModelGarbage, text)
}

fn read(head: &HeaderMap, body: &[u8]) -> Said {
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let error = error_in(&value);
        return Said::Json {
            message: message_of(error),
            marks: marks_of(error),
        };
    }
    let text = String::from_utf8_lossy(body);
    let start = text
        .trim_start()
        .get(..15)
        .unwrap_or(text.trim_start())
        .to_ascii_lowercase();
    let says_html = head
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.to_ascii_lowercase().contains("html"));
    if says_html || start.starts_with("<!doctype html") || start.starts_with("<html") {
        return Said::Page(title_of(&text));
    }
    Said::Text(text.chars().take(MAX_FOREIGN_CHARS * 2).collect())
}

/// The first words of a page's title; empty when it has none. Only text: entities stay as they are.
fn title_of(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let Some(open) = lower.find("<title") else {
        return String::new();
    };
    let Some(begin) = lower
        .get(open..)
        .and_then(|rest| rest.find('>'))
        .map(|at| open + at + 1)
    else {
        return String::new();
    };
    let title = page.get(begin..).unwrap_or_default();
    title
        .split('<')
        .next()
        .unwrap_or_default()
        .chars()
        .take(120)
        .collect()
}

/// The object that tells of the error: `{"error": …}`, a list of one such, or the document itself.
fn error_in(value: &Value) -> &Value {
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    value
        .get("error")
        .filter(|error| !error.is_null())
        .unwrap_or(value)
}

fn message_of(error: &Value) -> String {
    if let Some(text) = error.as_str() {
        return text.to_owned();
    }
    let text = ["message", "detail", "error", "msg", "error_description"]
        .iter()
        .find_map(|field| error.get(field).and_then(Value::as_str))
        .map(str::to_owned);
    text.or_else(|| {
        error
            .get("message")
            .or_else(|| error.get("detail"))
            .map(Value::to_string)
    })
    .unwrap_or_else(|| {
        if error.is_null() {
            String::new()
        } else {
            error.to_string()
        }
    })
}

fn marks_of(error: &Value) -> String {
    let words = ["code", "type", "param", "status"]
        .iter()
        .filter_map(|field| error.get(field).and_then(Value::as_str))
        .map(str::to_lowercase);
    // llama.cpp's counts; and the words of the provider behind a go-between.
    let counts = ["n_prompt_tokens", "n_ctx"].iter().filter_map(|field| {
        error
            .get(field)
            .and_then(Value::as_u64)
            .map(|count| format!("{field}\":{count}"))
    });
    let behind = error
        .pointer("/metadata/raw")
        .and_then(Value::as_str)
        .map(|raw| raw.to_lowercase().chars().take(MAX_FOREIGN_CHARS).collect());
    let marks: Vec<String> = words.chain(counts).chain(behind).collect();
    marks.join(" ")
}

/// A server that objects to a value ("must be at most 2") must not be answered by leaving the field out.
fn speaks_of_support(text: &str) -> bool {
    [
        "unknown",
        "unrecognized",
        "unsupported",
        "not support",
        "extra",
        "additional propert",
        "unexpected",
        "not allowed",
        "not permitted",
        "invalid field",
        "only the default",
        "use 'max",
    ]
    .iter()
    .any(|word| text.contains(word))
}

fn is_no_credit(text: &str) -> bool {
    [
        "insufficient_quota",
        "insufficient balance",
        "insufficient credit",
        "credit balance",
        "billing_hard_limit",
        "out of credits",
        "exceeded your current quota",
        "payment required",
        "requires more credits",
    ]
    .iter()
    .any(|mark| text.contains(mark))
}

/// How servers say that the prompt does not fit (public error texts of OpenAI, llama.cpp, vLLM, LM Studio, Ollama,
/// OpenRouter, Anthropic, Google, Mistral).
fn is_too_long(text: &str) -> bool {
    [
        "context_length",
        "context length",
        "exceed_context_size",
        "context size",
        "context window",
        "prompt is too long",
        "prompt too long",
        "too many tokens",
        "maximum number of tokens",
        "reduce the length",
        "tokens to keep",
        "context the overflows",
        "context overflow",
        "input token count",
        "exceeds the maximum allowed input",
        "too large for model",
        "input is too long",
        "exceed context limit",
        "contextwindowexceeded",
        "input length exceeds",
        "request too large",
        "max_model_len",
    ]
    .iter()
    .any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests;
