//! Before-images, blobs and outputs. SPEC S6, A5, T3.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_protocol::{BlobId, EventBody, OutputId};
use cairn_store::{ChangeFate, Store};
use sha2::{Digest, Sha256};

use crate::kit::{Place, add, id, item, make, noise};

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn image(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> BeforeImage {
    BeforeImage {
        session: id("s"),
        turn: "t".into(),
        call: "c".into(),
        path: path.to_owned(),
        before: before.map(<[u8]>::to_vec),
        mode: before.map(|_| 0o755),
        after: after.map(hash),
        temporary: Some(path.with_file_name(".cairn-7.tmp")),
    }
}

async fn prepared() -> (Place, Store) {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    (place, store)
}

#[tokio::test]
async fn before_images_of_any_bytes_and_any_path_come_back() {
    let (place, store) = prepared().await;
    let odd = PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(
        b"/p/\xff odd\n.rs",
    ));
    let contents: [Option<Vec<u8>>; 4] = [
        None,
        Some(Vec::new()),
        Some(b"a\0b".to_vec()),
        Some(noise(600_000)),
    ];
    for before in &contents {
        store
            .before_change(image(&odd, before.as_deref(), Some(b"new")))
            .await
            .unwrap();
        store.after_change("c".into(), odd.clone(), true).await.unwrap();
    }
    drop(store);
    let store = place.open();
    let changes = store.changes(&id("s")).await.unwrap();
    assert_eq!(changes.len(), contents.len());
    for (change, before) in changes.iter().zip(&contents) {
        assert_eq!(change.path, odd);
        assert_eq!(change.mode, before.as_ref().map(|_| 0o755));
        assert_eq!(
            (change.before.clone(), change.fate),
            (before.as_deref().map(hash), ChangeFate::Happened)
        );
        assert_eq!(&store.before_image(&id("s"), change.n).await.unwrap(), before);
    }
    make(&store, "other", "p", 10).await;
    assert!(matches!(
        store.before_image(&id("other"), changes[0].n).await,
        Err(StoreError::Missing(_))
    ));
}

#[tokio::test]
async fn f2_a_before_image_costs_one_sync_and_a_huge_one_two() {
    let (_place, store) = prepared().await;
    for (bytes, syncs) in [(noise(100_000), 1), (noise(900_000), 2)] {
        let before = store.sync_count();
        store
            .before_change(image(Path::new("/p/a"), Some(&bytes), Some(b"new")))
            .await
            .unwrap();
        store
            .after_change("c".into(), "/p/a".into(), false)
            .await
            .unwrap();
        assert_eq!(store.sync_count() - before, syncs, "{} bytes", bytes.len());
    }
}

#[tokio::test]
async fn only_a_planned_change_can_be_settled_and_only_once() {
    let (_place, store) = prepared().await;
    let path = PathBuf::from("/p/a");
    assert!(matches!(
        store.after_change("c".into(), path.clone(), true).await,
        Err(StoreError::Missing(_))
    ));
    store
        .before_change(image(&path, None, Some(b"new")))
        .await
        .unwrap();
    store.after_change("c".into(), path.clone(), false).await.unwrap();
    assert!(matches!(
        store.after_change("c".into(), path, true).await,
        Err(StoreError::Missing(_))
    ));
    assert_eq!(
        store.changes(&id("s")).await.unwrap()[0].fate,
        ChangeFate::Dropped
    );
}

#[tokio::test]
async fn outputs_are_for_their_own_session_only() {
    let (place, store) = prepared().await;
    make(&store, "other", "p", 10).await;
    let long: String = noise(300_000)
        .iter()
        .map(|byte| char::from(b'a' + byte % 26))
        .collect();
    let first = store.put_output(id("s"), "first ä".into()).await.unwrap();
    let second = store.put_output(id("s"), long.clone()).await.unwrap();
    assert_ne!(first, second);
    drop(store);
    let store = place.open();
    assert_eq!(store.get_output(id("s"), first.clone()).await.unwrap(), "first ä");
    assert_eq!(store.get_output(id("s"), second).await.unwrap(), long);
    for (session, output) in [
        ("other", first),
        ("s", OutputId::from("9")),
        ("s", OutputId::from("../1")),
    ] {
        assert!(matches!(
            store.get_output(id(session), output).await,
            Err(StoreError::Missing(_))
        ));
    }
}

/// Makes the planned changes of this process look like those of one that has ended.
fn orphan(store: &Store) {
    rusqlite::Connection::open(store.path())
        .unwrap()
        .execute("UPDATE changes SET pid = 4194304000", [])
        .unwrap();
}

#[tokio::test]
async fn a_change_is_left_over_when_its_writer_ended_and_until_it_is_resolved() {
    let (place, store) = prepared().await;
    let path = place.folder.path().join("a.rs");
    store
        .before_change(image(&path, Some(b"old"), Some(b"new")))
        .await
        .unwrap();
    assert_eq!(store.leftovers().await.unwrap(), [], "the writer lives");
    orphan(&store);
    let left = store.leftovers().await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(
        (&left[0].path, &left[0].temporary),
        (&path, &Some(path.with_file_name(".cairn-7.tmp")))
    );
    assert_eq!(
        (left[0].before.clone(), left[0].after.clone()),
        (Some(hash(b"old")), Some(hash(b"new")))
    );
    store
        .resolve(vec![(left[0].n, ChangeFate::Unclear)])
        .await
        .unwrap();
    assert_eq!(store.leftovers().await.unwrap(), [], "once is enough");
    assert_eq!(
        store.changes(&id("s")).await.unwrap()[0].fate,
        ChangeFate::Unclear
    );
}

#[tokio::test]
async fn a_purged_session_takes_its_own_blobs_along_and_leaves_shared_ones() {
    let (place, store) = prepared().await;
    make(&store, "other", "p", 10).await;
    let own = store.put_blob(noise(10)).await.unwrap();
    let shared = store.put_blob(noise(20)).await.unwrap();
    let naming = |name: &str, blob: &BlobId| {
        let body = serde_json::json!({
            "kind": "user", "text": "look",
            "attachments": [{
                "kind": "picture", "blob": "0".repeat(64), "sent": blob, "media_type": "image/png",
                "sent_media_type": "image/png", "width": 1, "height": 1, "bytes": 1, "name": "x"
            }]
        });
        EventBody::ItemStarted {
            item: item(name, serde_json::from_value(body).unwrap()),
        }
    };
    add(&store, "s", vec![naming("i", &own), naming("j", &shared)]).await;
    add(&store, "other", vec![naming("i", &shared)]).await;
    store.delete(&id("s")).await.unwrap();
    let data = place.folder.path().join("data");
    for blob in [&own, &shared] {
        let path = data
            .join("blobs")
            .join(&blob.0[..2])
            .join(&blob.0[2..4])
            .join(&blob.0);
        let old = std::time::SystemTime::now() - std::time::Duration::from_hours(25);
        fs::File::open(path).unwrap().set_modified(old).unwrap();
    }
    let db = rusqlite::Connection::open(store.path()).unwrap();
    db.execute(
        "UPDATE sessions SET deleter_start = 'gone' WHERE deleted_at IS NOT NULL",
        [],
    )
    .unwrap();
    drop(store);
    let store = place.open();
    // Jobs are done in order: when this is back, the purge is done.
    store.set_draft(&id("other"), "x").await.unwrap();
    assert!(matches!(
        store.undelete(&id("s")).await,
        Err(StoreError::Missing(_))
    ));
    assert!(matches!(store.get_blob(own).await, Err(StoreError::Missing(_))));
    assert_eq!(store.get_blob(shared).await.unwrap(), noise(20));
    let left: i64 = db
        .query_row("SELECT count(*) FROM events WHERE key >> 32 = 1", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 0);
}
