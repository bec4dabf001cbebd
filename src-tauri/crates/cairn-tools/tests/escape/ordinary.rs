//! What has to go on working within the walls.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use cairn_agent::tool::ToolOutcome;
use cairn_exec::Layer;
use serde_json::json;

use crate::ground::{Ground, as_a_person};

/// Ordinary work: a line, and what it prints.
const WORK: &[(&str, &str)] = &[
    ("echo a | tr a b > out && cat out", "b"),
    ("echo x > /dev/null; head -c2 /dev/zero | wc -c", "2"),
    ("head -c3 /dev/urandom | wc -c", "3"),
    ("echo said > /dev/stderr; cat <(echo from-a-pipe)", "from-a-pipe"),
    ("f=$(mktemp) && echo made > $f && cat $f", "made"),
    ("echo kept > $TMPDIR/kept", "Exit code 0"),
    ("cat $TMPDIR/kept", "kept"),
    ("mkdir -p a/b && mv a/b a/c && rm -r a && ls", "attempt.py"),
    ("sleep 30 & kill $!; wait $!; echo $?", "143"),
    ("ls $HOME && cat $HOME/.bashrc", "# start"),
    ("cat /etc/os-release | head -1; id -u; pwd", "project"),
    ("git status --short", "attempt.py"),
    (
        "git add attempt.py && git commit -qm first && git log --format=%s",
        "first",
    ),
    ("git switch -qc other && git branch", "* other"),
    (
        "git init -q fresh && cd fresh && git -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m x && git log --format=%s",
        "x",
    ),
    ("git -C fresh status", "nothing to commit"),
    (
        "python3 -c 'import subprocess, tempfile; tempfile.mkdtemp(); print(subprocess.check_output([\"echo\", \"child\"]))'",
        "child",
    ),
    (
        "python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"pair\"); print(b.recv(9))'",
        "pair",
    ),
    (
        "python3 -m venv --without-pip env && env/bin/python -c 'print(6 * 7)'",
        "42",
    ),
    (
        "if command -v node; then node -e 'require(\"fs\").writeFileSync(\"n\", \"node\"); console.log(require(\"child_process\").execSync(\"cat n\").toString())'; else echo node; fi",
        "node",
    ),
    (
        "mkdir -p $GOCACHE $npm_config_cache && touch $GOCACHE/x && echo cached",
        "cached",
    ),
];

/// The same where namespaces stand: a network and processes of its own.
const WITHIN_NAMESPACES: &[(&str, &str)] = &[
    (
        "python3 -c 'import multiprocessing as m; print(sum(m.Pool(2).map(abs, [-1, -2])))'",
        "3",
    ),
    (
        "python3 -m http.server 8765 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 0.7; python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8765/\").status)'; kill $!",
        "200",
    ),
    (
        "python3 -c 'import os; print(len([p for p in os.listdir(\"/proc\") if p.isdigit()]) < 9)'",
        "True",
    ),
];

#[test]
fn ordinary_work_passes_within_bubblewrap() {
    as_a_person(
        "ordinary::ordinary_work_passes_within_bubblewrap",
        Some("bubblewrap"),
        |layer| {
            works(layer.clone(), &[WORK, WITHIN_NAMESPACES].concat());
            sockets_of_commands_are_reached(&Ground::new(layer));
        },
    );
}

#[test]
fn ordinary_work_passes_within_landlock_alone() {
    as_a_person(
        "ordinary::ordinary_work_passes_within_landlock_alone",
        Some("landlock"),
        |layer| works(layer, WORK),
    );
}

fn works(layer: Layer, work: &[(&str, &str)]) {
    let ground = Ground::new(layer);
    let mut wrong = Vec::new();
    for (line, prints) in work {
        let ended = ground.run(line);
        if !ended.ok || !ended.content.contains(prints) || ended.content.contains("set aside") {
            wrong.push(format!("{line}\n{}", ended.content));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    survivors_live_on(&ground);
    an_approved_network_is_there(&ground);
    what_hit_a_wall_is_told_how_to_ask(&ground);
}

fn survivors_live_on(ground: &Ground) {
    let ended = ground.run("sleep 20 & sleep 21 & echo started");
    assert!(ended.content.contains("started"), "{}", ended.content);
    assert!(
        ended.content.contains("sleep 20") && ended.content.contains("sleep 21"),
        "{}",
        ended.content
    );
    assert!(!ended.content.contains("bwrap"), "{}", ended.content);
    let running = ground.group.list();
    let left = running.iter().find(|facts| facts.state.is_alive()).unwrap();
    let stopped = ground.block_on(ground.group.stop(&left.handle)).unwrap();
    assert!(!stopped.state.is_alive());
}

/// What one command listens at, the next reaches.
fn sockets_of_commands_are_reached(ground: &Ground) {
    let server = "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"own.socket\"); s.listen(); \
                  print(\"listening\", flush=True); s.accept()[0].send(b\"answered\")'";
    let started = ground.call(json!({"command": server, "background": true}));
    assert!(started.ok, "{}", started.content);
    let until = Instant::now() + Duration::from_secs(10);
    while !ground.project().join("own.socket").exists() {
        assert!(Instant::now() < until, "{}", started.content);
        std::thread::sleep(Duration::from_millis(20));
    }
    // The first command after it came learns whose it is.
    ground.run("true");
    let client = "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"own.socket\"); print(s.recv(9))'";
    let ended = ground.run(client);
    assert!(ended.content.contains("answered"), "{}", ended.content);
}

fn an_approved_network_is_there(ground: &Ground) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ended = ground.call(json!({"command": format!("python3 attempt.py tcp {port}"), "network": true}));
    assert!(ended.content.contains("GOT OUT"), "{}", ended.content);
    drop(listener);
    let server = format!("python3 -m http.server {port} --bind 127.0.0.1");
    let started = ground.call(json!({"command": server, "network": true, "background": true}));
    let until = Instant::now() + Duration::from_secs(10);
    let answer = loop {
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            break answer;
        }
        assert!(Instant::now() < until, "{}", started.content);
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(answer.contains("200 OK"), "{answer}");
    let facts = ground.group.list();
    let server = facts.iter().find(|facts| facts.state.is_alive()).unwrap();
    let ports = ground.block_on(ground.group.ports(&server.handle)).unwrap();
    assert!(ports.iter().any(|listening| listening.port == port), "{ports:?}");
    ground.block_on(ground.group.stop(&server.handle)).unwrap();
}

fn what_hit_a_wall_is_told_how_to_ask(ground: &Ground) {
    let says = |ended: &ToolOutcome| {
        ended.content.contains("The sandbox may be the reason") && ended.content.contains("`outside: true`")
    };
    let refused = ground.run("echo x > $OTHER/new");
    assert!(says(&refused), "{}", refused.content);
    let failed = ground.run("echo something else; false");
    assert!(!says(&failed), "{}", failed.content);
    let outside =
        ground.call(json!({"command": "echo x > $OTHER/new && rm $OTHER/new && echo done", "outside": true}));
    assert!(outside.content.contains("done"), "{}", outside.content);
}

#[test]
fn a_crate_builds_offline_within_the_best_walls() {
    let home = std::env::var("HOME").unwrap_or_default();
    let at = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| format!("{home}/{usual}"));
    let variables = [
        ("PATH", std::env::var("PATH").unwrap()),
        ("CARGO_HOME", at("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", at("RUSTUP_HOME", ".rustup")),
    ];
    crate::ground::as_it_is(|layer| {
        let ground = Ground::with_environment(layer, &variables);
        let made = ground.run("cargo new --vcs none --offline made && cd made && cargo build --offline --target-dir built && built/debug/made");
        assert!(made.content.contains("Hello, world!"), "{}", made.content);
    });
}
