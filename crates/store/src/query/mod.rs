//! Queries and what they are answered with, the same for every engine.

mod logs;
mod pools;
mod trades;
mod wallet;

pub use logs::{LogsCost, LogsPage, LogsQuery};
pub use pools::{PoolStatesQuery, StateAt};
pub use trades::{LowestTradeQuery, StoredTrade, TradePlace, TradesPage, TradesQuery};
pub use wallet::{Place, WalletPage, WalletQuery};
