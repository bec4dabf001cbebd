//! Errors as they cross the wire.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Kinds of failure; all that a front end may branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ErrorCode {
    /// Parameters that make no sense.
    BadRequest,
    /// No such session, approval, blob …
    NotFound,
    /// It belongs to another window.
    NotOwner,
    /// Another process holds the session.
    Busy,
    /// It was answered, changed or withdrawn meanwhile.
    Stale,
    /// No model is chosen or found.
    NoModel,
    /// The model's server could not be reached.
    ModelUnreachable,
    /// The server refused the key.
    BadKey,
    /// The server says that there is no credit.
    NoCredit,
    /// The server asks to wait.
    RateLimited,
    /// The server failed.
    ModelServer,
    /// The server answered something that is not its protocol.
    ModelGarbage,
    /// The server refused the request.
    ModelRejected,
    /// The conversation does not fit the model.
    TooLong,
    /// The configuration file is broken.
    BadConfig,
    /// The folder is missing, unreadable or no folder.
    BadFolder,
    /// The data folder cannot be written.
    Storage,
    /// No space left.
    DiskFull,
    /// The keychain is not there or refused.
    Keychain,
    /// A fault of ours.
    Internal,
}

/// A failure, in words for a person: what was tried, why it failed, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
#[ts(export)]
pub struct ApiError {
    /// Its kind.
    pub code: ErrorCode,
    /// The words.
    pub message: String,
}

impl ApiError {
    /// An error of the given kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
