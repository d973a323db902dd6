//! What the streams host keeps: streams and their addresses, what they matched and still waits to be
//! confirmed, deliveries with their bodies, and how their attempts ended.
//!
//! The store gives deliveries their numbers and chains their digests, because that must be one atomic write
//! with the journal reader's cursor. What a body says is the business of whoever wrote it.

mod attempt;
mod call;
mod claim;
mod copied;
mod delivery;
mod digest_chain;
mod face;
mod stream_commit;
mod stream_row;

pub use attempt::{AttemptLog, AttemptOf, AttemptRecord, AttemptsQuery, FailedQuery, ListAnchor};
pub use call::{StreamAnswer, StreamCall};
pub use claim::CLAIM;
pub(crate) use copied::{CopiedStream, ListedAttempt, StoredDelivery, StreamPart, is_gone};
pub use delivery::{
    Delivery, DeliveryKind, DeliveryMeta, DeliveryState, QueueState, RecordCounts, delivery_digest,
};
pub(crate) use digest_chain::chain_digests;
pub(crate) use stream_commit::StreamCommit;
pub use stream_commit::{KeptMatch, NewDelivery, NewMatch, QueuedDelivery, StreamChange};
pub use stream_row::{StreamId, StreamRow, StreamTotals};
