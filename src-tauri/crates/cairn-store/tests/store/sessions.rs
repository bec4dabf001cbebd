//! Lists, search, titles, deletion, drafts. SPEC S2, S4.

use std::collections::BTreeSet;

use cairn_agent::store::{Durability, EventStore, StoreError};
use cairn_protocol::{EventBody, ProjectKey, SessionId, SessionListParams, SessionState};

use crate::kit::{Place, add, event, id, make, said, session, turn, user};

fn key(name: &str) -> ProjectKey {
    ProjectKey::from(name)
}

#[tokio::test]
async fn d7_all_sessions_of_a_project_are_reachable_page_by_page() {
    let place = Place::new();
    let store = place.open();
    for (project, n) in [("a", 60), ("b", 60)] {
        for at in 0..n {
            // Several share a time: pages must not lose or repeat those.
            make(&store, &format!("{project}{at}"), project, at / 7).await;
        }
    }
    for archived in [false, true] {
        let mut seen: Vec<SessionId> = Vec::new();
        loop {
            let params = SessionListParams {
                archived,
                after: seen.last().cloned(),
                limit: 7,
            };
            let page = store.list(Some(&key("a")), &params).await.unwrap();
            assert!(page.sessions.len() <= 7);
            seen.extend(page.sessions.into_iter().map(|session| session.id));
            if !page.more {
                break;
            }
        }
        assert_eq!(seen.len(), 60);
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 60);
        assert!(seen.iter().all(|session| session.as_str().starts_with('a')));
        assert_eq!(seen.first(), Some(&id("a59")));
    }
    let all = store.list(None, &SessionListParams::default()).await.unwrap();
    assert_eq!((all.sessions.len(), all.more), (100, true));
    assert!(
        store
            .list(Some(&key("c")), &SessionListParams::default())
            .await
            .unwrap()
            .sessions
            .is_empty()
    );
}

#[tokio::test]
async fn a_title_holds_and_is_found_the_former_one_is_not() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let renamed = store.rename(&id("s"), "Mend the axis; DROP TABLE").await.unwrap();
    assert_eq!(renamed.title, "Mend the axis; DROP TABLE");
    drop(store);
    let store = place.open();
    assert_eq!(store.load(&id("s")).await.unwrap().session.title, renamed.title);
    let hits = store.search(Some(&key("p")), "AXIS").await.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].excerpt, "Mend the \u{2}axis\u{3}; DROP TABLE");
    assert!(store.search(Some(&key("p")), "Title").await.unwrap().is_empty());
    assert!(matches!(
        store.rename(&id("nobody"), "x").await,
        Err(StoreError::Missing(_))
    ));
}

#[tokio::test]
async fn archived_sessions_leave_the_list_but_not_the_search() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    assert!(store.archive(&id("s")).await.unwrap().archived);
    assert!(
        store
            .list(Some(&key("p")), &SessionListParams::default())
            .await
            .unwrap()
            .sessions
            .is_empty()
    );
    let all = SessionListParams {
        archived: true,
        ..SessionListParams::default()
    };
    assert!(store.list(Some(&key("p")), &all).await.unwrap().sessions[0].archived);
    assert_eq!(store.search(Some(&key("p")), "title").await.unwrap().len(), 1);
    assert!(!store.unarchive(&id("s")).await.unwrap().archived);
    assert_eq!(
        store
            .list(Some(&key("p")), &SessionListParams::default())
            .await
            .unwrap()
            .sessions
            .len(),
        1
    );
}

#[tokio::test]
async fn a_deleted_session_can_be_put_back_until_the_program_ends() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    add(&store, "s", vec![user("i", "unique words")]).await;
    store.delete(&id("s")).await.unwrap();
    assert!(matches!(store.get(&id("s")).await, Err(StoreError::Missing(_))));
    assert!(matches!(store.load(&id("s")).await, Err(StoreError::Missing(_))));
    assert!(store.search(None, "unique").await.unwrap().is_empty());
    assert!(
        store
            .list(None, &SessionListParams::default())
            .await
            .unwrap()
            .sessions
            .is_empty()
    );
    // Another store of the same living process must not make it final.
    drop(place.open());
    assert_eq!(store.undelete(&id("s")).await.unwrap().id, id("s"));
    assert_eq!(store.load(&id("s")).await.unwrap().events.len(), 2);
    assert_eq!(store.search(None, "unique").await.unwrap().len(), 1);
}

#[tokio::test]
async fn search_takes_words_literally_newest_first_within_the_project() {
    let place = Place::new();
    let store = place.open();
    for project in ["p", "q"] {
        make(&store, &format!("s-{project}"), project, 10).await;
        let bodies = (0..60)
            .map(|n| {
                said(
                    &format!("i{n}"),
                    &format!("Number {n} of foo_bar \"quoted\" (x) OR y"),
                )
            })
            .collect();
        add(&store, &format!("s-{project}"), bodies).await;
    }
    let hits = store.search(Some(&key("p")), "foo_bar").await.unwrap();
    assert_eq!(hits.len(), 50);
    assert!(
        hits[0].excerpt.starts_with("Number 59 of \u{2}foo_bar\u{3}"),
        "{}",
        hits[0].excerpt
    );
    assert!(hits.iter().all(|hit| hit.session.id == id("s-p")));
    for (typed, found) in [
        ("\"quoted", 50),
        ("59", 1),
        ("number 58", 1),
        ("foo AND nothing", 0),
        ("foo*", 50),
        ("fo", 0),
        ("p1", 0),
        ("scope:p1 OR text:x", 0),
        ("'; DROP TABLE words; --", 0),
        ("NEAR(foo bar)", 0),
        ("-x", 50),
        ("^number", 50),
    ] {
        assert_eq!(
            store.search(Some(&key("p")), typed).await.unwrap().len(),
            found,
            "{typed}"
        );
    }
}

#[tokio::test]
async fn a_message_is_found_once_by_its_last_words() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let complete = |text| {
        let EventBody::ItemStarted { item } = user("i", text) else {
            unreachable!()
        };
        EventBody::ItemCompleted { item }
    };
    add(
        &store,
        "s",
        vec![
            user("i", "first words"),
            complete("first words"),
            complete("second words"),
        ],
    )
    .await;
    assert_eq!(store.search(None, "words").await.unwrap().len(), 1);
    assert_eq!(store.search(None, "first").await.unwrap().len(), 0);
    assert_eq!(
        store.search(None, "second").await.unwrap()[0].excerpt,
        "\u{2}second\u{3} words"
    );
}

#[tokio::test]
async fn d14_drafts_are_back_after_a_restart() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    store.set_draft(&id("s"), "half a though").await.unwrap();
    store.set_draft(&id("s"), "half a thought\n").await.unwrap();
    drop(store);
    let store = place.open();
    assert_eq!(store.load(&id("s")).await.unwrap().draft, "half a thought\n");
    store.set_draft(&id("s"), "").await.unwrap();
    assert_eq!(store.load(&id("s")).await.unwrap().draft, "");
}

#[tokio::test]
async fn a_session_left_running_is_shown_as_interrupted_and_a_held_one_is_not() {
    let place = Place::new();
    let store = place.open();
    for name in ["left", "held"] {
        make(&store, name, "p", 10).await;
        add(&store, name, vec![EventBody::TurnStarted { turn: turn(None) }]).await;
    }
    let _lease = store.lease(&id("held"), "window").await.unwrap();
    let list = store.list(None, &SessionListParams::default()).await.unwrap();
    let states: Vec<_> = list
        .sessions
        .iter()
        .map(|session| (session.id.as_str(), session.state))
        .collect();
    assert_eq!(
        states,
        [
            ("held", SessionState::Running),
            ("left", SessionState::Interrupted)
        ]
    );
    assert_eq!(
        store.load(&id("left")).await.unwrap().session.state,
        SessionState::Interrupted
    );
}

#[tokio::test]
async fn projects_are_listed_by_their_last_use() {
    let place = Place::new();
    let store = place.open();
    store.touch_project(&key("a"), "/a").await.unwrap();
    make(&store, "s", "b", i64::MAX / 2).await;
    store.touch_project(&key("a"), "/moved").await.unwrap();
    let projects = store.projects().await.unwrap();
    assert_eq!(
        projects
            .iter()
            .map(|(key, path, _)| (key.as_str(), path.as_str()))
            .collect::<Vec<_>>(),
        [("b", "/home/somebody/b"), ("a", "/moved")]
    );
}

#[tokio::test]
async fn what_the_session_says_of_itself_is_listed() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let mut changed = session("s", "p", 10);
    changed.usage.output_tokens = 7;
    changed.changes.files = 3;
    changed.profile = Some("work".into());
    changed.updated_at = 20;
    let event = event(
        "s",
        2,
        EventBody::SessionChanged {
            session: changed.clone(),
        },
    );
    store.append(vec![event], Durability::Committed).await.unwrap();
    changed.updated_at = 1002;
    assert_eq!(store.get(&id("s")).await.unwrap(), changed);
}
