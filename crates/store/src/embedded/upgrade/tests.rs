//! Stores of other formats.

use fjall::{Database, KeyspaceCreateOptions, PersistMode};

use crate::embedded::Store;
use crate::options::Options;

#[test]
fn an_unknown_format_is_named_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    for found in [2u32, 4_000] {
        let path = dir.path().join(found.to_string());
        {
            let db = Database::builder(&path).open().unwrap();
            let meta = db.keyspace("meta", KeyspaceCreateOptions::default).unwrap();
            meta.insert("format", found.to_be_bytes()).unwrap();
            db.persist(PersistMode::SyncAll).unwrap();
        }
        let text = Store::open(&Options::new(&path), &|_| ()).err().unwrap().to_string();
        assert!(text.contains(&format!("in format {found};")), "{text}");
        assert!(text.contains("reads formats 3 to 4"), "{text}");
        let db = Database::builder(&path).open().unwrap();
        assert_eq!(db.keyspace_count(), 1, "no table was made");
    }
}
