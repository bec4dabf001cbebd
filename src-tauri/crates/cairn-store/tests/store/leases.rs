//! One writer per session. SPEC S3, cases X114.

use cairn_agent::store::{Durability, EventStore, StoreError};
use cairn_protocol::ItemId;

use crate::kit::{Place, child_command, event, id, make, marked_lines, said, told};

/// As on a full disk: the row of the lease cannot be removed.
#[tokio::test]
async fn a_lease_whose_return_could_not_be_stored_is_free_all_the_same() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 1).await;
    let lease = store.lease(&id("s"), "window").await.unwrap();
    let other = rusqlite::Connection::open(store.path()).unwrap();
    other
        .execute_batch("CREATE TRIGGER full BEFORE DELETE ON leases BEGIN SELECT RAISE(ABORT, 'full'); END")
        .unwrap();
    drop(lease);
    // The writer does one thing after the other: when this is done, giving back has failed before.
    store.set_draft(&id("s"), "x").await.unwrap();
    assert!(
        store.lease(&id("s"), "window").await.is_err(),
        "nothing can be stored about it yet"
    );
    other.execute_batch("DROP TRIGGER full").unwrap();
    let again = store.lease(&id("s"), "window").await.unwrap();
    assert!(store.lease(&id("s"), "window").await.is_err(), "it is held again");
    drop(again);
    store.lease(&id("s"), "window").await.unwrap();
}

#[tokio::test]
async fn a_lease_is_exclusive_and_given_back_when_dropped() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    make(&store, "t", "p", 10).await;
    let lease = store.lease(&id("s"), "window").await.unwrap();
    assert_eq!(lease.session(), &id("s"));
    let own = std::process::id();
    assert_eq!(
        store.lease(&id("s"), "window").await.err(),
        Some(StoreError::Held { pid: own })
    );
    let _other = store.lease(&id("t"), "window").await.unwrap();
    drop(lease);
    let _again = store.lease(&id("s"), "window").await.unwrap();
    assert!(matches!(
        store.lease(&id("nobody"), "window").await.err(),
        Some(StoreError::Missing(_))
    ));
}

#[tokio::test]
async fn x114_a_living_holder_keeps_others_out_and_a_killed_one_does_not() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let mut child = child_command(
        "leases::holds_a_session_until_killed",
        "hold",
        &place.folder.path().join("data"),
    )
    .spawn()
    .unwrap();
    assert_eq!(marked_lines(&mut child).next().as_deref(), Some("held"));
    let held = StoreError::Held { pid: child.id() };
    assert_eq!(store.lease(&id("s"), "window").await.err(), Some(held.clone()));
    let forced = vec![event("s", 2, said("i", "x"))];
    assert_eq!(
        store.append(forced, Durability::Committed).await.err(),
        Some(held.clone())
    );
    assert_eq!(
        store
            .append_text(id("s"), ItemId::from("i"), 0, "x".into())
            .await
            .err(),
        Some(held.clone())
    );
    assert_eq!(store.rename(&id("s"), "x").await.err(), Some(held.clone()));
    assert_eq!(store.delete(&id("s")).await.err(), Some(held));
    let holder = store.load(&id("s")).await.unwrap().held_by.unwrap();
    assert_eq!((holder.pid, holder.program.as_str()), (child.id(), "exec"));

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(store.load(&id("s")).await.unwrap().held_by, None);
    let _lease = store.lease(&id("s"), "window").await.unwrap();
}

#[tokio::test]
async fn a_holder_whose_pid_was_used_again_is_taken_over() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let lease = store.lease(&id("s"), "window").await.unwrap();
    let db = rusqlite::Connection::open(store.path()).unwrap();
    // Process 1 lives, but did not start when the holder did.
    db.execute("UPDATE leases SET pid = 1, start = 'long ago'", [])
        .unwrap();
    let _taken = store.lease(&id("s"), "window").await.unwrap();
    drop(lease);
}

#[tokio::test]
#[ignore = "the child process of other tests"]
async fn holds_a_session_until_killed() {
    let Some((_, data)) = told() else { return };
    let store = cairn_store::Store::open(&data).unwrap();
    let _lease = store.lease(&id("s"), "exec").await.unwrap();
    println!("=> held");
    std::future::pending::<()>().await;
}
