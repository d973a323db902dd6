//! The folder of an embedded store: its lock, and what is said when it cannot be used.

use store::{Error, Options, Store};

async fn open(path: &std::path::Path) -> Result<Store, Error> {
    Store::open(&Options { memory_bytes: 32 << 20, ..Options::new(path) }, |_| ()).await
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

#[tokio::test]
async fn the_folder_is_its_owners_alone_and_an_open_one_is_closed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    drop(open(&path).await.unwrap());
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let all = || crate::files::files_of(&path);
    let check = || {
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&path.join("keyspaces")), 0o700);
        all().iter().for_each(|file| assert_eq!(mode(file), 0o600, "{}", file.display()));
    };
    check();
    for file in all() {
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
    }
    for folder in [path.clone(), path.join("keyspaces")] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let store = open(&path).await.unwrap();
    store.compact().await.unwrap();
    check();
}

#[tokio::test]
async fn who_only_reads_makes_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mistyped");
    let reading = |path: &std::path::Path| Options { create: false, ..Options::new(path) };
    let error = Store::open(&reading(&path), |_| ()).await.err().unwrap();
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert!(!path.exists());
    std::fs::create_dir(&path).unwrap();
    let error = Store::open(&reading(&path), |_| ()).await.err().unwrap();
    assert!(error.to_string().contains("there is no store in it"), "{error}");
    assert_eq!(crate::files::files_of(&path), [] as [std::path::PathBuf; 0]);
    drop(open(&path).await.unwrap());
    Store::open(&reading(&path), |_| ()).await.unwrap();
}

/// A process that ended while it made the folder leaves files that the engine does not take for one.
#[tokio::test]
async fn a_folder_that_was_half_made_is_made() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).await.unwrap());
    for name in ["version", "durable"] {
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    let text = open(dir.path()).await.err().unwrap().to_string();
    assert!(text.contains("version: it is missing"), "tables are there: {text}");
    std::fs::remove_dir_all(dir.path().join("keyspaces")).unwrap();
    std::fs::create_dir(dir.path().join("keyspaces")).unwrap();
    let log = crate::files::log_of(dir.path());
    std::fs::File::create(log).unwrap().set_len(1 << 20).unwrap();
    open(dir.path()).await.unwrap();
}
