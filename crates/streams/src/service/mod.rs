//! All that can be asked of streams and done with them, by tenant. What one tenant has, another does not see.

mod addresses;
mod block_data;
mod changes;
mod directory;
mod error;
mod lists;
mod load;
mod status;
mod terminate;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::ChainId;
use store::{Store, StreamId};
use tasks::{TaskBoard, TaskProblem};
use tokio::sync::{Mutex, MutexGuard, Semaphore};
use tokio::task::JoinSet;

pub use addresses::FromBlocks;
pub use error::StreamError;
pub use lists::{ListQuery, SettingsView, StreamAnchor, StreamList};

use crate::config::Config;
use crate::delivery::Deliverer;
use crate::engine::{Context, Engine, StreamChain, TokenNames};
use crate::matching::SpamList;
use crate::registry::{Registry, StreamEntry};
use crate::settings::SettingsBook;
use directory::StreamDirectory;
use error::NO_STREAM;

/// Streams with a reader of their own that are matched at once.
const OWN_AT_ONCE: usize = 4;
/// Changes of one stream are made one after the other; of several, as many at once.
const CHANGE_LOCKS: usize = 64;

/// Cheap to clone.
#[derive(Clone)]
pub struct Streams {
    inner: Arc<Inner>,
}

struct Inner {
    context: Arc<Context>,
    engine: Arc<Engine>,
    deliverer: Arc<Deliverer>,
    settings: Arc<SettingsBook>,
    change_locks: Vec<Mutex<()>>,
    tasks: std::sync::Mutex<JoinSet<()>>,
}

pub struct StreamOptions {
    pub store: Store,
    pub config: Config,
    pub chains: BTreeMap<ChainId, StreamChain>,
    pub spam: SpamList,
    pub tokens: Arc<dyn TokenNames>,
}

impl Streams {
    /// Boxed, so that all of it is compiled here and not in every crate that awaits it.
    pub fn start(options: StreamOptions) -> BoxFuture<'static, Result<Self, StreamError>> {
        Self::start_all(options).boxed()
    }

    async fn start_all(options: StreamOptions) -> Result<Self, StreamError> {
        let StreamOptions { store, config, chains, spam, tokens } = options;
        let settings =
            Arc::new(SettingsBook::new(store.clone(), &config.secret_key, config.secret_overlap_s));
        let context = Arc::new(Context {
            store: store.clone(),
            config,
            chains,
            registry: Registry::default(),
            spam,
            tokens,
            deliverer: OnceLock::new(),
            own_permits: Semaphore::new(OWN_AT_ONCE),
            tasks: TaskBoard::default(),
        });
        load::load(&context, &settings).await?;
        let directory = Arc::new(StreamDirectory::new(context.clone(), settings.clone()));
        let deliverer = Deliverer::start(store, context.config.delivery(), directory.clone())?;
        let _ = context.deliverer.set(deliverer.clone());
        let engine = Engine::start(context.clone()).await?;
        directory.set_engine(&engine);
        let change_locks = (0..CHANGE_LOCKS).map(|_| Mutex::default()).collect();
        let tasks = std::sync::Mutex::default();
        let inner = Inner { context, engine, deliverer, settings, change_locks, tasks };
        let streams = Streams { inner: Arc::new(inner) };
        streams.spawn(lists::keep_pruning(streams.inner.context.clone()));
        streams.spawn(terminate::keep_watching(streams.inner.context.clone()));
        Ok(streams)
    }

    /// What of matching and sending does not get on, and is tried again.
    pub fn problems(&self) -> Vec<TaskProblem> {
        let mut problems = self.inner.context.tasks.problems();
        problems.extend(self.inner.deliverer.problems());
        problems
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let tasks = self.inner.tasks.lock();
        tasks.unwrap_or_else(std::sync::PoisonError::into_inner).spawn(task);
    }

    /// Nothing new is matched or sent; what is under way ends, within the time a webhook may take.
    pub async fn stop(&self) {
        self.inner.engine.stop().await;
        self.inner.deliverer.stop().await;
        let tasks = self.inner.tasks.lock();
        tasks.unwrap_or_else(std::sync::PoisonError::into_inner).abort_all();
    }

    async fn changing(&self, id: StreamId) -> Option<MutexGuard<'_, ()>> {
        let place = usize::from(id.first().copied().unwrap_or(0)) % CHANGE_LOCKS;
        match self.inner.change_locks.get(place) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }

    /// Something of a stream, if it is the tenant's.
    fn with<T>(
        &self,
        tenant: &str,
        id: StreamId,
        look: impl FnOnce(&StreamEntry) -> T,
    ) -> Result<T, StreamError> {
        let registry = self.inner.context.registry.read();
        let entry = registry.get(id).filter(|entry| entry.tenant == tenant);
        entry.map(look).ok_or(NO_STREAM)
    }
}
