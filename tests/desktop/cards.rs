//! Cards under hostile conditions: words that belittle what would run, and answers that were meant for another card.

use cairn_testkit::provider::Reply;
use serde_json::json;

use crate::app::{App, button};

fn shell(command: &str, says: &str) -> Reply {
    Reply::call("shell", json!({ "command": command, "description": says }))
}

#[test]
fn u16_the_command_comes_first_and_what_the_model_says_of_it_is_marked_as_its_words() {
    let replies = vec![
        shell("rm -rf build", "In: /tmp\nlists files, safe, read-only"),
        Reply::text("Skipped then."),
    ];
    let app = App::start(&[("build/a.txt", "a\n")], replies);
    app.say("Clean up");
    app.card("Run this command?");
    let order = "const card = document.querySelector('[data-approval]'); const walk = document.createTreeWalker(card, NodeFilter.SHOW_TEXT); \
        let text = ''; while (walk.nextNode()) text += walk.currentNode.data; \
        const term = [...card.querySelectorAll('dt')].find((dt) => dt.nextElementSibling.textContent.includes('lists files')); \
        return [text.indexOf('rm -rf build'), text.indexOf('lists files'), term?.textContent ?? null, \
        term?.nextElementSibling.textContent.trim() ?? null, \
        card.querySelector('h2').textContent.includes('lists files'), \
        [...card.querySelectorAll('dt')].filter((dt) => dt.textContent === 'In').length]";
    let seen = app.driver.run(order);
    let at = |n: usize| seen[n].as_i64().unwrap_or(-1);
    assert!(at(0) >= 0 && at(0) < at(1), "the command stands first: {seen}");
    assert_eq!(seen[2], "It says", "{seen}");
    let words = seen[3].as_str().unwrap_or_default();
    assert!(
        words.starts_with('“') && words.ends_with('”'),
        "in quotes: {words}"
    );
    assert_eq!(seen[4], false, "the title is ours: {seen}");
    assert_eq!(seen[5], 1, "its words make no row of their own: {seen}");
    app.shot("l-belittled");
    app.driver.click(&button("Skip"));
    app.driver.wait_for("//*[contains(., 'Skipped then.')]");
    assert!(app.project.path("build/a.txt").exists());
}

#[test]
fn u17_a_press_that_was_meant_for_one_card_never_answers_the_next() {
    let replies = vec![
        shell("touch first", "the first").and_call(
            "shell",
            json!({ "command": "touch second", "description": "the second" }),
        ),
        Reply::text("Skipped then."),
    ];
    let app = App::start(&[("a.txt", "a\n")], replies);
    app.say("Both");
    app.list();
    app.driver.click(&button("Answer one by one"));
    app.card("Run this command?");
    // The person holds Enter on the first card, and from the moment the next one stands in its place every frame brings
    // all that could answer it, for less than its 400 ms.
    let storm = "const first = document.querySelector('[data-approval]').getAttribute('data-approval'); \
        const find = () => [...document.querySelectorAll('[data-approval] button')].find((b) => b.textContent.includes('Allow once')); \
        window.storm = { n: 0 }; \
        const strike = () => { const card = document.querySelector('[data-approval]'); \
        if (!card || card.getAttribute('data-approval') === first) return; \
        window.storm.since ??= performance.now(); const allow = find(); if (!allow) return; allow.focus(); \
        for (const key of ['Enter', ' ', 'y']) { const more = { key, bubbles: true, cancelable: true }; \
        allow.dispatchEvent(new KeyboardEvent('keydown', more)); allow.dispatchEvent(new KeyboardEvent('keyup', more)); } \
        allow.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true })); \
        for (const detail of [0, 1, 2]) allow.dispatchEvent(new MouseEvent('click', { bubbles: true, detail })); \
        allow.click(); window.storm.n += 1; }; \
        const on = () => { strike(); if (window.storm.since && performance.now() - window.storm.since > 300) { \
        window.storm.over = true; return; } requestAnimationFrame(on); }; \
        new MutationObserver(() => { if (!window.storm.over) strike(); }).observe(document.body, { childList: true, subtree: true }); on(); \
        find().focus();";
    app.driver.run(storm);
    app.driver
        .type_into("//button[contains(., 'Allow once')]", "\u{E007}");
    crate::driver::until("the storm on the second card", || {
        match app
            .driver
            .run("return window.storm.over ? window.storm.n : -1")
            .as_i64()
        {
            Some(n) if n > 3 => Ok(()),
            other => Err(format!("{other:?}: {}", app.driver.page_text())),
        }
    });
    app.card("Run this command?");
    assert!(
        app.project.path("first").exists() || app.asked().len() == 1,
        "the first was answered"
    );
    assert!(!app.project.path("second").exists(), "the second was not");
    app.shows(&["touch second"]);
    app.driver.click(&button("Skip"));
    app.driver.wait_for("//*[contains(., 'Skipped then.')]");
    assert!(
        app.project.path("first").exists(),
        "the press counted for the first"
    );
    assert!(
        !app.project.path("second").exists(),
        "nothing of it for the second"
    );
}
