//! What sending asks about streams.

use std::sync::{Arc, OnceLock, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use store::StreamId;

use super::status::{self, NewStatus};
use crate::delivery::{Directory, StatusChange, TargetInfo};
use crate::engine::{Context, Engine};
use crate::record::Status;
use crate::settings::SettingsBook;

pub struct StreamDirectory {
    context: Arc<Context>,
    settings: Arc<SettingsBook>,
    engine: OnceLock<Weak<Engine>>,
}

impl StreamDirectory {
    pub fn new(context: Arc<Context>, settings: Arc<SettingsBook>) -> Self {
        StreamDirectory { context, settings, engine: OnceLock::new() }
    }

    pub fn set_engine(&self, engine: &Arc<Engine>) {
        let _ = self.engine.set(Arc::downgrade(engine));
    }
}

impl Directory for StreamDirectory {
    fn target(&self, id: StreamId) -> Option<TargetInfo> {
        let registry = self.context.registry.read();
        let entry = registry.get(id)?;
        // Every tenant with a stream was asked for when the stream was loaded or created.
        let settings = self.settings.cached(&entry.tenant)?;
        Some(TargetInfo {
            tenant: entry.tenant.clone(),
            webhook_url: entry.record.definition.webhook_url.clone(),
            tag: entry.record.definition.tag.clone(),
            is_sending: entry.record.status == Status::Active,
            secrets: settings.secrets.clone(),
            region: settings.region.clone(),
            success_rate: entry.record.success_rate,
        })
    }

    fn is_sending(&self, id: StreamId) -> bool {
        let registry = self.context.registry.read();
        registry.get(id).is_some_and(|entry| entry.record.status == Status::Active)
    }

    fn rate(&self, id: StreamId) -> Option<u8> {
        let registry = self.context.registry.read();
        let entry = registry.get(id).filter(|entry| entry.record.status == Status::Active)?;
        Some(entry.record.success_rate)
    }

    fn sending(&self) -> Vec<StreamId> {
        let registry = self.context.registry.read();
        let active = registry.all().filter(|entry| entry.record.status == Status::Active);
        active.map(|entry| entry.id).collect()
    }

    fn all(&self) -> Vec<StreamId> {
        self.context.registry.read().all().map(|entry| entry.id).collect()
    }

    fn change_status(&self, id: StreamId, to: StatusChange, message: String) -> BoxFuture<'_, ()> {
        let status = match to {
            StatusChange::Error => Status::Error,
            StatusChange::Paused => Status::Paused,
        };
        async move {
            let Some(engine) = self.engine.get().and_then(Weak::upgrade) else { return };
            let new = NewStatus { status, message };
            if let Err(error) = status::change(&self.context, &engine, id, new).await {
                tracing::warn!(%error, "a stream's new status could not be written");
            }
        }
        .boxed()
    }

    /// Kept in memory, and written with the next change of the stream: a rate that is a little old after a restart
    /// harms nothing.
    fn record_rate(&self, id: StreamId, rate: u8) {
        if let Some(entry) = self.context.registry.write().get_mut(id) {
            entry.record.success_rate = rate;
        }
    }
}
