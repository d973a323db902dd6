//! The folder of an embedded store: its lock, and what is said when it cannot be used.

use store::{Error, Options, Store};

async fn open(path: &std::path::Path) -> Result<Store, Error> {
    Store::open(&Options { cache_bytes: 8 << 20, ..Options::new(path) }, |_| ()).await
}

#[tokio::test]
async fn a_folder_belongs_to_one_process_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await.unwrap();
    assert_eq!(store.folder(), dir.path());
    let error = open(dir.path()).await.err().unwrap();
    assert!(matches!(error, Error::InUse { .. }));
    assert!(!error.is_retryable());
    let text = error.to_string();
    assert!(text.contains("in use by another headwater process"), "{text}");
    assert!(text.contains("--data"), "{text}");
    drop(store);
    open(dir.path()).await.unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let text = open(&file.join("store")).await.err().unwrap().to_string();
    assert!(text.contains("cannot use the data folder"), "{text}");
}
