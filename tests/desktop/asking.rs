//! What a page may ask of the core, and for whom: the window's own project, once, and nothing else. SPEC W1, P4.

use cairn_testkit::TempProject;
use cairn_testkit::provider::Reply;
use serde_json::{Value, json};

use crate::app::{App, COMPOSER, button};
use crate::driver::{Driver, until};

const FILE: (&str, &str) = ("src/axis.txt", "margin = 24\n");

/// Asks the core as the page itself does; the answer, or the error with its code.
pub(crate) fn request(driver: &Driver, method: &str, params: &Value) -> Result<Value, Value> {
    let envelope = json!({ "method": method, "params": params });
    invoke(
        driver,
        "request",
        &format!("{{ envelope: {{ client: crypto.randomUUID(), ...{envelope} }} }}"),
    )
}

/// Calls a command of the shell with that JavaScript as arguments.
fn invoke(driver: &Driver, command: &str, arguments: &str) -> Result<Value, Value> {
    let script = format!(
        "const done = arguments[arguments.length - 1]; window.__TAURI_INTERNALS__.invoke({}, {arguments}) \
         .then((good) => done({{ good: good ?? null }}), (bad) => done({{ bad }}));",
        json!(command)
    );
    let answer = driver.run_async(&script);
    answer.get("good").cloned().ok_or_else(|| answer["bad"].clone())
}

/// The session of the window that is looked at, as its page gets it.
fn snapshot(driver: &Driver) -> Value {
    let list = request(
        driver,
        "session/list",
        &json!({ "archived": false, "after": null, "limit": 0 }),
    )
    .unwrap();
    let session = list["sessions"][0]["id"].clone();
    request(driver, "session/open", &json!({ "session": session })).unwrap()
}

/// What a page sends for *Allow once* on the first card of a snapshot.
fn allow(snapshot: &Value) -> Value {
    let card = &snapshot["approvals"][0];
    json!({
        "session": snapshot["session"]["id"], "approval": card["id"], "digest": card["digest"],
        "answer": { "kind": "allow_once" },
    })
}

/// A command that leaves one line each time it runs.
fn counted() -> Reply {
    Reply::call("shell", json!({ "command": "echo ran >> count.txt" }))
}

fn runs(app: &App) -> usize {
    app.project
        .text("count.txt")
        .map_or(0, |text| text.lines().count())
}

#[test]
fn w16_an_answer_from_another_projects_window_is_refused_and_the_card_waits_on() {
    let app = App::start(&[FILE], vec![counted(), Reply::text("All done.")]);
    app.say("Run it");
    app.card("Run this command?");
    let own = app.driver.windows().remove(0);
    let asked = snapshot(&app.driver);
    let other = TempProject::new([("README.md", "# Other")]).unwrap();
    app.second_start(other.root());
    let second = until("a second window", || {
        let windows = app.driver.windows();
        windows
            .into_iter()
            .find(|window| *window != own)
            .ok_or_else(String::new)
    });
    app.driver.switch(&second);
    app.driver.wait_for(COMPOSER);
    let session = json!({ "session": asked["session"]["id"] });
    for (method, params, code) in [
        ("approval/answer", allow(&asked), "not_owner"),
        ("session/open", session.clone(), "not_found"),
        ("turn/stop", session.clone(), "not_found"),
        ("session/delete", session.clone(), "not_found"),
    ] {
        let answer = request(&app.driver, method, &params);
        assert_eq!(answer.unwrap_err()["code"], code, "{method}");
    }
    let processes = request(&app.driver, "process/list", &session).unwrap();
    assert_eq!(processes["processes"], json!([]), "of a foreign session none");
    until("a line about it in the log", || {
        let log = app.log();
        if log.contains("does not own the session") {
            Ok(())
        } else {
            Err(log)
        }
    });
    app.driver.switch(&own);
    assert_eq!(runs(&app), 0, "nothing ran");
    assert_eq!(
        allow(&snapshot(&app.driver)),
        allow(&asked),
        "the same card still waits"
    );
    app.driver.click(&button("Allow once"));
    app.driver.wait_for("//*[contains(., 'All done.')]");
    assert_eq!(runs(&app), 1, "and its own window answers it");
}

#[test]
fn w19_w20_w21_a_guessed_a_repeated_and_a_doubled_answer_do_nothing_more() {
    let app = App::start(&[FILE], vec![counted(), counted(), Reply::text("All done.")]);
    app.say("Run it");
    app.card("Run this command?");
    let asked = snapshot(&app.driver);
    let right = allow(&asked);
    for (what, field, guess) in [
        ("an id", "approval", json!("00000000000000000000000000000000")),
        (
            "the id of the session",
            "approval",
            asked["session"]["id"].clone(),
        ),
        ("an empty digest", "digest", json!("")),
        ("a digest", "digest", json!("0".repeat(64))),
        ("a session", "session", json!("../../etc")),
        (
            "rules",
            "answer",
            json!({ "kind": "allow_always", "rules": ["shell: *"], "scope": "project" }),
        ),
    ] {
        let mut guessed = right.clone();
        guessed[field] = guess;
        let answer = request(&app.driver, "approval/answer", &guessed);
        assert!(answer.is_err(), "{what} was taken: {answer:?}");
    }
    assert_eq!(runs(&app), 0, "a guess runs nothing");
    assert_eq!(allow(&snapshot(&app.driver)), right, "and the card waits on");

    // Twenty at once, each with an id of its own so that none is dropped as a repeat of the same request.
    let script = format!(
        "const done = arguments[arguments.length - 1]; const params = {right}; \
         Promise.allSettled(Array.from({{ length: 20 }}, () => window.__TAURI_INTERNALS__.invoke('request', \
         {{ envelope: {{ client: crypto.randomUUID(), method: 'approval/answer', params }} }}))) \
         .then((all) => done(all.filter((one) => one.status === 'fulfilled').length));"
    );
    assert_eq!(app.driver.run_async(&script), json!(1), "one of twenty counts");
    app.card("Run this command?");
    assert_eq!(runs(&app), 1, "and it ran once");

    // The next card asks the very same again: an old answer is none for it.
    let next = allow(&snapshot(&app.driver));
    assert_ne!(next["approval"], right["approval"]);
    let mut mixed = next.clone();
    mixed["approval"] = right["approval"].clone();
    for replayed in [&right, &mixed] {
        assert!(request(&app.driver, "approval/answer", replayed).is_err());
    }
    assert_eq!(runs(&app), 1, "a replay runs nothing");
    app.driver.click(&button("Allow once"));
    app.driver.wait_for("//*[contains(., 'All done.')]");
    for replayed in [&right, &next] {
        assert!(request(&app.driver, "approval/answer", replayed).is_err());
    }
    assert_eq!(app.wait_for_asked(3).len(), 3, "and the model is asked no more");
    assert_eq!(runs(&app), 2, "each card ran its command once");
}

#[test]
fn w17_a_page_reaches_two_commands_and_no_other() {
    let app = App::start(&[FILE], vec![]);
    app.driver.wait_for(COMPOSER);
    assert!(request(&app.driver, "project/get", &json!({})).is_ok(), "its own");
    for command in [
        "plugin:opener|open_url",
        "plugin:opener|open_path",
        "plugin:opener|reveal_item_in_dir",
        "plugin:event|emit",
        "plugin:event|emit_to",
        "plugin:event|listen",
        "plugin:window|create",
        "plugin:window|get_all_windows",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:webview|internal_toggle_devtools",
        "plugin:app|version",
        "plugin:path|resolve_directory",
        "plugin:image|from_path",
        "plugin:resources|close",
        "plugin:menu|new",
        "plugin:tray|new",
        "plugin:single-instance|init",
        "plugin:shell|execute",
        "plugin:fs|read_text_file",
        "plugin:http|fetch",
        "second_start",
        "Request",
        "",
    ] {
        let arguments = "{ url: 'https://evil.example/', path: '/etc/passwd', event: 'x', target: { kind: 'Any' }, \
                         handler: 1, label: 'problem', options: { label: 'y', url: 'https://evil.example/' } }";
        let answer = invoke(&app.driver, command, arguments);
        assert!(answer.is_err(), "{command} was answered: {answer:?}");
        let why = answer.unwrap_err().to_string();
        assert!(
            why.contains("not allowed") || why.contains("not found"),
            "{command}: {why}"
        );
    }
    assert_eq!(app.driver.windows().len(), 1);
    let global = "return [typeof window.__TAURI__, typeof window.require, typeof window.process].join()";
    assert_eq!(app.driver.run(global), json!("undefined,undefined,undefined"));
}

#[test]
fn w26_a_poisoned_payload_changes_no_prototype() {
    let poison =
        r#"{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"path":"src/axis.txt"}"#;
    let plan = r#"{"todos":[{"content":"__proto__","status":"pending","__proto__":{"polluted":1}}]}"#;
    let app = App::start(
        &[("__proto__/constructor.md", "polluted\n")],
        vec![
            Reply::call("read_file", json!(poison)),
            Reply::call("todo_write", json!(plan)),
            Reply::call("__proto__", json!({ "__proto__": { "polluted": 1 } })),
            Reply::call("read_file", json!({ "path": "__proto__/constructor.md" })),
            Reply::text("```__proto__\nx\n```\n\nAll done."),
        ],
    );
    app.say("__proto__");
    app.driver.wait_for("//*[contains(., 'All done.')]");
    let tries = "const results = []; \
        for (const prototype of [Object.prototype, Object.getPrototypeOf({})]) { \
        try { prototype.polluted = 1; } catch { results.push('refused'); } \
        try { Object.defineProperty(prototype, 'polluted', { value: 1 }); } catch { results.push('refused'); } } \
        JSON.parse('{\"__proto__\":{\"polluted\":1}}'); \
        return [Object.isFrozen(Object.prototype), ({}).polluted ?? null, [].polluted ?? null]";
    assert_eq!(app.driver.run(tries), json!([true, null, null]));
    assert!(
        request(&app.driver, "project/get", &json!({})).is_ok(),
        "and the page works on"
    );
}
