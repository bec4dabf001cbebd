//! The tables: each file owns one, with its migration, its rows, its reads and its writes.

pub(crate) mod blob_refs;
pub(crate) mod changes;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod leases;
pub(crate) mod messages;
pub(crate) mod outputs;
pub(crate) mod projects;
pub(crate) mod sessions;
pub(crate) mod texts;

use std::time::{SystemTime, UNIX_EPOCH};

use cairn_protocol::UnixMillis;

/// Now, for rows that no event dates.
pub(crate) fn now() -> UnixMillis {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as UnixMillis)
}
