use cairn_policy::{Granted, RuleOrigin, RuleSet};
use cairn_protocol::RuleScope;

use super::*;
use crate::bounds::shared::repository as shared_repository;

/// A look for everything, with rules that deny reading.
fn wanted(barred: &[&str]) -> Wanted {
    let deny = barred.iter().map(|text| Granted {
        rule: text.parse().unwrap(),
        scope: RuleScope::Project,
        origin: RuleOrigin::Settings,
        at: 0,
    });
    let rules = RuleSet {
        deny: deny.collect(),
        ..RuleSet::default()
    };
    Wanted {
        bars: Arc::new(rules.read_bars()),
        folders: 100,
    }
}

/// A first look.
fn look(root: &Path, wanted: Wanted) -> Found {
    Found::look(root, wanted, &mut Memory::default())
}

fn put(root: &Path, files: &[&str]) {
    for name in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
}

fn names(root: &Path, found: &BTreeSet<PathBuf>) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
    found.iter().map(name).collect()
}

#[test]
fn what_runs_code_later_is_kept_and_the_data_of_git_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    put(
        root,
        &[
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/HEAD",
            ".git/objects/aa/b",
            ".git/modules/a/b/HEAD",
            ".git/modules/a/b/config",
            ".git/worktrees/w/gitdir",
            ".vscode/tasks.json",
            "AGENTS.md",
            "sub/.envrc",
            "sub/module/.git",
            "src/main.rs",
            "node_modules/x/.vscode/settings.json",
            "target/.cargo/config.toml",
            ".cargo/config.toml",
        ],
    );
    let found = look(root, wanted(&[]));
    assert_eq!(
        names(root, &found.kept),
        [
            ".cargo/config.toml",
            ".git/config",
            ".git/hooks",
            ".git/modules/a/b/config",
            ".git/worktrees/w/gitdir",
            ".vscode",
            "AGENTS.md",
            "sub/.envrc",
            "sub/module/.git",
        ]
    );
}

#[test]
fn credential_files_are_hidden_and_links_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    put(
        root,
        &[
            ".env",
            ".env.example",
            "certs/server.key",
            ".aws/config",
            ".npmrc",
            "AGENTS.md",
        ],
    );
    std::os::unix::fs::symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
    let found = look(root, wanted(&[]));
    assert_eq!(
        names(root, &found.hidden),
        [".aws", ".env", ".npmrc", "certs/server.key"]
    );
    assert_eq!(names(root, &found.kept), [".npmrc", "AGENTS.md"]);
    assert_eq!(names(root, &found.links), ["CLAUDE.md"]);
}

/// A repository in `main` and a worktree of it in `tree`, as git lays them out.
fn worktree(folder: &Path) -> PathBuf {
    put(
        folder,
        &[
            "main/.git/config",
            "main/.git/HEAD",
            "main/.git/hooks/x",
            "main/.git/worktrees/t/HEAD",
        ],
    );
    let (own, tree) = (folder.join("main/.git/worktrees/t"), folder.join("tree"));
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(own.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    std::fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    tree
}

#[test]
fn a_worktree_may_write_to_the_repository_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let tree = worktree(&folder);
    let found = look(&tree, wanted(&[]));
    assert_eq!(found.shared, Some(folder.join("main/.git")));
    for kept in [
        "main/.git/config",
        "main/.git/hooks",
        "main/.git/worktrees/t/gitdir",
    ] {
        assert!(found.kept.contains(&folder.join(kept)), "{kept}");
    }
}

#[test]
fn a_pointer_to_a_repository_that_does_not_name_the_project_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let tree = worktree(&folder);
    let own = folder.join("main/.git/worktrees/t");
    // Another project says that it is that worktree.
    let liar = folder.join("liar");
    std::fs::create_dir(&liar).unwrap();
    std::fs::copy(tree.join(".git"), liar.join(".git")).unwrap();
    assert!(shared_repository(&liar).is_none());
    // Or that a whole repository is its own.
    std::fs::write(
        liar.join(".git"),
        format!("gitdir: {}\n", folder.join("main/.git").display()),
    )
    .unwrap();
    assert!(shared_repository(&liar).is_none());
    // Or the common folder is another one.
    std::fs::write(own.join("commondir"), format!("{}\n", folder.display())).unwrap();
    assert!(shared_repository(&tree).is_none());
    // An ordinary repository shares nothing.
    assert!(shared_repository(&folder.join("main")).is_none());
}

#[test]
fn what_rules_bar_is_hidden_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    put(
        root,
        &[
            "secrets/a",
            "Secrets/b",
            "src/plans.txt",
            "node_modules/deep/plans.txt",
            "target/secrets/x",
            ".vscode/Plans.txt",
            ".git/hooks/plans.txt",
            ".git/config",
            "docs/plans.md",
        ],
    );
    std::os::unix::fs::symlink("src/plans.txt", root.join("docs/plans.txt")).unwrap();
    let found = look(root, wanted(&["read: /secrets/", "read: plans.txt"]));
    assert_eq!(
        names(root, &found.hidden),
        [
            ".git/hooks/plans.txt",
            ".vscode/Plans.txt",
            "Secrets",
            "node_modules/deep/plans.txt",
            "secrets",
            "src/plans.txt",
        ]
    );
    assert_eq!(names(root, &found.kept), [".git/config", ".git/hooks", ".vscode"]);
}

#[test]
fn a_project_with_more_folders_than_are_looked_at_is_known_in_part() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..12 {
        put(folder.path(), &[&format!("{number}/AGENTS.md")]);
    }
    let look_at = |folders| {
        let mut wanted = wanted(&[]);
        wanted.folders = folders;
        look(folder.path(), wanted)
    };
    let whole = look_at(13);
    assert_eq!((whole.kept.len(), whole.looked()), (12, &Looked::Whole));
    let part = look_at(12);
    assert_eq!(part.kept.len(), 11);
    let Looked::InPart(reason) = part.looked() else {
        panic!("{part:?}")
    };
    assert!(reason.contains("more than 12 folders"), "{reason}");
}

#[test]
fn a_folder_whose_path_is_too_long_to_be_looked_into_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let name = "n".repeat(250);
    let mut at = rustix::fs::open(
        folder.path(),
        rustix::fs::OFlags::RDONLY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..20 {
        rustix::fs::mkdirat(&at, &name, rustix::fs::Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, &name, rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
    }
    let found = look(folder.path(), wanted(&[]));
    assert!(matches!(found.looked(), Looked::InPart(_)), "{found:?}");
}

/// Puts the time of a folder's last change far enough back by waiting for it.
fn settled(root: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        if now.as_secs() as i64 > root.metadata().unwrap().ctime() + 3 {
            return;
        }
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn a_second_look_sees_every_change_since_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    put(
        &root,
        &[
            "a/b/c/x",
            "a/.env",
            "d/workflows/x",
            "e/AGENTS.md",
            "f/g/x",
            ".git/config",
        ],
    );
    settled(&root);
    let mut memory = Memory::default();
    let first = Found::look(&root, wanted(&[]), &mut memory);
    assert_eq!(Found::look(&root, wanted(&[]), &mut memory), first);
    // Something new, far down; something gone; a folder whose new name makes what is in it protected; a hook.
    put(&root, &["a/b/c/.envrc", ".git/hooks/x"]);
    std::fs::remove_file(root.join("a/.env")).unwrap();
    std::fs::rename(root.join("d"), root.join(".github")).unwrap();
    std::fs::rename(root.join("e/AGENTS.md"), root.join("e/notes.md")).unwrap();
    std::fs::rename(root.join("f/g"), root.join("f/.vscode")).unwrap();
    let second = Found::look(&root, wanted(&[]), &mut memory);
    assert_eq!(second, look(&root, wanted(&[])));
    assert_eq!(
        names(&root, &second.kept),
        [
            ".git/config",
            ".git/hooks",
            ".github/workflows",
            "a/b/c/.envrc",
            "f/.vscode"
        ]
    );
    assert!(second.hidden.is_empty());
}
