//! What can be asked of a store about streams.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use alloy_primitives::Address;
use bytes::Bytes;
use model::chain::ChainId;

use super::{
    AttemptLog, AttemptRecord, AttemptsQuery, Delivery, FailedQuery, KeptMatch, ListAnchor,
    QueueState, QueuedDelivery, StreamCommit, StreamId, StreamRow, StreamTotals,
};
use crate::Error;
use crate::embedded::blocking::may_block;
use crate::store::{Engine, Store};

const FEW: usize = 32;

impl Store {
    /// Every stream of every tenant.
    pub async fn streams(&self) -> Result<Vec<StreamRow>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.streams()),
            Engine::Postgres(store) => store.streams().await,
        }
    }

    /// New, or in place of what was stored under its id.
    pub async fn put_stream(&self, row: StreamRow) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(move |store| store.put_stream(&row)).await,
            Engine::Postgres(store) => store.put_stream(&row).await,
        }
    }

    /// The stream with all that hangs on it. Its own row goes first, so that one who stops in between
    /// can be asked again; false where there was nothing left.
    pub async fn remove_stream(&self, id: StreamId) -> Result<bool, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(move |store| store.remove_stream(id)).await,
            Engine::Postgres(store) => store.remove_stream(id).await,
        }
    }

    /// All of it or nothing. Says how many of a stream's addresses there are afterwards.
    pub async fn change_stream_addresses(
        &self,
        id: StreamId,
        add: Vec<Address>,
        remove: Vec<Address>,
    ) -> Result<u64, Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                store.run(move |store| store.change_stream_addresses(id, &add, &remove)).await
            }
            Engine::Postgres(store) => store.change_stream_addresses(id, &add, &remove).await,
        }
    }

    /// In the order of their bytes.
    pub async fn stream_addresses(
        &self,
        id: StreamId,
        after: Option<Address>,
        limit: usize,
    ) -> Result<Vec<Address>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.stream_addresses(id, after, limit)),
            Engine::Postgres(store) => store.stream_addresses(id, after, limit).await,
        }
    }

    pub async fn stream_address_count(&self, id: StreamId) -> Result<u64, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.stream_address_count(id),
            Engine::Postgres(store) => store.stream_address_count(id).await,
        }
    }

    /// What a tenant set for all its streams; JSON, which only its owner reads.
    pub async fn stream_settings(&self, tenant: &str) -> Result<Option<Vec<u8>>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.stream_settings(tenant),
            Engine::Postgres(store) => store.stream_settings(tenant).await,
        }
    }

    pub async fn put_stream_settings(&self, tenant: &str, body: Vec<u8>) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.put_stream_settings(tenant, &body)),
            Engine::Postgres(store) => store.put_stream_settings(tenant, &body).await,
        }
    }

    pub(crate) async fn commit_streams(
        &self,
        commit: StreamCommit,
    ) -> Result<Vec<QueuedDelivery>, Error> {
        let (chain, expected, cursor) = (commit.chain, commit.expected, commit.cursor);
        let mark = self.mark(chain, &commit.reader);
        let retired = commit.change.retire.as_ref().filter(|retired| **retired != commit.reader);
        let retired = retired.and_then(|retired| self.mark(chain, retired));
        if let Some(mark) = &mark {
            mark.hold(expected, cursor).await?;
        }
        let made = match &self.engine {
            Engine::Embedded(store) => store.run(move |store| store.commit_streams(commit)).await,
            Engine::Postgres(store) => store.commit_streams(commit).await,
        }?;
        if let Some(mark) = mark {
            mark.follow(cursor).await;
        }
        if let Some(mark) = retired {
            mark.drop().await;
        }
        Ok(made)
    }

    /// Matches that wait for confirmation or for traces, lowest block first; of one stream or of all.
    pub async fn kept_matches(
        &self,
        chain: ChainId,
        blocks: RangeInclusive<u64>,
        stream: Option<StreamId>,
    ) -> Result<Vec<KeptMatch>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.kept_matches(chain, blocks, stream)),
            Engine::Postgres(store) => store.kept_matches(chain, blocks, stream).await,
        }
    }

    pub async fn delivery(&self, id: StreamId, seq: u64) -> Result<Option<Delivery>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.delivery(id, seq),
            Engine::Postgres(store) => store.delivery(id, seq).await,
        }
    }

    /// Rising, from a number on.
    pub async fn deliveries(
        &self,
        id: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        match &self.engine {
            // A few are read as quickly as another thread would be found for it.
            Engine::Embedded(store) if limit <= FEW => store.deliveries(id, from_seq, limit),
            Engine::Embedded(store) => may_block(|| store.deliveries(id, from_seq, limit)),
            Engine::Postgres(store) => store.deliveries(id, from_seq, limit).await,
        }
    }

    pub async fn delivery_body(&self, id: StreamId, seq: u64) -> Result<Option<Bytes>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.delivery_body(id, seq),
            Engine::Postgres(store) => store.delivery_body(id, seq).await,
        }
    }

    /// Those of a few deliveries, with their numbers, rising.
    pub async fn delivery_bodies(
        &self,
        id: StreamId,
        seqs: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Bytes)>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.delivery_bodies(id, seqs),
            Engine::Postgres(store) => store.delivery_bodies(id, seqs).await,
        }
    }

    pub async fn stream_queue(&self, id: StreamId) -> Result<QueueState, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.stream_queue(id),
            Engine::Postgres(store) => store.stream_queue(id).await,
        }
    }

    pub async fn stream_totals(&self, id: StreamId) -> Result<StreamTotals, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.stream_totals(id),
            Engine::Postgres(store) => store.stream_totals(id).await,
        }
    }

    /// Retries that are due, the most overdue first. Streams that are not to be sent are passed over.
    pub async fn due_retries(
        &self,
        until_ms: u64,
        passed_over: BTreeSet<StreamId>,
        limit: usize,
    ) -> Result<Vec<(u64, StreamId, u64)>, Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                may_block(|| store.due_retries(until_ms, &passed_over, limit))
            }
            Engine::Postgres(store) => store.due_retries(until_ms, &passed_over, limit).await,
        }
    }

    /// Survives the process; after a power cut the last ones may be made again.
    pub async fn record_attempts(&self, records: Vec<AttemptRecord>) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                store.run(move |store| store.record_attempts(&records)).await
            }
            Engine::Postgres(store) => store.record_attempts(&records).await,
        }
    }

    pub async fn attempts_page(
        &self,
        query: AttemptsQuery,
    ) -> Result<Vec<(ListAnchor, Delivery, AttemptLog)>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(move |store| store.attempts_page(&query)).await,
            Engine::Postgres(store) => store.attempts_page(&query).await,
        }
    }

    pub async fn failed_page(
        &self,
        query: FailedQuery,
    ) -> Result<Vec<(ListAnchor, Delivery, AttemptLog)>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(move |store| store.failed_page(&query)).await,
            Engine::Postgres(store) => store.failed_page(&query).await,
        }
    }

    /// Forgets bodies and lists of deliveries that ended before then; what is still to be tried stays. At most
    /// `limit` deliveries; says how many they were.
    pub async fn prune_deliveries(&self, before_ms: u64, limit: usize) -> Result<usize, Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                store.run(move |store| store.prune_deliveries(before_ms, limit)).await
            }
            Engine::Postgres(store) => store.prune_deliveries(before_ms, limit).await,
        }
    }
}
