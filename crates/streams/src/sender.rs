//! A process that sends and does not match: what it has to know of streams it reads from the store when it has something
//! of theirs to send, and again when they change.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use store::{Error, Shared, Store, StreamCall, StreamId};
use tasks::{TaskBoard, TaskProblem};
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::delivery::{Deliverer, Directory, StatusChange, TargetInfo};
use crate::record::{Status, StreamRecord};
use crate::service::StreamError;
use crate::settings::{SettingsBook, SettingsError};

/// The method of a call by which a sender tells how a stream fares.
pub const REPORT: &str = "REPORT";
const REPORT_WITHIN: Duration = Duration::from_secs(10);
const FOLLOWING: &str = "following changes of streams";

pub struct StreamSender {
    deliverer: Arc<Deliverer>,
    tasks: TaskBoard,
    following: JoinHandle<()>,
}

impl StreamSender {
    pub fn start(store: &Store, config: &Config) -> Result<Self, StreamError> {
        let settings =
            SettingsBook::new(store.clone(), &config.secret_key, config.secret_overlap_s);
        let known = RwLock::default();
        let directory = Arc::new(StoreDirectory { store: store.clone(), settings, known });
        let deliverer = Deliverer::start(store.clone(), config.delivery(), directory.clone())?;
        let (tasks, awake) = (TaskBoard::default(), deliverer.clone());
        let board = tasks.clone();
        let following = tokio::spawn(async move {
            board.keep_running(FOLLOWING, || false, || follow(&directory, &awake, &board)).await;
        });
        Ok(StreamSender { deliverer, tasks, following })
    }

    pub fn problems(&self) -> Vec<TaskProblem> {
        self.deliverer.problems().into_iter().chain(self.tasks.problems()).collect()
    }

    /// Begins nothing new, and waits for what is in flight.
    pub async fn stop(&self) {
        self.deliverer.stop().await;
        self.following.abort();
    }
}

/// What is known of streams is read again when any changed; what is sendable again is sent.
async fn follow(
    directory: &StoreDirectory,
    deliverer: &Deliverer,
    tasks: &TaskBoard,
) -> Result<(), Error> {
    let Some(mut changed) = directory.store.watch_shared(Shared::Streams) else { return Ok(()) };
    while changed.changed().await.is_ok() {
        let known: Vec<StreamId> = directory.known().keys().copied().collect();
        directory.settings.forget();
        directory.read(&known).await?;
        tasks.recovered(FOLLOWING);
        known.into_iter().for_each(|stream| deliverer.wake(stream));
    }
    Ok(())
}

struct StoreDirectory {
    store: Store,
    settings: SettingsBook,
    known: RwLock<HashMap<StreamId, TargetInfo>>,
}

impl StoreDirectory {
    fn known(&self) -> std::sync::RwLockReadGuard<'_, HashMap<StreamId, TargetInfo>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mut(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<StreamId, TargetInfo>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self, ids: &[StreamId]) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut found = HashMap::new();
        for row in self.store.stream_rows(ids).await? {
            let broken = |_| Error::Broken { what: "stream" };
            let record: StreamRecord = serde_json::from_slice(&row.body).map_err(broken)?;
            let settings = match self.settings.get(&row.tenant).await {
                Ok(settings) => settings,
                Err(SettingsError::Store(error)) => return Err(error),
                Err(SettingsError::Secret(error)) => {
                    tracing::error!(%error, "a stream cannot be sent");
                    continue;
                }
            };
            let rate = self.known().get(&row.id).map(|known| known.success_rate);
            let target = TargetInfo {
                tenant: row.tenant,
                webhook_url: record.definition.webhook_url,
                tag: record.definition.tag,
                is_sending: record.status == Status::Active,
                secrets: settings.secrets.clone(),
                region: settings.region.clone(),
                success_rate: rate.unwrap_or(record.success_rate),
            };
            found.insert(row.id, target);
        }
        let mut known = self.known_mut();
        for id in ids {
            match found.remove(id) {
                // Made active again, it starts anew.
                Some(now) => {
                    let was_off = known.get(id).is_some_and(|before| !before.is_sending);
                    let success_rate = if was_off { 100 } else { now.success_rate };
                    known.insert(*id, TargetInfo { success_rate, ..now });
                }
                None => drop(known.remove(id)),
            }
        }
        Ok(())
    }
}

impl Directory for StoreDirectory {
    fn target(&self, id: StreamId) -> Option<TargetInfo> {
        self.known().get(&id).cloned()
    }

    fn prepare<'a>(&'a self, streams: &'a [StreamId]) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let new: Vec<StreamId> = {
                let known = self.known();
                streams.iter().filter(|id| !known.contains_key(*id)).copied().collect()
            };
            self.read(&new).await
        }
        .boxed()
    }

    /// Who asks is told of those that it claims.
    fn sending(&self) -> Vec<StreamId> {
        Vec::new()
    }

    fn change_status(&self, id: StreamId, to: StatusChange, message: String) -> BoxFuture<'_, ()> {
        if let Some(target) = self.known_mut().get_mut(&id) {
            target.is_sending = false;
        }
        let to = match to {
            StatusChange::Error => Status::Error,
            StatusChange::Paused => Status::Paused,
        };
        let call = StreamCall {
            tenant: String::new(),
            method: REPORT.to_owned(),
            path: format!("/{id:x}/{}", to.name()),
            content_type: None,
            body: message.into(),
        };
        async move {
            // Whoever does not hear of it finds out by itself.
            if let Err(error) = self.store.call_streams(&call, REPORT_WITHIN).await {
                tracing::warn!(%error, "a stream's new status could not be told");
            }
        }
        .boxed()
    }

    fn record_rate(&self, id: StreamId, rate: u8) {
        if let Some(target) = self.known_mut().get_mut(&id) {
            target.success_rate = rate;
        }
    }
}
