//! The real window in both themes and the sizes that count: pictures to be looked at, and nothing wider than the window.

use cairn_testkit::provider::{Reply, Script};
use serde_json::json;

use crate::app::{App, Setup, button, config};
use crate::driver::until;

const SIZES: [(u32, u32); 2] = [(900, 640), (1_600, 1_000)];

fn replies() -> Vec<Reply> {
    let long = format!(
        "cargo test --workspace --all-features -- --nocapture {}",
        "--skip a_rather_long_name_of_a_test ".repeat(6)
    );
    let plan = json!({ "todos": [
        { "content": "Look at the picture", "status": "completed" },
        { "content": "Make the left margin follow the widest label", "status": "in_progress" },
        { "content": "Run the tests", "status": "pending" },
    ] });
    let options = json!([{ "label": "Follow the widest label" }, { "label": "A fixed margin of 40" }]);
    vec![
        Reply::text("I look at the picture first, then at the code that draws it.")
            .and_call("todo_write", plan),
        Reply::call("read_file", json!({ "path": "docs/axis.png" }))
            .and_call("read_file", json!({ "path": "src/axis.txt" })),
        Reply::call(
            "ask_user",
            json!({ "questions": [{ "question": "Which margin?", "options": options }] }),
        ),
        Reply::call(
            "edit_file",
            json!({ "path": "src/axis.txt", "old_string": "margin = 24", "new_string": "margin = 40" }),
        ),
        Reply::call(
            "shell",
            json!({ "command": long, "description": "Runs all tests" }),
        ),
        Reply::text(
            "The margin follows the labels now:\n\n```rust\nlet margin = labels.iter().map(width).max();\n```\n\n| what | before | after |\n|---|---|---|\n| margin | 24 | 40 |\n\n- labels are no longer cut\n- `axis.txt` is the only file that changed",
        ),
    ]
}

fn fits(app: &App, what: &str) {
    // After the picture: what goes at another size goes when the window is drawn.
    until(&format!("{what} within its window"), || {
        let wide = app.driver.run(
            "const over = (e) => e.getBoundingClientRect().right > innerWidth + 1; const out = []; const cuts = []; \
             for (const e of document.querySelectorAll('body *')) { \
             if (e.getBoundingClientRect().width === 0 || !over(e) || e.closest('[data-scrolls]')) continue; \
             let p = e.parentElement; while (p && (getComputedStyle(p).overflowX === 'visible' || over(p))) p = p.parentElement; \
             (p ? cuts : out).push(e.tagName + '.' + e.className); } \
             return document.scrollingElement.scrollWidth <= innerWidth ? out.slice(0, 5) : [...out, ...cuts, 'wide page'].slice(-9)",
        );
        if wide == json!([]) {
            Ok(())
        } else {
            Err(wide.to_string())
        }
    });
}

/// Takes the picture in both sizes, and looks that nothing hangs out.
fn both(app: &App, what: &str, theme: &str) {
    for (width, height) in SIZES {
        app.driver.resize(width, height);
        app.shot(&format!("{what}-{theme}-{width}x{height}"));
        fits(app, what);
    }
}

fn rarer() -> Vec<Reply> {
    let fact = "The axis tests need the fonts of the test image; run them with `cargo test -p axis -- --test-threads 1`, \
                never in parallel, since they write into the same picture.";
    let serve = "for n in $(seq 1 400); do echo \"tick $n: a rather long line of a server that says what it does\"; \
                 done; sleep 600";
    vec![
        Reply::text("I keep that for later.").and_call("remember", json!({ "fact": fact })),
        Reply::call(
            "shell",
            json!({ "command": serve, "background": true, "description": "Serves the pages" }),
        ),
        Reply::text("The server runs."),
        Reply::error(
            401,
            "Incorrect API key provided: the key ends in …7f3a and belongs to an organisation that was closed on \
             the first of May; ask its owner for a new one.",
        ),
    ]
}

/// What opens the log of the one process that runs.
const LOG: &str = "//*[@role='tabpanel']//button[@aria-expanded='false'][contains(., 'for n in')]";

#[test]
fn the_windows_rarer_states_in_both_themes_and_sizes() {
    for theme in ["light", "dark"] {
        let app = App::start_with(Setup {
            script: Script {
                context_window: 0,
                ..Script::new(rarer())
            },
            config: Box::new(move |base| config(base, &format!("[ui]\ntheme = \"{theme}\""))),
            ..Setup::new(vec![])
        });
        app.shows(&["New session", "How many tokens"]);
        both(&app, "7-unknown-window", theme);
        app.say("Remember how the axis tests run, then start the server.");
        app.card("Remember this?");
        both(&app, "8-remember", theme);
        app.driver.click(&button("Allow once"));
        app.card("Run this command?");
        app.driver.click(&button("Allow once"));
        app.shows(&["The server runs."]);
        app.driver.click("//*[@role='tab'][contains(., 'Running')]");
        app.driver.click(LOG);
        app.shows(&["tick 400"]);
        both(&app, "9-running", theme);
        app.driver.resize(900, 640);
        app.driver
            .click("//header//button[contains(@aria-label, 'Right pane')]");
        // The page that was picked is the one in the drawer, too.
        app.driver.click(LOG);
        app.shows(&["tick 400"]);
        app.shot(&format!("9-running-drawer-{theme}-900x640"));
        fits(&app, "9-running-drawer");
        app.driver.resize(1_600, 1_000);
        app.say("Thanks.");
        app.shows(&["Incorrect API key provided"]);
        both(&app, "10-wrong-key", theme);
        app.driver
            .run("document.querySelector('header button[aria-label*=\"ettings\"]').click()");
        app.shows(&["Settings", "Memory"]);
        for (width, height) in SIZES {
            app.driver.resize(width, height);
            app.driver
                .run("document.getElementById('settings-memory').scrollIntoView()");
            app.shot(&format!("11-memory-{theme}-{width}x{height}"));
            fits(&app, "11-memory");
        }
    }
}

#[test]
fn a_window_that_cannot_start_and_one_that_closes_in_both_themes_and_sizes() {
    let temp = tempfile::TempDir::new().unwrap();
    let folder = temp
        .path()
        .join("a-project-with-quite-a-long-name-that-goes-on-and-on/and-a-folder-in-it/later");
    for theme in ["light", "dark"] {
        let themed = move |base: &str| config(base, &format!("[ui]\ntheme = \"{theme}\""));
        let app = App::start_with(Setup {
            config: Box::new(themed),
            folder: Some(folder.clone()),
            ..Setup::new(vec![])
        });
        app.shows(&["There is no folder"]);
        both(&app, "12-no-folder", theme);
        let (app, _) = crate::closing::working(Setup {
            config: Box::new(themed),
            ..Setup::new(vec![])
        });
        both(&app, "13-closing", theme);
    }
}

#[test]
fn the_window_in_both_themes_and_sizes() {
    for theme in ["light", "dark"] {
        let picture = include_bytes!("axis.png").to_vec();
        let app = App::start_with(Setup {
            script: Script::new(replies()),
            files: vec![
                ("docs/axis.png".to_owned(), picture),
                ("src/axis.txt".to_owned(), b"margin = 24\nlabels = 3\n".to_vec()),
            ],
            config: Box::new(move |base| {
                config(
                    base,
                    &format!("context_window = 32768\n[ui]\ntheme = \"{theme}\""),
                )
            }),
            ..Setup::new(vec![])
        });
        app.shows(&["New session"]);
        both(&app, "1-first", theme);
        app.say("The axis labels are cut off. Make the margin follow the widest label and run the tests.");
        app.driver.wait_for("//*[contains(., 'Which margin?')]");
        both(&app, "2-question", theme);
        app.driver.click("//label[contains(., 'Follow the widest')] | //*[@role='radio'][contains(., 'Follow the widest')]");
        crate::send_answer(&app);
        app.card("Edit axis.txt?");
        both(&app, "3-edit", theme);
        app.driver.click(&button("Allow once"));
        app.card("Run this command?");
        both(&app, "4-command", theme);
        app.driver.click(&button("Skip"));
        app.shows(&["is the only file that changed"]);
        both(&app, "5-done", theme);
        app.driver
            .run("document.querySelector('header button[aria-label*=\"ettings\"]').click()");
        app.shows(&["Settings"]);
        both(&app, "6-settings", theme);
    }
}
