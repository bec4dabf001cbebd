//! Opaque names. Every id is a short ASCII string; nothing may be read out of one but its identity.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! id {
    ($(#[doc = $doc:literal] $name:ident;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(export)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    )*};
}

id! {
    /// One project: derived from the real path of its folder, so that every spelling of a path is one project.
    ProjectKey;
    /// One conversation with its own history, mode and approvals.
    SessionId;
    /// One request of the person and all that followed from it.
    TurnId;
    /// One entry of the transcript.
    ItemId;
    /// One tool call, as the model named it; unique within its session after repair.
    CallId;
    /// One approval card. A recomputed card gets a new id.
    ApprovalId;
    /// One set of questions put to the person.
    QuestionId;
    /// Content in the blob store: lowercase hex SHA-256 of the bytes before compression.
    BlobId;
    /// The whole of a tool result that was cut for the model; read as `output:ID`.
    OutputId;
    /// Made by whoever sends a mutating method; a repeat of the same id is dropped.
    ClientId;
    /// One message that waits for the running request to end.
    QueueId;
}
