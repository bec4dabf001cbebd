use std::os::unix::fs::PermissionsExt;

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cairn.db");
    (folder, path)
}

fn tables(db: &Connection) -> Vec<String> {
    db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn steps_are_counted_from_one_without_gaps() {
    let versions: Vec<u32> = STEPS.iter().map(|step| step.version).collect();
    assert_eq!(versions, (1..=versions.len() as u32).collect::<Vec<_>>());
}

#[test]
fn every_older_version_comes_up_to_the_same_schema_and_leaves_a_copy() {
    let (_new, path) = place();
    let wanted = tables(&open(&path, STEPS).unwrap());
    for known in 1..STEPS.len() {
        let (_old, path) = place();
        let old = open(&path, &STEPS[..known]).unwrap();
        old.execute(
            "INSERT INTO projects (key, path, used_at) VALUES ('k', '/p', 5)",
            [],
        )
        .unwrap();
        drop(old);

        let db = open(&path, STEPS).unwrap();
        assert_eq!(tables(&db), wanted, "from {known}");
        let kept: String = db
            .query_row("SELECT path FROM projects WHERE key = 'k'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(kept, "/p");

        let copy = backup_path(&path, known as u32);
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let copy = Connection::open(&copy).unwrap();
        assert_eq!(version(&copy).unwrap(), known as u32);
        let kept: i64 = copy
            .query_row("SELECT count(*) FROM projects", [], |row| row.get(0))
            .unwrap();
        assert_eq!(kept, 1);
    }
}

#[test]
fn a_step_that_fails_leaves_the_former_version_whole() {
    const BROKEN: &[Step] = &[
        table::projects::STEP,
        Step {
            version: 2,
            sql: "CREATE TABLE half (n); INSERT INTO nowhere VALUES (1)",
        },
    ];
    let (_folder, path) = place();
    drop(open(&path, &BROKEN[..1]).unwrap());
    for _ in 0..2 {
        assert!(matches!(open(&path, BROKEN), Err(StoreError::Database(why)) if why.contains("nowhere")));
        let db = open(&path, &BROKEN[..1]).unwrap();
        assert!(!tables(&db).iter().any(|sql| sql.contains("half")));
    }
}

#[test]
fn a_newer_database_is_left_alone_with_words() {
    let (_folder, path) = place();
    let db = open(&path, STEPS).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    assert!(matches!(open(&path, STEPS), Err(StoreError::Database(why)) if why.contains("newer Cairn")));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_database_is_named_and_left_alone() {
    for damage in [0_usize, 1, 2] {
        let (_folder, path) = place();
        drop(open(&path, STEPS).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        match damage {
            0 => bytes[..100].fill(b'x'),
            1 => bytes.truncate(bytes.len() - 4096),
            _ => bytes = b"this was never a database, but somebody put it here".to_vec(),
        }
        fs::write(&path, &bytes).unwrap();
        let error = open(&path, STEPS)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            error.contains(path.to_str().unwrap()) && error.contains("CAIRN_HOME"),
            "damage {damage}: {error}"
        );
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn new_files_are_only_for_their_owner_and_a_loose_one_is_tightened() {
    let (folder, path) = place();
    let db = open(&path, STEPS).unwrap();
    db.execute(
        "INSERT INTO projects (key, path, used_at) VALUES ('k', '/p', 5)",
        [],
    )
    .unwrap();
    for entry in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        assert_eq!(
            entry.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{:?}",
            entry.path()
        );
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(db);
    drop(open(&path, STEPS).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_a_crashed_creation_left_is_no_obstacle() {
    let (folder, path) = place();
    fs::write(folder.path().join("cairn.db.new"), b"half").unwrap();
    drop(open(&path, STEPS).unwrap());
    assert!(!folder.path().join("cairn.db.new").exists());
}

#[test]
fn a_full_database_is_a_full_disk_in_words() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE TABLE t (x); PRAGMA max_page_count = 3")
        .unwrap();
    let full = db
        .execute("INSERT INTO t VALUES (zeroblob(100000))", [])
        .unwrap_err();
    assert_eq!(
        from_sql(&full, Path::new("/data/cairn.db")),
        StoreError::Full("/data/cairn.db".to_owned())
    );
}
