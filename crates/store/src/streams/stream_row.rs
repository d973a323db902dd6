//! A stream as it is stored, and what it added up to.

use alloy_primitives::FixedBytes;

/// A UUID's bytes.
pub type StreamId = FixedBytes<16>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    pub id: StreamId,
    pub tenant: String,
    /// JSON; only its owner reads it.
    pub body: Vec<u8>,
}

/// Sums over the life of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamTotals {
    pub webhooks_delivered: u64,
    /// Attempts that failed.
    pub webhooks_failed: u64,
    pub txs: u64,
    pub logs: u64,
    pub internal_txs: u64,
}
