//! The system's keychain. Every call blocks, and may block for as long as a person takes to unlock it.

use std::collections::HashMap;

use keyring::{Entry, Error};

use super::{Secret, SecretError};

/// Name under which all entries stand.
const SERVICE: &str = "Cairn";
/// What tells where the session bus is.
pub(super) const BUS_VARIABLES: [&str; 2] = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

/// A place that keeps keys by profile.
pub(super) trait Keychain: Send + Sync {
    fn get(&self, profile: &str) -> Result<Option<Secret>, SecretError>;
    fn set(&self, profile: &str, key: &str) -> Result<(), SecretError>;
    fn delete(&self, profile: &str) -> Result<(), SecretError>;
}

/// The one of the system: Secret Service, macOS Keychain, Windows Credential Manager.
pub(super) struct SystemKeychain;

/// Why there can be no keychain, as far as that is known without asking: a bus that is not there would be waited for.
pub(super) fn absence(environment: &HashMap<String, String>) -> Option<String> {
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        return None;
    }
    let value = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    if value("DBUS_SESSION_BUS_ADDRESS").is_some() {
        return None;
    }
    let socket = value("XDG_RUNTIME_DIR").map(|folder| std::path::Path::new(folder).join("bus"));
    if socket.is_some_and(|socket| socket.exists()) {
        return None;
    }
    Some("there is no D-Bus session".to_owned())
}

impl Keychain for SystemKeychain {
    fn get(&self, profile: &str) -> Result<Option<Secret>, SecretError> {
        match entry(profile)?.get_password() {
            Ok(key) => Ok(Some(Secret::new(&zeroize::Zeroizing::new(key)))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(explain(&error)),
        }
    }

    fn set(&self, profile: &str, key: &str) -> Result<(), SecretError> {
        entry(profile)?.set_password(key).map_err(|error| explain(&error))
    }

    fn delete(&self, profile: &str) -> Result<(), SecretError> {
        match entry(profile)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(explain(&error)),
        }
    }
}

fn entry(profile: &str) -> Result<Entry, SecretError> {
    Entry::new(SERVICE, profile).map_err(|error| explain(&error))
}

/// The words of the system; they never hold a key.
fn explain(error: &Error) -> SecretError {
    match error {
        // No bus, no service on it, or a service without a default collection.
        Error::PlatformFailure(why) => SecretError::NoKeychain { why: why.to_string() },
        Error::NoStorageAccess(why) => SecretError::Refused(why.to_string()),
        Error::BadEncoding(_) => SecretError::Refused("the stored key is not text".to_owned()),
        other => SecretError::Refused(other.to_string()),
    }
}
