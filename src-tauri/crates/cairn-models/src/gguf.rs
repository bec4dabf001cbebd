//! A model file run in this process: GGUF through llama.cpp. SPEC M1, build feature `local-model`.
//!
//! Owns: what is checked of the file before it is trusted to C++ code, and how what the model writes becomes a reply.
//! Must never know: sessions, tools, where the file came from.
//!
//! It is a feature because it brings a C++ library into the process: a fault there ends the program, which no other
//! part of Cairn can do. Nothing is lost then, since everything is stored before it is shown; llama.cpp's own server
//! with the same file is the sturdier way.

#[cfg(feature = "local-model")]
mod engine;
#[cfg(any(feature = "local-model", test))]
mod prompt;
#[cfg(feature = "local-model")]
mod speaker;
#[cfg(feature = "local-model")]
mod stream;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_agent::model::{Model, ModelError, ModelInfo};
use cairn_protocol::ErrorCode;

use crate::registry::ModelConfig;

/// Whether this build can run a model file by itself.
pub const AVAILABLE: bool = cfg!(feature = "local-model");

/// Tokens that a model is given where the profile does not say: memory is taken for all of them at once.
#[cfg(feature = "local-model")]
const USUAL_WINDOW: u64 = 16_384;

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Tokens that the model was made for.
    pub(crate) trained: u64,
    /// Tokens that it is given where the profile does not say.
    pub(crate) given: u64,
}

/// The name under which a file is shown: its own, without the ending.
pub(crate) fn name_of(model: &str) -> String {
    let stem = Path::new(model).file_stem();
    stem.map_or_else(|| model.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Makes the model of a file. Nothing is loaded before the first question.
pub(crate) fn build(config: &ModelConfig, info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
    let file = checked(&config.model)?;
    start(file, info)
}

/// What the file says of itself. Reads its head and its vocabulary, not its weights; blocks.
pub(crate) fn look(model: &str) -> Result<Facts, ModelError> {
    facts(&checked(model)?)
}

#[cfg(feature = "local-model")]
fn start(file: PathBuf, info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
    Ok(Arc::new(stream::GgufModel::new(file, info)))
}

#[cfg(feature = "local-model")]
fn facts(file: &Path) -> Result<Facts, ModelError> {
    let trained = engine::trained_window(file)?;
    Ok(Facts {
        trained,
        given: trained.min(USUAL_WINDOW),
    })
}

#[cfg(not(feature = "local-model"))]
fn start(_file: PathBuf, _info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
    Err(absent())
}

#[cfg(not(feature = "local-model"))]
fn facts(_file: &Path) -> Result<Facts, ModelError> {
    Err(absent())
}

#[cfg(not(feature = "local-model"))]
fn absent() -> ModelError {
    bad(
        "This build of Cairn does not run model files by itself: it was built without the feature `local-model`. Start \
         llama.cpp's server with the file and choose that, or build Cairn with the feature."
            .to_owned(),
    )
}

/// The file of a profile, when it looks like a model at all: what else is given to the library may end the process.
fn checked(model: &str) -> Result<PathBuf, ModelError> {
    let file = PathBuf::from(model);
    if !file.is_absolute() {
        return Err(bad(format!(
            "`{model}` is not the whole path of a model file, like `/home/you/models/qwen3-8b.gguf`."
        )));
    }
    let failed = |error: std::io::Error| bad(format!("The model file {model} could not be opened: {error}."));
    let metadata = std::fs::metadata(&file).map_err(failed)?;
    if !metadata.is_file() {
        return Err(bad(format!("{model} is not a file.")));
    }
    let mut head = [0_u8; 8];
    let readable = File::open(&file).map_err(failed)?.read_exact(&mut head).is_ok();
    // The magic number, and a version in this machine's order of bytes; llama.cpp reads 2 and 3.
    match (readable, head) {
        (true, [b'G', b'G', b'U', b'F', 2 | 3, 0, 0, 0]) => Ok(file),
        _ => Err(bad(format!(
            "{model} is not a model in the GGUF format, version 2 or 3."
        ))),
    }
}

fn bad(message: String) -> ModelError {
    ModelError::fatal(ErrorCode::BadConfig, message)
}

#[cfg(test)]
mod tests;
