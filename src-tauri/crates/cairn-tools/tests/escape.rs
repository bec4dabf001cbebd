//! The sandbox, attacked from within: one table of ways out, each refused by the layer that claims it. SPEC P12.
//!
//! The commands run through the shell tool as a person who is not root: as root the tests start themselves again
//! through `setpriv`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it saw"
)]

#[path = "escape/aside.rs"]
mod aside;
#[path = "escape/ground.rs"]
mod ground;
#[path = "escape/looked.rs"]
mod looked;
#[path = "escape/ordinary.rs"]
mod ordinary;
#[path = "shell/support.rs"]
mod support;
#[path = "escape/table.rs"]
mod table;

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use cairn_exec::Layer;
use ground::{Ground, as_a_person};
use serde_json::json;
use table::{Claim, ROWS, WITH_NETWORK};

#[test]
fn every_way_out_is_refused_by_the_layer_that_claims_it_with_bubblewrap() {
    as_a_person(
        "every_way_out_is_refused_by_the_layer_that_claims_it_with_bubblewrap",
        Some("bubblewrap"),
        |layer| refuses(layer, |row| row.bubblewrap),
    );
}

#[test]
fn every_way_out_is_refused_by_the_layer_that_claims_it_with_landlock_alone() {
    as_a_person(
        "every_way_out_is_refused_by_the_layer_that_claims_it_with_landlock_alone",
        Some("landlock"),
        |layer| refuses(layer, |row| row.landlock),
    );
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a test looks whether the machine has what it is about"
)]
fn the_trial_finds_bubblewrap_where_it_works() {
    let works = std::process::Command::new("/usr/bin/bwrap")
        .args([
            "--ro-bind",
            "/",
            "/",
            "--unshare-all",
            "--proc",
            "/proc",
            "--",
            "/bin/true",
        ])
        .status();
    if works.is_ok_and(|status| status.success()) {
        let walls = ground::walls();
        assert!(matches!(walls.layer, Some(Layer::Bubblewrap(_))), "{walls:?}");
        assert!(walls.gaps.is_empty() && walls.why_not.is_empty(), "{walls:?}");
    }
}

fn refuses(layer: Layer, claim: fn(&table::Row) -> Claim) {
    let ground = Ground::new(layer);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp6 = TcpListener::bind("[::1]:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let bus = UnixListener::bind(ground.home().join("bus")).unwrap();
    let name = format!("cairn-escape-{}", std::process::id());
    let shared = format!("cairn-escape-{}", std::process::id());
    let loose = [
        std::env::temp_dir().join(&shared),
        std::path::Path::new("/dev/shm").join(&shared),
    ];
    for path in &loose {
        std::fs::write(path, "CANARY").unwrap();
    }
    let screen = std::env::temp_dir().join(format!("{shared}.socket"));
    let _gone = std::fs::remove_file(&screen);
    let others = [
        UnixListener::bind(&screen).unwrap(),
        UnixListener::bind(ground.project().join("editor.socket")).unwrap(),
    ];
    let nameless = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = std::fs::File::open(ground.home()).unwrap();
    let odd = format!("/proc/self/fd/{}/odd", std::os::fd::AsRawFd::as_raw_fd(&folder));
    let odd = UnixListener::bind(odd).unwrap();
    let memory = ground::Shared::memory();
    let queue = ground::Shared::queue();
    let semaphore = ground::Shared::semaphore();
    let named = ground::NamedQueue::new(&name);
    let relative = ground.listener_in_home("relative");
    for listener in others.iter().chain([&odd]) {
        listener.set_nonblocking(true).unwrap();
    }
    for listener in [&tcp, &tcp6] {
        listener.set_nonblocking(true).unwrap();
    }
    udp.set_nonblocking(true).unwrap();
    bus.set_nonblocking(true).unwrap();
    nameless.set_nonblocking(true).unwrap();
    let words = [
        ("TCP6", tcp6.local_addr().unwrap().port().to_string()),
        ("TCP", tcp.local_addr().unwrap().port().to_string()),
        ("UDP", udp.local_addr().unwrap().port().to_string()),
        ("ABSTRACT", name),
        ("SHARED", shared),
        ("MEMORY", memory.number.clone()),
        ("QUEUE", queue.number.clone()),
        ("SEMAPHORE", semaphore.number.clone()),
        ("US", std::process::id().to_string()),
    ];
    let before = ground.outside();
    let mut wrong = Vec::new();
    let rows = ROWS.iter().map(|row| (row, false));
    for (row, network) in rows.chain(WITH_NETWORK.iter().map(|row| (row, true))) {
        let Claim::By(by, says) = claim(row) else { continue };
        let mut line = row.line.to_owned();
        for (word, value) in &words {
            line = line.replace(&format!("{{{word}}}"), value);
        }
        let ended = ground.call(json!({ "command": line, "timeout": 60, "network": network }));
        let refused = says.iter().any(|says| ended.content.contains(says));
        if !refused || ended.content.contains("GOT OUT") || ended.content.contains("CANARY") {
            wrong.push(format!("{} (by {by}): {line}\n{}", row.what, ended.content));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(ground.outside(), before, "something outside was changed");
    assert!(
        tcp.accept().is_err() && tcp6.accept().is_err(),
        "somebody connected"
    );
    assert!(
        bus.accept().is_err() && nameless.accept().is_err(),
        "somebody connected"
    );
    assert!(
        others
            .iter()
            .chain([&odd])
            .all(|listener| listener.accept().is_err()),
        "somebody connected"
    );
    assert!(!relative.was_reached(), "somebody connected");
    // Their ends assert that nobody removed them.
    drop((memory, queue, semaphore, named));
    for path in loose.iter().chain([&screen]) {
        std::fs::remove_file(path).unwrap();
    }
    assert!(udp.recv(&mut [0; 8]).is_err(), "something was sent");
}
