//! Figures, printed by `cargo test --release -p cairn-store --test store -- --ignored --nocapture speed::`.
//! SPEC F1, F4, S4.

use std::time::{Duration, Instant};

use cairn_agent::store::{Durability, EventStore};
use cairn_protocol::{EventBody, ItemBody, ItemId, SessionListParams};
use cairn_store::Store;

use crate::kit::{Place, begun, event, id, item, make, said, user};

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

/// Processor time of this process so far: what a busy machine does not change.
fn processor() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

#[tokio::test]
#[ignore = "figures, for a release build"]
async fn f1_opening_takes_a_few_milliseconds() {
    let mut new = Vec::new();
    let mut again = Vec::new();
    for _ in 0..15 {
        let place = Place::new();
        let start = Instant::now();
        let store = place.open();
        new.push(start.elapsed());
        make(&store, "s", "p", 10).await;
        drop(store);
        let start = Instant::now();
        let store = place.open();
        again.push(start.elapsed());
        drop(store);
    }
    println!("open: new {:?}, existing {:?}", median(new), median(again));
}

#[tokio::test]
#[ignore = "figures, for a release build"]
async fn writing_is_cheap() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let text = "some words of an answer ".repeat(40);
    let mut seq = 1;
    for durability in [Durability::Committed, Durability::Synced] {
        let mut all = Vec::new();
        for _ in 0..200 {
            seq += 1;
            let next = vec![event("s", seq, said(&format!("i{seq}"), &text))];
            let start = Instant::now();
            store.append(next, durability).await.unwrap();
            all.push(start.elapsed());
        }
        println!("append, {durability:?}: {:?}", median(all));
    }
    let mut all = Vec::new();
    for offset in 0..500 {
        let start = Instant::now();
        store
            .append_text(id("s"), ItemId::from("g"), offset, "x".into())
            .await
            .unwrap();
        all.push(start.elapsed());
    }
    println!("append_text: {:?}", median(all));
}

#[tokio::test]
#[ignore = "figures, for a release build"]
async fn f4_ten_thousand_items_load_in_under_300_ms() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let lines: String = (0..40)
        .map(|n| format!("{n:5} let value_{n} = \"text\";\n"))
        .collect();
    let tool = serde_json::json!({
        "kind": "tool", "call": "c", "name": "read_file", "arguments": "{\"path\":\"a\"}", "title": "Read",
        "target": "a.rs", "from_text": false, "decided": {"kind": "free"}, "started_at": 5, "ended_at": 6,
        "limit_ms": 5000, "note": "40 lines", "blocks": [{"block": "text", "text": lines}],
        "result": {"ok": true, "timed_out": false, "denied": false, "content": lines, "pictures": [], "output": null}
    });
    let tool: ItemBody = serde_json::from_value(tool).unwrap();
    let answer = "An answer of some length, as models give them. ".repeat(8);
    let mut events = Vec::new();
    for n in 0..5_000 {
        let (words, call) = (format!("i{n}"), format!("t{n}"));
        let started = EventBody::ItemStarted {
            item: item(&call, tool.clone()),
        };
        let completed = EventBody::ItemCompleted {
            item: item(&call, tool.clone()),
        };
        for body in [begun(&words), said(&words, &answer), started, completed] {
            events.push(event("s", events.len() as u64 + 2, body));
        }
    }
    store.append(events, Durability::Committed).await.unwrap();
    let before = processor();
    let mut all = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let loaded = store.load(&id("s")).await.unwrap();
        all.push(start.elapsed());
        assert_eq!(loaded.events.len(), 20_001);
    }
    let took = median(all);
    println!(
        "load of 10,000 items: {took:?}, processor {:?}",
        processor().saturating_sub(before) / 5
    );
    assert!(
        cfg!(debug_assertions) || took < Duration::from_millis(300),
        "{took:?}"
    );
}

#[tokio::test]
#[ignore = "figures, for a release build; writes about a gigabyte"]
async fn s4_search_in_a_million_messages_stays_under_50_ms() {
    const SESSIONS: u64 = 1_000;
    const MESSAGES: u64 = 1_000;
    let place = Place::new();
    let store = place.open();
    let mut chance = 1_u64;
    let mut next = move || {
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        chance >> 33
    };
    for n in 0..SESSIONS {
        let name = format!("s{n}");
        make(
            &store,
            &name,
            if n % 100 == 0 { "small" } else { "large" },
            n as i64,
        )
        .await;
        let events = (2..MESSAGES + 2)
            .map(|seq| event(&name, seq, user(&format!("i{seq}"), &sentence(&mut next))))
            .collect();
        store.append(events, Durability::Committed).await.unwrap();
    }
    let (mut all, mut used) = (Vec::new(), Vec::new());
    for n in 0..200 {
        let project = ["small".into(), "large".into()];
        let project = (n % 3 < 2).then(|| &project[n % 2]);
        let words: Vec<String> = (0..=n % 3).map(|_| word(&mut next)).collect();
        let (start, before) = (Instant::now(), processor());
        let hits = store.search(project, &words.join(" ")).await.unwrap();
        used.push(processor().saturating_sub(before));
        all.push((start.elapsed(), words.join(" "), hits.len()));
    }
    all.sort();
    used.sort();
    let p95 = &all[190];
    println!(
        "search: median {:?}, 95th percentile {p95:?}, most {:?}",
        all[100], all[199]
    );
    println!(
        "of it processor: median {:?}, 95th percentile {:?}, most {:?}",
        used[100], used[190], used[199]
    );
    println!(
        "database: {} MB",
        std::fs::metadata(store.path()).unwrap().len() >> 20
    );
    assert!(cfg!(debug_assertions) || p95.0 < Duration::from_millis(50));
}

/// Words as they occur in language: few are very common, most are rare.
fn word(next: &mut impl FnMut() -> u64) -> String {
    let spread = next() % 15;
    format!("w{}", next() % (1 << spread).max(2))
}

fn sentence(next: &mut impl FnMut() -> u64) -> String {
    let length = 10 + next() % 60;
    (0..length).map(|_| word(next)).collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "figures, for a release build"]
fn opening_is_cheap_with_ten_thousand_sessions() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let place = Place::new();
    let store = place.open();
    runtime.block_on(async {
        for n in 0..10_000 {
            make(&store, &format!("s{n}"), "p", n).await;
        }
    });
    let data = store.path().parent().unwrap().to_owned();
    drop(store);
    let start = Instant::now();
    let store = Store::open(&data).unwrap();
    let opened = start.elapsed();
    let list = runtime
        .block_on(store.list(Some(&"p".into()), &SessionListParams::default()))
        .unwrap();
    println!(
        "open with 10,000 sessions: {opened:?}, with the first list {:?}",
        start.elapsed()
    );
    assert_eq!(list.sessions.len(), 100);
}
