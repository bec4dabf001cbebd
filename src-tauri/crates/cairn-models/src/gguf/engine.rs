//! The thread that holds a loaded model.
//!
//! Owns: when a file is loaded, shared and let go. Must never know: what a prompt says.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cairn_agent::model::{FinishReason, ModelError};
use cairn_protocol::ErrorCode;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use super::prompt::Turn;
use super::speaker::{READ_AT_ONCE, Speaker};

/// Threads at most: beyond the memory's speed more of them only wait.
const MOST_THREADS: usize = 16;

/// What a model says on its own thread.
#[derive(Debug)]
pub(super) enum Said {
    /// The file is being loaded.
    Loading,
    /// The prompt is being read.
    Reading { done: u64, total: u64 },
    /// Words.
    Text(String),
    /// Tokens so far; cached ones are part of the input.
    Count { input: u64, cached: u64, output: u64 },
    /// The end.
    End(FinishReason),
}

/// Where what is said goes; when nobody listens any more, the model stops.
pub(super) type Listener = tokio::sync::mpsc::Sender<Result<Said, ModelError>>;

/// A question.
pub(super) struct Job {
    pub(super) turns: Vec<Turn>,
    /// Tokens the reply may have.
    pub(super) limit: Option<u64>,
    pub(super) temperature: Option<f64>,
    pub(super) out: Listener,
}

/// A model file with the thread that runs it. The thread loads with the first question, answers one after the other,
/// and ends with the last who could ask; the memory is free then.
pub(super) struct Engine {
    file: PathBuf,
    window: u32,
    line: Mutex<Option<Sender<Job>>>,
}

/// Models in memory. Two windows that ask the same file share it: a second copy would be gigabytes.
static ENGINES: Mutex<Vec<Weak<Engine>>> = Mutex::new(Vec::new());

/// The library's own state, of which there is one per process.
static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();

fn backend() -> Result<&'static LlamaBackend, ModelError> {
    let made = BACKEND.get_or_init(|| {
        let mut backend = LlamaBackend::init().ok()?;
        // It would write to the terminal.
        backend.void_logs();
        Some(backend)
    });
    made.as_ref().ok_or_else(|| {
        ModelError::fatal(
            ErrorCode::ModelServer,
            "llama.cpp could not be started in this process.",
        )
    })
}

impl Engine {
    /// The engine of a file with that window, shared with whoever has it already.
    pub(super) fn shared(file: &Path, window: u32) -> Arc<Self> {
        let mut all = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|engine| engine.strong_count() > 0);
        let same = all
            .iter()
            .filter_map(Weak::upgrade)
            .find(|engine| engine.file == file && engine.window == window);
        same.unwrap_or_else(|| {
            let made = Arc::new(Self {
                file: file.to_owned(),
                window,
                line: Mutex::new(None),
            });
            all.push(Arc::downgrade(&made));
            made
        })
    }

    /// Asks. A thread that is not there, or died, is started anew.
    pub(super) fn ask(&self, job: Job) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let job = if let Some(line) = line.as_ref() {
            match line.send(job) {
                Ok(()) => return,
                Err(refused) => refused.0,
            }
        } else {
            job
        };
        let (sender, jobs) = channel();
        let (file, window) = (self.file.clone(), self.window);
        let thread = std::thread::Builder::new().name("model file".to_owned());
        match thread.spawn(move || run(&file, window, &jobs)) {
            Ok(_) => {
                // It waits for its first question, so that it is there to take it.
                sender.send(job).ok();
                *line = Some(sender);
            }
            Err(error) => {
                let text = format!("No thread could be started for the model: {error}. Try again.");
                job.out
                    .try_send(Err(ModelError::passing(ErrorCode::ModelServer, text)))
                    .ok();
            }
        }
    }
}

/// Tokens that the model of a file was made for.
pub(super) fn trained_window(file: &Path) -> Result<u64, ModelError> {
    let params = LlamaModelParams::default().with_vocab_only(true);
    let model = LlamaModel::load_from_file(backend()?, file, &params).map_err(|_| unloadable(file))?;
    Ok(u64::from(model.n_ctx_train()))
}

fn unloadable(file: &Path) -> ModelError {
    let text = format!(
        "llama.cpp could not load {}: the file is damaged, there is not enough memory, or its kind of model is newer than \
         this build of Cairn.",
        file.display()
    );
    ModelError::fatal(ErrorCode::BadConfig, text)
}

/// What the thread does: loads, and answers until nobody can ask any more.
fn run(file: &Path, window: u32, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        // Nobody may be listening any more; then the next question finds it loaded.
        job.out.blocking_send(Ok(Said::Loading)).ok();
        match load(file) {
            Ok(model) => return serve(file, &model, window, job, jobs),
            Err(error) => {
                job.out.blocking_send(Err(error)).ok();
            }
        }
    }
}

fn load(file: &Path) -> Result<LlamaModel, ModelError> {
    LlamaModel::load_from_file(backend()?, file, &LlamaModelParams::default()).map_err(|_| unloadable(file))
}

fn serve(file: &Path, model: &LlamaModel, window: u32, first: Job, jobs: &Receiver<Job>) {
    let mut next = Some(first);
    while let Some(job) = next.take() {
        match speaker(file, model, window) {
            Ok(mut speaker) => {
                speaker.answer(&job);
                while let Ok(job) = jobs.recv() {
                    speaker.answer(&job);
                }
                return;
            }
            Err(error) => {
                job.out.blocking_send(Err(error)).ok();
                next = jobs.recv().ok();
            }
        }
    }
}

fn speaker<'a>(file: &Path, model: &'a LlamaModel, window: u32) -> Result<Speaker<'a>, ModelError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MOST_THREADS) as i32;
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(window))
        .with_n_batch(READ_AT_ONCE as u32)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    let context = model.new_context(backend()?, params).map_err(|_| {
        let text = format!(
            "There is not enough memory for {window} tokens with {}. Set a smaller `context_window` in its profile.",
            file.display()
        );
        ModelError::fatal(ErrorCode::BadConfig, text)
    })?;
    Ok(Speaker::new(model, context))
}
