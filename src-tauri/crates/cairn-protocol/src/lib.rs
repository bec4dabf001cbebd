//! What crosses the wire: ids, sessions, turns, items, content blocks, events, approvals, settings, methods.
//!
//! Owns: the vocabulary that the core, the window, the headless command and the database share.
//! Must never know: how anything is done. No logic beyond small conversions, no runtime, no secrets.

mod approval;
mod block;
mod context;
mod error;
mod event;
mod ids;
mod inbox;
mod item;
mod meter;
mod method;
mod process;
mod question;
mod rich;
mod sandbox;
mod session;
mod settings;
mod trust;

pub use approval::*;
pub use block::*;
pub use context::*;
pub use error::*;
pub use event::*;
pub use ids::*;
pub use inbox::*;
pub use item::*;
pub use meter::*;
pub use method::*;
pub use process::*;
pub use question::*;
pub use rich::*;
pub use sandbox::*;
pub use session::*;
pub use settings::*;
pub use trust::*;

/// Version of the wire format, the `v` of every event. Raised when an old reader could misread a new event.
pub const WIRE_VERSION: u32 = 1;

/// Milliseconds since 1970-01-01 UTC.
pub type UnixMillis = i64;
