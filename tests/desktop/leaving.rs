//! Nothing leads out of a window's own page: addresses open outside or not at all, and nothing is loaded. SPEC W1.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_testkit::provider::Reply;
use serde_json::json;
use tempfile::TempDir;

use crate::app::{App, COMPOSER, Setup};
use crate::asking::request;
use crate::driver::until;

/// A place on loopback that counts who comes.
struct Visitors {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Visitors {
    fn wait() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        let seen = count.clone();
        std::thread::spawn(move || {
            for visitor in listener.incoming() {
                drop(visitor);
                seen.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, count }
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

/// The window still shows its page, at its own address, alone.
fn is_at_home(app: &App, after: &str) {
    let windows = app.driver.windows();
    assert_eq!(windows.len(), 1, "after {after}");
    let address = app.driver.run("return location.href.replace(/#.*/, '')");
    let home = [
        "tauri://localhost",
        "tauri://localhost/",
        "tauri://localhost/index.html",
    ];
    assert!(
        home.contains(&address.as_str().unwrap_or_default()),
        "after {after}: {address}"
    );
    assert!(
        app.driver.find(COMPOSER).is_ok(),
        "after {after}: {}",
        app.driver.page_text()
    );
}

#[test]
fn w23_whatever_a_script_asks_for_the_window_stays_where_it_is() {
    let visitors = Visitors::wait();
    let there = format!("http://127.0.0.1:{}/", visitors.port);
    let app = App::start(&[("a.txt", "a\n")], vec![]);
    app.driver.wait_for(COMPOSER);
    app.driver.run("window.stayed = true");
    let element = |html: &str, act: &str| {
        format!(
            "const place = document.createElement('div'); place.innerHTML = {}; document.body.append(place); \
             const it = place.firstElementChild; {act}",
            json!(html)
        )
    };
    // Not among these: a click on an anchor with an address. WebKit connects to its host before it asks whether it may
    // go there, so the page makes no such anchors; `w22` holds that.
    let tries = [
        format!("location = '{there}'"),
        format!("location.assign('{there}')"),
        format!("location.replace('{there}')"),
        format!("top.location.href = '{there}'"),
        format!("window.open('{there}')"),
        format!("window.open('{there}', '_self')"),
        "location = 'file:///etc/passwd'".to_owned(),
        "location = 'data:text/html,<script>opener</script>'".to_owned(),
        "location = URL.createObjectURL(new Blob(['<h1>x</h1>'], { type: 'text/html' }))".to_owned(),
        "location = 'cairn://localhost/blob/00'".to_owned(),
        "location = 'ipc://localhost/request'".to_owned(),
        "location = 'tauri://localhost/assets/?d=SECRET'".to_owned(),
        "location = 'http://tauri.localhost/'".to_owned(),
        "location = 'javascript:void(window.stayed = false)'".to_owned(),
        "location = 'about:blank'".to_owned(),
        element(&format!("<a href='{there}' target='_blank'>x</a>"), "it.click()"),
        element(&format!("<a href='#' ping='{there}'>x</a>"), "it.click()"),
        element(
            &format!("<form action='{there}' method='post'></form>"),
            "it.submit()",
        ),
        element(
            &format!("<form action='{there}' target='_blank'><button></button></form>"),
            "it.querySelector('button').click()",
        ),
        element(
            &format!("<meta http-equiv='refresh' content='0;url={there}'>"),
            "",
        ),
        element(&format!("<base href='{there}'>"), "document.head.append(it)"),
    ];
    for script in &tries {
        // A refusal may come as an exception; only where the window is afterwards counts.
        app.driver.run(&format!("try {{ {script} }} catch {{}}"));
        app.driver.run_async(
            "const done = arguments[arguments.length - 1]; requestAnimationFrame(() => setTimeout(done, 60));",
        );
        is_at_home(&app, script);
        assert_eq!(
            app.driver.run("return window.stayed"),
            json!(true),
            "after {script}"
        );
        assert_eq!(visitors.count(), 0, "visited by {script}");
    }
}

#[test]
fn w18_nothing_foreign_is_loaded_into_the_page_and_nothing_in_a_frame_reaches_the_core() {
    let visitors = Visitors::wait();
    let there = format!("http://127.0.0.1:{}/", visitors.port);
    let app = App::start(&[("a.txt", "a\n")], vec![]);
    app.driver.wait_for(COMPOSER);
    let load = format!(
        "const done = arguments[arguments.length - 1]; const there = '{there}'; const refused = []; \
         addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective)); \
         for (const html of ['<iframe src=\"' + there + '\"></iframe>', '<object data=\"' + there + '\"></object>', \
         '<embed src=\"' + there + '\">', '<img src=\"' + there + '\">', '<img src=\"http://cairn.localhost/x\">', \
         '<video src=\"' + there + '\"></video>', '<audio src=\"' + there + '\"></audio>', \
         '<link rel=stylesheet href=\"' + there + '\">', '<link rel=prefetch href=\"' + there + '\">', \
         '<link rel=preload as=image href=\"' + there + '\">', '<style>@import \"' + there + '\"</style>', \
         '<p style=\"background:url(' + there + ')\">x</p>', '<svg><image href=\"' + there + '\"/></svg>']) {{ \
         const place = document.createElement('div'); place.innerHTML = html; document.body.append(place); }} \
         const script = document.createElement('script'); script.src = there; document.body.append(script); \
         const inline = document.createElement('script'); inline.textContent = 'window.probe = 1'; \
         document.body.append(inline); \
         try {{ eval('window.probe = 2'); }} catch {{ refused.push('eval'); }} \
         try {{ new Function('window.probe = 3')(); }} catch {{ refused.push('function'); }} \
         try {{ new Worker(there); }} catch {{ refused.push('worker'); }} \
         try {{ new WebSocket(there.replace('http', 'ws')); }} catch {{ refused.push('socket'); }} \
         try {{ new EventSource(there); }} catch {{ refused.push('events'); }} \
         try {{ navigator.sendBeacon(there, 'x'); }} catch {{ refused.push('beacon'); }} \
         let reached = 0; for (const way of [fetch(there), fetch('http://ipc.localhost/request')]) {{ \
         way.then(() => {{ reached += 1; }}, () => {{}}); }} \
         setTimeout(() => done([reached, window.probe ?? null, [...new Set(refused)].sort()]), 1500);"
    );
    let seen = app.driver.run_async(&load);
    assert_eq!((&seen[0], &seen[1]), (&json!(0), &json!(null)), "{seen}");
    let refused = seen[2].to_string();
    for directive in [
        "connect-src",
        "frame-src",
        "img-src",
        "media-src",
        "object-src",
        "script-src-elem",
        "style-src-elem",
        "eval",
    ] {
        assert!(refused.contains(directive), "{directive} is not in {refused}");
    }
    assert_eq!(visitors.count(), 0, "nobody was visited");

    // Whoever has no key of this page is not answered, even from the page itself and from frames of it.
    let without = "const done = arguments[arguments.length - 1]; \
        const body = JSON.stringify({ envelope: { client: 'x', method: 'project/get', params: {} } }); \
        const headers = (key) => ({ 'Content-Type': 'application/json', 'Tauri-Callback': '1', 'Tauri-Error': '2', \
        ...(key === null ? {} : { 'Tauri-Invoke-Key': key }) }); \
        const ask = (key) => fetch('ipc://localhost/request', { method: 'POST', body, headers: headers(key) }) \
        .then((answer) => answer.headers.get('Tauri-Response') === 'ok', () => false); \
        const late = new Promise((resolve) => setTimeout(() => resolve(false), 2000)); \
        const frame = document.createElement('iframe'); frame.srcdoc = '<p>x'; document.body.append(frame); \
        const inside = frame.contentWindow; \
        Promise.all([null, '', 'guess'].map((key) => Promise.race([ask(key), late]))).then((all) => done([all.some((one) => one), \
        typeof inside?.__TAURI_INTERNALS__]));";
    assert_eq!(app.driver.run_async(without), json!([false, "undefined"]));
}

/// A program of the desktop's that opens addresses: it notes them.
fn opener(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let note = folder.join("opened.txt");
    for name in ["xdg-open", "gio", "gnome-open", "kde-open", "wslview"] {
        let path = folder.join(name);
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\nprintf '%s\\n' \"$last\" >> '{}'\n",
            note.display()
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    vec!["env".to_owned(), format!("PATH={}:{path}", folder.display())]
}

/// Lets the page hear of a button on the link with these words.
fn pressed(app: &App, words: &str, event: &str, button: u8) {
    app.driver.run(&format!(
        "const link = [...document.querySelectorAll('[role=link]')].find((one) => one.textContent === {}); \
         link.dispatchEvent(new MouseEvent('{event}', {{ button: {button}, bubbles: true, cancelable: true, clientX: 300, \
         clientY: 300 }}));",
        json!(words)
    ));
}

#[test]
fn w22_only_addresses_of_the_web_and_of_mail_open_and_say_before_where_they_lead() {
    let long = format!("https://docs.example/{}", "a".repeat(5_000));
    let text = format!(
        "[web](https://docs.example/a?b=c) [look-alike](https://аpple.com/x) [mail](mailto:a@docs.example?subject=x) \
         [attached](mailto:a@docs.example?attach=/etc/passwd) [file](file:///etc/passwd) [share](smb://host/x) \
         [help](ms-msdt:/id) [system](x-apple.systempreferences:x) [script](javascript:window.probe=1) \
         [data](data:text/html,x) [long]({long}) [nowhere](//docs.example/x)\n\nAll links."
    );
    let tools = TempDir::new().unwrap();
    let folder = tools.path().to_owned();
    let app = App::start_with(Setup {
        before: Box::new(move |_| opener(&folder)),
        ..Setup::new(vec![Reply::text(&text)])
    });
    app.say("Links, please");
    app.driver.wait_for("//*[contains(., 'All links.')]");
    let alive = "return [...document.querySelectorAll('[role=link]')].map((a) => [a.textContent, a.title])";
    let wanted = [
        ("web", "https://docs.example/a?b=c"),
        ("look-alike", "https://xn--pple-43d.com/x"),
        ("mail", "mailto:a@docs.example?subject=x"),
    ];
    let same: Vec<_> = wanted.iter().map(|(words, to)| json!([words, to])).collect();
    assert_eq!(app.driver.run(alive), json!(same));
    // Of an anchor with an address the engine makes a link of its own: with a menu, a drag, and a connection.
    let anchors = "return document.querySelectorAll('a, area, form[action], iframe, object, embed, base, link[href^=http]').length";
    assert_eq!(app.driver.run(anchors), json!(0));
    let opened = || std::fs::read_to_string(tools.path().join("opened.txt")).unwrap_or_default();
    let mut so_far = String::new();
    for (words, to) in wanted {
        let link = format!("//*[@role='link'][. = '{words}']");
        // Once by the first button, once by the middle one, which elsewhere opens a window. The driver knows the first.
        for button in [0, 1] {
            if button == 0 {
                app.driver.click(&link);
            } else {
                pressed(&app, words, "auxclick", button);
            }
            so_far.push_str(to);
            so_far.push('\n');
            until(&format!("{to} in the browser"), || {
                if opened() == so_far { Ok(()) } else { Err(opened()) }
            });
            is_at_home(&app, words);
        }
    }
    // By keyboard, and its address on the clipboard's way.
    app.driver.run("document.querySelector('[role=link]').focus()");
    app.driver.type_into("//*[@role='link'][. = 'web']", "\u{E007}");
    so_far.push_str("https://docs.example/a?b=c\n");
    until("the address by keyboard", || {
        if opened() == so_far { Ok(()) } else { Err(opened()) }
    });
    pressed(&app, "look-alike", "contextmenu", 2);
    app.driver
        .wait_for("//*[@role='menu']//*[contains(., 'https://xn--pple-43d.com/x')]");
    app.driver
        .type_into("//*[@role='menu']//*[@role='menuitem'][1]", "\u{E00C}");
    // A page that was made to ask for more gets a no, and nothing opens.
    for bad in [
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "smb://host/x",
        "ms-msdt:/id",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "https:",
        "//docs.example",
        "/etc/passwd",
        "--help",
        "-x",
        "",
        "vbscript:x",
        "x-apple.systempreferences:x",
        "https://docs.example/\u{0}",
        "https://docs.example/\nx",
        "mailto:a@b.c?attach=/etc/passwd",
        &long,
    ] {
        let answer = request(&app.driver, "link/open", &json!({ "href": bad }));
        assert_eq!(answer.unwrap_err()["code"], "bad_request", "{bad}");
    }
    // What is the same to a browser is opened in its plain form.
    request(
        &app.driver,
        "link/open",
        &json!({ "href": "HTTPS://ДOCS.example/" }),
    )
    .unwrap();
    so_far.push_str("https://xn--ocs-mdd.example/\n");
    until("the last address", || {
        if opened() == so_far { Ok(()) } else { Err(opened()) }
    });
}
