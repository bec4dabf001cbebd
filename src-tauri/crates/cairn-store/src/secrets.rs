//! API keys: where each is kept, and that none leaks. SPEC A7.
//!
//! Owns: the keychain entries of service `Cairn`, the folder `keys/`, keys in memory.
//! Must never know: the environment of the process (the host hands over what counts), what a key is for.

mod keychain;
mod keyfile;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_protocol::{KeepKey, KeyPlace};
use zeroize::Zeroizing;

use keychain::{Keychain, SystemKeychain};
use keyfile::KeyFolder;

/// How long the keychain may take: it may ask the person to unlock it, but nothing waits for that.
const LIMIT: Duration = Duration::from_secs(5);
/// Shorter keys are not masked: they would hit ordinary words.
const MASKED_FROM: usize = 8;
/// What stands in the place of a key.
const MASK: &str = "[key removed]";
/// The variable that counts for every profile.
const OWN_VARIABLE: &str = "CAIRN_API_KEY";

/// A key. Never shown by `Debug`, wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a key; blanks and line ends around it are not part of it.
    pub fn new(key: &str) -> Self {
        Self(Zeroizing::new(key.trim().to_owned()))
    }

    /// The key itself, for the header that needs it and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Why a key could not be read or kept. None of them holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// There is no keychain; the person chooses another place.
    #[error(
        "this system has no keychain that Cairn can reach ({why}). Keep the key for this session only, or in a file \
         that only you can read"
    )]
    NoKeychain {
        /// What is missing, in words.
        why: String,
    },
    /// The keychain did not answer; the person unlocks it and tries again.
    #[error("the keychain did not answer within {0:?}. Unlock it, then try again")]
    Late(Duration),
    /// The keychain refused.
    #[error("the keychain refused: {0}. Unlock it, then try again")]
    Refused(String),
    /// The file with the key could not be read or written; the person mends it.
    #[error("the key file {} could not be used: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A key and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    /// The key.
    pub secret: Secret,
    /// Where it was.
    pub place: KeyPlace,
}

/// The keys of this user. Cheap to clone.
#[derive(Clone)]
pub struct Secrets {
    shared: Arc<Shared>,
}

struct Shared {
    environment: HashMap<String, Secret>,
    /// Why there is no keychain, if that is known without asking.
    absent: Option<String>,
    keychain: Arc<dyn Keychain>,
    folder: KeyFolder,
    limit: Duration,
    memory: Mutex<Memory>,
    /// One question to the keychain at a time.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Memory {
    /// Kept until the program ends, by profile.
    session: HashMap<String, Secret>,
    /// What the keychain said, by profile: it is read once per start.
    read: HashMap<String, Option<Secret>>,
    /// What the configuration holds of keys.
    configured: Vec<Secret>,
}

impl Secrets {
    /// Keys with files in `keys` (made when first needed). `environment` holds what counts of the process's
    /// environment: `CAIRN_API_KEY`, the providers' usual variables, and on Linux `DBUS_SESSION_BUS_ADDRESS` and
    /// `XDG_RUNTIME_DIR`, without which no keychain is looked for. Touches no disk and no bus.
    pub fn new(keys: PathBuf, environment: &HashMap<String, String>) -> Self {
        Self::with_keychain(
            keys,
            environment,
            Arc::new(SystemKeychain),
            keychain::absence(environment),
            LIMIT,
        )
    }

    fn with_keychain(
        keys: PathBuf,
        environment: &HashMap<String, String>,
        keychain: Arc<dyn Keychain>,
        absent: Option<String>,
        limit: Duration,
    ) -> Self {
        let environment = environment
            .iter()
            .filter(|(name, value)| {
                !keychain::BUS_VARIABLES.contains(&name.as_str()) && !value.trim().is_empty()
            })
            .map(|(name, value)| (name.clone(), Secret::new(value)))
            .collect();
        let shared = Shared {
            environment,
            absent,
            keychain,
            folder: KeyFolder::new(keys),
            limit,
            memory: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The key of a profile; `usual` is its provider's usual variable. The first of: `CAIRN_API_KEY`, a key for this
    /// session, the place where one was kept, the usual variable. The keychain is only asked about profiles whose key
    /// was put there, and once.
    pub async fn key(&self, profile: &str, usual: Option<&str>) -> Result<Option<FoundKey>, SecretError> {
        let place = self.place(profile, usual);
        let secret = match place {
            KeyPlace::None => None,
            KeyPlace::Environment => self.in_environment(usual),
            KeyPlace::Session => self.memory().session.get(profile).cloned(),
            KeyPlace::File => self.shared.folder.read(profile)?,
            KeyPlace::Keychain => self.in_keychain(profile).await?,
        };
        Ok(secret.map(|secret| FoundKey { secret, place }))
    }

    /// Where [`Secrets::key`] would find the key, without asking the keychain.
    pub fn place(&self, profile: &str, usual: Option<&str>) -> KeyPlace {
        let shared = &self.shared;
        if shared.environment.contains_key(OWN_VARIABLE) {
            KeyPlace::Environment
        } else if self.memory().session.contains_key(profile) {
            KeyPlace::Session
        } else if shared.folder.has_file(profile) {
            KeyPlace::File
        } else if shared.folder.is_in_keychain(profile) {
            KeyPlace::Keychain
        } else if usual.is_some_and(|name| shared.environment.contains_key(name)) {
            KeyPlace::Environment
        } else {
            KeyPlace::None
        }
    }

    /// Keeps a key in exactly that place; a key of the profile in another place is forgotten first, except that a key
    /// for this session leaves the kept one for the next start.
    pub async fn set(&self, profile: &str, key: Secret, keep: KeepKey) -> Result<(), SecretError> {
        match keep {
            KeepKey::Session => {
                self.memory().session.insert(profile.to_owned(), key);
                return Ok(());
            }
            KeepKey::Keychain => {
                let (name, copy) = (profile.to_owned(), key.clone());
                self.ask(move |keychain| keychain.set(&name, copy.expose()))
                    .await?;
                self.shared.folder.mark_keychain(profile)?;
                self.shared.folder.remove_file(profile)?;
                self.memory().read.insert(profile.to_owned(), Some(key));
            }
            KeepKey::File => {
                self.shared.folder.write(profile, &key)?;
                self.forget_in_keychain(profile).await?;
            }
        }
        self.memory().session.remove(profile);
        Ok(())
    }

    /// Forgets the key of a profile in all places but the environment.
    pub async fn delete(&self, profile: &str) -> Result<(), SecretError> {
        self.memory().session.remove(profile);
        self.shared.folder.remove_file(profile)?;
        self.forget_in_keychain(profile).await
    }

    /// Whether there is a keychain that answers; for the doctor and for the offer of other places.
    pub async fn check_keychain(&self) -> Result<(), SecretError> {
        self.ask(|keychain| keychain.get("cairn-doctor").map(drop)).await
    }

    /// Replaces the keys that the configuration holds, of which this knows nothing but that they are to be masked.
    pub fn set_configured(&self, keys: Vec<Secret>) {
        self.memory().configured = keys;
    }

    /// The text without any key that is known by now: of the environment, of this session, of a file that was read, of
    /// the keychain, of the configuration.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked(text, |_| MASK.to_owned())
    }

    /// The same with as many bytes as before: for output that is followed by its offsets.
    pub fn mask_in_place<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked(text, |key| "*".repeat(key.len()))
    }

    fn masked<'t>(&self, text: &'t str, instead: impl Fn(&str) -> String) -> Cow<'t, str> {
        let memory = self.memory();
        let kept = memory.session.values().chain(memory.read.values().flatten());
        let kept = kept.chain(&memory.configured);
        let mut masked = Cow::Borrowed(text);
        for secret in self.shared.environment.values().chain(kept) {
            let key = secret.expose();
            if key.len() >= MASKED_FROM && masked.contains(key) {
                masked = Cow::Owned(masked.replace(key, &instead(key)));
            }
        }
        masked
    }

    fn in_environment(&self, usual: Option<&str>) -> Option<Secret> {
        let environment = &self.shared.environment;
        environment
            .get(OWN_VARIABLE)
            .or_else(|| environment.get(usual?))
            .cloned()
    }

    async fn in_keychain(&self, profile: &str) -> Result<Option<Secret>, SecretError> {
        let name = profile.to_owned();
        let _turn = self.shared.asking.lock().await;
        if let Some(known) = self.memory().read.get(profile) {
            return Ok(known.clone());
        }
        let shared = Arc::clone(&self.shared);
        self.ask(move |keychain| {
            let found = keychain.get(&name)?;
            // Kept here, not by the caller: an answer that comes too late counts for the next question.
            shared.memory().read.insert(name, found.clone());
            Ok(found)
        })
        .await
    }

    async fn forget_in_keychain(&self, profile: &str) -> Result<(), SecretError> {
        if self.shared.folder.is_in_keychain(profile) {
            let name = profile.to_owned();
            self.ask(move |keychain| keychain.delete(&name)).await?;
            self.shared.folder.unmark_keychain(profile)?;
        }
        self.memory().read.remove(profile);
        Ok(())
    }

    /// Asks the keychain on a thread of its own, which may be left behind: it cannot be interrupted.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Keychain) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, SecretError> {
        if let Some(why) = &self.shared.absent {
            return Err(SecretError::NoKeychain { why: why.clone() });
        }
        let keychain = Arc::clone(&self.shared.keychain);
        let (reply, answer) = tokio::sync::oneshot::channel();
        std::thread::Builder::new()
            .name("keychain".to_owned())
            .spawn(move || reply.send(question(keychain.as_ref())).ok())
            .map_err(|error| SecretError::Refused(error.to_string()))?;
        match tokio::time::timeout(self.shared.limit, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(SecretError::Refused("the question was lost".to_owned())),
            Err(_) => Err(SecretError::Late(self.shared.limit)),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.shared.memory()
    }
}

impl Shared {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
