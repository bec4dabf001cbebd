//! Text that is made to be slow: the window stays there, and what is typed meanwhile arrives. Case W25.

use cairn_testkit::provider::Reply;
use serde_json::json;

use crate::app::{App, COMPOSER};
use crate::asking::request;
use crate::driver::until;

/// No frame may be missing for this long, in milliseconds. A debug build on a busy machine gets more than SPEC gives.
const FREEZE: f64 = 4_000.0;

/// From now on the page notes the longest time between two frames, and between a key and the frame after it.
const MEASURE: &str = "const now = () => performance.now(); let last = now(); window.longest = 0; window.typed = 0; \
    const frame = () => { window.longest = Math.max(window.longest, now() - last); last = now(); requestAnimationFrame(frame); }; \
    requestAnimationFrame(frame); \
    addEventListener('input', (event) => { const at = event.timeStamp; \
    requestAnimationFrame(() => { window.typed = Math.max(window.typed, now() - at); }); }, true);";

fn floods() -> Vec<(&'static str, String)> {
    let zalgo: String =
        "z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}".repeat(2_000);
    vec![
        ("one token of megabytes", "x".repeat(2_000_000)),
        (
            "a table of 200,000 rows",
            format!("| a | b |\n|---|---|\n{}", "| 1 | 2 |\n".repeat(200_000)),
        ),
        ("quotes 50,000 deep", format!("{} x", ">".repeat(50_000))),
        ("lists 50,000 deep", format!("{}x", "- ".repeat(50_000))),
        (
            "brackets in brackets",
            format!("{}{}", "[".repeat(30_000), "](x)".repeat(15_000)),
        ),
        ("a million backticks", "`".repeat(1_000_000)),
        ("letters under towers of marks", zalgo),
        (
            "a thousand blocks of code",
            "```rust\nlet x = 1;\n```\n\n".repeat(1_000),
        ),
        ("a thousand empty quotes and rules", ">\n\n---\n\n".repeat(1_000)),
    ]
}

#[test]
fn w25_text_that_is_made_to_be_slow_freezes_nothing() {
    let mut replies = vec![Reply::text("Begun.")];
    for (at, (_, text)) in floods().into_iter().enumerate() {
        let letters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = letters
            .chunks(60_000)
            .map(|piece| piece.iter().collect())
            .collect();
        let end = format!("\n\nend-{at}");
        replies.push(Reply::pieces(
            pieces.iter().map(String::as_str).chain([end.as_str()]),
        ));
    }
    let app = App::start(&[("a.txt", "a\n")], replies);
    app.driver.wait_for(COMPOSER);
    app.driver.run(MEASURE);
    let list = json!({ "archived": false, "after": null, "limit": 0 });
    let state = || request(&app.driver, "session/list", &list).unwrap()["sessions"][0].clone();
    app.say("Begin");
    app.wait_for_asked(1);
    let mut slow = Vec::new();
    for (at, (what, _)) in floods().into_iter().enumerate() {
        app.driver.run("window.longest = 0; window.typed = 0;");
        // A session of its own: the next request would carry the flood.
        app.driver
            .click("//button[contains(normalize-space(.), 'New session')]");
        app.say(&format!("Flood {at}"));
        app.wait_for_asked(at + 2);
        app.driver.type_into(COMPOSER, "typed meanwhile");
        let value = "return document.activeElement?.value ?? ''";
        let typed = app.driver.run(value);
        assert!(
            typed.as_str().unwrap_or_default().contains("typed meanwhile"),
            "{what}: {typed}"
        );
        until(&format!("the end of {what}"), || {
            let state = state()["state"].clone();
            if state == "done" || state == "failed" {
                Ok(())
            } else {
                Err(state.to_string())
            }
        });
        app.driver.run_async("const done = arguments[arguments.length - 1]; requestAnimationFrame(() => setTimeout(done, 100));");
        let seen = app.driver.run("return [window.longest, window.typed]");
        let number = |n: usize| seen[n].as_f64().unwrap_or(f64::MAX);
        eprintln!(
            "{what}: longest frame {:.0} ms, key to frame {:.0} ms",
            number(0),
            number(1)
        );
        if number(0) > FREEZE || number(1) > FREEZE {
            slow.push(format!("{what}: {seen}"));
        }
    }
    assert_eq!(slow, Vec::<String>::new());
}
