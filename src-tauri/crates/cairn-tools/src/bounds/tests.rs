use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn l01_temporary_folders_are_the_users_alone_and_nobody_knows_their_names_beforehand() {
    let [one, other] = [(); 2].map(|()| private_temporary_folder().unwrap());
    let name = |folder: &Path| folder.file_name().unwrap().to_string_lossy().into_owned();
    let random = |folder: &Path| name(folder).split('-').nth(1).unwrap().to_owned();
    assert_eq!(random(&one).len(), 16);
    assert_ne!(random(&one), random(&other));
    for folder in [one, other] {
        let kind = folder.symlink_metadata().unwrap();
        assert!(kind.is_dir());
        assert_eq!(kind.permissions().mode() & 0o777, 0o700);
        std::fs::remove_dir(folder).unwrap();
    }
}

/// A worktree in `tree` of the repository in `main/.git`, and bounds around it.
fn worktree() -> (tempfile::TempDir, Bounds) {
    worktree_with(Layer::Bubblewrap("/usr/bin/bwrap".into()))
}

fn worktree_with(layer: Layer) -> (tempfile::TempDir, Bounds) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let put = |name: &str, text: String| {
        let path = at.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("main/.git/config", String::new());
    put("main/.git/HEAD", "ref: refs/heads/main\n".to_owned());
    put("main/.git/worktrees/t/commondir", "../..\n".to_owned());
    put(
        "main/.git/worktrees/t/gitdir",
        format!("{}\n", at.join("tree/.git").display()),
    );
    put(
        "tree/.git",
        format!("gitdir: {}\n", at.join("main/.git/worktrees/t").display()),
    );
    let places = Places {
        root: at.join("tree"),
        home: None,
        own: Vec::new(),
    };
    let walls = Walls {
        layer: Some(layer),
        gaps: Vec::new(),
        why_not: Vec::new(),
    };
    let bounds = Bounds::new(&walls, &places, &at.join("own")).unwrap().unwrap();
    (folder, bounds)
}

#[test]
fn f12_what_a_command_gives_the_repository_of_a_worktree_to_run_does_not_stay() {
    let (folder, bounds) = worktree();
    let common = folder.path().canonicalize().unwrap().join("main/.git");
    let (walls, before) = bounds.around_command(Network::Off);
    assert!(walls.writable.contains(&common) && walls.kept.contains(&common.join("config")));
    std::fs::create_dir(common.join("hooks")).unwrap();
    std::fs::write(common.join("hooks/post-commit"), "evil").unwrap();
    std::fs::write(common.join("worktrees/t/config.worktree"), "evil").unwrap();
    // Another worktree, which the person makes meanwhile.
    std::fs::create_dir(common.join("worktrees/other")).unwrap();
    std::fs::write(common.join("worktrees/other/gitdir"), "elsewhere").unwrap();
    let moved = bounds.set_aside(&before, &|_| false);
    let from: Vec<_> = moved.iter().map(|one| one.from.clone()).collect();
    assert_eq!(
        from,
        [common.join("hooks"), common.join("worktrees/t/config.worktree")]
    );
    assert!(moved.iter().all(|one| one.to.is_ok()), "{moved:?}");
    assert!(!common.join("hooks").exists() && common.join("worktrees/other/gitdir").exists());
}

#[test]
fn sockets_of_others_are_hidden_and_those_of_commands_are_not() {
    let (folder, bounds) = worktree();
    let root = folder.path().canonicalize().unwrap().join("tree");
    let bind = |name: &str| std::os::unix::net::UnixListener::bind(root.join(name)).unwrap();
    let _editor = bind("editor.socket");
    let (walls, before) = bounds.around_command(Network::Off);
    assert!(walls.hidden.contains(&root.join("editor.socket")));
    let _server = bind("server.socket");
    assert!(bounds.set_aside(&before, &|_| false).is_empty());
    let _later = bind("later.socket");
    let (walls, _) = bounds.around_command(Network::Off);
    let hidden = |name: &str| walls.hidden.contains(&root.join(name));
    assert!(hidden("editor.socket") && hidden("later.socket") && !hidden("server.socket"));
}

#[test]
fn folders_around_what_is_hidden_are_put_up_by_themselves() {
    let (folder, bounds) = worktree();
    let root = folder.path().canonicalize().unwrap().join("tree");
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::write(root.join("a/b/.env"), "").unwrap();
    let (walls, _) = bounds.around_command(Network::Off);
    assert!(walls.writable.contains(&root.join("a")) && walls.writable.contains(&root.join("a/b")));
    let inside = walls.writable.iter().filter(|path| path.starts_with(&root));
    assert_eq!(inside.count(), 3, "{walls:?}");
}

#[test]
fn f12_what_a_tool_of_ours_wrote_stays() {
    let (folder, bounds) = worktree();
    let root = folder.path().canonicalize().unwrap().join("tree");
    let (_, before) = bounds.around_command(Network::Off);
    for name in [".envrc", ".mcp.json"] {
        std::fs::write(root.join(name), "x").unwrap();
    }
    let moved = bounds.set_aside(&before, &|path| path.ends_with(".mcp.json"));
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert!(root.join(".mcp.json").exists() && !root.join(".envrc").exists());
}

#[test]
fn f12_what_runs_on_at_the_end_of_a_session_leaves_nothing_behind() {
    let (folder, bounds) = worktree();
    let root = folder.path().canonicalize().unwrap().join("tree");
    let bounds = Arc::new(bounds);
    let workspace =
        crate::place::Workspace::new(Arc::new(cairn_files::Root::open(&root).unwrap()), Vec::new())
            .with_bounds(Some(bounds.clone()));
    let (_, before) = bounds.around_command(Network::Off);
    bounds.watch("p1", before);
    std::fs::write(root.join(".envrc"), "evil").unwrap();
    drop(workspace);
    assert!(!root.join(".envrc").exists());
}

#[test]
fn commands_get_no_socket_of_the_session_and_caches_of_their_own() {
    let (folder, bounds) = worktree();
    let caches = folder.path().canonicalize().unwrap().join("own/sandbox/caches");
    let given: Vec<(OsString, OsString)> = [
        ("COLOUR", "lichen"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x"),
        ("SSH_AUTH_SOCK", "/x"),
        ("WAYLAND_DISPLAY", "wayland-0"),
        ("XDG_RUNTIME_DIR", "/run/user/1"),
        ("TMPDIR", "/elsewhere"),
        ("PIP_CACHE_DIR", "/elsewhere"),
        ("CARGO_HOME", "/elsewhere"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    let of = |network| {
        let environment = bounds.environment(&given, network);
        move |name: &str| {
            let found: Vec<_> = environment.iter().filter(|(given, _)| given == name).collect();
            assert!(found.len() < 2, "{found:?}");
            found.first().map(|(_, value)| PathBuf::from(value))
        }
    };
    let without = of(Network::Off);
    for socket in SOCKETS {
        assert_eq!(without(socket), None, "{socket}");
    }
    assert_eq!(without("COLOUR"), Some("lichen".into()));
    assert_eq!(without("TMPDIR"), Some("/tmp".into()));
    assert_eq!(without("PIP_CACHE_DIR"), Some(caches.join("pip")));
    // What was downloaded before is used until there is one of ours.
    assert_eq!(without("CARGO_HOME"), Some("/elsewhere".into()));
    assert_eq!(of(Network::On)("CARGO_HOME"), Some(caches.join("cargo")));
}

#[test]
fn with_rules_alone_nothing_more_is_missing_in_a_project_that_is_too_large() {
    for (layer, whole) in [
        (Layer::Landlock, true),
        (Layer::Bubblewrap("/usr/bin/bwrap".into()), false),
    ] {
        let (folder, bounds) = worktree_with(layer);
        std::fs::create_dir(folder.path().join("tree/more")).unwrap();
        let bounds = bounds.looking_at(1);
        assert_eq!(bounds.looked() == Looked::Whole, whole);
        assert_eq!(
            *bounds.around_command(Network::Off).1.looked() == Looked::Whole,
            whole
        );
    }
}
