//! `cairn config`.

use std::io::Read;
use std::sync::Arc;

use cairn_host::Host;
use cairn_protocol::{ApiError, ErrorCode, KeepKey};

use crate::args::{ConfigAction, ConfigArgs, KeyAction};
use crate::{DONE, USAGE, out};

pub(crate) async fn run(host: &Arc<Host>, args: ConfigArgs) -> Result<u8, ApiError> {
    let config = host.config();
    match args.action {
        ConfigAction::Path => out::line(&config.path().display().to_string()),
        ConfigAction::Check => match config.broken() {
            Some(error) => {
                out::problem(&error.to_string());
                return Ok(USAGE);
            }
            None => out::line("The configuration can be read."),
        },
        ConfigAction::Key {
            action: KeyAction::Set { profile, file },
        } => {
            let mut key = String::new();
            std::io::stdin()
                .lock()
                .take(16_384)
                .read_to_string(&mut key)
                .map_err(|error| {
                    ApiError::new(
                        ErrorCode::BadRequest,
                        format!("The key on standard input could not be read: {error}"),
                    )
                })?;
            let keep = if file { KeepKey::File } else { KeepKey::Keychain };
            host.keep_key(&profile, &key, keep).await?;
            out::line("Kept.");
        }
        ConfigAction::Key {
            action: KeyAction::Delete { profile },
        } => {
            host.forget_key(&profile).await?;
            out::line("Forgotten.");
        }
    }
    Ok(DONE)
}
