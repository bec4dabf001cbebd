//! What is kept: the SQLite database, the blob store beside it, secrets.
//!
//! Owns: every byte under `data/` and `keys/`, how surely it is on disk, who may write a session.
//! Must never know: what an event means to a person, windows, models, the environment of the process.
//!
//! Start reading at [`Store`]; one file per table under `table/` holds its migration, rows, reads and writes.

mod blobs;
mod fault;
mod folder;
mod process;
mod readers;
mod schema;
mod secrets;
mod store;
mod table;
mod words;
mod writer;

pub use secrets::{FoundKey, Secret, SecretError, Secrets};
pub use store::{Lease, Loaded, Store};
pub use table::changes::{Change, ChangeFate, Leftover};
