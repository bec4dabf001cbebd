//! What the tests of commands and pictures share: processes with a helper of this crate, and a call's surroundings.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_agent::tool::{CallContext, ContextStatus, Progress};
use cairn_exec::{HelperProgram, Processes};
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

/// Processes with the helper of this crate.
pub(crate) fn processes() -> Processes {
    Processes::new(HelperProgram::at(env!("CARGO_BIN_EXE_cairn-tools-helper-test")))
}

/// Keeps blobs, and says that the disk is full once it is told so.
#[derive(Default)]
pub(crate) struct Blobs {
    pub(crate) kept: Mutex<HashMap<BlobId, Vec<u8>>>,
    pub(crate) full: bool,
}

impl Journal for Blobs {
    fn before_change(&self, _image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        unreachable!("commands and pictures change no files")
    }

    fn after_change(
        &self,
        _call: CallId,
        _path: PathBuf,
        _happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        unreachable!("commands and pictures change no files")
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        if self.full {
            return async { Err(StoreError::Full("no space".into())) }.boxed();
        }
        let digest = Sha256::digest(&bytes);
        let id = digest
            .iter()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let id = BlobId(id);
        self.kept.lock().unwrap().insert(id.clone(), bytes);
        async { Ok(id) }.boxed()
    }

    fn get_blob(&self, _blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        unreachable!()
    }

    fn put_output(&self, _session: SessionId, _text: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        unreachable!()
    }

    fn get_output(
        &self,
        _session: SessionId,
        _output: OutputId,
    ) -> BoxFuture<'_, Result<String, StoreError>> {
        unreachable!()
    }
}

/// Follows live output by its offsets, and cancels a call at the first of it when asked to.
#[derive(Default)]
pub(crate) struct Live {
    pub(crate) text: Mutex<String>,
    pub(crate) cancel: Option<CancellationToken>,
}

impl Progress for Live {
    fn output(&self, offset: u64, text: &str) {
        let mut shown = self.text.lock().unwrap();
        shown.truncate(usize::try_from(offset).unwrap());
        shown.push_str(text);
        if let Some(cancel) = &self.cancel {
            cancel.cancel();
        }
    }
}

/// The surroundings of a call.
pub(crate) fn context(progress: Arc<dyn Progress>, cancel: CancellationToken) -> CallContext {
    CallContext {
        session: "s".into(),
        turn: "t".into(),
        call: "c".into(),
        budget: 12_000,
        outside: false,
        literal: cairn_agent::tool::Addresses::default(),
        runs: None,
        hunks: None,
        vision: true,
        cancel,
        progress,
        journal: Arc::new(Blobs::default()),
        status: Arc::new(ContextStatus::default()),
    }
}
