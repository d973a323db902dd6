//! What tenants may look at: streams, sums, settings, attempts, deliveries.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{AttemptLog, AttemptsQuery, Delivery, FailedQuery, ListAnchor, StreamId, StreamTotals};

use super::error::{NO_HISTORY, NO_STAT};
use super::{StreamError, Streams};
use crate::clock;
use crate::delivery::seq_of;
use crate::engine::Context;
use crate::record::{Status, StreamView};

/// Where a page of streams ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamAnchor {
    pub created_ms: u64,
    pub id: StreamId,
}

#[derive(Clone, Copy, Debug)]
pub struct ListQuery {
    pub status: Option<Status>,
    pub after: Option<StreamAnchor>,
    pub limit: usize,
}

#[derive(Clone, Debug)]
pub struct StreamList {
    pub streams: Vec<StreamView>,
    pub next: Option<StreamAnchor>,
    pub total: u64,
}

#[derive(Clone, Debug)]
pub struct SettingsView {
    pub region: String,
    pub secret_key: String,
}

type AttemptRow = (ListAnchor, Delivery, AttemptLog);

impl Streams {
    pub fn get(&self, tenant: &str, id: StreamId) -> Result<StreamView, StreamError> {
        self.with(tenant, id, |entry| entry.view())
    }

    /// Newest first.
    pub fn list(&self, tenant: &str, query: ListQuery) -> StreamList {
        let registry = self.inner.context.registry.read();
        let wanted = |status: Status| query.status.is_none_or(|wanted| wanted == status);
        let all = registry.of_tenant(tenant).rev();
        let all: Vec<_> = all.filter(|(_, entry)| wanted(entry.record.status)).collect();
        let total = all.len() as u64;
        let below = |created_ms: u64, id: StreamId| {
            query.after.is_none_or(|after| (created_ms, id) < (after.created_ms, after.id))
        };
        let mut rest = all.into_iter().filter(|(created, entry)| below(*created, entry.id));
        let page: Vec<_> = rest.by_ref().take(query.limit).collect();
        let last = page.last().map(|(created_ms, entry)| (*created_ms, entry.id));
        let next = last.filter(|_| rest.next().is_some());
        let next = next.map(|(created_ms, id)| StreamAnchor { created_ms, id });
        let streams = page.iter().map(|(_, entry)| entry.view()).collect();
        StreamList { streams, next, total }
    }

    /// How many streams there are, of all tenants.
    pub fn count_by_status(&self) -> [(Status, usize); 4] {
        let registry = self.inner.context.registry.read();
        let mut counts = Status::ALL.map(|status| (status, 0));
        for entry in registry.all() {
            let of_status = counts.iter_mut().find(|(status, _)| *status == entry.record.status);
            if let Some((_, count)) = of_status {
                *count += 1;
            }
        }
        counts
    }

    pub async fn stats(
        &self,
        tenant: &str,
    ) -> Result<(StreamTotals, Vec<(StreamId, StreamTotals)>), StreamError> {
        let ids: Vec<StreamId> = {
            let registry = self.inner.context.registry.read();
            registry.of_tenant(tenant).map(|(_, entry)| entry.id).collect()
        };
        let (mut sum, mut each) = (StreamTotals::default(), Vec::with_capacity(ids.len()));
        for id in ids {
            let one = self.inner.context.store.stream_totals(id).await?;
            sum.webhooks_delivered += one.webhooks_delivered;
            sum.webhooks_failed += one.webhooks_failed;
            sum.txs += one.txs;
            sum.logs += one.logs;
            sum.internal_txs += one.internal_txs;
            each.push((id, one));
        }
        Ok((sum, each))
    }

    pub async fn stats_of(&self, tenant: &str, id: StreamId) -> Result<StreamTotals, StreamError> {
        self.with(tenant, id, |_| ()).map_err(|_| NO_STAT)?;
        Ok(self.inner.context.store.stream_totals(id).await?)
    }

    pub async fn settings(&self, tenant: &str) -> Result<SettingsView, StreamError> {
        let settings = self.inner.settings.get(tenant).await?;
        let secret_key = settings.secrets.current.clone();
        Ok(SettingsView { region: settings.region.clone(), secret_key })
    }

    /// What is not given stays.
    pub async fn set_settings(
        &self,
        tenant: &str,
        region: Option<String>,
        secret_key: Option<String>,
    ) -> Result<SettingsView, StreamError> {
        self.inner.settings.set(tenant, region, secret_key).await?;
        self.settings(tenant).await
    }

    /// Deliveries whose last attempt failed.
    pub async fn failed(&self, query: FailedQuery) -> Result<Vec<AttemptRow>, StreamError> {
        Ok(self.inner.context.store.failed_page(query).await?)
    }

    pub async fn attempts(&self, query: AttemptsQuery) -> Result<Vec<AttemptRow>, StreamError> {
        Ok(self.inner.context.store.attempts_page(query).await?)
    }

    pub async fn body(
        &self,
        tenant: &str,
        id: StreamId,
        seq: u64,
    ) -> Result<Option<Bytes>, StreamError> {
        self.with(tenant, id, |_| ())?;
        Ok(self.inner.context.store.delivery_body(id, seq).await?)
    }

    /// Sends a delivery again, with its number.
    pub async fn replay(
        &self,
        tenant: &str,
        id: StreamId,
        delivery_id: &str,
    ) -> Result<Delivery, StreamError> {
        self.with(tenant, id, |_| ())?;
        let seq = seq_of(id, delivery_id).ok_or(NO_HISTORY)?;
        self.inner.deliverer.send_again(id, seq).await?;
        self.inner.context.store.delivery(id, seq).await?.ok_or(NO_HISTORY)
    }

    /// With their bodies, from a number on; those that are no longer kept are left out.
    pub async fn deliveries(
        &self,
        tenant: &str,
        id: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<(Delivery, Bytes)>, StreamError> {
        self.with(tenant, id, |_| ())?;
        let store = &self.inner.context.store;
        let mut found = Vec::new();
        for delivery in store.deliveries(id, from_seq, limit).await? {
            if let Some(body) = store.delivery_body(id, delivery.seq).await? {
                found.push((delivery, body));
            }
        }
        Ok(found)
    }
}

const PRUNE_EVERY: Duration = Duration::from_secs(60);
const PRUNED_AT_ONCE: usize = 1_000;
const DAY_MS: u64 = 86_400_000;

/// Forgets deliveries that ended long ago; ends with the server.
pub async fn keep_pruning(context: Arc<Context>) {
    let start = || prune(&context);
    context.tasks.keep_running("forgetting of old deliveries", || false, start).await;
}

async fn prune(context: &Context) -> Result<(), store::Error> {
    loop {
        let kept_ms = context.config.retention_days.saturating_mul(DAY_MS);
        let before = clock::now_ms().saturating_sub(kept_ms);
        let pruned = context.store.prune_deliveries(before, PRUNED_AT_ONCE).await?;
        // Some at a time: a large heap must not keep others from writing.
        if pruned == PRUNED_AT_ONCE {
            tokio::time::sleep(Duration::from_millis(50)).await;
        } else {
            tokio::time::sleep(PRUNE_EVERY).await;
        }
    }
}
