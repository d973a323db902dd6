//! Opening the store: lock, format version, upgrade, installation secrets.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use alloy_primitives::map::HashMap;
use fjall::{CompressionType, Database};
use model::chain::ChainId;
use model::facts::PoolId;
use quick_cache::sync::Cache;

use super::announcements::Announcements;
use super::engine::{self, Snapshot};
use super::read::View;
use super::tables::Tables;
use super::upgrade;
use super::versions::Versions;
use crate::Error;
use crate::generations::Fingerprint;
use crate::options::{Options, UpgradeProgress};

/// Pools remembered as written: they turn up in block after block.
const KNOWN_POOLS_MAX: usize = 200_000;

/// One per process; cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub inner: Arc<Inner>,
}

pub struct Inner {
    pub db: Database,
    pub tables: Arc<Tables>,
    /// Pools whose rows are there already.
    pub known_pools: Cache<(ChainId, u8, PoolId), ()>,
    /// Who finds the facts that this process commits, as far as it was said.
    pub decoders: Mutex<HashMap<ChainId, Fingerprint>>,
    pub announcements: Announcements,
    pub versions: Versions,
    /// One commit at a time: counts are read, changed and written.
    pub writing: Mutex<()>,
    pub durable: bool,
    pub journal_entries_min: u64,
    pub path: PathBuf,
}

impl Store {
    pub fn open(options: &Options, progress: &dyn Fn(UpgradeProgress)) -> Result<Self, Error> {
        let path = &options.path;
        std::fs::create_dir_all(path)
            .map_err(|source| Error::Folder { path: path.clone(), source })?;
        let mut builder = Database::builder(path);
        if let Some(files) = options.open_files_max {
            builder = builder.max_cached_files(Some(files));
        }
        let db = builder
            .cache_size(options.cache_bytes)
            .manual_journal_persist(true)
            // What is read again at the next start: a second or two of work.
            .max_journaling_size(256 << 20)
            // Lives for minutes; the disk takes it faster than it can be packed.
            .journal_compression(CompressionType::None)
            .open()
            .map_err(|error| opening(error, path))?;
        // Before any table is touched, so that a folder of another format is left as it is.
        let format = upgrade::format_of(&db, path)?;
        let tables = Arc::new(Tables::open(&db)?);
        upgrade::run(&db, &tables, format, progress)?;
        let versions = Versions::read(&Snapshot::of(&db), &tables)?;
        let inner = Inner {
            db,
            tables,
            known_pools: Cache::new(KNOWN_POOLS_MAX),
            decoders: Mutex::default(),
            announcements: Announcements::default(),
            versions,
            writing: Mutex::new(()),
            durable: options.durable,
            journal_entries_min: options.journal_entries_min,
            path: path.clone(),
        };
        Ok(Store { inner: Arc::new(inner) })
    }

    pub fn view(&self) -> View {
        View { snapshot: Snapshot::of(&self.inner.db), tables: self.inner.tables.clone() }
    }

    /// Runs work on a thread of its own. It goes on to its end even when nobody waits for it any more.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        done.unwrap_or_else(|stopped| {
            let source = Box::new(stopped);
            Err(Error::Engine { action: "finish its work", source, retryable: false })
        })
    }

    pub fn secret(&self, name: &str, fresh: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], Error> {
        let _one_at_a_time = self.one_at_a_time();
        let key = format!("secret/{name}");
        if let Some(found) = self.inner.tables.meta.get(&key)? {
            return found.as_ref().try_into().map_err(|_| Error::Broken { what: "secret" });
        }
        let secret = fresh();
        self.inner.tables.meta.insert(&key, secret)?;
        self.persist()?;
        Ok(secret)
    }

    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    pub fn persist(&self) -> Result<(), Error> {
        engine::persist(&self.inner.db)
    }

    pub fn compact(&self) -> Result<(), Error> {
        for (_, table) in self.inner.tables.all() {
            table.compact()?;
        }
        self.persist()
    }
}

fn opening(error: fjall::Error, path: &Path) -> Error {
    match error {
        fjall::Error::Locked => Error::InUse { path: path.to_owned() },
        other => Error::Engine { action: "open", source: Box::new(other), retryable: false },
    }
}
