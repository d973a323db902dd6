//! Keys in the store, and what a server makes of them.

use store::Options;

use super::*;

async fn store(folder: &std::path::Path) -> Store {
    Store::open(&Options::new(folder), |_| {}).await.unwrap()
}

fn of_acme(role: Role, units_per_second: Option<u32>) -> NewKey {
    let methods = store::MethodRules::default();
    NewKey { tenant: "acme".into(), name: String::new(), role, units_per_second, methods }
}

#[test]
fn a_fresh_key_is_long_and_never_the_same() {
    assert_ne!(fresh(), fresh());
    assert!(fresh().len() >= 64);
}

#[tokio::test]
async fn new_and_revoked_keys_count_at_once_and_the_buckets_of_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path()).await;
    let ring = KeyRing::open(&store, "boot", 0).await.unwrap();
    let (one, row) = ring.create(of_acme(Role::Tenant, Some(100))).await.unwrap();
    let owner = ring.check(Some(one.as_bytes())).unwrap();
    assert_eq!((owner.tenant.as_str(), owner.role), ("acme", Role::Tenant));
    assert_eq!(ring.check(Some(b"boot")).unwrap().role, Role::Admin);
    assert!(ring.check(Some(b"two")).is_err() && ring.check(None).is_err());
    let (two, _) = ring.create(of_acme(Role::Admin, None)).await.unwrap();
    assert_eq!(ring.check(Some(two.as_bytes())).unwrap().role, Role::Admin);
    assert!(std::sync::Arc::ptr_eq(&owner, &ring.check(Some(one.as_bytes())).unwrap()));
    assert_eq!(ring.revoke(&row.id).await.unwrap(), Some(row));
    assert!(ring.check(Some(one.as_bytes())).is_err());
    assert_eq!(ring.revoke("nobody").await.unwrap(), None);
    assert_eq!(ring.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn keys_of_an_older_build_are_taken_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder.path().join("store")).await;
    let sha256 = alloy_primitives::hex::encode(hash("old key"));
    let file = serde_json::json!([{ "id": "abc", "sha256": sha256, "tenant": "acme", "name": "n",
        "created_at": "2026-01-02T03:04:05.000Z", "units_per_second": 7 }]);
    let path = folder.path().join("keys.json");
    std::fs::write(&path, file.to_string()).unwrap();
    assert_eq!(take_in_old_file(&store, folder.path()).await.unwrap(), 1);
    assert_eq!(take_in_old_file(&store, folder.path()).await.unwrap(), 0);
    assert!(!path.exists() && folder.path().join("keys.json.imported").exists());
    let ring = KeyRing::open(&store, "", 0).await.unwrap();
    let owner = ring.check(Some(b"old key")).unwrap();
    assert_eq!((owner.role, owner.throttle.units_per_second()), (Role::Tenant, 7));
    assert_eq!(ring.list().await.unwrap()[0].created_at, 1_767_323_045);
}

#[tokio::test]
async fn a_broken_key_file_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder.path().join("store")).await;
    std::fs::write(folder.path().join("keys.json"), "{").unwrap();
    let error = take_in_old_file(&store, folder.path()).await.unwrap_err();
    assert!(error.to_string().contains("keys.json"), "{error}");
    assert!(folder.path().join("keys.json").exists());
}

#[tokio::test]
async fn a_key_file_that_is_a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder.path().join("store")).await;
    let pipe = folder.path().join("keys.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = take_in_old_file(&store, folder.path()).await.unwrap_err();
    assert!(error.to_string().contains("not a plain file"), "{error}");
}
