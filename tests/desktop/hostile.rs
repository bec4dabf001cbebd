//! One session of the real window in which everything that comes from outside is hostile, in a network of its own where
//! whoever asks for a name or a page is written down. SPEC W1; cases W01 to W15 and U11 to U15.

use std::path::Path;

use cairn_testkit::provider::{Call, Reply, Script, Step};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{App, COMPOSER, Setup, button, config, pids};
use crate::asking::request;
use crate::driver::until;

#[path = "hostile/content.rs"]
mod content;
#[path = "hostile/watch.rs"]
mod watch;

use content::{NAME, SHORT, all};
use watch::{Namespace, Watch};

/// From now on the page notes what only foreign content would bring into it.
const LOOKOUT: &str = "window.foreign = []; \
    addEventListener('securitypolicyviolation', (event) => window.foreign.push('policy: ' + event.blockedURI)); \
    const odd = 'script:not([src^=\"./assets/\"]), iframe, object, embed, link:not([href^=\"./assets/\"]), base, \
    meta[http-equiv], form[action], style, picture, source, video, audio, image, use, a[href], area, math, animate, \
    img:not([src^=\"cairn:\"]), [style*=url], [srcdoc], [ping], [background]'; \
    const look = (element) => { if (element.matches(odd)) window.foreign.push(element.outerHTML.slice(0, 200)); \
    for (const { name } of element.attributes) if (name.startsWith('on')) window.foreign.push(name); }; \
    new MutationObserver((changes) => { for (const { target, addedNodes } of changes) { \
    if (target instanceof Element) look(target); \
    for (const node of addedNodes) if (node instanceof Element) { look(node); node.querySelectorAll('*').forEach(look); } } \
    }).observe(document, { childList: true, subtree: true, attributes: true });";

/// What the page shows that nobody can see, or that turns the order of what is seen; fields that are typed into excepted.
const UNSEEN: &str = r"const bad = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u; const found = bad.test(document.title) ? [document.title] : [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) { const node = walk.currentNode;
        if (node instanceof Text) { if (bad.test(node.data)) found.push(node.parentElement.className + ': ' + node.data.slice(0, 80)); continue; }
        for (const { name, value } of node.attributes) if (bad.test(value)) found.push(node.tagName + ' ' + name + '=' + value.slice(0, 80)); }
    return found.map((text) => JSON.stringify(text));";

#[test]
fn w01_to_w15_u11_to_u15_a_page_full_of_hostile_content_asks_nobody_and_runs_nothing() {
    let own = "hostile::w01_to_w15_u11_to_u15_a_page_full_of_hostile_content_asks_nobody_and_runs_nothing";
    if Namespace::is_outside() {
        return Namespace::run(own);
    }
    let watch = Watch::begin();
    let parent = TempDir::new().unwrap();
    let app = start(&watch, project(parent.path()));
    app.driver.wait_for(COMPOSER);
    app.driver.run(LOOKOUT);
    watched(&app);
    app.say(SHORT);
    for (words, answer) in [
        ("Run this command?", "Allow once"),
        ("", "Allow once"),
        ("", "Skip"),
        ("", "Skip"),
    ] {
        app.card(words);
        clean(&app, "a card");
        app.driver.run(
            "for (const element of document.querySelectorAll('[data-approval] *')) element.scrollTop = element.scrollHeight;",
        );
        app.driver.click(&button(answer));
    }
    app.driver.wait_for("//*[contains(., 'Which way')]");
    clean(&app, "a question");
    app.driver.wait_for("//button[contains(., 'Stop')]");
    app.driver.click(&button("Stop"));
    app.shows(&["Stopped"]);
    clean(&app, "the first request");

    app.say("Once more");
    app.shows(&["evil.example", "<script>"]);
    until("the server's refusal", || {
        let text = app.driver.page_text();
        if text.contains("error-body") {
            Ok(())
        } else {
            Err(text)
        }
    });
    clean(&app, "the refusal");
    renamed(&app);
    settings(&app);
    // The same anew from what was stored.
    app.driver.run("location.reload()");
    app.driver.wait_for(COMPOSER);
    app.driver.run(LOOKOUT);
    through(&app);
    app.shot("k-hostile");
    // The model, the driver, and on the page of settings the places where model servers of this machine listen.
    let mut known = vec![
        app.server.port(),
        app.inspector_port(),
        11_434,
        8_080,
        1_234,
        8_000,
    ];
    known.sort_unstable();
    drop(app);
    watch.saw_nobody_but(&known);
}

/// Everything that a project can bring: its own name, names of files, what is in them, what is remembered of it.
fn project(parent: &Path) -> std::path::PathBuf {
    let root = parent.join(NAME);
    std::fs::create_dir_all(root.join("names")).unwrap();
    std::fs::create_dir_all(root.join(".cairn")).unwrap();
    let write = |path: &str, text: &[u8]| std::fs::write(root.join(path), text).unwrap();
    write("hostile.md", format!("margin = 24\n{}", all("file")).as_bytes());
    write(&format!("names/{NAME}.md"), all("name").as_bytes());
    write("names/![x](https:evil.example).md", b"x\n");
    write("names/\u{1b}]8;;https:evil.example\u{7}x\u{1b}[2K.txt", b"x\n");
    write("names/a\rb\nc.txt", b"x\n");
    write(&format!("names/{NAME}.png"), include_bytes!("axis.png"));
    write("AGENTS.md", all("rules").as_bytes());
    write(".cairn/memory.md", format!("- {SHORT}\n").as_bytes());
    root
}

fn start(watch: &Watch, root: std::path::PathBuf) -> App {
    let mut script = Script::new(replies());
    script.side = Some(Reply::text(SHORT));
    script.context_window = 200_000;
    let trace = watch.trace();
    App::start_with(Setup {
        script,
        folder: Some(root),
        before: Box::new(move |_| trace.clone()),
        config: Box::new(|base_url| {
            let more = format!(
                "\n[profiles.{}]\nbase_url = \"{base_url}\"\nmodel = {}\n",
                json!(SHORT),
                json!(SHORT)
            );
            config(base_url, &more)
        }),
        ..Setup::new(vec![])
    })
}

fn replies() -> Vec<Reply> {
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    let odd = |name: &str, arguments: Value| Reply {
        tool_calls: vec![Call {
            id: None,
            name: name.to_owned(),
            arguments,
            pieces: 1,
        }],
        ..Reply::default()
    };
    let edit = json!({
        "path": "hostile.md", "old_string": "margin = 24",
        "new_string": format!("if admin \u{202e}\u{2066}// checked\u{2069}\u{200b} {{\n{SHORT}\nmargin = 40"),
    });
    let command =
        format!(": '{SHORT}' '\u{1b}[2K\u{1b}[1Als' '\u{202e}'; cat hostile.md; printf 'x\\rtouch'");
    let options = json!([{ "label": "<img src=x onerror=window.probe=31>", "description": SHORT }, { "label": "\u{202e}No\u{1b}[2K" }]);
    let text = all("text");
    let pieces: Vec<String> = text
        .chars()
        .collect::<Vec<_>>()
        .chunks(11)
        .map(|c| c.iter().collect())
        .collect();
    vec![
        Reply::pieces(pieces.iter().map(String::as_str))
            .and_call("read_file", json!({ "path": "hostile.md" })),
        Reply::call("list_dir", json!({ "path": "names" }))
            .and_call("glob", json!({ "pattern": "**/*" }))
            .and_call("grep", json!({ "pattern": "evil", "context": 2 }))
            .and_call("read_file", json!({ "path": format!("names/{NAME}.md") }))
            .and_call("read_file", json!({ "path": format!("names/{NAME}.png") }))
            .and_call(
                "read_file",
                json!({ "path": format!("no/{SHORT}\u{202e}\u{1b}[2K") }),
            ),
        odd(SHORT, json!({ SHORT: SHORT })),
        odd("\u{202e}shell\u{1b}[2K", json!(all("arguments"))),
        odd("read_file", json!(all("arguments"))),
        odd(
            "todo_write",
            json!({ "todos": [
            { "content": SHORT, "status": "in_progress" }, { "content": "\u{202e}x\u{1b}[2K\r", "status": SHORT },
        ] }),
        ),
        odd(
            "todo_write",
            json!({ "todos": [
            { "content": SHORT, "status": "in_progress" }, { "content": "\u{202e}x\u{1b}[2K\r", "status": "pending" },
        ] }),
        ),
        Reply::call(
            "shell",
            json!({ "command": command, "description": format!("{SHORT} \u{202e}\u{1b}[2K") }),
        ),
        Reply::call("edit_file", edit),
        Reply::call("remember", json!({ "fact": format!("{SHORT} \u{202e}x") })),
        Reply::call(
            "web_fetch",
            json!({ "url": "https://fetch.evil.example/<img/src=x/onerror=window.probe=30>?d=1" }),
        ),
        read("gone.md").and_call(
            "ask_user",
            json!({ "questions": [{ "question": format!("Which way {SHORT} \u{202e}x\u{1b}[2K"), "options": options }] }),
        ),
        Reply::steps([
            Step::Thinking(all("thinking")),
            Step::Text(all("again")),
            Step::Delta(
                json!({ "tool_calls": [{ "index": 0, "id": SHORT, "type": "function",
                "function": { "name": "read_file", "arguments": "{\"path\":\"hostile.md\"}" } }] }),
            ),
            Step::Finish("tool_calls".to_owned()),
            Step::Done,
        ]),
        Reply::body(
            400,
            "text/html",
            &format!("<html><title>error-body {SHORT}</title>{}", all("body")),
        )
        .header("x-request-id", SHORT),
    ]
}

/// All processes of the window are looked at while they make connections.
fn watched(app: &App) {
    let mut kinds = Vec::new();
    for pid in pids() {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        if name.starts_with("WebKit") || name.starts_with("cairn-desktop") {
            assert!(!status.contains("TracerPid:\t0"), "{name} is not traced");
            kinds.push(name.trim().to_owned());
        }
    }
    for kind in ["cairn-desktop", "WebKitNetworkPr", "WebKitWebProces"] {
        assert!(
            kinds.iter().any(|name| name.starts_with(kind)),
            "{kind} is not among {kinds:?}; {}",
            app.log()
        );
    }
}

/// Nothing foreign has come into the page or run in it, and what it shows can be seen.
fn clean(app: &App, when: &str) {
    let seen = app
        .driver
        .run("return [window.probe ?? null, window.foreign, typeof window.__TAURI_INTERNALS__.invoke]");
    assert_eq!(seen, json!([null, [], "function"]), "after {when}");
    assert_eq!(app.driver.run(UNSEEN), json!([]), "after {when}");
    assert_eq!(app.driver.windows().len(), 1, "after {when}");
}

/// Scrolls through the whole transcript, opens what can be opened, and looks at each part.
fn through(app: &App) {
    app.driver.run(
        "for (const button of document.querySelectorAll('main button[aria-expanded=false]')) button.click();",
    );
    let step = "const place = [...document.querySelectorAll('main *')].filter((e) => e.scrollHeight > e.clientHeight + 40 \
         && getComputedStyle(e).overflowY !== 'visible').sort((a, b) => b.clientHeight - a.clientHeight)[0]; \
         if (!place) return -1; if (window.step === undefined) { place.scrollTop = 0; window.step = 0; } \
         else { place.scrollTop += 300; } \
         const end = place.scrollTop + place.clientHeight >= place.scrollHeight - 2; window.step += 1; return end ? 1 : 0";
    for _ in 0..400 {
        let at = app.driver.run(step);
        assert_ne!(at, json!(-1), "there is something to scroll");
        app.driver.run_async(
            "const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(done));",
        );
        clean(app, "the stored session");
        if at == json!(1) {
            return;
        }
    }
    panic!("the transcript has no end");
}

/// A session that is named like that, in the list, the title of the window, and the search.
fn renamed(app: &App) {
    let list = json!({ "archived": false, "after": null, "limit": 0 });
    let session = request(&app.driver, "session/list", &list).unwrap()["sessions"][0]["id"].clone();
    let title = format!("{SHORT} \u{202e}\u{1b}[2K\r");
    request(
        &app.driver,
        "session/rename",
        &json!({ "session": session, "title": title }),
    )
    .unwrap();
    clean(app, "the new title");
    app.driver
        .type_into("//input[@type='search'] | //aside//input", "evil");
    app.driver
        .run_async("const done = arguments[arguments.length - 1]; setTimeout(done, 700);");
    clean(app, "the search");
}

fn settings(app: &App) {
    app.driver
        .run("dispatchEvent(new KeyboardEvent('keydown', { key: ',', ctrlKey: true, bubbles: true }))");
    app.driver
        .run_async("const done = arguments[arguments.length - 1]; setTimeout(done, 500);");
    let tabs = "return document.querySelectorAll('main [role=tab]').length";
    for tab in 0..app.driver.run(tabs).as_u64().unwrap_or(0) {
        app.driver.run(&format!(
            "document.querySelectorAll('main [role=tab]')[{tab}].click()"
        ));
        app.driver
            .run_async("const done = arguments[arguments.length - 1]; setTimeout(done, 300);");
        clean(app, "the settings");
    }
}
