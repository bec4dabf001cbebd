//! Who may import whom, who may start processes, and what the page may touch.
//!
//! The edges are those of the map in src-tauri/ARCHITECTURE.md; crates that do not exist yet have theirs already.

#![allow(
    clippy::expect_used,
    reason = "a test may fail loudly, also in its own functions"
)]

#[path = "support/cargo.rs"]
mod cargo;
#[path = "support/tree.rs"]
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tree::{none_found, root, sources};

/// What each crate may stand on. A crate that is not here may not exist.
const EDGES: &[(&str, &[&str])] = &[
    ("cairn-protocol", &[]),
    ("cairn-policy", &["cairn-protocol"]),
    ("cairn-agent", &["cairn-protocol", "cairn-policy"]),
    ("cairn-files", &["cairn-protocol", "cairn-policy"]),
    ("cairn-exec", &["cairn-protocol", "cairn-policy"]),
    (
        "cairn-tools",
        &[
            "cairn-protocol",
            "cairn-policy",
            "cairn-agent",
            "cairn-files",
            "cairn-exec",
        ],
    ),
    ("cairn-models", &["cairn-protocol", "cairn-policy", "cairn-agent"]),
    ("cairn-store", &["cairn-protocol", "cairn-policy", "cairn-agent"]),
    (
        "cairn-mcp",
        &[
            "cairn-protocol",
            "cairn-policy",
            "cairn-agent",
            "cairn-files",
            "cairn-exec",
        ],
    ),
    (
        "cairn-diagnostics",
        &[
            "cairn-protocol",
            "cairn-policy",
            "cairn-agent",
            "cairn-files",
            "cairn-exec",
        ],
    ),
    (
        "cairn-host",
        &[
            "cairn-protocol",
            "cairn-policy",
            "cairn-agent",
            "cairn-files",
            "cairn-exec",
            "cairn-tools",
            "cairn-models",
            "cairn-store",
            "cairn-mcp",
            "cairn-diagnostics",
        ],
    ),
    (
        "cairn-cli",
        &[
            "cairn-protocol",
            "cairn-policy",
            "cairn-agent",
            "cairn-exec",
            "cairn-host",
        ],
    ),
    ("cairn-desktop", &["cairn-protocol", "cairn-host"]),
    (
        "cairn-testkit",
        &["cairn-protocol", "cairn-policy", "cairn-agent"],
    ),
];

/// Crates of others that a pure crate must not see: they touch the disk, the network, the clock or other threads.
const IMPURE: &[&str] = &[
    "tokio",
    "tokio-util",
    "reqwest",
    "hyper",
    "rustls",
    "rusqlite",
    "rustix",
    "libc",
    "tempfile",
    "walkdir",
    "ignore",
    "keyring",
    "getrandom",
    "jiff",
    "chrono",
    "tracing-appender",
];

/// What `cairn-agent` must not see: it has a driver, therefore a runtime, but no disk and no network.
const NOT_FOR_AGENT: &[&str] = &[
    "reqwest", "hyper", "rustls", "rusqlite", "rustix", "libc", "tempfile", "walkdir", "ignore", "keyring",
    "jiff", "chrono",
];

#[test]
fn crates_stand_only_on_what_the_map_says() {
    let edges: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in packages() {
        let name = package.name.as_str();
        let Some(allowed) = edges.get(name) else {
            wrong.push(format!("{name} is on no map"));
            continue;
        };
        let known = |on: &str| EDGES.iter().any(|(name, _)| *name == on);
        for (on, kind) in &package.on {
            let ours = on.starts_with("cairn-") || known(on);
            // Doubles and strict servers are for tests; only the testkit itself is one.
            let for_tests = kind == "dev" && on == "cairn-testkit";
            if ours && !allowed.contains(&on.as_str()) && !for_tests {
                wrong.push(format!("{name} depends on {on} ({kind})"));
            }
        }
    }
    none_found(
        "Move the code to where the edge already is, or change the map, this table and the reason together:",
        &wrong,
    );
}

#[test]
fn pure_crates_stand_on_nothing_that_does_anything() {
    let mut wrong = Vec::new();
    for package in packages() {
        let barred = match package.name.as_str() {
            "cairn-protocol" | "cairn-policy" => IMPURE,
            "cairn-agent" => NOT_FOR_AGENT,
            _ => continue,
        };
        let found = package
            .on
            .iter()
            .filter(|(on, kind)| kind == "normal" && barred.contains(&on.as_str()));
        wrong.extend(found.map(|(on, _)| format!("{} depends on {on}", package.name)));
    }
    none_found(
        "These crates only compute; do the deed in the crate that owns it:",
        &wrong,
    );
}

#[test]
fn nothing_but_the_shell_names_the_window_toolkit() {
    let toolkit =
        |name: &str| name.starts_with("tauri") || matches!(name, "wry" | "tao" | "webkit2gtk" | "gtk");
    let mut wrong: Vec<String> = packages()
        .iter()
        .filter(|package| package.name != "cairn-desktop")
        .flat_map(|package| {
            package
                .on
                .iter()
                .map(|(on, _)| (package.name.clone(), on.clone()))
        })
        .filter(|(_, on)| toolkit(on))
        .map(|(name, on)| format!("{name} depends on {on}"))
        .collect();
    wrong.extend(lines_with("src-tauri/crates", &[concat!("tau", "ri::")], |_| {
        false
    }));
    none_found("Only src-tauri/src may know Tauri:", &wrong);
}

#[test]
fn the_headless_program_links_no_window_toolkit() {
    let graph = cargo::metadata_here(&root());
    let nodes: BTreeMap<&str, Vec<&str>> = graph
        .get("resolve")
        .map(|resolve| cargo::list(resolve, "nodes"))
        .unwrap_or_default()
        .iter()
        .map(|node| (cargo::text(node, "id"), normal_edges(node)))
        .collect();
    let mut open: Vec<&str> = nodes
        .keys()
        .copied()
        .filter(|id| id.contains("/cairn-cli#"))
        .collect();
    assert_eq!(open.len(), 1, "the graph names cairn-cli once");
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(nodes.get(id).into_iter().flatten().copied());
        }
    }
    assert!(seen.len() > 20, "the graph was walked");
    let toolkit = ["tauri", "wry", "tao", "gtk", "webkit2gtk", "gdk", "soup3"];
    let name = |id: &str| {
        id.rsplit(['#', '/'])
            .next()
            .unwrap_or_default()
            .split('@')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let wrong: Vec<String> = seen
        .iter()
        .map(|id| name(id))
        .filter(|name| toolkit.contains(&name.as_str()))
        .collect();
    none_found(
        "`cairn` must start without GTK and WebKit (SPEC A2); it links:",
        &wrong,
    );
}

fn normal_edges(node: &Value) -> Vec<&str> {
    let normal = |edge: &&Value| {
        cargo::list(edge, "dep_kinds")
            .iter()
            .any(|kind| kind.get("kind").is_none_or(Value::is_null))
    };
    cargo::list(node, "deps")
        .iter()
        .filter(normal)
        .map(|edge| cargo::text(edge, "pkg"))
        .collect()
}

#[test]
fn only_the_process_crate_starts_processes() {
    let needles = [
        concat!("Command::", "new("),
        concat!("process::", "Command"),
        concat!("portable_", "pty::"),
        concat!("libc::", "fork"),
    ];
    let found = lines_with("src-tauri", &needles, |path| {
        path.starts_with("src-tauri/crates/cairn-exec/")
    });
    none_found(
        "Start processes through cairn-exec, so that every one of them is supervised:",
        &found,
    );
}

#[test]
fn only_the_process_crate_is_unsafe() {
    let needles = [
        concat!("unsafe", " {"),
        concat!("unsafe", " fn"),
        concat!("unsafe", " impl"),
        concat!("allow(", "unsafe_code"),
    ];
    let found = lines_with("src-tauri", &needles, |path| {
        path.starts_with("src-tauri/crates/cairn-exec/")
    });
    none_found("Unsafe code lives in one audited module of cairn-exec:", &found);
}

#[test]
fn nothing_but_the_front_ends_knows_a_current_folder() {
    let found = lines_with("src-tauri", &[concat!("env::", "current_dir")], |path| {
        path.starts_with("src-tauri/crates/cairn-cli/") || path.starts_with("src-tauri/src/")
    });
    none_found(
        "One process serves many projects: take the folder as an argument:",
        &found,
    );
}

#[test]
fn the_agent_has_no_clock_of_its_own() {
    let found = lines_where("src-tauri/crates/cairn-agent/src", |path, code| {
        let of_the_system = code.contains(concat!("System", "Time"))
            || (code.contains("std::time") && code.contains(concat!("Inst", "ant")));
        // The driver may wait: the runtime's clock stands still in tests. Nothing else may look at one.
        let waits = path.contains("/src/driver");
        of_the_system || (!waits && code.contains(concat!("Inst", "ant")))
    });
    none_found(
        "The time comes from the World; only the driver waits, by the runtime's clock:",
        &found,
    );
}

#[test]
fn the_agent_touches_no_disk_and_no_network() {
    let needles = [
        concat!("std::", "fs"),
        concat!("tokio::", "fs"),
        concat!("std::", "net"),
        concat!("tokio::", "net"),
    ];
    let found = lines_with("src-tauri/crates/cairn-agent/src", &needles, |_| false);
    none_found("Files are cairn-files', servers cairn-models':", &found);
}

#[test]
fn the_turn_is_a_pure_function() {
    let needles = [
        concat!("async", " fn"),
        concat!(".aw", "ait"),
        concat!("tokio", "::"),
        concat!("spawn", "("),
    ];
    let mut found = lines_with("src-tauri/crates/cairn-agent/src/turn", &needles, |_| false);
    let turn = lines_with("src-tauri/crates/cairn-agent/src", &needles, |path| {
        !path.ends_with("src/turn.rs")
    });
    found.extend(turn);
    none_found("The turn computes effects; the driver performs them:", &found);
}

#[test]
fn policy_and_protocol_do_nothing() {
    let needles = [
        concat!("std::", "fs"),
        // Addresses as values are what the gate judges; sockets are not.
        concat!("Tcp", "Stream"),
        concat!("Tcp", "Listener"),
        concat!("Udp", "Socket"),
        concat!("ToSocket", "Addrs"),
        concat!("std::", "env"),
        concat!("std::", "thread"),
        concat!("System", "Time"),
        concat!("async", " fn"),
    ];
    let mut found = lines_with("src-tauri/crates/cairn-policy/src", &needles, |_| false);
    found.extend(lines_with(
        "src-tauri/crates/cairn-protocol/src",
        &needles,
        |_| false,
    ));
    none_found("These crates are pure:", &found);
}

#[test]
fn tools_never_decide_permission() {
    let needles = [
        concat!("dec", "ide("),
        concat!("Rule", "Set"),
        concat!("Decision", "::"),
        concat!("Policy", " {"),
    ];
    let found = lines_with("src-tauri/crates/cairn-tools/src", &needles, |_| false);
    none_found("A tool declares effects; the gate judges them:", &found);
}

#[test]
fn there_is_no_state_that_all_share() {
    let needles = [concat!("static ", "mut "), concat!("thread_", "local!")];
    let found = lines_with("src-tauri", &needles, |_| false);
    none_found("Pass the value to whoever needs it:", &found);
}

const PAGE_ENDINGS: &[&str] = &[".ts", ".svelte", ".js", ".mjs", ".html"];

#[test]
fn only_the_backend_folder_talks_to_the_shell() {
    let outside = |path: &str| path.starts_with("ui/src/backend/");
    let found = page_lines("ui/src", &["@tauri-apps", "__TAURI"], outside);
    none_found(
        "Take the backend as an argument; ui/src/backend is its only importer:",
        &found,
    );
}

#[test]
fn the_kit_imports_nothing_of_ours() {
    let found: Vec<String> = sources("ui/src/kit", PAGE_ENDINGS)
        .iter()
        .flat_map(|file| {
            imports(&file.text)
                .map(|from| (file.path.clone(), from.to_owned()))
                .collect::<Vec<_>>()
        })
        .filter(|(path, from)| from.starts_with("..") && !within(path, from, "ui/src/kit"))
        .map(|(path, from)| format!("{path}: {from}"))
        .collect();
    none_found("The kit knows only itself and its libraries:", &found);
}

#[test]
fn blocks_import_no_feature() {
    let allowed = [
        "ui/src/blocks",
        "ui/src/kit",
        "ui/src/bindings",
        "ui/src/text",
        "ui/src/styles",
    ];
    let found: Vec<String> = sources("ui/src/blocks", PAGE_ENDINGS)
        .iter()
        .filter(|file| !file.path.contains(".test."))
        .flat_map(|file| {
            imports(&file.text)
                .map(|from| (file.path.clone(), from.to_owned()))
                .collect::<Vec<_>>()
        })
        .filter(|(path, from)| {
            from.starts_with('.') && !allowed.iter().any(|folder| within(path, from, folder))
        })
        .map(|(path, from)| format!("{path}: {from}"))
        .collect();
    none_found(
        "kit ← blocks ← features ← App; pass what a block needs as a property:",
        &found,
    );
}

#[test]
fn no_html_string_is_ever_drawn() {
    let needles = [
        concat!("{@", "html"),
        concat!("inner", "HTML"),
        concat!("outer", "HTML"),
        concat!("insertAdjacent", "HTML"),
        concat!("src", "doc"),
        concat!("document.", "write("),
    ];
    let found = page_lines("ui/src", &needles, |path| path.contains(".test."));
    none_found("Draw typed trees with text nodes:", &found);
}

/// A member of the workspace and what it depends on, by kind.
struct Package {
    name: String,
    on: Vec<(String, String)>,
}

fn packages() -> Vec<Package> {
    let metadata = cargo::metadata(&root(), &["--no-deps"]);
    let found: Vec<Package> = cargo::list(&metadata, "packages")
        .iter()
        .map(|package| Package {
            name: cargo::text(package, "name").to_owned(),
            on: cargo::list(package, "dependencies")
                .iter()
                .map(|on| {
                    let kind = on.get("kind").and_then(Value::as_str).unwrap_or("normal");
                    (cargo::text(on, "name").to_owned(), kind.to_owned())
                })
                .collect(),
        })
        .collect();
    assert!(found.len() > 5, "the workspace has members");
    found
}

/// Lines of Rust files beneath a folder that hold one of the needles, but in files that are let off.
fn lines_with(folder: &str, needles: &[&str], let_off: impl Fn(&str) -> bool) -> Vec<String> {
    lines_where(folder, |path, code| {
        !let_off(path) && needles.iter().any(|needle| code.contains(needle))
    })
}

/// Lines of what ships: no test files, nothing behind the first test module, no comments.
fn lines_where(folder: &str, wanted: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources(folder, &[".rs"]) {
        // The testkit is for tests as a whole.
        if tree::is_test_file(&file.path) || file.path.contains("/cairn-testkit/") {
            continue;
        }
        for (at, line) in tree::production(&file.text).iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if wanted(&file.path, code) {
                found.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    found
}

fn page_lines(folder: &str, needles: &[&str], let_off: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources(folder, PAGE_ENDINGS) {
        if let_off(&file.path) {
            continue;
        }
        for (at, line) in file.text.lines().enumerate() {
            if needles.iter().any(|needle| line.contains(needle)) {
                found.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    found
}

/// What a page's file imports, also what it loads late.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    [
        "from '",
        "from \"",
        "import '",
        "import \"",
        "import('",
        "import(\"",
    ]
    .into_iter()
    .flat_map(move |start| {
        text.split(start)
            .skip(1)
            .filter_map(|rest| rest.split(['\'', '"']).next())
    })
}

/// Whether what a file imports by a relative path lies in that folder.
fn within(file: &str, from: &str, folder: &str) -> bool {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in from.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    path == folder || path.starts_with(&format!("{folder}/"))
}
