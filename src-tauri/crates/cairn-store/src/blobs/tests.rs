use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;

use super::*;

fn store() -> (tempfile::TempDir, Blobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::new(folder.path());
    (folder, blobs)
}

proptest! {
    #[test]
    fn bytes_come_back_as_they_were(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        let (_folder, blobs) = store();
        let blob = blobs.put(&bytes).unwrap();
        prop_assert_eq!(blobs.get(&blob).unwrap(), bytes);
    }
}

#[test]
fn the_name_is_the_sha256_of_the_bytes_and_only_the_owner_reads_it() {
    let (folder, blobs) = store();
    let blob = blobs.put(b"abc").unwrap();
    assert_eq!(
        blob.as_str(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    let path = folder.path().join("blobs/ba/78").join(blob.as_str());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let names: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, [blob.as_str()], "no temporary file is left");
}

#[test]
fn a_damaged_blob_is_never_handed_out_and_the_next_put_mends_it() {
    let (folder, blobs) = store();
    let blob = blobs.put(b"precious").unwrap();
    let path = folder
        .path()
        .join("blobs")
        .join(&blob.0[..2])
        .join(&blob.0[2..4])
        .join(&blob.0);
    for broken in [&b""[..], b"zeros", &compress(b"other").unwrap()] {
        fs::write(&path, broken).unwrap();
        assert!(matches!(blobs.get(&blob), Err(StoreError::Database(why)) if why.contains("damaged")));
        assert_eq!(blobs.put(b"precious").unwrap(), blob);
        assert_eq!(blobs.get(&blob).unwrap(), b"precious");
    }
}

#[test]
fn names_that_are_no_hash_never_become_a_path() {
    let (_folder, blobs) = store();
    let long = "a".repeat(63);
    for name in [
        "",
        "../../etc/passwd",
        "abc",
        "/etc/passwd",
        &long,
        &format!("{long}G"),
        &format!("{long}/"),
    ] {
        assert!(
            matches!(blobs.get(&BlobId::from(name)), Err(StoreError::Missing(_))),
            "{name}"
        );
    }
}

#[test]
fn every_new_blob_is_synced_exactly_once() {
    let (_folder, blobs) = store();
    blobs.put(b"one").unwrap();
    blobs.put(b"two").unwrap();
    assert_eq!(blobs.sync_pending().unwrap(), 2);
    assert_eq!(blobs.sync_pending().unwrap(), 0);
}

#[test]
fn a_blob_in_recent_use_is_not_removed() {
    let (folder, blobs) = store();
    let blob = blobs.put(b"fresh").unwrap();
    blobs.remove(&blob);
    assert_eq!(blobs.get(&blob).unwrap(), b"fresh");

    let path = folder
        .path()
        .join("blobs")
        .join(&blob.0[..2])
        .join(&blob.0[2..4])
        .join(&blob.0);
    File::open(&path)
        .unwrap()
        .set_modified(SystemTime::now() - FRESH * 2)
        .unwrap();
    blobs.remove(&blob);
    assert!(matches!(blobs.get(&blob), Err(StoreError::Missing(_))));
}
