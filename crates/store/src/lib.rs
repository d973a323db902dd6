//! Where blocks and what follows from them live.
//!
//! In: verified blocks (`Store::prepare`, then `Store::commit`). Out: answers to questions, each in a
//! file of its own under `read/`, and the journal, for readers that follow a chain. One block is one
//! atomic write together with its journal entry, durable before anyone is told. Whatever a block wrote
//! can be reverted by its number.
//! Must not know: nodes, HTTP, wire shapes.

mod api_key;
mod block;
mod change;
mod coverage;
mod embedded;
mod error;
mod generations;
mod journal;
mod options;
mod read;
mod store;

pub use api_key::{ApiKey, Role};
pub use block::{BlockRef, BlockSummary, PreparedBlock, StoredTx, VerifiedBlock};
pub use change::{Change, Committed};
pub use coverage::Coverage;
pub use error::Error;
pub use generations::{Building, Decoded, FactsRebuild, Fingerprint, Generations, StopFn};
pub use journal::{
    Entry, EntryKind, Event, EventKind, Origin, Reader, ReaderCursor, ReaderRow, ReaderStatus,
    Start, Version,
};
pub use options::{Options, UpgradeProgress};
pub use read::{
    LowestTradeQuery, Place, PoolStatesQuery, StateAt, TradePlace, TradesPage, TradesQuery, View,
    WalletPage, WalletQuery, WalletSummary,
};
pub use store::{Store, TableSize};
