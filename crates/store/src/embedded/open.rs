//! Opening the store: lock, format version, installation secrets.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use alloy_primitives::map::{HashMap, HashSet};
use fjall::{CompressionType, Database, PersistMode};
use model::chain::ChainId;
use model::facts::PoolId;

use crate::Error;
use crate::embedded::editions::Editions;
use crate::embedded::generations::Fingerprint;
use crate::embedded::read::View;
use crate::embedded::tables::Tables;

/// Written at creation, checked at every start. Raised when old rows can no longer be read.
const FORMAT: u32 = 3;
const FORMAT_KEY: &str = "format";

#[derive(Clone, Debug)]
pub struct Options {
    pub path: PathBuf,
    /// Blocks of tables kept in memory, uncompressed.
    pub cache_bytes: u64,
    /// Whether a commit waits for the disk. Only benchmarks and bulk tests turn it off.
    pub durable: bool,
}

impl Options {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Options { path: path.into(), cache_bytes: 256 << 20, durable: true }
    }
}

/// One per process; cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub db: Database,
    pub tables: Arc<Tables>,
    /// Pools whose rows are there already.
    pub known_pools: Mutex<HashSet<(ChainId, u8, PoolId)>>,
    /// Who finds the facts that this process commits, as far as it was said.
    pub decoders: Mutex<HashMap<ChainId, Fingerprint>>,
    pub editions: Editions,
    /// One commit at a time: counts are read, changed and written.
    pub writing: Mutex<()>,
    pub durable: bool,
    pub path: PathBuf,
}

impl Store {
    pub fn open(options: &Options) -> Result<Self, Error> {
        let path = &options.path;
        std::fs::create_dir_all(path)
            .map_err(|source| Error::Folder { path: path.clone(), source })?;
        let db = Database::builder(path)
            .cache_size(options.cache_bytes)
            .manual_journal_persist(true)
            // What is read again at the next start: a second or two of work.
            .max_journaling_size(256 << 20)
            // Lives for minutes; the disk takes it faster than it can be packed.
            .journal_compression(CompressionType::None)
            .open()
            .map_err(|error| locked(error, path))?;
        check_format(&db, path)?;
        let tables = Arc::new(Tables::open(&db)?);
        let inner = Inner {
            db,
            tables,
            known_pools: Mutex::default(),
            decoders: Mutex::default(),
            editions: Editions::default(),
            writing: Mutex::new(()),
            durable: options.durable,
            path: path.clone(),
        };
        Ok(Store { inner: Arc::new(inner) })
    }

    /// A consistent look at everything as it is now.
    pub fn view(&self) -> View {
        View { snapshot: self.inner.db.snapshot(), tables: self.inner.tables.clone() }
    }

    /// Goes up with every write of the chain; none while one is under way. What was seen of the chain
    /// in a view is still so if this is the same as it was before the view was taken.
    pub fn edition(&self, chain: ChainId) -> Option<u64> {
        self.inner.editions.get(chain)
    }

    /// A secret of this installation, made by `fresh` the first time it is asked for.
    pub fn secret(&self, name: &str, fresh: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], Error> {
        let key = format!("secret/{name}");
        if let Some(found) = self.inner.tables.meta.get(&key)? {
            return found.as_ref().try_into().map_err(|_| Error::BrokenRow { table: "meta" });
        }
        let secret = fresh();
        self.inner.tables.meta.insert(&key, secret)?;
        self.persist()?;
        Ok(secret)
    }

    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Everything written so far is on disk when this returns.
    pub fn persist(&self) -> Result<(), Error> {
        Ok(self.inner.db.persist(PersistMode::SyncAll)?)
    }
}

impl Store {
    /// Brings every table into its final, packed form. Takes a while; readers and writers go on.
    pub fn compact(&self) -> Result<(), Error> {
        for (_, table) in self.inner.tables.all() {
            table.rotate_memtable_and_wait()?;
            table.major_compact()?;
        }
        self.persist()
    }
}

/// Before any table is touched, so that a folder of another format is left as it is.
fn check_format(db: &Database, path: &Path) -> Result<(), Error> {
    let meta = Tables::open_meta(db)?;
    let Some(found) = meta.get(FORMAT_KEY)? else {
        meta.insert(FORMAT_KEY, FORMAT.to_be_bytes())?;
        return Ok(db.persist(PersistMode::SyncAll)?);
    };
    let found = found.as_ref().try_into().map_or(0, u32::from_be_bytes);
    match found == FORMAT {
        true => Ok(()),
        false => Err(Error::UnknownFormat { path: path.to_owned(), found, known: FORMAT }),
    }
}

fn locked(error: fjall::Error, path: &Path) -> Error {
    match error {
        fjall::Error::Locked => Error::InUse { path: path.to_owned() },
        other => Error::Engine(other),
    }
}
