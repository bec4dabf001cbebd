//! The storage interface: what the driver and the tools need kept, and how surely.

use std::path::PathBuf;

use cairn_protocol::{BlobId, CallId, Event, ItemId, OutputId, SessionId, TurnId};
use futures_util::future::BoxFuture;

/// Why something could not be kept. Everybody's recovery is the same: stop, say so, lose nothing that is on disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No space left; the person must make room.
    #[error(
        "The disk with Cairn's data is full: {0}. Make room, then try again; nothing already stored is lost."
    )]
    Full(String),
    /// The data folder is read-only or not ours.
    #[error(
        "Cairn's data folder cannot be written: {0}. Check its permissions, or set CAIRN_HOME to another folder"
    )]
    NotWritable(String),
    /// Another process holds the session.
    #[error("this session is running in another window (process {pid})")]
    Held {
        /// Process id of the holder.
        pid: u32,
    },
    /// There is no such thing.
    #[error("{0} is not there")]
    Missing(String),
    /// Anything else the database says.
    #[error("the database failed: {0}")]
    Database(String),
}

/// How surely a write must be on disk when the call returns. Both survive `kill -9` of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Committed: survives the end of the program.
    Committed,
    /// Synced: survives loss of power. Before a file change or command, and at the end of a request.
    Synced,
}

/// Keeps events. One writer per session, held by a lease.
pub trait EventStore: Send + Sync {
    /// Appends events; they may be shown once this returns. Their `seq` must go on from the last stored one.
    fn append(&self, events: Vec<Event>, durability: Durability) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Keeps a piece of a growing item; merged away when the item's completion is appended.
    fn append_text(
        &self,
        session: SessionId,
        item: ItemId,
        offset: u64,
        text: String,
    ) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// What a file was before a call changed it. SPEC S6, A5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeImage {
    /// The session.
    pub session: SessionId,
    /// The request.
    pub turn: TurnId,
    /// The call.
    pub call: CallId,
    /// Real path of the file that will change.
    pub path: PathBuf,
    /// Its bytes; none when it is not there.
    pub before: Option<Vec<u8>>,
    /// Its permission bits; none when it is not there.
    pub mode: Option<u32>,
    /// Hex SHA-256 of what it will be; none when it will be gone.
    pub after: Option<String>,
    /// The temporary file that the write will use, so that it can be swept after a crash.
    pub temporary: Option<PathBuf>,
}

/// Keeps what tools need kept.
pub trait Journal: Send + Sync {
    /// Keeps a before-image, synced, together with the call's own events; only then may the file change.
    fn before_change(&self, image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Tells that the change of that call to that path is complete (or did not happen) and its temporary file gone.
    fn after_change(
        &self,
        call: CallId,
        path: PathBuf,
        happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Keeps bytes; the id is their SHA-256.
    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>>;

    /// Bytes of a blob.
    fn get_blob(&self, blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>>;

    /// Keeps the whole of a result that was cut, for its own session.
    fn put_output(&self, session: SessionId, text: String) -> BoxFuture<'_, Result<OutputId, StoreError>>;

    /// The whole of a result, own session only.
    fn get_output(&self, session: SessionId, output: OutputId) -> BoxFuture<'_, Result<String, StoreError>>;
}
