//! Databases of older builds, kept for ever: every build opens them. SPEC S1, DESIGN 4.12.
//!
//! A file is added with each new schema version (`cargo test -p cairn-store --test store -- --ignored
//! corpus::writes_this_builds_database`), and none is ever changed.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_agent::store::{BeforeImage, Journal};
use cairn_protocol::{EventBody, ItemBody, ItemId, SessionListParams, SessionState, TurnOutcome};
use cairn_store::Store;

use crate::kit::{Place, add, begun, id, make, said, turn, user};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn kept() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    all.sort();
    all
}

#[tokio::test]
async fn every_kept_database_opens_with_all_that_is_in_it() {
    assert!(!kept().is_empty());
    for path in kept() {
        let place = Place::new();
        let data = place.folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let bytes = zstd::decode_all(fs::File::open(&path).unwrap()).unwrap();
        fs::write(data.join("cairn.db"), bytes).unwrap();

        let store = Store::open(&data).unwrap();
        let list = store.list(None, &SessionListParams::default()).await.unwrap();
        let names: Vec<_> = list
            .sessions
            .iter()
            .map(|session| (session.id.as_str(), session.state))
            .collect();
        assert_eq!(
            names,
            [
                ("whole", SessionState::Done),
                ("broken-off", SessionState::Interrupted)
            ]
        );

        let whole = store.load(&id("whole")).await.unwrap();
        let bodies: Vec<_> = whole
            .events
            .iter()
            .skip(1)
            .map(|event| event.body.clone())
            .collect();
        assert_eq!(bodies[..4], whole_session()[..4]);
        assert_eq!(bodies[4], dream());
        let EventBody::ItemCompleted { item } = &bodies[5] else {
            panic!("{:?}", bodies[5])
        };
        assert_eq!(
            item.body,
            ItemBody::Unknown {
                name: "dance".into(),
                version: 7
            }
        );
        assert_eq!(bodies[6], whole_session()[6]);
        assert_eq!(whole.draft, "next");
        assert_eq!(
            store.get_output(id("whole"), "1".into()).await.unwrap(),
            "all of it"
        );
        let changes = store.changes(&id("whole")).await.unwrap();
        assert_eq!(
            store
                .before_image(&id("whole"), changes[0].n)
                .await
                .unwrap()
                .as_deref(),
            Some(&b"before"[..])
        );

        let broken_off = store.load(&id("broken-off")).await.unwrap();
        assert_eq!(
            broken_off
                .partial_texts
                .get(&ItemId::from("i"))
                .map(String::as_str),
            Some("Half a sent")
        );
        assert_eq!(
            store.search(None, "axis").await.unwrap().len(),
            2,
            "{}",
            path.display()
        );
        add(&store, "whole", vec![user("more", "It goes on")]).await;
    }
}

fn dream() -> EventBody {
    EventBody::Unknown {
        name: "dream".into(),
        version: 3,
        json: r#"{"type":"dream","of":["sheep"]}"#.into(),
    }
}

fn whole_session() -> Vec<EventBody> {
    // A body of a kind that a build after this one may write.
    let later = r#"{"type":"item_completed","item":{"id":"d","turn":"turn","at":1,"state":"done",
        "body":{"kind":"dance","version":7,"steps":[1,2]}}}"#;
    vec![
        EventBody::TurnStarted { turn: turn(None) },
        user("u", "Mend the axis"),
        begun("a"),
        said("a", "The axis is mended"),
        dream(),
        EventBody::Unknown {
            name: "item_completed".into(),
            version: 1,
            json: later.into(),
        },
        EventBody::TurnCompleted {
            turn: turn(Some(TurnOutcome::Done)),
        },
    ]
}

#[tokio::test]
#[ignore = "adds this build's database to the corpus"]
async fn writes_this_builds_database() {
    let place = Place::new();
    let store = place.open();
    make(&store, "broken-off", "p", 10).await;
    add(
        &store,
        "broken-off",
        vec![EventBody::TurnStarted { turn: turn(None) }, begun("i")],
    )
    .await;
    for (offset, text) in [(0, "Half a"), (6, " sent")] {
        cairn_agent::store::EventStore::append_text(
            &store,
            id("broken-off"),
            "i".into(),
            offset,
            text.into(),
        )
        .await
        .unwrap();
    }
    make(&store, "whole", "p", 2000).await;
    add(&store, "whole", whole_session()).await;
    store.set_draft(&id("whole"), "next").await.unwrap();
    store.put_output(id("whole"), "all of it".into()).await.unwrap();
    let image = BeforeImage {
        session: id("whole"),
        turn: "turn".into(),
        call: "c".into(),
        path: "/p/a.rs".into(),
        before: Some(b"before".to_vec()),
        mode: Some(0o644),
        after: None,
        temporary: None,
    };
    store.before_change(image).await.unwrap();
    store
        .after_change("c".into(), "/p/a.rs".into(), true)
        .await
        .unwrap();
    let path = store.path().to_owned();
    drop(store);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); VACUUM")
        .unwrap();
    let version: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    drop(db);
    let packed = zstd::encode_all(fs::File::open(&path).unwrap(), 19).unwrap();
    fs::create_dir_all(folder()).unwrap();
    fs::write(folder().join(format!("v{version}.db.zst")), packed).unwrap();
}
