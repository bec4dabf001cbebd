//! Answers that are made to stop a page: how long the window keeps a person waiting while they stream, stand, open and
//! are opened again. SPEC P8; case W25.

use cairn_testkit::provider::{Reply, Script};
use serde_json::Value;

use crate::app::{App, COMPOSER, Setup, button};
use crate::driver::until;
use crate::traces::family;

/// What a person may have to wait, in milliseconds.
const FIRST_PAINT: f64 = 200.0;
const INPUT: f64 = 100.0;
const FREEZE: f64 = 500.0;

/// A loop whose time on an idle machine is known from its time on the processor: what other programs take of the machine
/// makes a person wait, too, and is not the window's doing.
const LOOP: &str = "const start = performance.now(); let n = 0; \
    for (let at = 0; at < 3e7; at += 1) n = (n + at * 31) % 1000003; return [performance.now() - start, n];";

/// How often a time is taken before it counts as too long: the machine does other things, too.
const TRIES: usize = 3;

/// Bytes of an answer that come at once.
const PIECE: usize = 8 * 1_024;

/// From now on the page knows its longest frame, and how long a key takes from the keyboard into a frame.
const CLOCK: &str = "const clock = window.clock = { frame: 0, key: 0 }; let last = performance.now(); \
    const tick = () => { const now = performance.now(); clock.frame = Math.max(clock.frame, now - last); last = now; \
    requestAnimationFrame(tick); }; requestAnimationFrame(tick); \
    addEventListener('keydown', (event) => { const painted = new MessageChannel(); \
    painted.port1.onmessage = () => { clock.key = Math.max(clock.key, performance.now() - event.timeStamp); }; \
    requestAnimationFrame(() => painted.port2.postMessage(0)); }, true);";

/// Opens the session with that title, and gives the time from the press to the frame that shows its first words.
const OPEN: &str = "const done = arguments[arguments.length - 1]; \
    const entry = [...document.querySelectorAll('aside button, aside a, nav button, nav a')] \
        .find((one) => one.textContent.includes('TITLE')); \
    if (!entry) { done(-1); return; } const start = performance.now(); entry.click(); \
    const look = () => { const said = document.querySelector('.me'); \
    if (said && said.textContent.includes('TITLE') && document.querySelector('.say')) { \
    const painted = new MessageChannel(); painted.port1.onmessage = () => done(performance.now() - start); \
    painted.port2.postMessage(0); } else { requestAnimationFrame(look); } }; requestAnimationFrame(look);";

/// Draws all that is there to be drawn, and says when nothing more comes.
const UNFOLD: &str = "const done = arguments[arguments.length - 1]; let still = 0; let pressed = 0; let size = -1; \
    const look = () => { const more = [...document.querySelectorAll('.say button')] \
        .find((one) => /^Show (the rest|\\d+ more)/.test(one.textContent.trim())); \
    const now = document.querySelector('.say')?.childElementCount + document.querySelectorAll('.say *').length; \
    still = now === size ? still + 1 : 0; size = now; \
    if (more && pressed < 4) { more.click(); pressed += 1; still = 0; } \
    if (still > 20) { done(pressed); } else { requestAnimationFrame(look); } }; requestAnimationFrame(look);";

/// The answers by a word that nothing else on the page holds.
fn floods() -> Vec<(&'static str, String)> {
    let zalgo = |word: &str| -> String {
        let over = (0..40).map(|n| char::from_u32(0x300 + n).unwrap_or(' '));
        let over: String = over.collect();
        word.chars().map(|letter| format!("{letter}{over}")).collect()
    };
    let brackets = 1_000_000 / 3;
    vec![
        ("onetoken", "x".repeat(10_000_000)),
        ("rowtable", format!("|a|b|\n|-|-|\n{}", "|1|2|\n".repeat(200_000))),
        (
            "widetable",
            format!(
                "{}\n{}\n{}",
                "|a".repeat(200),
                "|-".repeat(200),
                "|1|2\n".repeat(4_000)
            ),
        ),
        ("deepquotes", format!("{}x", "> ".repeat(50_000))),
        ("deeplists", format!("{}x", "- ".repeat(50_000))),
        (
            "listlines",
            (0..2_000)
                .map(|n| format!("{}- x\n", "  ".repeat(n % 60)))
                .collect(),
        ),
        ("longlist", "- an entry with *words*\n".repeat(20_000)),
        (
            "brackets",
            format!("{}{}", "[".repeat(brackets), "](".repeat(brackets)),
        ),
        ("backticks", "`".repeat(1_000_000)),
        ("codewords", "`a` **b** ".repeat(50_000)),
        ("zalgowords", format!("{} ", zalgo("zalgo")).repeat(2_000)),
        (
            "fences",
            "```rust\nfn main() { let x = \"1\"; }\n```\n\n".repeat(1_000),
        ),
        (
            "longfence",
            format!("```rust\n{}```\n", "let x = 1; // one\n".repeat(10_000)),
        ),
        ("longwords", "lorem ipsum ".repeat(20_000)),
    ]
}

fn pieces(text: &str) -> Reply {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        parts.push(part);
        rest = after;
    }
    Reply::pieces(parts)
}

fn clock(app: &App) -> (f64, f64) {
    let read = app
        .driver
        .run("const { frame, key } = window.clock; window.clock.frame = window.clock.key = 0; return [frame, key];");
    let number = |at: usize| read.get(at).and_then(Value::as_f64).unwrap_or(f64::MAX);
    (number(0), number(1))
}

/// Takes a time until it is short enough, a few times at most; gives the shortest.
fn shortest(limit: f64, mut take: impl FnMut() -> f64) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..TRIES {
        best = best.min(take());
        if best <= limit {
            break;
        }
    }
    best
}

fn is_idle(app: &App) -> bool {
    app.driver
        .run("return ![...document.querySelectorAll('button')].some((b) => b.textContent.trim().startsWith('Stop'))")
        == Value::Bool(true)
}

/// Asks for the flood in a session of its own, and waits for its end. Gives the longest frame on the way.
fn streamed(app: &App, name: &str, asked: usize) -> f64 {
    app.driver.click(&button("New session"));
    app.driver.wait_for(COMPOSER);
    clock(app);
    app.say(name);
    until(&format!("the end of {name}"), || {
        let said = app.driver.run("return document.querySelector('.say') !== null");
        if app.server.chats().len() > asked && said == Value::Bool(true) && is_idle(app) {
            Ok(())
        } else {
            Err(format!("{} requests", app.server.chats().len()))
        }
    });
    clock(app).0
}

/// Nanoseconds that the page's thread has been on a processor.
fn on_processor(pages: &[u32]) -> f64 {
    let time = |pid: &u32| -> Option<f64> {
        let told = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/schedstat")).ok()?;
        told.split(' ').next()?.parse().ok()
    };
    pages.iter().filter_map(time).sum()
}

/// By how much the machine is slower than it would be for this window alone.
fn slowness(app: &App) -> f64 {
    let is_page = |pid: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.starts_with("WebKitWebProces")
    };
    let pages: Vec<u32> = family(app.pid()).into_iter().filter(is_page).collect();
    let before = on_processor(&pages);
    let read = app.driver.run(LOOP);
    let there = (on_processor(&pages) - before) / 1e6;
    let wall = read.get(0).and_then(Value::as_f64).unwrap_or_default();
    assert!(there > 1.0, "the loop ran in one of {pages:?}");
    (wall / there).max(1.0)
}

/// The times of one flood that are too long, and all of them to be read.
fn measure(app: &App, name: &str, asked: usize) -> (Vec<String>, String) {
    let slow_before = slowness(app);
    let streaming = streamed(app, name, asked);
    let typing = shortest(INPUT, || {
        clock(app);
        app.driver.type_into(COMPOSER, "abc");
        clock(app).1
    });
    let unfolded = {
        clock(app);
        app.driver.run_async(UNFOLD);
        clock(app).0
    };
    let typing_after = shortest(INPUT, || {
        clock(app);
        app.driver.type_into(COMPOSER, "abc");
        clock(app).1
    });
    let mut opening_frame = f64::MAX;
    let opening = shortest(FIRST_PAINT, || {
        app.driver.click(&button("New session"));
        app.driver.wait_for(COMPOSER);
        clock(app);
        let time = app.driver.run_async(&OPEN.replace("TITLE", name));
        opening_frame = opening_frame.min(clock(app).0);
        time.as_f64().filter(|time| *time >= 0.0).unwrap_or(f64::MAX)
    });
    let slow = slow_before.max(slowness(app));
    let times = [
        ("streaming", streaming, FREEZE),
        ("typing", typing, INPUT),
        ("unfolding", unfolded, FREEZE),
        ("typing then", typing_after, INPUT),
        ("opening", opening, FIRST_PAINT),
        ("opening, its longest frame", opening_frame, FREEZE),
    ];
    let told = times
        .map(|(what, time, _)| format!("{what} {time:.0}"))
        .join(", ");
    let long = times
        .iter()
        .filter(|(_, time, limit)| *time > limit * slow)
        .map(|(what, time, limit)| format!("{name}: {what} took {time:.0} ms of {:.0}", limit * slow));
    (
        long.collect(),
        format!("{name} on a machine {slow:.1} times as slow: {told}"),
    )
}

#[test]
fn w25_no_answer_stops_the_window() {
    let floods = floods();
    let mut script = Script::new(floods.iter().map(|(_, text)| pieces(text)));
    script.side = Some(Reply::error(500, "no titles"));
    let app = App::start_with(Setup {
        script,
        ..Setup::new(vec![])
    });
    app.driver.wait_for(COMPOSER);
    app.driver.run(CLOCK);
    let mut long = Vec::new();
    for (at, (name, _)) in floods.iter().enumerate() {
        let (more, told) = measure(&app, name, at);
        eprintln!("{told}");
        long.extend(more);
    }
    assert_eq!(long, Vec::<String>::new());
}
