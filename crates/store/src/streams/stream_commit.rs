//! What a matcher writes at once: deliveries, matches that wait for confirmation, and how far it came.

use alloy_primitives::B256;
use bytes::Bytes;
use model::chain::ChainId;

use super::{Delivery, DeliveryMeta, RecordCounts, StreamId, StreamRow};
use crate::journal::ReaderCursor;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    pub stream: StreamId,
    pub meta: DeliveryMeta,
    /// With `"retries":0`.
    pub body: Bytes,
}

/// A delivery as it was stored, for who sends it at once: it need not be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedDelivery {
    pub delivery: Delivery,
    pub body: Bytes,
    /// Its stream's queue when it was added.
    pub waiting: u64,
    pub waiting_bytes: u64,
}

/// A match that waits for its block to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMatch {
    pub stream: StreamId,
    pub number: u64,
    pub hash: B256,
    pub traces_missing: bool,
    /// Which of the commit's deliveries is its first part; none where nothing is sent before it is confirmed.
    pub first_delivery: Option<usize>,
    /// The number of its first part, where that was delivered before.
    pub first_seq: Option<u64>,
    /// The bodies as they are sent unconfirmed.
    pub parts: Vec<(RecordCounts, Bytes)>,
}

/// The same, stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMatch {
    pub stream: StreamId,
    pub number: u64,
    pub hash: B256,
    pub traces_missing: bool,
    pub first_seq: Option<u64>,
    pub parts: Vec<(RecordCounts, Bytes)>,
}

/// What a matcher writes with one step of its journal reader. Of matches of the same block and stream the last
/// one counts, and a removal counts only where nothing is kept in the same change. Whatever is of a stream that
/// is not stored (any more) is left out.
#[derive(Clone, Debug, Default)]
pub struct StreamChange {
    /// In the order in which they get their numbers.
    pub deliveries: Vec<NewDelivery>,
    pub keep: Vec<NewMatch>,
    /// Block number and stream.
    pub remove: Vec<(u64, StreamId)>,
    /// Another reader of the chain that is done and is forgotten with this commit.
    pub retire: Option<String>,
    /// Streams whose stored form changes with it.
    pub streams: Vec<StreamRow>,
}

/// All of it or nothing, durable when it returns.
pub(crate) struct StreamCommit {
    pub chain: ChainId,
    /// The journal reader that moves.
    pub reader: String,
    /// Where it was when it last wrote; nobody else may have moved it.
    pub expected: Option<ReaderCursor>,
    pub cursor: ReaderCursor,
    pub change: StreamChange,
}
