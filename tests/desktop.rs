//! The real window, driven through WebDriver like a person drives it, against a scripted model over real HTTP.
//! Nothing inside the product is replaced. Each story leaves a screenshot in `target/shots/window`.
//!
//! Needs a display, dbus-daemon and WebKitWebDriver: `./dev test` sees to all three.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by a panic, and says why on the terminal"
)]

#[path = "desktop/app.rs"]
mod app;
#[path = "desktop/asking.rs"]
mod asking;
#[path = "desktop/cards.rs"]
mod cards;
#[path = "desktop/closing.rs"]
mod closing;
#[path = "desktop/driver.rs"]
mod driver;
#[path = "desktop/dropping.rs"]
mod dropping;
#[path = "desktop/hostile.rs"]
mod hostile;
#[path = "desktop/leaving.rs"]
mod leaving;
#[path = "desktop/looks.rs"]
mod looks;
#[path = "desktop/traces.rs"]
mod traces;
#[path = "desktop/troubles.rs"]
mod troubles;

use cairn_testkit::TempProject;
use cairn_testkit::provider::Reply;
use serde_json::json;

use app::{App, COMPOSER, alive, button, pids};
use driver::until;

const AXIS: (&str, &str) = ("src/axis.txt", "margin = 24\nlabels = 3\n");

fn edit(from: &str, to: &str) -> Reply {
    Reply::call(
        "edit_file",
        json!({ "path": "src/axis.txt", "old_string": from, "new_string": to }),
    )
}

fn read() -> Reply {
    Reply::call("read_file", json!({ "path": "src/axis.txt" }))
}

#[test]
fn two_projects_have_two_windows_and_the_same_one_is_focused() {
    let app = App::start(&[AXIS], vec![]);
    app.driver.wait_for(
        &button("+ New session")
            .replace("starts-with", "contains")
            .replace("+ ", ""),
    );
    let other = TempProject::new([("README.md", "# Other")]).unwrap();
    app.second_start(other.root());
    until("a second window", || {
        if app.driver.windows().len() == 2 {
            Ok(())
        } else {
            Err(String::new())
        }
    });
    // The one that was opened last has the focus; a start for the folder of the other gives it to that.
    for project in [&app.project, &other, &app.project] {
        app.second_start(project.root());
        let windows = app.driver.windows();
        assert_eq!(windows.len(), 2, "the same folder gets no further window");
        let name = project.root().file_name().unwrap().to_str().unwrap();
        until(&format!("the focus on the window that shows {name}"), || {
            let focused = |window: &&String| {
                app.driver.switch(window);
                app.driver.run("return document.hasFocus()").as_bool() == Some(true)
            };
            let shown = windows.iter().find(focused).map(|_| {
                app.driver
                    .find(&format!("//header//*[contains(text(), '{name}')]"))
            });
            match shown {
                Some(Ok(_)) => Ok(()),
                _ => Err(app.driver.page_text()),
            }
        });
    }
    app.shot("a-two-projects");
}

#[test]
fn an_edit_is_allowed_denied_with_a_note_and_skipped() {
    let replies = vec![
        read(),
        edit("margin = 24", "margin = 40"),
        edit("labels = 3", "labels = 4"),
        edit("labels = 3", "labels = 5"),
        Reply::text("All done."),
    ];
    let app = App::start(&[AXIS], replies);
    app.say("Make the labels fit");
    app.card("Edit axis.txt?");
    app.shot("b-edit-card");
    assert_eq!(
        app.project.text("src/axis.txt").unwrap(),
        AXIS.1,
        "nothing changes before the click"
    );
    app.driver.click(&button("Allow once"));
    app.file_holds("src/axis.txt", "margin = 40");

    app.card("Edit axis.txt?");
    app.driver.click(&button("Deny"));
    app.driver
        .type_into("//*[@data-approval]//textarea", "keep three labels");
    app.card("Edit axis.txt?");
    app.driver.click(&button("Deny with this note"));
    let asked = app.wait_for_asked(4);
    assert!(
        asked[3].contains("The user says: keep three labels"),
        "{}",
        asked[3]
    );

    app.card("Edit axis.txt?");
    app.driver.click(&button("Skip"));
    app.driver.wait_for("//*[contains(., 'All done.')]");
    let asked = app.wait_for_asked(5);
    assert!(asked[4].contains("skipped this call"), "{}", asked[4]);
    assert_eq!(
        app.project.text("src/axis.txt").unwrap(),
        "margin = 40\nlabels = 3\n"
    );
    app.shot("b-done");
}

#[test]
fn questions_are_answered_by_an_option_and_in_own_words() {
    let ask = |text: &str| {
        let options = json!([{ "label": "Follow the widest label" }, { "label": "A fixed margin" }]);
        Reply::call(
            "ask_user",
            json!({ "questions": [{ "question": text, "options": options }] }),
        )
    };
    let replies = vec![
        ask("Which margin?"),
        ask("Which colour?"),
        Reply::text("Understood."),
    ];
    let app = App::start(&[AXIS], replies);
    app.say("Ask me");
    app.driver.wait_for("//*[contains(., 'Which margin?')]");
    app.shot("c-question");
    app.driver
        .click("//label[contains(., 'A fixed margin')] | //*[@role='radio'][contains(., 'A fixed margin')]");
    send_answer(&app);
    let asked = app.wait_for_asked(2);
    assert!(
        asked[1].contains("The user picked: A fixed margin"),
        "{}",
        asked[1]
    );

    app.driver.wait_for("//*[contains(., 'Which colour?')]");
    app.driver.type_into(
        "//*[contains(@class, 'own')]//textarea | //textarea[not(@aria-label='Message')]",
        "lichen green",
    );
    send_answer(&app);
    let asked = app.wait_for_asked(3);
    assert!(
        asked[2].contains("None of the options. In the user's own words: lichen green"),
        "{}",
        asked[2]
    );
    app.driver.wait_for("//*[contains(., 'Understood.')]");
}

/// The answer is looked at before it goes; a click within the guard's 400 ms is not taken, so it is tried again.
fn send_answer(app: &App) {
    let before = app.asked().len();
    until("the sent answer", || {
        let _clicked = app
            .driver
            .find("//button[starts-with(normalize-space(.), 'Send answer')]")
            .map(|_| {
                app.driver
                    .click("//button[starts-with(normalize-space(.), 'Send answer')]");
            });
        if app.asked().len() > before {
            Ok(())
        } else {
            Err(app.driver.page_text())
        }
    });
}

#[test]
fn a_picture_is_seen_by_both() {
    let picture = include_bytes!("desktop/axis.png");
    let files: [(&str, &[u8]); 1] = [("docs/axis.png", picture)];
    let replies = vec![
        Reply::call("read_file", json!({ "path": "docs/axis.png" })),
        Reply::text("A wave."),
    ];
    let app = App::start(&files, replies);
    app.say("Look at docs/axis.png");
    app.driver.wait_for("//*[contains(., 'A wave.')]");
    let loaded =
        "return [...document.querySelectorAll('img')].map((i) => i.complete && i.naturalWidth).join()";
    until("the thumbnail", || match app.driver.run(loaded).as_str() {
        Some(widths)
            if widths
                .split(',')
                .any(|width| width.parse().is_ok_and(|n: u32| n > 0)) =>
        {
            Ok(())
        }
        other => Err(format!("{other:?}")),
    });
    app.shot("d-thumbnail");
    app.driver
        .click("//button[normalize-space(.) = 'Open full size']");
    app.driver.wait_for("//*[@role='dialog']//img");
    app.shot("d-full-size");
    let asked = app.asked();
    assert!(
        asked[1].contains("data:image/png;base64,"),
        "the request carries the picture"
    );
}

#[test]
fn after_kill_the_history_is_there_and_the_card_needs_a_new_click() {
    let replies = vec![
        read(),
        edit("margin = 24", "margin = 40"),
        Reply::text("Done now."),
        Reply::text("Hello again."),
    ];
    let mut app = App::start(&[AXIS], replies);
    app.say("Make the labels fit");
    app.card("Edit axis.txt?");
    app.kill_and_start_again();
    app.driver.click("//aside//*[contains(text(), 'Make the labels fit')] | //nav//*[contains(text(), 'Make the labels fit')]");
    app.card("Edit axis.txt?");
    app.shot("e-after-kill");
    assert_eq!(
        app.project.text("src/axis.txt").unwrap(),
        AXIS.1,
        "nothing ran by itself"
    );
    app.driver.click(&button("Allow once"));
    app.file_holds("src/axis.txt", "margin = 40");
    app.driver.wait_for("//*[contains(., 'Done now.')]");
    app.say("And?");
    app.driver.wait_for("//*[contains(., 'Hello again.')]");
}

#[test]
fn stop_leaves_no_child_of_a_command() {
    let line = "sleep 987654 & (setsid sleep 987655 &) ; trap '' TERM; sleep 987656";
    let app = App::start(&[AXIS], vec![Reply::call("shell", json!({ "command": line }))]);
    app.say("Run it");
    app.card("Run this command?");
    app.driver.click(&button("Allow once"));
    until("three children", || {
        if sleepers() == 3 {
            Ok(())
        } else {
            Err(format!("{} run", sleepers()))
        }
    });
    app.shot("f-running");
    app.driver.click(&button("Stop"));
    until("the end of all children", || {
        if sleepers() == 0 {
            Ok(())
        } else {
            Err(format!("{} run", sleepers()))
        }
    });
    app.driver.wait_for("//*[contains(., 'Stopped')]");
}

fn sleepers() -> usize {
    let sleeps = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\x0098765") && alive(*pid)
    };
    pids().iter().filter(|pid| sleeps(pid)).count()
}

#[test]
fn nothing_is_allowed_by_accident() {
    let replies = vec![
        read(),
        edit("margin = 24", "margin = 40"),
        Reply::text("Skipped then."),
    ];
    let app = App::start(&[AXIS], replies);
    // From the moment the card appears every frame brings clicks and letters, for less than the guard's 400 ms.
    let storm = "window.storm = { n: 0 }; new MutationObserver(() => { \
        const card = document.querySelector('[data-approval]'); if (!card || window.storm.since) return; \
        window.storm.since = performance.now(); \
        const strike = () => { \
        const allow = [...card.querySelectorAll('button')].find((b) => b.textContent.includes('Allow once')); \
        if (allow) { for (const kind of ['pointerdown', 'pointerup']) allow.dispatchEvent(new PointerEvent(kind, { bubbles: true })); \
        allow.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 })); window.storm.n += 1; } \
        card.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true })); }; \
        const hit = () => { if (performance.now() - window.storm.since > 300) { window.storm.over = true; return; } \
        strike(); requestAnimationFrame(hit); }; \
        for (let n = 0; n < 5; n += 1) { strike(); } hit(); }).observe(document.body, { childList: true, subtree: true });";
    app.driver.wait_for(COMPOSER);
    app.driver.run(storm);
    app.say("Make the labels fit");
    app.card("Edit axis.txt?");
    let hits = app.driver.run("return window.storm.over ? window.storm.n : -1");
    assert!(hits.as_i64().unwrap() > 3, "the storm hit: {hits}");
    app.driver.type_into(COMPOSER, "yyy");
    app.driver.run(
        "const allow = [...document.querySelectorAll('[data-approval] button')].find((b) => b.textContent.includes('Allow once')); \
         allow.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 2 }));",
    );
    app.shot("g-still-waiting");
    assert_eq!(app.project.text("src/axis.txt").unwrap(), AXIS.1);
    app.driver.click(&button("Skip"));
    app.driver.wait_for("//*[contains(., 'Skipped then.')]");
    assert_eq!(
        app.project.text("src/axis.txt").unwrap(),
        AXIS.1,
        "nothing was allowed by accident"
    );
}
