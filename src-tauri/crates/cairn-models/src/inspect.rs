//! What is known about one model before it is asked: profile, server, table, in this order. SPEC M5.
//!
//! Owns: putting the sources together, and what must be said before the first message. Must never know: caches (the
//! caller keeps one per address and model), settings files, windows.

use std::time::{Duration, Instant};

use cairn_agent::model::{Message, ModelError, ModelInfo, ModelRequest, Part, Role};
use cairn_protocol::{Api, FoundModel, ModelTestResult};
use futures_util::StreamExt;
use futures_util::future::join_all;

use crate::address::Address;
use crate::catalog;
use crate::discover::{KINDS, PROBE_LIMIT, Seen, named, ollama, vllm};
use crate::gguf::{self, Facts};
use crate::http::{Connection, Trouble};
use crate::registry::{ModelConfig, build};

/// Time that a trial of a connection may take until the first answer.
const TRIAL_LIMIT: Duration = Duration::from_secs(10);

/// What Ollama is told to give a model where nobody says more, and the model can hold it.
const TOLD_WINDOW: u64 = 16_384;

/// A window under this is worth a warning where the model itself could hold more.
const SMALL_WINDOW: u64 = 16_384;

/// What was found out about a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// All that is known, put together; its window is none when nobody tells.
    pub info: ModelInfo,
    /// The model as its server describes it.
    pub found: FoundModel,
    /// All models the server offers; empty when it was not asked or did not answer.
    pub models: Vec<FoundModel>,
    /// What must be said before the first message, in words for a person.
    pub warnings: Vec<String>,
}

/// What is known without asking anybody: profile and table.
pub fn assume(config: &ModelConfig) -> ModelInfo {
    let inside = matches!(config.api, Api::Demo | Api::Gguf);
    let local = inside || Address::parse(&config.base_url).is_ok_and(|address| address.is_local());
    put_together(config, local, None)
}

/// Asks the server, at most 300 ms in all. A server that does not answer is no error here: what profile and table
/// tell is given, and the first request will say what is wrong. A hosted server is asked only for its list of models,
/// and only when neither profile nor table knows the window.
pub async fn inspect(config: &ModelConfig) -> Inspection {
    let assumed = assume(config);
    let connection = match config.api {
        Api::Gguf => return of_file(config, look(config).await.ok()),
        Api::Demo => None,
        Api::Openai | Api::Responses | Api::Anthropic | Api::Ollama => Connection::new(config).ok(),
    };
    let Some(connection) = connection else {
        return without_answer(config, assumed);
    };
    if !assumed.local && assumed.window.is_some() {
        return without_answer(config, assumed);
    }
    let question = ask(&connection, config.api, &config.model);
    match tokio::time::timeout(PROBE_LIMIT, question).await {
        Ok(Ok(seen)) => of_answer(config, &connection, &seen),
        Ok(Err(_)) | Err(_) => without_answer(config, assumed),
    }
}

/// Tries a connection as a person does with *Test connection*: at most 10 s until the first answer. A hosted model is
/// asked for a few words, since only that shows whether the key is good; a local server for its models, since a first
/// question may load gigabytes.
pub async fn trial(config: &ModelConfig) -> Result<ModelTestResult, ModelError> {
    let begin = Instant::now();
    let elapsed = || u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
    match config.api {
        Api::Gguf => return Ok(told(of_file(config, Some(look(config).await?)), elapsed())),
        Api::Demo => {
            let found = without_answer(config, assume(config));
            let models = vec![found.found.clone()];
            return Ok(told(Inspection { models, ..found }, 0));
        }
        Api::Openai | Api::Responses | Api::Anthropic | Api::Ollama => {}
    }
    let connection = Connection::new(config)?;
    let listed = if connection.address.is_local() {
        connection
            .get((*connection.models).clone(), TRIAL_LIMIT)
            .await
            .map(|_| ())
    } else {
        Err(Trouble {
            short: String::new(),
            error: ModelError::fatal(cairn_protocol::ErrorCode::NotFound, ""),
        })
    };
    if let Err(trouble) = listed {
        let unreachable =
            trouble.error.retryable || trouble.error.error.code == cairn_protocol::ErrorCode::BadKey;
        if unreachable {
            return Err(trouble.error);
        }
        say_something(config).await?;
    }
    let ms = elapsed();
    let mut inspection = inspect(config).await;
    let known = inspection
        .models
        .iter()
        .any(|model| ollama::is_same(&model.name, &config.model));
    if !inspection.models.is_empty() && !known && !serves_one_model(&connection.address) {
        let offered: Vec<&str> = inspection
            .models
            .iter()
            .take(8)
            .map(|model| model.name.as_str())
            .collect();
        inspection.warnings.insert(
            0,
            format!(
                "{} has no model named \"{}\". It offers: {}.",
                connection.address.described(),
                config.model,
                offered.join(", ")
            ),
        );
    }
    Ok(told(inspection, ms))
}

fn told(inspection: Inspection, ms: u64) -> ModelTestResult {
    ModelTestResult {
        ms,
        found: inspection.found,
        models: inspection.models,
        warnings: inspection.warnings,
    }
}

/// llama.cpp answers with the model it has, whatever name it is asked for.
fn serves_one_model(address: &Address) -> bool {
    address.known_name() == Some("llama.cpp")
}

async fn say_something(config: &ModelConfig) -> Result<(), ModelError> {
    let model = build(config, assume(config))?;
    let request = ModelRequest {
        system: String::new(),
        messages: vec![Message {
            role: Role::User,
            parts: vec![Part::Text("Say OK.".to_owned())],
        }],
        tools: Vec::new().into(),
        max_output_tokens: Some(16),
        temperature: None,
    };
    let mut stream = model.stream(request);
    match tokio::time::timeout(TRIAL_LIMIT, stream.next()).await {
        Ok(Some(Err(error))) => Err(error),
        // The first piece is answer enough; dropping the stream ends it.
        Ok(Some(Ok(_)) | None) => Ok(()),
        Err(_) => Err(ModelError::passing(
            cairn_protocol::ErrorCode::ModelServer,
            format!(
                "There was no answer within {} seconds. Retrying may work.",
                TRIAL_LIMIT.as_secs()
            ),
        )),
    }
}

/// Asks whatever program is usual at that address; at an unusual local one, all of them at once.
async fn ask(connection: &Connection, api: Api, model: &str) -> Result<Vec<Seen>, Trouble> {
    if api == Api::Ollama {
        return (ollama::KIND.list)(connection, Some(model)).await;
    }
    if !connection.address.is_local() {
        return (vllm::KIND.list)(connection, None).await;
    }
    if let Some(kind) = KINDS
        .iter()
        .find(|kind| connection.address.known_name() == Some(kind.name))
    {
        return (kind.list)(connection, Some(model)).await;
    }
    let answers = join_all(KINDS.iter().map(|kind| (kind.list)(connection, Some(model)))).await;
    let told = |seen: &Seen| {
        [
            seen.found.context_window.is_some(),
            seen.found.vision.is_some(),
            seen.given.is_some(),
        ]
    };
    let score = |list: &Vec<Seen>| list.iter().flat_map(told).filter(|it| *it).count();
    let mut trouble = None;
    let mut best: Option<Vec<Seen>> = None;
    for answer in answers {
        match answer {
            Ok(list) if best.as_ref().is_none_or(|best| score(&list) > score(best)) => best = Some(list),
            Ok(_) => {}
            Err(error) => trouble = Some(error),
        }
    }
    match (best, trouble) {
        (Some(list), _) => Ok(list),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Vec::new()),
    }
}

fn of_answer(config: &ModelConfig, connection: &Connection, seen: &[Seen]) -> Inspection {
    let local = connection.address.is_local();
    let only = seen.first().filter(|_| local && seen.len() == 1);
    let mine = seen
        .iter()
        .find(|seen| ollama::is_same(&seen.found.name, &config.model))
        .or(only);
    let info = put_together(config, local, mine);
    let server = connection.address.known_name().unwrap_or("The server");
    let mut warnings = Vec::new();
    if mine.is_some_and(|seen| seen.found.tools == Some(false)) {
        warnings.push(format!(
            "{} has no tool calls: it can talk, but not read or change files. Choose a model that calls tools.",
            config.model
        ));
    }
    if let (Some(given), Some(holds)) = (
        mine.and_then(|seen| seen.given),
        mine.and_then(|seen| seen.found.context_window),
    ) && config.api != Api::Ollama
        && config.context_window.is_none_or(|window| window > given)
        && given < SMALL_WINDOW.min(holds)
    {
        let advice = if server == "Ollama" {
            let more = holds.min(32_768);
            format!(
                "Set OLLAMA_CONTEXT_LENGTH={more} and start Ollama again, or set num_ctx in the model's file."
            )
        } else {
            "Load the model with a larger context.".to_owned()
        };
        warnings.push(format!(
            "{server} gives it only {} tokens of {}. {advice}",
            grouped(given),
            grouped(holds)
        ));
    }
    Inspection {
        found: mine.map_or_else(|| named(&config.model), |seen| seen.found.clone()),
        models: seen.iter().map(|seen| seen.found.clone()).collect(),
        info,
        warnings,
    }
}

/// Reads the head of a model file; its vocabulary may take a moment.
async fn look(config: &ModelConfig) -> Result<Facts, ModelError> {
    let model = config.model.clone();
    tokio::task::spawn_blocking(move || gguf::look(&model))
        .await
        .unwrap_or_else(|error| {
            let text = format!("The model file could not be looked at: {error}.");
            Err(ModelError::fatal(cairn_protocol::ErrorCode::ModelServer, text))
        })
}

/// What is known of a model file.
fn of_file(config: &ModelConfig, facts: Option<Facts>) -> Inspection {
    let mut info = assume(config);
    info.window = info.window.or(facts.map(|facts| facts.given));
    let found = FoundModel {
        context_window: facts.map(|facts| facts.trained),
        tools: Some(info.tools),
        vision: Some(false),
        ..named(&info.name)
    };
    Inspection {
        models: facts.map(|_| found.clone()).into_iter().collect(),
        info,
        found,
        warnings: Vec::new(),
    }
}

fn without_answer(config: &ModelConfig, info: ModelInfo) -> Inspection {
    let known = catalog::known(&config.model);
    let found = FoundModel {
        context_window: info.window,
        tools: known.map(|known| known.tools),
        vision: known.map(|known| known.vision),
        ..named(&info.name)
    };
    Inspection {
        info,
        found,
        models: Vec::new(),
        warnings: Vec::new(),
    }
}

fn put_together(config: &ModelConfig, local: bool, seen: Option<&Seen>) -> ModelInfo {
    if config.api == Api::Demo {
        return crate::demo::info();
    }
    let known = catalog::known(&config.model);
    let found = seen.map(|seen| &seen.found);
    let holds = found.and_then(|found| found.context_window);
    let given = seen.and_then(|seen| seen.given);
    let told = match (config.api, given, holds) {
        // Its own protocol tells it the window, so that the usual small one does not bind.
        (Api::Ollama, given, Some(holds)) => Some(given.unwrap_or(0).max(TOLD_WINDOW).min(holds)),
        (_, given, holds) => given.or(holds),
    };
    ModelInfo {
        name: match config.api {
            Api::Gguf => gguf::name_of(&config.model),
            _ => config.model.clone(),
        },
        window: config
            .context_window
            .or(told)
            .or_else(|| known.map(|known| known.window)),
        window_assumed: false,
        max_output_tokens: config.max_output_tokens,
        temperature: config.temperature,
        // A model of which nothing is known is offered the tools, since without them it is of no use here.
        tools: found
            .and_then(|found| found.tools)
            .or_else(|| known.map(|known| known.tools))
            .unwrap_or(true),
        vision: found
            .and_then(|found| found.vision)
            .or_else(|| known.map(|known| known.vision))
            .unwrap_or(false),
        local,
    }
}

/// A number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests;
