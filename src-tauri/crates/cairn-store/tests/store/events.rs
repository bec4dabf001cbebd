//! Appending and loading. SPEC S1.

use cairn_agent::store::{Durability, EventStore, StoreError};
use cairn_protocol::{
    Activity, EventBody, ItemBody, ItemId, Notice, NoticeLevel, QueueId, QueuedMessage, RichBlock,
    SessionState, TodoItem, TurnOutcome,
};

use crate::kit::{Place, add, begun, event, id, item, make, said, session, turn, user};

fn bodies() -> Vec<EventBody> {
    let tool = serde_json::json!({
        "kind": "tool", "call": "c1", "name": "read_file", "arguments": "{\"path\":\"ä\\u0000\"}", "title": "Read",
        "target": "a.rs", "from_text": false, "decided": {"kind": "free"}, "started_at": 5, "ended_at": null,
        "limit_ms": 5000, "note": "3 lines", "blocks": [{"block": "text", "text": "x"}],
        "result": {"ok": true, "timed_out": false, "denied": false, "content": "x\u{0}y", "pictures": [], "output": "1"}
    });
    let notice = Notice {
        level: NoticeLevel::Info,
        code: "nudge".into(),
        text: "text".into(),
    };
    vec![
        EventBody::TurnStarted { turn: turn(None) },
        user("i1", "Do it"),
        begun("i2"),
        said("i2", "Done"),
        EventBody::ItemUpdated {
            item: item("i3", serde_json::from_value(tool).unwrap()),
        },
        EventBody::ItemCompleted {
            item: item(
                "i4",
                ItemBody::Thinking {
                    text: "hm".into(),
                    data: None,
                },
            ),
        },
        EventBody::ItemCompleted {
            item: item("i5", ItemBody::Notice(notice)),
        },
        EventBody::PlanChanged {
            plan: Vec::<TodoItem>::new(),
        },
        EventBody::QueueChanged {
            queue: vec![QueuedMessage {
                id: QueueId::from("q"),
                text: "later".into(),
                at: 8,
            }],
        },
        EventBody::TurnCompleted {
            turn: turn(Some(TurnOutcome::Done)),
        },
        EventBody::Unknown {
            name: "dream".into(),
            version: 3,
            json: "{\"type\":\"dream\",\"of\":[1]}".into(),
        },
        // Would be read as this build's, were it not newer.
        EventBody::Unknown {
            name: "plan_changed".into(),
            version: 2,
            json: "{\"type\":\"plan_changed\",\"plan\":[]}".into(),
        },
        EventBody::Unknown {
            name: "item_started".into(),
            version: 9,
            json: "{\"entirely\":\"other\"}".into(),
        },
    ]
}

#[tokio::test]
async fn every_kind_comes_back_as_it_was_after_a_restart() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    add(&store, "s", bodies()).await;
    drop(store);
    let loaded = place.open().load(&id("s")).await.unwrap();
    let found: Vec<EventBody> = loaded
        .events
        .iter()
        .skip(1)
        .map(|event| event.body.clone())
        .collect();
    assert_eq!(found, bodies());
    assert_eq!(
        loaded.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
        (1..=14).collect::<Vec<_>>()
    );
    assert_eq!(loaded.last_seq, 14);
    assert_eq!(loaded.queue.len(), 1);
    assert_eq!(loaded.session.state, SessionState::Done);
    assert_eq!(loaded.session.updated_at, 1014);
}

#[tokio::test]
async fn transient_events_and_typed_trees_are_not_stored() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let mut rendered = item("i", ItemBody::Assistant { text: "**x**".into() });
    rendered.rendered = Some(Vec::<RichBlock>::new());
    let events = vec![
        event(
            "s",
            1,
            EventBody::ActivityChanged {
                activity: Activity::Idle,
            },
        ),
        event(
            "s",
            2,
            EventBody::ItemCompleted {
                item: rendered.clone(),
            },
        ),
        event(
            "s",
            2,
            EventBody::ActivityChanged {
                activity: Activity::Stopping,
            },
        ),
    ];
    store.append(events, Durability::Committed).await.unwrap();
    let loaded = store.load(&id("s")).await.unwrap();
    rendered.rendered = None;
    assert_eq!(loaded.events[1].body, EventBody::ItemCompleted { item: rendered });
    assert_eq!(loaded.last_seq, 2);
}

#[tokio::test]
async fn a_gap_a_repeat_and_an_unknown_session_are_refused_and_nothing_of_the_batch_stays() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    for seqs in [[3, 4], [1, 2], [2, 2], [2, 4]] {
        let events = seqs.iter().map(|seq| event("s", *seq, said("i", "x"))).collect();
        assert!(
            matches!(
                store.append(events, Durability::Committed).await,
                Err(StoreError::Database(_))
            ),
            "{seqs:?}"
        );
    }
    let stranger = vec![event("s", 2, said("i", "x")), event("t", 1, said("i", "x"))];
    assert!(matches!(
        store.append(stranger, Durability::Committed).await,
        Err(StoreError::Missing(_))
    ));
    assert_eq!(store.load(&id("s")).await.unwrap().last_seq, 1);
    assert!(store.search(None, "x").await.unwrap().is_empty());
}

#[tokio::test]
async fn growing_text_is_there_after_a_crash_and_merged_away_by_completion() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    add(&store, "s", vec![begun("i"), begun("other")]).await;
    // The third is a repeat, the fourth overlaps, the last leaves a gap and must not be glued on.
    for (offset, text) in [(0, "Grö"), (4, "ße "), (4, "ße "), (4, "ße ist"), (99, "lost")] {
        store
            .append_text(id("s"), ItemId::from("i"), offset, text.into())
            .await
            .unwrap();
    }
    drop(store);
    let store = place.open();
    let loaded = store.load(&id("s")).await.unwrap();
    assert_eq!(
        loaded.partial_texts.into_iter().collect::<Vec<_>>(),
        [(ItemId::from("i"), "Größe ist".to_owned())]
    );
    add(&store, "s", vec![said("i", "Größe ist gut")]).await;
    assert!(store.load(&id("s")).await.unwrap().partial_texts.is_empty());
    assert!(matches!(
        store
            .append_text(id("nobody"), ItemId::from("i"), 0, "x".into())
            .await,
        Err(StoreError::Missing(_))
    ));
}

#[tokio::test]
async fn what_this_build_does_not_understand_is_kept_and_the_rest_is_read() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    add(&store, "s", vec![said("i", "x"), said("j", "y"), said("k", "z")]).await;
    let path = store.path().to_owned();
    drop(store);
    let db = rusqlite::Connection::open(&path).unwrap();
    let future = r#"{"type":"item_completed","item":{"id":"i","turn":"t","at":1,"state":"done","body":{"kind":"dance","version":4,"steps":[1]},"mood":1}}"#;
    db.execute("UPDATE events SET json = ?1 WHERE json LIKE '%\"i\"%'", [future])
        .unwrap();
    db.execute("UPDATE events SET json = '{broken' WHERE json LIKE '%\"j\"%'", [])
        .unwrap();
    drop(db);
    let loaded = place.open().load(&id("s")).await.unwrap();
    let EventBody::ItemCompleted { item } = &loaded.events[1].body else {
        panic!("{:?}", loaded.events[1])
    };
    assert_eq!(
        item.body,
        ItemBody::Unknown {
            name: "dance".into(),
            version: 4
        }
    );
    let broken = EventBody::Unknown {
        name: "item_completed".into(),
        version: 1,
        json: "{broken".into(),
    };
    assert_eq!(loaded.events[2].body, broken);
    assert_eq!(loaded.events[3].body, said("k", "z"));
}

#[tokio::test]
async fn a_turn_moves_the_state_of_its_session() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let _lease = store.lease(&id("s"), "exec").await.unwrap();
    for (body, state) in [
        (EventBody::TurnStarted { turn: turn(None) }, SessionState::Running),
        (
            EventBody::TurnCompleted {
                turn: turn(Some(TurnOutcome::Paused { steps: 50 })),
            },
            SessionState::Paused,
        ),
        (
            EventBody::SessionChanged {
                session: session("s", "p", 10),
            },
            SessionState::New,
        ),
        (
            EventBody::TurnCompleted {
                turn: turn(Some(TurnOutcome::Denied)),
            },
            SessionState::Stopped,
        ),
    ] {
        add(&store, "s", vec![body]).await;
        assert_eq!(store.get(&id("s")).await.unwrap().state, state);
    }
}

#[tokio::test]
async fn f2_reads_cost_no_sync_and_a_request_one() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let before = store.sync_count();
    for seq in 2..22 {
        store
            .append(vec![event("s", seq, said("i", "x"))], Durability::Committed)
            .await
            .unwrap();
    }
    assert_eq!(store.sync_count() - before, 0);
    let end = event(
        "s",
        22,
        EventBody::TurnCompleted {
            turn: turn(Some(TurnOutcome::Done)),
        },
    );
    store.append(vec![end], Durability::Synced).await.unwrap();
    assert_eq!(store.sync_count() - before, 1);
}

#[tokio::test]
async fn flowing_text_is_synced_within_about_a_second() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    add(&store, "s", vec![begun("i")]).await;
    let before = store.sync_count();
    let started = std::time::Instant::now();
    let mut offset = 0;
    while store.sync_count() == before {
        store
            .append_text(id("s"), ItemId::from("i"), offset, "x".into())
            .await
            .unwrap();
        offset += 1;
        assert!(
            started.elapsed() < std::time::Duration::from_secs(5),
            "never synced"
        );
    }
    assert!(offset > 10, "text flowed meanwhile");
}
