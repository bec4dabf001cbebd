use super::*;
use crate::sandbox::Layer;

fn walls(project: &Path) -> Confinement {
    Confinement {
        layer: Layer::Bubblewrap("/usr/bin/bwrap".into()),
        writable: vec![project.to_owned()],
        kept: vec![project.join(".git/config"), project.join("a/b/.envrc")],
        hidden: vec![
            project.join(".env"),
            "/usr".into(),
            "/run/user".into(),
            "/gone".into(),
        ],
        temporary: "/private/temporary".into(),
        blank: "/blank".into(),
        network: Network::Off,
    }
}

/// Where these words stand, in a row.
fn at(words: &[OsString], row: &[&str]) -> Option<usize> {
    words
        .windows(row.len())
        .position(|window| window.iter().zip(row).all(|(word, want)| word == want))
}

#[test]
fn later_mounts_narrow_what_earlier_ones_opened() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    std::fs::write(project.join(".env"), "").unwrap();
    let text = |path: &str| project.join(path).display().to_string();
    let words = words(&walls(&project), &project);
    let order = [
        at(&words, &["--ro-bind", "/", "/"]),
        at(&words, &["--tmpfs", "/run"]),
        at(&words, &["--bind", "/private/temporary", "/tmp"]),
        at(&words, &["--perms", "0111", "--tmpfs", "/usr"]),
        at(
            &words,
            &["--bind", &text(""), &text("")].map(|word| word.trim_end_matches('/')),
        ),
        at(&words, &["--bind-try", &text(".git"), &text(".git")]),
        at(
            &words,
            &["--ro-bind-try", &text(".git/config"), &text(".git/config")],
        ),
        at(&words, &["--ro-bind", "/blank", &text(".env")]),
        at(&words, &["--remount-ro", "/run"]),
    ];
    assert!(order.iter().all(Option::is_some), "{order:?} {words:?}");
    assert!(order.is_sorted(), "{order:?}");
    for folder in ["a", "a/b"] {
        assert!(at(&words, &["--bind-try", &text(folder), &text(folder)]).is_some());
    }
    assert!(at(&words, &["--remount-ro", "/usr"]).is_some());
    // What is not there, or not shown anyway, is not made.
    assert!(!words.iter().any(|word| word == "/gone" || word == "/run/user"));
}

#[test]
fn the_network_is_a_namespace_of_its_own_unless_it_was_approved() {
    let mut walls = walls(Path::new("/nowhere"));
    let has = |walls: &Confinement| at(&words(walls, Path::new("/")), &["--unshare-net"]).is_some();
    assert!(has(&walls));
    walls.network = Network::On;
    assert!(!has(&walls));
    let words = words(&walls, Path::new("/"));
    for always in [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--new-session",
        "--cap-drop",
    ] {
        assert!(words.iter().any(|word| word == always), "{always}");
    }
}
