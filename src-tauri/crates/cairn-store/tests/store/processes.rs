//! Many processes on one database, and processes that are killed. SPEC S2, R1, cases D4, D5, X113.

use std::path::Path;
use std::process::Stdio;

use cairn_agent::store::{BeforeImage, Durability, EventStore, Journal};
use cairn_protocol::{EventBody, ItemId};
use cairn_store::Store;

use crate::kit::{Place, begun, child_command, event, id, make, marked_lines, said, told};

const KILLS: u64 = 30;

/// What was printed of one item that grows.
#[derive(Default)]
struct Printed {
    seq: u64,
    item: String,
    text: usize,
    changes: usize,
    output: Option<String>,
}

impl Printed {
    fn read(&mut self, line: &str) {
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some("event"), Some(seq), None) => self.seq = seq.parse().unwrap(),
            (Some("text"), Some(item), Some(length)) => {
                item.clone_into(&mut self.item);
                self.text = length.parse().unwrap();
            }
            (Some("done"), Some(seq), None) => {
                self.seq = seq.parse().unwrap();
                self.text = 0;
            }
            (Some("change"), Some(count), None) => self.changes = count.parse().unwrap(),
            (Some("output"), Some(name), None) => self.output = Some(name.to_owned()),
            other => panic!("{other:?}"),
        }
    }

    async fn check(&self, data: &Path) {
        let store = Store::open(data).unwrap();
        let loaded = store.load(&id("s")).await.unwrap();
        assert!(
            loaded.last_seq >= self.seq,
            "event {} was printed, {} is stored",
            self.seq,
            loaded.last_seq
        );
        let seqs: Vec<u64> = loaded.events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=loaded.last_seq).collect::<Vec<_>>());
        assert!(
            loaded
                .events
                .iter()
                .all(|event| !matches!(event.body, EventBody::Unknown { .. }))
        );
        if self.text > 0 {
            let partial = loaded
                .partial_texts
                .get(&ItemId::from(self.item.as_str()))
                .map_or(0, String::len);
            let complete = loaded.events.iter().any(
                |event| matches!(&event.body, EventBody::ItemCompleted { item } if item.id.as_str() == self.item),
            );
            assert!(
                complete || partial >= self.text,
                "{} of {} bytes of {}",
                partial,
                self.text,
                self.item
            );
        }
        let changes = store.changes(&id("s")).await.unwrap();
        assert!(changes.len() >= self.changes);
        for change in &changes {
            assert!(store.before_image(&id("s"), change.n).await.unwrap().is_some());
        }
        if let Some(output) = &self.output {
            let text = store.get_output(id("s"), output.as_str().into()).await.unwrap();
            assert!(text.starts_with("output of"));
        }
        let sound: String = rusqlite::Connection::open(store.path())
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sound, "ok");
    }
}

#[tokio::test]
async fn d5_x113_killed_at_random_points_nothing_that_was_shown_is_lost() {
    let place = Place::new();
    let data = place.folder.path().join("data");
    {
        let store = place.open();
        make(&store, "s", "p", 10).await;
    }
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    let mut printed = Printed::default();
    for _ in 0..KILLS {
        let mut child = child_command("processes::writes_until_killed", "write", &data)
            .spawn()
            .unwrap();
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let lines = (chance >> 33) % 60;
        let mut seen = 0;
        let mut all = marked_lines(&mut child);
        for line in all.by_ref() {
            printed.read(&line);
            seen += 1;
            if seen > lines {
                child.kill().unwrap();
                break;
            }
        }
        // What was on its way when the kill came was printed too.
        all.for_each(|line| printed.read(&line));
        child.wait().unwrap();
        assert!(seen > lines, "the child ended by itself");
        printed.check(&data).await;
        printed.text = 0;
    }
    assert!(printed.seq > KILLS);
}

#[tokio::test]
#[ignore = "the child process of other tests"]
async fn writes_until_killed() {
    let Some((_, data)) = told() else { return };
    let store = Store::open(&data).unwrap();
    let _lease = store.lease(&id("s"), "exec").await.unwrap();
    let mut seq = store.load(&id("s")).await.unwrap().last_seq;
    let mut changes = store.changes(&id("s")).await.unwrap().len();
    loop {
        let item = format!("i{seq}");
        seq += 1;
        store
            .append(vec![event("s", seq, begun(&item))], Durability::Committed)
            .await
            .unwrap();
        println!("=> event {seq}");
        let mut text = String::new();
        for piece in ["One ", "two, ", "drei größer ", "四"] {
            store
                .append_text(id("s"), item.as_str().into(), text.len() as u64, piece.into())
                .await
                .unwrap();
            text.push_str(piece);
            println!("=> text {item} {}", text.len());
        }
        let image = BeforeImage {
            session: id("s"),
            turn: "t".into(),
            call: item.as_str().into(),
            path: "/p/a".into(),
            before: Some(text.repeat(100 + changes % 7).into_bytes()),
            mode: Some(0o644),
            after: None,
            temporary: None,
        };
        store.before_change(image).await.unwrap();
        changes += 1;
        println!("=> change {changes}");
        let output = store
            .put_output(id("s"), format!("output of {item}"))
            .await
            .unwrap();
        println!("=> output {output}");
        seq += 1;
        store
            .append(vec![event("s", seq, said(&item, &text))], Durability::Synced)
            .await
            .unwrap();
        println!("=> done {seq}");
    }
}

#[tokio::test]
async fn d4_ten_processes_make_one_database_and_write_while_one_streams() {
    let place = Place::new();
    let data = place.folder.path().join("data");
    let children: Vec<_> = (0..10)
        .map(|n| {
            child_command("processes::writes_forty_events", &format!("{n}"), &data)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success() && said.contains("=> finished"), "{said}");
    }
    let store = place.open();
    for n in 0..10 {
        let loaded = store.load(&id(&format!("s{n}"))).await.unwrap();
        assert_eq!(loaded.last_seq, 41);
    }
}

#[tokio::test]
#[ignore = "the child process of other tests"]
async fn writes_forty_events() {
    let Some((n, data)) = told() else { return };
    let store = Store::open(&data).unwrap();
    let name = format!("s{n}");
    make(&store, &name, "p", 10).await;
    let _lease = store.lease(&id(&name), "exec").await.unwrap();
    for seq in 2..42 {
        if n == "0" {
            for piece in 0..20 {
                store
                    .append_text(id(&name), format!("i{seq}").into(), piece, "x".into())
                    .await
                    .unwrap();
            }
        }
        let durability = if seq % 8 == 0 {
            Durability::Synced
        } else {
            Durability::Committed
        };
        store
            .append(
                vec![event(&name, seq, said(&format!("i{seq}"), "words"))],
                durability,
            )
            .await
            .unwrap();
        store.load(&id(&name)).await.unwrap();
    }
    println!("=> finished");
}
