//! Small pieces of prepared calls that several tools share: the digest, and calls that read or touch only our own
//! things.
//!
//! Owns: how such a call is put together. Must never know: what the gate thinks of it.

use cairn_agent::tool::{Action, CallContext, Execute, Prepared, ToolOutcome};
use cairn_files::Resolved;
use cairn_policy::{Care, Effect, show_path};
use cairn_protocol::ApprovalSubject;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};

/// Hex SHA-256 over the tool's name and all that the call would do. Each part is counted by its length first, so
/// that no two lists of parts run together into the same bytes.
pub(crate) fn digest(tool: &str, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in std::iter::once(tool.as_bytes()).chain(parts.iter().copied()) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            for half in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
            hex
        })
}

/// A call that touches only the agent's own things.
pub(crate) fn own(title: &str, target: String, digest: String, action: Action) -> Prepared {
    Prepared {
        title: title.to_owned(),
        target,
        effects: vec![Effect::Own],
        subject: None,
        says: None,
        blocks: Vec::new(),
        digest,
        limit: None,
        action,
    }
}

/// A call that lists the names in a folder. Names are listed freely, also where every file is a credential. SPEC P2.
pub(crate) fn lists(title: &str, target: String, at: &Resolved, action: Action) -> Prepared {
    let effect = Effect::ReadPath {
        path: at.real.clone(),
        place: at.place,
        care: Care::Plain,
    };
    reads(title, target, at, effect, action)
}

/// A call that reads content at that place.
pub(crate) fn reads(title: &str, target: String, at: &Resolved, effect: Effect, action: Action) -> Prepared {
    let digest = digest(
        title,
        &[target.as_bytes(), at.real.as_os_str().as_encoded_bytes()],
    );
    Prepared {
        effects: vec![effect],
        subject: Some(ApprovalSubject::Read {
            path: show_path(&at.real),
        }),
        ..own(title, target, digest, action)
    }
}

/// `1 match`, `2 matches`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// Does what a closure does, at once.
pub(crate) struct Immediately<F>(pub(crate) F);

impl<F: FnOnce(CallContext) -> ToolOutcome + Send + 'static> Execute for Immediately<F> {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(std::future::ready((self.0)(context)))
    }
}
