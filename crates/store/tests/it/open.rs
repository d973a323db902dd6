//! Opening: the lock, the format, and what an installation keeps for itself.

use store::{Error, Options, Store};

use crate::setup::*;

#[test]
fn a_folder_belongs_to_one_process_at_a_time() {
    let mut home = Home::new();
    let error = open(&home.dir).err().unwrap();
    assert!(matches!(error, Error::InUse { .. }));
    let text = error.to_string();
    assert!(text.contains("in use by another headwater process"), "{text}");
    assert!(text.contains("--data"), "{text}");
    home.reopen();
}

#[test]
fn an_unknown_format_is_named_and_left_alone() {
    let dir = scratch();
    let path = dir.path().join("store");
    {
        let db = fjall::Database::builder(&path).open().unwrap();
        let meta = db.keyspace("meta", fjall::KeyspaceCreateOptions::default).unwrap();
        meta.insert("format", 4_000u32.to_be_bytes()).unwrap();
        db.persist(fjall::PersistMode::SyncAll).unwrap();
    }
    let text = Store::open(&Options::new(&path)).err().unwrap().to_string();
    assert!(text.contains("format 4000") && text.contains("reads format 3"), "{text}");
    let db = fjall::Database::builder(&path).open().unwrap();
    assert_eq!(db.keyspace_count(), 1, "no table was made");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = scratch();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let text = Store::open(&Options::new(file.join("store"))).err().unwrap().to_string();
    assert!(text.contains("cannot use the data folder"), "{text}");
}

#[test]
fn secrets_are_made_once_and_kept() {
    let mut home = Home::new();
    assert_eq!(home.store().secret("cursor", || [7; 32]).unwrap(), [7; 32]);
    assert_eq!(home.store().secret("other", || [8; 32]).unwrap(), [8; 32]);
    home.reopen();
    assert_eq!(home.store().secret("cursor", || [9; 32]).unwrap(), [7; 32]);
}

#[test]
fn what_was_committed_is_there_after_opening_again() {
    let chain = chain(16, 10);
    let mut home = indexed(&chain);
    let before = home.digest();
    home.reopen();
    assert_eq!(home.digest(), before);
    assert_eq!(home.store().view().journal_head(CHAIN).unwrap(), 11);
    let tables = home.store().table_statistics();
    assert!(tables.iter().any(|table| table.name == "txs" && table.rows > 0));
    assert!(home.store().disk_bytes().unwrap() > 0);
}
