//! Stores of other formats.

use std::path::Path;

use fjall::{Database, KeyspaceCreateOptions, PersistMode};

use super::{Upgrade, from_3, from_4, from_5};
use crate::embedded::Store;
use crate::embedded::open_db::OpenDb;
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
        assert!(text.contains("reads formats 3 to 9"), "{text}");
        let db = Database::builder(&path).open().unwrap();
        assert_eq!(db.keyspace_count(), 1, "no table was made");
    }
}

#[path = "../../../tests/formats/unpack.rs"]
mod unpack;

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// Every row of every table.
fn all_rows(store: &Store) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let view = store.view().unwrap();
    let mut all = Vec::new();
    for (name, table) in view.tables.all() {
        for item in view.snapshot.iter(table) {
            let (key, value) = item.into_inner().unwrap();
            // Which store it is, and how often it was written, differs.
            if name == "meta" && [b"identity".as_slice(), b"writes"].contains(&key.as_ref()) {
                continue;
            }
            all.push((name, key.to_vec(), value.to_vec()));
        }
    }
    all
}

/// The folder is copied after each part, as a process that is killed there would leave it.
#[test]
fn an_upgrade_that_is_cut_off_goes_on_and_ends_the_same() {
    let format_3 = include_bytes!("../../../tests/formats/3/store.tar.gz");
    cut_off_everywhere(format_3, 3, from_3::run);
    let format_4 = include_bytes!("../../../tests/formats/4/store.tar.gz");
    cut_off_everywhere(format_4, 4, from_4::run);
    let format_5 = include_bytes!("../../../tests/formats/5/store.tar.gz");
    cut_off_everywhere(format_5, 5, from_5::run);
}

fn cut_off_everywhere(packed: &[u8], from: u32, run: fn(&Upgrade) -> Result<(), crate::Error>) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["whole", "cut"] {
        std::fs::create_dir(at(name)).unwrap();
        unpack::unpack(packed, &at(name));
    }
    let open = |name: &str| Store::open(&Options::new(at(name)), &|_| ()).unwrap();
    let expected = all_rows(&open("whole"));
    let is_old = |key: &[u8]| key.starts_with(b"head/");
    assert!(!expected.iter().any(|(table, key, _)| *table == "meta" && is_old(key)));
    let copies = std::cell::Cell::new(0);
    {
        let progress = |_| {
            copies.set(copies.get() + 1);
            copy_folder(&at("cut"), &at(&copies.get().to_string()));
        };
        let open = OpenDb::open_as_it_is(&Options::new(at("cut"))).unwrap();
        let upgrade = Upgrade { open: &open, from, rows_at_once: 3, progress: &progress };
        run(&upgrade).unwrap();
        // Here old tables are not yet empty.
        copies.set(copies.get() + 1);
        copy_folder(&at("cut"), &at(&copies.get().to_string()));
    }
    assert!(copies.get() > 6, "{}", copies.get());
    for copy in 1..=copies.get() {
        let store = open(&copy.to_string());
        assert_eq!(all_rows(&store), expected, "cut off after part {copy}");
        let meta = store.view().unwrap().tables.meta.clone();
        assert_eq!(meta.get("upgrade").unwrap(), None);
    }
    assert_eq!(all_rows(&open("cut")), expected);
}
