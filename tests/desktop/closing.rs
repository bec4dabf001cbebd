//! Closing a window while something works: it asks, and does what was chosen. SPEC P4.

use cairn_testkit::provider::Reply;
use serde_json::json;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt, EventMask, Window};
use x11rb::rust_connection::RustConnection;

use crate::app::{App, Setup, alive, button, pids};
use crate::driver::until;

/// Asks all windows of a process to close, as the cross in their frames does.
fn close(pid: u32) {
    let (display, screen) = RustConnection::connect(None).unwrap();
    let atom = |name: &str| {
        display
            .intern_atom(false, name.as_bytes())
            .unwrap()
            .reply()
            .unwrap()
            .atom
    };
    let (protocols, delete, of) = (
        atom("WM_PROTOCOLS"),
        atom("WM_DELETE_WINDOW"),
        atom("_NET_WM_PID"),
    );
    let root = display.setup().roots[screen].root;
    let is_wanted = |window: &Window| {
        let found = display
            .get_property(false, *window, of, AtomEnum::CARDINAL, 0, 1)
            .unwrap()
            .reply();
        let owner = found.ok().and_then(|found| found.value32()?.next());
        let shown = display.get_window_attributes(*window).unwrap().reply();
        let is_shown =
            shown.is_ok_and(|shown| shown.map_state == x11rb::protocol::xproto::MapState::VIEWABLE);
        owner == Some(pid) && is_shown
    };
    for window in display
        .query_tree(root)
        .unwrap()
        .reply()
        .unwrap()
        .children
        .into_iter()
        .filter(is_wanted)
    {
        let event = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
        display
            .send_event(false, window, EventMask::NO_EVENT, event)
            .unwrap()
            .check()
            .unwrap();
    }
    display.flush().unwrap();
}

pub(crate) fn is_shown(pid: u32) -> bool {
    let (display, screen) = RustConnection::connect(None).unwrap();
    let of = display
        .intern_atom(false, b"_NET_WM_PID")
        .unwrap()
        .reply()
        .unwrap()
        .atom;
    let root = display.setup().roots[screen].root;
    display
        .query_tree(root)
        .unwrap()
        .reply()
        .unwrap()
        .children
        .into_iter()
        .any(|window| {
            let found = display
                .get_property(false, window, of, AtomEnum::CARDINAL, 0, 1)
                .unwrap()
                .reply();
            let shown = display.get_window_attributes(window).unwrap().reply();
            found.ok().and_then(|found| found.value32()?.next()) == Some(pid)
                && shown.is_ok_and(|shown| shown.map_state == x11rb::protocol::xproto::MapState::VIEWABLE)
        })
}

/// A window whose session runs a command until it is stopped or a file appears.
pub(crate) fn working(setup: Setup) -> (App, u32) {
    let line = "touch started; until [ -e go ]; do sleep 0.1; done; touch finished";
    let mut setup = setup;
    setup
        .script
        .replies
        .push_front(Reply::call("shell", json!({ "command": line })));
    let app = App::start_with(setup);
    app.say("Work");
    app.card("Run this command?");
    app.driver.click(&button("Allow once"));
    until("the command", || {
        app.project
            .text("started")
            .map(drop)
            .map_err(|error| error.to_string())
    });
    let pid = app.pid();
    close(pid);
    app.shows(&["Keep working", "Stop and close"]);
    (app, pid)
}

/// Presses a button after which the window is gone, before a click by the driver would have come to its end.
pub(crate) fn press(app: &App, words: &str) {
    app.driver.wait_for(&button(words));
    app.driver.run(&format!(
        "const wanted = [...document.querySelectorAll('button')].find((b) => b.textContent.trim().startsWith('{words}')); \
         setTimeout(() => wanted.click(), 50);"
    ));
}

fn ends(pid: u32) {
    until("the end of the program", || {
        if alive(pid) {
            Err("it lives".to_owned())
        } else {
            Ok(())
        }
    });
}

#[test]
fn a_working_window_asks_and_can_be_kept_open() {
    let (app, pid) = working(Setup::new(vec![Reply::text("All done.")]));
    app.shot("i-closing");
    app.driver.click(&button("Cancel"));
    std::fs::write(app.project.root().join("go"), "").unwrap();
    app.shows(&["All done."]);
    assert!(alive(pid));
    // Nothing works any more: now it closes at once.
    close(pid);
    ends(pid);
}

#[test]
fn stop_and_close_stops_the_work() {
    let (app, pid) = working(Setup::new(vec![]));
    press(&app, "Stop and close");
    ends(pid);
    std::fs::write(app.project.root().join("go"), "").unwrap();
    let project = app.project.root().to_owned();
    let is_left = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == project) && alive(*pid)
    };
    until("the end of the command", || {
        if pids().iter().any(is_left) {
            Err("it runs".to_owned())
        } else {
            Ok(())
        }
    });
    assert!(
        app.project.text("finished").is_err(),
        "it was stopped, not waited for"
    );
}

#[test]
fn kept_work_goes_on_out_of_sight_and_the_window_goes_when_it_is_done() {
    let (app, pid) = working(Setup::new(vec![Reply::text("All done.")]));
    press(&app, "Keep working");
    until("a window out of sight", || {
        if is_shown(pid) {
            Err("it is shown".to_owned())
        } else {
            Ok(())
        }
    });
    assert!(alive(pid));
    std::fs::write(app.project.root().join("go"), "").unwrap();
    ends(pid);
    assert!(app.project.text("finished").is_ok());
    assert_eq!(app.asked().len(), 2, "the model got its result");
}

#[test]
fn kept_work_brings_the_window_back_when_the_person_is_asked() {
    let then = vec![
        Reply::call("shell", json!({ "command": "touch more" })),
        Reply::text("All done."),
    ];
    let (app, pid) = working(Setup::new(then));
    press(&app, "Keep working");
    until("a window out of sight", || {
        if is_shown(pid) {
            Err("it is shown".to_owned())
        } else {
            Ok(())
        }
    });
    std::fs::write(app.project.root().join("go"), "").unwrap();
    until("the window again", || {
        if is_shown(pid) {
            Ok(())
        } else {
            Err("it is hidden".to_owned())
        }
    });
    app.card("Run this command?");
    app.driver.click(&button("Skip"));
    app.shows(&["All done."]);
}

#[test]
fn a_window_whose_card_waits_closes_at_once_and_the_card_is_there_again() {
    let write = json!({ "path": "new.txt", "content": "new\n" });
    let replies = vec![Reply::call("write_file", write), Reply::text("Written.")];
    let mut app = App::start_with(Setup::new(replies));
    app.say("Write");
    app.card("Edit new.txt?");
    let pid = app.pid();
    close(pid);
    ends(pid);
    app.start_again();
    app.driver
        .click("//aside//*[contains(text(), 'Write')] | //nav//*[contains(text(), 'Write')]");
    app.card("Edit new.txt?");
    assert!(app.project.text("new.txt").is_err(), "nothing ran by itself");
    app.driver.click(&button("Allow once"));
    app.file_holds("new.txt", "new");
    app.shows(&["Written."]);
}

#[test]
fn a_session_that_another_window_has_is_shown_there() {
    let (app, pid) = working(Setup::new(vec![Reply::text("All done.")]));
    press(&app, "Keep working");
    until("a window out of sight", || {
        if is_shown(pid) {
            Err("it is shown".to_owned())
        } else {
            Ok(())
        }
    });
    let other = app.another();
    other
        .driver
        .click("//aside//*[contains(text(), 'Work')] | //nav//*[contains(text(), 'Work')]");
    other
        .driver
        .wait_for("//*[contains(text(), 'Running in another window')]");
    other.driver.click(&button("Show it"));
    until("the window that has it", || {
        if is_shown(pid) {
            Ok(())
        } else {
            Err("it is hidden".to_owned())
        }
    });
    std::fs::write(app.project.root().join("go"), "").unwrap();
    app.shows(&["All done."]);
}
