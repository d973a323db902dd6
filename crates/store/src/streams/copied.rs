//! Streams on their way from one store to another.
//!
//! Until all of them are there, their queues are marked as removed: nothing of them is seen or sent, and what a copy that
//! was cut off left behind is taken away as what is left of any removed stream.

use alloy_primitives::Address;
use bytes::Bytes;
use model::chain::ChainId;

use super::{
    AttemptLog, Delivery, KeptMatch, ListAnchor, QueueState, StreamId, StreamRow, StreamTotals,
};
use crate::Error;
use crate::embedded::blocking::may_block;
use crate::store::{Engine, Store};

/// A delivery with all that is stored of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredDelivery {
    pub delivery: Delivery,
    /// Where it stands in the list of those that failed: when, and after how many retries.
    pub failed: Option<(u64, u32)>,
    /// Since when it waits for no attempt.
    pub ended_ms: Option<u64>,
    pub body: Bytes,
}

/// One line of a list of attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedAttempt {
    pub at: ListAnchor,
    pub chain: ChainId,
    pub number: u64,
    pub log: AttemptLog,
}

/// Some of what hangs on a stream.
#[derive(Clone, Debug)]
pub(crate) enum StreamPart {
    Addresses(Vec<Address>),
    Deliveries(Vec<StoredDelivery>),
    Attempts(Vec<ListedAttempt>),
    /// Of deliveries whose last attempt failed.
    Failed(Vec<ListedAttempt>),
    Matches(ChainId, Vec<KeptMatch>),
}

/// A stream all of whose parts are there.
#[derive(Clone, Debug)]
pub(crate) struct CopiedStream {
    pub row: StreamRow,
    pub queue: QueueState,
    pub totals: StreamTotals,
    pub addresses: u64,
}

/// Somebody removed it, or writes the same.
pub(crate) fn is_gone(stream: StreamId) -> Error {
    Error::NotEmpty { what: format!("stream {stream} was changed while it was copied") }
}

impl Store {
    /// Rising, from a number on.
    pub(crate) async fn stored_deliveries(
        &self,
        id: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<StoredDelivery>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.stored_deliveries(id, from_seq, limit)),
            Engine::Postgres(store) => store.stored_deliveries(id, from_seq, limit).await,
        }
    }

    /// What each tenant set for all its streams, by tenant.
    pub(crate) async fn all_stream_settings(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.all_stream_settings()),
            Engine::Postgres(store) => store.all_stream_settings().await,
        }
    }

    /// What an earlier copy left of it goes first. There must be no such stream.
    pub(crate) async fn begin_stream_copy(&self, row: &StreamRow) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.begin_stream_copy(row)),
            Engine::Postgres(store) => store.begin_stream_copy(row).await,
        }
    }

    pub(crate) async fn add_stream_part(
        &self,
        id: StreamId,
        part: StreamPart,
    ) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                store.run(move |store| store.add_stream_part(id, part)).await
            }
            Engine::Postgres(store) => store.add_stream_part(id, part).await,
        }
    }

    /// From here on they are seen: all of them or none.
    pub(crate) async fn publish_streams(
        &self,
        streams: Vec<CopiedStream>,
        settings: Vec<(String, Vec<u8>)>,
    ) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.publish_streams(&streams, &settings)),
            Engine::Postgres(store) => store.publish_streams(&streams, &settings).await,
        }
    }
}
