//! Where blocks and what follows from them live.
//!
//! In: verified blocks (`Store::prepare`, then `Store::commit`). Out: answers to questions, each in a
//! file of its own under `read/`, and the journal, for readers that follow a chain. One block is one
//! atomic write together with its journal entry, durable before anyone is told. Whatever a block wrote
//! can be reverted by its number.
//! Must not know: nodes, HTTP, wire shapes.

mod api_key;
mod backup;
mod backups;
mod block;
mod change;
mod check;
mod copy;
mod coverage;
mod disk_room;
mod embedded;
mod engine;
mod error;
mod fit;
mod follower;
mod generations;
mod journal;
mod lease;
mod memory;
mod options;
mod placed;
mod postgres;
mod prepared;
mod prune;
mod query;
mod read;
mod reader;
mod rebuild;
mod repair;
mod shared;
mod store;
mod streams;
mod write_state;

pub use api_key::{ApiKey, MethodRules, Role};
pub use backup::{BackupProgress, BackupRequest, ChainMoment, Manifest, TableFile};
pub use block::{BlockHead, BlockRef, BlockSummary, StoredTx, VerifiedBlock};
pub use change::{ChangeOf, Committed};
pub use check::{CheckProgress, CheckReport, CheckedPart};
pub use copy::{Copied, CopiedChain, CopiedStreams, CopyPart, CopyProgress};
pub use coverage::Coverage;
pub use disk_room::DiskRoom;
#[doc(hidden)]
pub use embedded::{BodyRows, body_rows};
pub use error::Error;
pub use follower::Follower;
pub use generations::{Building, Decoded, Fingerprint, Generations, StopFn};
pub use journal::{
    Entry, EntryKind, Event, EventKind, Origin, ReaderCursor, ReaderRow, ReaderStatus, Version,
};
pub use lease::{Duty, Leadership};
pub use memory::{Memory, MemoryUse};
pub use options::{Options, TableSize, UpgradeProgress};
pub use prepared::{Change, PreparedBlock};
pub use prune::{HeldBy, Pruned};
pub use query::{
    LogsCost, LogsPage, LogsQuery, LowestTradeQuery, Place, PoolStatesQuery, StateAt, StoredTrade,
    TradePlace, TradesPage, TradesQuery, WalletPage, WalletQuery,
};
pub use read::View;
pub use reader::{Reader, Start};
pub use rebuild::FactsRebuild;
pub use repair::{LostOfChain, RepairReport};
pub use shared::Shared;
pub use store::Store;
pub use streams::{
    AttemptLog, AttemptOf, AttemptRecord, AttemptsQuery, CLAIM, Delivery, DeliveryKind,
    DeliveryMeta, DeliveryState, FailedQuery, KeptMatch, ListAnchor, NewDelivery, NewMatch,
    QueueState, QueuedDelivery, RecordCounts, StreamAnswer, StreamCall, StreamChange, StreamId,
    StreamRow, StreamTotals, delivery_digest,
};
pub use write_state::WriteState;
