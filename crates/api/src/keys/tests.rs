//! The key file under several hands, and what a server makes of it.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;

fn row(key: &str, units_per_second: Option<u32>) -> KeyRow {
    let sha256 = alloy_primitives::hex::encode(hash(key));
    KeyRow {
        id: sha256.chars().take(12).collect(),
        sha256,
        tenant: "acme".into(),
        name: String::new(),
        created_at: String::new(),
        units_per_second,
    }
}

#[test]
fn keys_added_at_the_same_time_are_all_there_and_for_the_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = KeyFile::in_folder(folder.path());
    std::thread::scope(|scope| {
        for i in 0..16 {
            let file = &file;
            scope.spawn(move || file.add(row(&format!("key {i}"), None)).unwrap());
        }
    });
    assert_eq!(file.read().unwrap().len(), 16);
    let mode = std::fs::metadata(folder.path().join("keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_fresh_key_is_long_and_never_the_same() {
    assert_ne!(fresh(), fresh());
    assert!(fresh().len() >= 64);
}

#[test]
fn a_server_notices_new_and_revoked_keys_and_keeps_the_buckets_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = KeyFile::in_folder(folder.path());
    file.add(row("one", Some(100))).unwrap();
    let ring = KeyRing::new(file.clone(), Some("boot"), 0).unwrap();
    let one = ring.check(Some(b"one")).unwrap();
    assert_eq!(one.tenant, "acme");
    assert!(ring.check(Some(b"boot")).is_ok());
    assert!(ring.check(Some(b"two")).is_err() && ring.check(None).is_err());
    file.add(row("two", None)).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(ring.check(Some(b"two")).is_ok());
    assert!(std::sync::Arc::ptr_eq(&one, &ring.check(Some(b"one")).unwrap()));
    file.remove(&row("one", None).id).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(ring.check(Some(b"one")).is_err());
    assert!(matches!(file.remove("nobody"), Err(KeyFileError::Unknown(_))));
}

#[test]
fn a_broken_key_file_stops_a_start_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), "{").unwrap();
    let error = KeyRing::new(KeyFile::in_folder(folder.path()), None, 0).err().unwrap();
    assert!(error.to_string().contains("keys.json"), "{error}");
}
