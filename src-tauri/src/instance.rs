//! Without a session bus: one instance per data folder, known by a lock that ends with its process. SPEC A1.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};

use cairn_host::{Environment, Home};

/// Takes the lock, or says which instance has it. A data folder that cannot be written is for the start to report.
pub(crate) fn claim(environment: &Environment) -> Result<Option<File>, String> {
    let Ok(home) = Home::locate(environment) else {
        return Ok(None);
    };
    if home.make().is_err() {
        return Ok(None);
    }
    let path = home.config_folder().join(".desktop.lock");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let options = options.open(&path);
    let Ok(mut file) = options else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => {
            let noted = file
                .set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| write!(file, "{}", std::process::id()));
            if let Err(error) = noted {
                tracing::debug!(%error, "the lock does not tell who has it");
            }
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let known = file.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
            let who = if known {
                format!("process {}", holder.trim())
            } else {
                "another process".to_owned()
            };
            Err(format!(
                "Cairn runs already ({who}), and without a session bus (D-Bus) it cannot be asked to open another \
                 window. Use its window, or end it first"
            ))
        }
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "whether another instance runs is not known");
            Ok(None)
        }
    }
}
