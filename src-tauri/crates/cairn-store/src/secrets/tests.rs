use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

use super::*;

/// Remembers keys and counts the questions; answers only when told to where a gate is set.
#[derive(Default)]
struct Double {
    keys: Mutex<HashMap<String, String>>,
    reads: Mutex<Vec<String>>,
    gates: Mutex<VecDeque<mpsc::Receiver<()>>>,
}

impl Keychain for Double {
    fn get(&self, profile: &str) -> Result<Option<Secret>, SecretError> {
        self.reads.lock().unwrap().push(profile.to_owned());
        let gate = self.gates.lock().unwrap().pop_front();
        if let Some(gate) = gate {
            gate.recv().unwrap();
        }
        Ok(self.keys.lock().unwrap().get(profile).map(|key| Secret::new(key)))
    }

    fn set(&self, profile: &str, key: &str) -> Result<(), SecretError> {
        self.keys
            .lock()
            .unwrap()
            .insert(profile.to_owned(), key.to_owned());
        Ok(())
    }

    fn delete(&self, profile: &str) -> Result<(), SecretError> {
        self.keys.lock().unwrap().remove(profile);
        Ok(())
    }
}

struct Place {
    folder: tempfile::TempDir,
    keychain: Arc<Double>,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            keychain: Arc::default(),
        }
    }

    /// The secrets as after a start of the program.
    fn start(&self, environment: &[(&str, &str)]) -> Secrets {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let keychain: Arc<dyn Keychain> = Arc::clone(&self.keychain) as _;
        Secrets::with_keychain(
            self.folder.path().join("keys"),
            &environment,
            keychain,
            None,
            LIMIT,
        )
    }
}

async fn found(secrets: &Secrets, usual: Option<&str>) -> (String, KeyPlace) {
    let found = secrets.key("work", usual).await.unwrap();
    found.map_or_else(Default::default, |found| {
        (found.secret.expose().to_owned(), found.place)
    })
}

#[tokio::test]
async fn a_key_is_found_in_the_first_place_that_has_one() {
    let place = Place::new();
    let usual = [("OPENAI_API_KEY", "sk-usual")];
    let secrets = place.start(&usual);
    assert_eq!(
        found(&secrets, Some("OPENAI_API_KEY")).await,
        ("sk-usual".to_owned(), KeyPlace::Environment)
    );
    assert_eq!(found(&secrets, None).await, (String::new(), KeyPlace::None));
    secrets
        .set("work", Secret::new("sk-file"), KeepKey::File)
        .await
        .unwrap();
    assert_eq!(
        found(&secrets, Some("OPENAI_API_KEY")).await,
        ("sk-file".to_owned(), KeyPlace::File)
    );
    secrets
        .set("work", Secret::new("sk-ring"), KeepKey::Keychain)
        .await
        .unwrap();
    assert_eq!(
        found(&secrets, Some("OPENAI_API_KEY")).await,
        ("sk-ring".to_owned(), KeyPlace::Keychain)
    );
    secrets
        .set("work", Secret::new("sk-now"), KeepKey::Session)
        .await
        .unwrap();
    assert_eq!(
        found(&secrets, Some("OPENAI_API_KEY")).await,
        ("sk-now".to_owned(), KeyPlace::Session)
    );
    let secrets = place.start(&[("CAIRN_API_KEY", "sk-own"), ("OPENAI_API_KEY", "sk-usual")]);
    assert_eq!(
        found(&secrets, Some("OPENAI_API_KEY")).await,
        ("sk-own".to_owned(), KeyPlace::Environment)
    );
}

#[tokio::test]
async fn r12_the_keychain_is_read_once_per_start_and_only_for_keys_that_are_there() {
    let place = Place::new();
    place
        .start(&[])
        .set("work", Secret::new("sk-ring-1234"), KeepKey::Keychain)
        .await
        .unwrap();
    let secrets = place.start(&[]);
    assert_eq!(secrets.key("local", None).await.unwrap(), None);
    assert_eq!(secrets.place("work", None), KeyPlace::Keychain);
    let (first, second) = tokio::join!(secrets.key("work", None), secrets.key("work", None));
    assert_eq!(first, second);
    assert_eq!(
        found(&secrets, None).await,
        ("sk-ring-1234".to_owned(), KeyPlace::Keychain)
    );
    assert_eq!(*place.keychain.reads.lock().unwrap(), ["work"]);
}

#[tokio::test]
async fn a_keychain_that_does_not_answer_holds_nobody_and_its_late_answer_counts() {
    let place = Place::new();
    place
        .start(&[])
        .set("work", Secret::new("sk-ring-1234"), KeepKey::Keychain)
        .await
        .unwrap();
    let (open, gate) = mpsc::channel();
    place.keychain.gates.lock().unwrap().push_back(gate);
    let keychain: Arc<dyn Keychain> = Arc::clone(&place.keychain) as _;
    let limit = Duration::from_millis(20);
    let secrets = Secrets::with_keychain(
        place.folder.path().join("keys"),
        &HashMap::new(),
        keychain,
        None,
        limit,
    );
    assert_eq!(secrets.key("work", None).await, Err(SecretError::Late(limit)));
    open.send(()).unwrap();
    while secrets.memory().read.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(found(&secrets, None).await.0, "sk-ring-1234");
    assert_eq!(place.keychain.reads.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn without_a_bus_the_answer_comes_at_once_and_says_what_else_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = Secrets::new(folder.path().join("keys"), &HashMap::new());
    let refused = secrets
        .set("work", Secret::new("sk-1"), KeepKey::Keychain)
        .await
        .unwrap_err();
    assert!(matches!(&refused, SecretError::NoKeychain { why } if why.contains("D-Bus")));
    assert!(refused.to_string().contains("this session only"));
    assert_eq!(secrets.place("work", None), KeyPlace::None);
    assert_eq!(secrets.check_keychain().await, Err(refused));
    secrets
        .set("work", Secret::new("sk-1"), KeepKey::Session)
        .await
        .unwrap();
    assert_eq!(
        found(&secrets, None).await,
        ("sk-1".to_owned(), KeyPlace::Session)
    );
    assert!(!folder.path().join("keys").exists(), "nothing was written");
}

#[tokio::test]
async fn a_key_file_is_only_for_its_owner_whatever_the_profile_is_called() {
    let place = Place::new();
    let secrets = place.start(&[]);
    for profile in ["work", "../up", "a/b", "größe", "", "."] {
        secrets
            .set(profile, Secret::new(" sk-file\n"), KeepKey::File)
            .await
            .unwrap();
        let found = place.start(&[]).key(profile, None).await.unwrap().unwrap();
        assert_eq!((found.secret.expose(), found.place), ("sk-file", KeyPlace::File));
    }
    let keys = place.folder.path().join("keys");
    assert_eq!(fs::metadata(&keys).unwrap().permissions().mode() & 0o777, 0o700);
    let files: Vec<_> = fs::read_dir(&keys)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap())
        .collect();
    assert_eq!(files.len(), 6);
    assert!(
        files
            .iter()
            .all(|file| file.permissions().mode() & 0o777 == 0o600)
    );
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_deleted_key_is_nowhere() {
    let place = Place::new();
    for keep in [KeepKey::File, KeepKey::Keychain, KeepKey::Session] {
        let secrets = place.start(&[]);
        secrets.set("work", Secret::new("sk-gone"), keep).await.unwrap();
        secrets.delete("work").await.unwrap();
        assert_eq!(found(&secrets, None).await, (String::new(), KeyPlace::None));
        assert_eq!(
            found(&place.start(&[]), None).await,
            (String::new(), KeyPlace::None)
        );
        assert!(place.keychain.keys.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn l06_no_known_key_survives_masking_and_none_is_shown_by_debug() {
    let place = Place::new();
    let secrets = place.start(&[
        ("OPENAI_API_KEY", "sk-test-CANARY"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/x"),
    ]);
    secrets
        .set("work", Secret::new("other-CANARY"), KeepKey::Session)
        .await
        .unwrap();
    secrets.set_configured(vec![Secret::new("header-CANARY")]);
    let text =
        "env: OPENAI_API_KEY=sk-test-CANARY\nx other-CANARY header-CANARY other-CANARY unix:path=/run/x";
    let masked = secrets.mask(text);
    assert!(!masked.contains("CANARY"), "{masked}");
    assert!(masked.contains("unix:path=/run/x"), "the bus is no secret");
    assert!(matches!(secrets.mask("nothing in it"), Cow::Borrowed(_)));
    let live = secrets.mask_in_place(text);
    assert!(
        !live.contains("CANARY") && live.len() == text.len(),
        "offsets hold: {live}"
    );
    let found = secrets.key("work", None).await.unwrap();
    assert!(!format!("{found:?} {:?}", Secret::new("CANARY")).contains("CANARY"));
}
