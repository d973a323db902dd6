//! The store as it is at this moment, in files that nobody changes any more.
//!
//! The engine's snapshots hold every buffer that is flushed while one is open, so one that lasts for hours
//! beside a busy server would fill the memory. Its table files are never changed, only removed: a second
//! folder with links to them costs no space of its own, and can be read for as long as it takes. It is what
//! a crash would leave, and is opened as that.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fjall::{CompressionType, Database};

use super::engine::{self, Snapshot};
use super::index_files::{self, IndexFiles};
use super::open::Store;
use super::read::View;
use super::runs::PendingRuns;
use super::segments::{self, Bodies};
use super::tables::Tables;
use super::write::runs_again;
use crate::Error;

/// In front of the names of such folders, in the data folder.
const NAME: &str = ".frozen-";
/// Every row is read once.
const CACHE_BYTES: u64 = 16 << 20;

/// Its files go with it.
pub struct Frozen {
    opened: Option<Opened>,
    folder: LinkedFolder,
}

struct Opened {
    db: Database,
    tables: Arc<Tables>,
    bodies: Arc<Bodies>,
    runs: PendingRuns,
    files: IndexFiles,
}

struct LinkedFolder(PathBuf);

impl Drop for LinkedFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Frozen {
    /// None where the file system has no links.
    pub fn of(store: &Store) -> Result<Option<Self>, Error> {
        let data = store.path();
        let failed = |source| Error::Folder { path: data.to_owned(), source };
        remove_left_over(data).map_err(failed)?;
        let folder = LinkedFolder(data.join(format!("{NAME}{}", std::process::id())));
        match link_all(store, &folder.0)? {
            Ok(()) => {}
            Err(error) if has_no_links(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let db = Database::builder(&folder.0)
            .cache_size(CACHE_BYTES)
            .manual_journal_persist(true)
            .journal_compression(CompressionType::None)
            .worker_threads(1)
            .open()
            .map_err(|error| engine::failed("open its frozen files", &folder.0, error))?;
        let tables =
            Arc::new(Tables::open((&db, &folder.0), store.inner.options.memory().memtable)?);
        let dictionaries = (&Snapshot::of(&db), &tables.dictionaries);
        let bodies = Arc::new(Bodies::open(&folder.0, dictionaries, (CACHE_BYTES, 0))?);
        let runs = runs_again(&View::without_runs(&db, (&tables, &bodies))?)?;
        let files = IndexFiles::open(&folder.0, (&Snapshot::of(&db), &tables), CACHE_BYTES)?;
        let runs = PendingRuns::new(runs);
        let opened = Some(Opened { db, tables, bodies, runs, files });
        Ok(Some(Frozen { opened, folder }))
    }

    pub fn view(&self) -> Option<Result<View, Error>> {
        let Opened { db, tables, bodies, runs, files } = self.opened.as_ref()?;
        Some(View::new(db, (tables, bodies), (runs, files), &Arc::default()))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // The engine lets go of its files before they are removed.
        self.opened = None;
        debug_assert!(self.folder.0.exists());
    }
}

/// No commit may come between the log and the tables of any two of them.
fn link_all(store: &Store, to: &Path) -> Result<io::Result<()>, Error> {
    let _one_at_a_time = store.one_at_a_time();
    store.persist()?;
    // As long as it is open, no table file of this moment is removed.
    let _nothing_goes = store.view()?;
    Ok(link_folder(store.path(), to))
}

/// The log first: what is flushed from it meanwhile is then in both, which the engine is used to.
fn link_folder(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let make = |path: &Path| fs::DirBuilder::new().mode(0o700).recursive(true).create(path);
    make(to)?;
    // The engine wants its lock to be there; it must not be the one that is held.
    fs::File::create(to.join("lock"))?;
    for file in files(from)? {
        if is_log(&file) || file.file_name() == Some(OsStr::new("version")) {
            // A log that is gone by now is in the tables.
            copy_if_there(&file, to)?;
        }
    }
    for keyspace in fs::read_dir(from.join("keyspaces"))? {
        let keyspace = keyspace?;
        let to = to.join("keyspaces").join(keyspace.file_name());
        make(&to.join("tables"))?;
        // Which tables count is told by the version that `current` names; later ones do no harm.
        copy(&keyspace.path().join("current"), &to)?;
        for file in files(&keyspace.path())? {
            if file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('v')) {
                copy_if_there(&file, &to)?;
            }
        }
        for file in files(&keyspace.path().join("tables"))? {
            let Some(name) = file.file_name() else { continue };
            unless_gone(fs::hard_link(&file, to.join("tables").join(name)))?;
        }
    }
    // Segments are only appended to, behind all that the copied tables lead to; index files are written once.
    for folder in [segments::FOLDER, index_files::FOLDER] {
        let (from, to) = (from.join(folder), to.join(folder));
        make(&to)?;
        if from.is_dir() {
            for file in files(&from)? {
                let Some(name) = file.file_name() else { continue };
                unless_gone(fs::hard_link(&file, to.join(name)))?;
            }
        }
    }
    Ok(())
}

fn is_log(file: &Path) -> bool {
    file.extension() == Some(OsStr::new("jnl"))
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn copy(file: &Path, to: &Path) -> io::Result<()> {
    let Some(name) = file.file_name() else { return Ok(()) };
    fs::copy(file, to.join(name)).map(|_| ())
}

/// A file of an older version, or one that a merge had only begun, may be removed between a look and a
/// link. Were it one that counts, opening would say so.
fn copy_if_there(file: &Path, to: &Path) -> io::Result<()> {
    unless_gone(copy(file, to))
}

fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn has_no_links(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
}

/// Of a process that was killed; the data folder is ours alone.
fn remove_left_over(data: &Path) -> io::Result<()> {
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(NAME) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
