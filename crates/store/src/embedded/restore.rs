//! Makes a store of the files of a backup, and reads it back.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use model::chain::ChainId;

use super::backup::{ENGINE, moment};
use super::engine::Durability;
use super::format::{FORMAT_KEY, RESTORING, ROWS_FORMAT, check_format};
use super::open::Store;
use crate::Error;
use crate::backup::{
    BackupProgress, Manifest, RowsReader, TableFile, check_is_empty, clear, refuse, refused,
};
use crate::options::Options;

/// A folder that could not be filled is empty again; one whose process was killed is never opened as a
/// store.
pub fn restore(
    options: &Options,
    from: &Path,
    progress: &BackupProgress,
) -> Result<Manifest, Error> {
    let manifest = Manifest::read(from)?;
    if manifest.engine != ENGINE {
        let why = format!("holds rows of the engine {}, not {ENGINE}", manifest.engine);
        return Err(refuse(from, why));
    }
    check_format(from, manifest.store_format)?;
    let path = &options.path;
    check_is_empty(path)?;
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(refused(path))?;
    progress.begin(manifest.rows());
    fill(options, from, &manifest, progress).inspect_err(|_| {
        let _ = clear(path);
    })?;
    Ok(manifest)
}

fn fill(
    options: &Options,
    from: &Path,
    manifest: &Manifest,
    progress: &BackupProgress,
) -> Result<(), Error> {
    let store = Store::open(options, &|_| ())?;
    set_format(&store, RESTORING)?;
    for file in &manifest.tables {
        load(&store, from, file, progress)?;
    }
    set_format(&store, manifest.store_format.min(ROWS_FORMAT))?;
    drop(store);
    // Opened as any other, which brings older rows up to this build's format.
    let store = Store::open(options, &|_| ())?;
    check(&store, from, manifest)
}

fn set_format(store: &Store, format: u32) -> Result<(), Error> {
    let meta = store.inner.database()?.tables.meta.clone();
    let value = Some(format.to_be_bytes().to_vec());
    store.put(&meta, FORMAT_KEY.as_bytes(), value, Durability::Disk)?;
    store.persist()
}

fn load(
    store: &Store,
    from: &Path,
    file: &TableFile,
    progress: &BackupProgress,
) -> Result<(), Error> {
    let open = store.inner.database()?;
    let tables = open.tables.all();
    let Some((_, table)) = tables.iter().find(|(name, _)| *name == file.table) else {
        let why = format!("is of a table that this build does not know, {}", file.table);
        return Err(refuse(&from.join(&file.file), why));
    };
    let mut reader = RowsReader::open(from, file)?;
    let mut last = Vec::new();
    table.bulk_load(|put| {
        progress.check(from)?;
        let Some(rows) = reader.next_chunk()? else { return Ok(false) };
        let mut count = 0;
        for (key, value) in rows.iter().flatten() {
            if !last.is_empty() && last.as_slice() >= key {
                return Err(refuse(&from.join(&file.file), "is damaged: rows are not in order"));
            }
            put(key, value)?;
            last.clear();
            last.extend_from_slice(key);
            count += 1;
        }
        progress.add(count);
        Ok(true)
    })
}

/// All that was written is read again.
fn check(store: &Store, from: &Path, manifest: &Manifest) -> Result<(), Error> {
    let view = store.view()?;
    for told in &manifest.chains {
        let chain = ChainId(told.id);
        let mut found = moment(&view, chain, view.digest(chain)?)?;
        if manifest.store_format < ROWS_FORMAT {
            // Rows of another format have another digest.
            found.digest.clone_from(&told.digest);
        }
        if found != *told {
            let why = format!("does not come back as it was: {told:?} is now {found:?}");
            return Err(refuse(from, why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_whose_restore_was_killed_is_not_opened_as_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { memory_bytes: 32 << 20, ..Options::new(folder.path()) };
        let store = Store::open(&options, &|_| ()).unwrap();
        set_format(&store, RESTORING).unwrap();
        drop(store);
        let error = Store::open(&options, &|_| ()).err().unwrap().to_string();
        assert!(error.contains("a restore did not come to its end"), "{error}");
    }
}
