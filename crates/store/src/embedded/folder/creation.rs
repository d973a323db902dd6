//! A folder that is being made. A process that ends meanwhile, or a disk that is full, leaves half of an engine, which
//! nothing can open. Nothing was stored in it yet, so it is made again.

use std::path::{Path, PathBuf};

use super::log;
use super::preflight::{LOCK, TABLES, VERSION, lock};
use super::record::{Found, Record};
use crate::Error;

/// There from before the engine's first file until the store is whole.
const MARKER: &str = "creating";

fn marker(folder: &Path) -> PathBuf {
    folder.join(MARKER)
}

pub fn begin(folder: &Path) -> Result<(), Error> {
    let made = std::fs::File::create(marker(folder)).and_then(|file| file.sync_all());
    made.map_err(|source| Error::Folder { path: marker(folder), source })
}

pub fn end(folder: &Path) -> Result<(), Error> {
    remove(&marker(folder)).map_err(|source| Error::Folder { path: marker(folder), source })
}

/// Removes what is there of a store that was never finished.
pub fn clear_unfinished(folder: &Path) -> Result<(), Error> {
    if !marker(folder).exists() {
        return Ok(());
    }
    let io = |source| Error::Folder { path: folder.to_owned(), source };
    // Whoever is at it now holds this.
    let _lock = if folder.join(LOCK).exists() { Some(lock(folder)?) } else { None };
    let logs = log::read_all(folder).map_err(io)?;
    let is_recorded = matches!(Record::read(folder).map_err(io)?, Found::Mark(_));
    if !is_recorded && logs.iter().all(|file| file.writes.is_none()) {
        tracing::warn!(data = %folder.display(), "a store that was never finished is made again");
        let tables = folder.join(TABLES);
        if tables.exists() {
            std::fs::remove_dir_all(tables).map_err(io)?;
        }
        for file in logs {
            remove(&file.path).map_err(io)?;
        }
        remove(&Record::path_in(folder)).map_err(io)?;
        remove(&folder.join(VERSION)).map_err(io)?;
    }
    end(folder)
}

fn remove(file: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::open::Store;
    use crate::options::Options;

    /// What is missing, and how it went.
    type Case = (&'static str, fn(&Path));

    fn secret(folder: &Path, fresh: u8) -> Result<u8, Error> {
        let store = Store::open(&Options::new(folder), &|_| ())?;
        Ok(store.secret("cursor", || [fresh; 32])?[0])
    }

    #[test]
    fn a_store_that_was_never_finished_is_made_again() {
        let cases: [Case; 4] = [
            ("nothing but the marker", |folder| {
                std::fs::remove_dir_all(folder).unwrap();
                std::fs::create_dir(folder).unwrap();
            }),
            ("a list of tables is missing", |folder| {
                std::fs::remove_file(folder.join("keyspaces/0/current")).unwrap();
            }),
            ("the version is missing", |folder| {
                std::fs::remove_file(folder.join(VERSION)).unwrap();
            }),
            ("the record is torn", |folder| {
                std::fs::write(Record::path_in(folder), "half").unwrap();
                std::fs::remove_dir_all(folder.join(TABLES).join("1")).unwrap();
            }),
        ];
        for (case, spoil) in cases {
            let scratch = tempfile::tempdir().unwrap();
            let folder = scratch.path().join("data");
            drop(Store::open(&Options::new(&folder), &|_| ()).unwrap());
            assert!(!marker(&folder).exists(), "it was finished");
            remove(&Record::path_in(&folder)).unwrap();
            spoil(&folder);
            begin(&folder).unwrap();
            assert_eq!(secret(&folder, 7).unwrap(), 7, "{case}");
            assert!(!marker(&folder).exists(), "{case}");
            assert_eq!(secret(&folder, 8).unwrap(), 7, "{case}");
        }
    }

    #[test]
    fn a_store_that_holds_something_is_never_made_again() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(secret(scratch.path(), 7).unwrap(), 7);
        // As if its removal had not reached the disk.
        begin(scratch.path()).unwrap();
        assert_eq!(secret(scratch.path(), 8).unwrap(), 7);
        begin(scratch.path()).unwrap();
        remove(&Record::path_in(scratch.path())).unwrap();
        assert_eq!(secret(scratch.path(), 9).unwrap(), 7, "the log has a write");
        assert!(!marker(scratch.path()).exists());
    }
}
