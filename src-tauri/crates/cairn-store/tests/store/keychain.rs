//! The real keychain of a Linux desktop: gnome-keyring on a bus of its own. SPEC A7, cases R12.

use std::collections::HashMap;
use std::path::Path;

use cairn_protocol::{KeepKey, KeyPlace};
use cairn_store::{Secret, SecretError, Secrets};

use crate::kit::{Place, child_through, has, told};

/// Starts the child on a fresh bus, after `before` ran in its shell; all that it printed.
fn on_a_bus(what: &str, before: &str, place: &Place) -> String {
    let script = format!("{before}\nexec \"$@\"");
    let arguments = ["--", "sh", "-c", script.as_str(), "sh"];
    let mut command = child_through(
        "dbus-run-session",
        &arguments,
        "keychain::uses_the_keychain",
        what,
        place.folder.path(),
    );
    let home = place.folder.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    command
        .env("HOME", &home)
        .env("XDG_DATA_HOME", home.join("share"))
        .env_remove("XDG_RUNTIME_DIR");
    command.env("XDG_RUNTIME_DIR", &home);
    let output = command.output().unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_key_in_the_real_keychain_outlives_the_program_and_can_be_deleted() {
    if !has("dbus-run-session") || !has("gnome-keyring-daemon") {
        return;
    }
    let unlock = "printf x | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1";
    let said = on_a_bus("keep", unlock, &Place::new());
    assert!(said.contains("=> kept, read, deleted"), "{said}");
}

#[test]
fn a_bus_without_a_keychain_is_said_plainly() {
    if !has("dbus-run-session") {
        return;
    }
    let place = Place::new();
    // No service may be started by the bus either.
    let config = place.folder.path().join("bus.conf");
    std::fs::write(
        &config,
        "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>\
         <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/>\
         <allow own=\"*\"/></policy></busconfig>",
    )
    .unwrap();
    let mut command = child_through(
        "dbus-run-session",
        &["--config-file", config.to_str().unwrap(), "--"],
        "keychain::uses_the_keychain",
        "none",
        place.folder.path(),
    );
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("=> none: this system has no keychain"), "{said}");
}

#[tokio::test]
#[ignore = "the child process of other tests"]
async fn uses_the_keychain() {
    let Some((what, folder)) = told() else { return };
    let start = || start(&folder);
    if what == "none" {
        let refused = start()
            .set("work", Secret::new("sk-x"), KeepKey::Keychain)
            .await
            .unwrap_err();
        assert!(matches!(refused, SecretError::NoKeychain { .. }), "{refused:?}");
        println!("=> none: {refused}");
        return;
    }
    start().check_keychain().await.unwrap();
    start()
        .set("work", Secret::new("sk-in-the-ring"), KeepKey::Keychain)
        .await
        .unwrap();
    let found = start().key("work", None).await.unwrap().unwrap();
    assert_eq!(
        (found.secret.expose(), found.place),
        ("sk-in-the-ring", KeyPlace::Keychain)
    );
    start().delete("work").await.unwrap();
    assert_eq!(start().key("work", None).await.unwrap(), None);
    println!("=> kept, read, deleted");
}

fn start(folder: &Path) -> Secrets {
    let bus: HashMap<String, String> = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect();
    Secrets::new(folder.join("keys"), &bus)
}
