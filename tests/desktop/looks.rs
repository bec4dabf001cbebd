//! The real window in both themes and the sizes that count: pictures to be looked at, and nothing wider than the window.

use cairn_testkit::provider::{Reply, Script};
use serde_json::json;

use crate::app::{App, Setup, button, config};

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
    let wide = app.driver.run(
        "const out = []; for (const e of document.querySelectorAll('body *')) { const r = e.getBoundingClientRect(); \
         if (r.width > 0 && r.right > innerWidth + 1 && !e.closest('[data-scrolls]')) { \
         let p = e.parentElement; let cut = false; while (p) { const s = getComputedStyle(p); \
         if (s.overflowX !== 'visible' && p.getBoundingClientRect().right <= innerWidth + 1) { cut = true; break; } p = p.parentElement; } \
         if (!cut) out.push(e.tagName + '.' + e.className); } } \
         return [document.scrollingElement.scrollWidth <= innerWidth, out.slice(0, 5)]",
    );
    assert_eq!(wide[0], true, "{what} is wider than the window: {wide}");
    assert_eq!(wide[1], json!([]), "{what} hangs out of the window");
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
        let both = |what: &str| {
            for (width, height) in SIZES {
                app.driver.resize(width, height);
                fits(&app, what);
                app.shot(&format!("{what}-{theme}-{width}x{height}"));
            }
        };
        app.shows(&["New session"]);
        both("1-first");
        app.say("The axis labels are cut off. Make the margin follow the widest label and run the tests.");
        app.driver.wait_for("//*[contains(., 'Which margin?')]");
        both("2-question");
        app.driver.click("//label[contains(., 'Follow the widest')] | //*[@role='radio'][contains(., 'Follow the widest')]");
        crate::send_answer(&app);
        app.card("Edit axis.txt?");
        both("3-edit");
        app.driver.click(&button("Allow once"));
        app.card("Run this command?");
        both("4-command");
        app.driver.click(&button("Skip"));
        app.shows(&["is the only file that changed"]);
        both("5-done");
        app.driver
            .run("document.querySelector('header button[aria-label*=\"ettings\"]').click()");
        app.shows(&["Settings"]);
        both("6-settings");
    }
}
