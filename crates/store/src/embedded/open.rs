//! The store of a folder: what outlives the engine that is open in it, and the one way to write.

use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use model::panic_text;
use quick_cache::sync::Cache;
use tokio::sync::watch;

use super::announcements::Announcements;
use super::engine::{Durability, Op, Slice, Table};
use super::fold_thread;
use super::folder::{self, Space};
use super::health::Health;
use super::inner::Inner;
use super::mend;
use super::merge_thread;
use super::open_db::OpenDb;
use super::read::View;
use super::upgrade;
use super::upkeep_thread::{self, UpkeepDue};
use super::worker_thread::WorkerThread;
use super::write_turn::WriteTurns;
use crate::Error;
use crate::options::{Options, UpgradeProgress};
use crate::write_state::WriteState;

/// Pools remembered as written: they turn up in block after block.
const KNOWN_POOLS_MAX: usize = 200_000;
/// Opening the engine anew reads its log: a second or two.
const OPEN_WAIT: Duration = Duration::from_secs(10);

/// One per process; cheap to clone.
#[derive(Clone)]
pub struct Store {
    /// End with the last handle that has them, and before what they work on.
    _threads: Option<Arc<[WorkerThread; 4]>>,
    pub inner: Arc<Inner>,
}

impl Store {
    pub fn open(options: &Options, progress: &dyn Fn(UpgradeProgress)) -> Result<Self, Error> {
        let path = &options.path;
        let io = |source| Error::Folder { path: path.clone(), source };
        folder::private_from_now_on();
        if options.create {
            std::fs::create_dir_all(path).map_err(io)?;
        }
        let opened = folder::tighten(path).map_err(io)?;
        if opened > 0 {
            tracing::info!(
                data = %path.display(), files = opened,
                "files of the data folder were open to others and are its owner's alone now"
            );
        }
        let open = upgrade::open(options, progress)?;
        let inner = Inner {
            versions: open.versions()?,
            disk_bytes: open.disk_bytes().into(),
            current: RwLock::new(Some(Arc::new(open))),
            is_open: watch::Sender::new(true),
            health: Health::new(options.commit_stall),
            space: Space::new(path, options.free_bytes_min),
            known_pools: Cache::new(KNOWN_POOLS_MAX),
            decoders: Mutex::default(),
            announcements: Announcements::default(),
            writing: WriteTurns::default(),
            folding: Mutex::new(()),
            merging: Mutex::new(()),
            stream_writing: Mutex::new(()),
            upkeep_due: UpkeepDue::default(),
            options: options.clone(),
        };
        let inner = Arc::new(inner);
        let threads = [
            fold_thread::start(&inner),
            merge_thread::start(&inner),
            upkeep_thread::start(&inner),
            mend::start(&inner),
        ];
        let [fold, merge, upkeep, mend] = threads.map(|started| started.map_err(io));
        let threads = [fold?, merge?, upkeep?, mend?];
        Ok(Store { inner, _threads: Some(Arc::new(threads)) })
    }

    /// For those threads themselves.
    pub fn without_threads(inner: Arc<Inner>) -> Self {
        Store { inner, _threads: None }
    }

    pub fn view(&self) -> Result<View, Error> {
        self.inner.database()?.view()
    }

    /// The same, and waits while the engine is opened anew.
    pub async fn view_soon(&self) -> Result<View, Error> {
        if let Ok(view) = self.view() {
            return Ok(view);
        }
        let mut is_open = self.inner.is_open.subscribe();
        // Whether it was waited for in vain is said by the view.
        let _ = tokio::time::timeout(OPEN_WAIT, is_open.wait_for(|open| *open)).await;
        self.view()
    }

    /// Runs work on a thread of its own. It goes on to its end even when nobody waits for it any more.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        done.unwrap_or_else(|stopped| {
            let text = match stopped.try_into_panic() {
                Ok(panic) => format!("it panicked: {}", panic_text(panic.as_ref())),
                Err(stopped) => stopped.to_string(),
            };
            Err(Error::Engine {
                action: "finish its work",
                path: self.path().to_owned(),
                source: text.into(),
                advice: "this is a fault of headwater: please report it",
                retryable: false,
            })
        })
    }

    pub fn secret(&self, name: &str, fresh: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], Error> {
        let _one_at_a_time = self.one_at_a_time();
        let key = format!("secret/{name}");
        let table = self.inner.database()?.tables.meta.clone();
        if let Some(found) = table.get(&key)? {
            return found.as_ref().try_into().map_err(|_| Error::Broken { what: "secret" });
        }
        let secret = fresh();
        self.put(&table, key.as_bytes(), Some(secret.to_vec()), Durability::Disk)?;
        Ok(secret)
    }

    pub fn secrets(&self) -> Result<Vec<(String, [u8; 32])>, Error> {
        const BROKEN: Error = Error::Broken { what: "secret" };
        let (view, mut secrets) = (self.view()?, Vec::new());
        for item in view.snapshot.prefix(&view.tables.meta, b"secret/") {
            let (key, secret) = item.into_inner()?;
            let name = key.strip_prefix(b"secret/").and_then(|name| std::str::from_utf8(name).ok());
            let secret = secret.as_ref().try_into().map_err(|_| BROKEN)?;
            secrets.push((name.ok_or(BROKEN)?.to_owned(), secret));
        }
        Ok(secrets)
    }

    pub fn path(&self) -> &Path {
        &self.inner.options.path
    }

    /// A single row; no value removes it.
    pub fn put(
        &self,
        table: &Table,
        key: &[u8],
        value: Option<Vec<u8>>,
        durability: Durability,
    ) -> Result<(), Error> {
        let value = value.map(Slice::from);
        let op = Op { table: table.clone(), key: Slice::from(key), value };
        self.inner.write(vec![op], durability, None)
    }

    /// The number of the newest write.
    pub fn last_write(&self) -> Result<u64, Error> {
        Ok(self.inner.database()?.last_write())
    }

    pub fn persist(&self) -> Result<(), Error> {
        let done = self.inner.writes(OpenDb::persist);
        self.inner.measure();
        done
    }

    /// The same, with all rows in files of their tables: the next start finds nothing in the log to do again.
    pub fn settle(&self) -> Result<(), Error> {
        let folded = self.fold();
        self.persist()?;
        folded?;
        self.inner.writes(OpenDb::flush_all)
    }

    pub fn compact(&self) -> Result<(), Error> {
        self.fold()?;
        self.merge_all_index_files()?;
        let done = self.inner.writes(OpenDb::compact);
        self.inner.measure();
        done
    }

    pub fn write_state(&self) -> WriteState {
        self.inner.health.state()
    }

    pub fn watch_write_state(&self) -> watch::Receiver<WriteState> {
        self.inner.health.watch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_is_an_error_and_the_next_write_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Options::new(dir.path()), &|_| ()).unwrap();
        let work = |store: &Store| -> Result<(), Error> {
            let _one_at_a_time = store.one_at_a_time();
            panic!("a fault")
        };
        let error = store.run(work).await.unwrap_err();
        assert!(error.to_string().contains("it panicked: a fault"), "{error}");
        assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
        assert_eq!(store.secret("cursor", || [7; 32]).unwrap(), [7; 32]);
        assert_eq!(store.write_state(), WriteState::Writable);
    }
}
