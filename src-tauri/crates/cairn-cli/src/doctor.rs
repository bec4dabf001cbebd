//! `cairn doctor`.

use std::sync::Arc;

use cairn_host::Host;
use cairn_protocol::ApiError;

use crate::{DONE, out};

pub(crate) async fn run(host: &Arc<Host>) -> Result<u8, ApiError> {
    for finding in cairn_host::doctor(host).await {
        let mark = if finding.fine { "ok" } else { "--" };
        out::line(&format!(
            "{mark}  {}: {}",
            out::safe(&finding.what),
            out::safe(&finding.found)
        ));
    }
    Ok(DONE)
}
