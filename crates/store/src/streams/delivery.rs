//! One delivery: its number, its place in the stream's chain of digests, and how far its attempts came.

use alloy_primitives::B256;
use model::chain::ChainId;
use ring::digest::{Context, SHA256};

use super::StreamId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryKind {
    Unconfirmed,
    Confirmed,
    /// An unconfirmed block that was delivered is no longer on the chain.
    Retracted,
}

/// How many items of each kind a body holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    pub txs: u32,
    pub logs: u32,
    pub internal_txs: u32,
}

/// All that is known of a delivery when it is made, but for its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryMeta {
    pub chain: ChainId,
    pub number: u64,
    pub hash: B256,
    pub kind: DeliveryKind,
    /// Which part of how many, from 1; (1, 1) where the block is whole.
    pub part: (u32, u32),
    /// Whether internal transactions were asked for and the block had no traces.
    pub traces_missing: bool,
    /// The delivery that this one adds to.
    pub amends: Option<u64>,
    pub counts: RecordCounts,
    pub created_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub stream: StreamId,
    /// From 1, without holes.
    pub seq: u64,
    pub meta: DeliveryMeta,
    pub body_bytes: u64,
    pub digest: B256,
    /// Of the delivery one number below; zero for the first.
    pub previous_digest: B256,
    pub state: DeliveryState,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryState {
    /// Made so far; 0: the first is still to come.
    pub attempts: u32,
    /// When the next attempt is due, unix milliseconds. None: the first is still to come, or no more will be made.
    pub due_ms: Option<u64>,
    /// When the receiver took it.
    pub delivered_ms: Option<u64>,
    /// No attempt will be made any more, unless somebody asks for one.
    pub given_up: bool,
    /// Of the last attempt, where it failed.
    pub error: Option<String>,
}

impl DeliveryState {
    pub fn is_final(&self) -> bool {
        self.delivered_ms.is_some() || self.given_up
    }
}

/// Where a stream's queue stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// The number of the newest delivery; 0 where there is none.
    pub last_seq: u64,
    pub last_digest: B256,
    /// First attempts were made of all deliveries up to this one.
    pub tried_seq: u64,
    /// Bytes of bodies that still wait for an attempt.
    pub waiting_bytes: u64,
    /// Deliveries that still wait for an attempt.
    pub waiting: u64,
}

/// SHA-256 over the digest below, the number and the body as it is first sent.
pub fn delivery_digest(previous: B256, seq: u64, body: &[u8]) -> B256 {
    let mut hasher = Context::new(&SHA256);
    hasher.update(previous.as_slice());
    hasher.update(&seq.to_be_bytes());
    hasher.update(body);
    B256::from_slice(hasher.finish().as_ref())
}
