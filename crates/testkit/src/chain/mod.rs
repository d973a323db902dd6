//! A simulated chain that is a real one in all that can be checked.
//!
//! In: a seeded configuration. Out: linked blocks with right hashes, roots, blooms, signatures,
//! receipts, traces and balances, and the answers an indexer must give for them. Knows no network.

mod actors;
mod block;
mod builder;
mod config;
mod deposit;
mod draft;
mod envelope;
mod expected;
mod fees;
mod fork;
mod frame;
mod header;
mod lookup;
mod market;
mod next_block;
mod rlp;
mod sale;
mod scenario;
mod seal;
mod shared;
mod sign;
mod sim_chain;
mod state;
mod state_trie;
mod transaction;
mod withdrawal;

pub use actors::{Actors, Contracts, Wallet};
pub use block::SimBlock;
pub use config::SimConfig;
pub(crate) use deposit::DEPOSIT_RECEIPT_VERSION;
pub use deposit::Deposit;
pub use envelope::{AccessListItem, Envelope, SignedAuthorization, TxType, Unsigned};
pub use expected::{ExpectedSale, ExpectedWallet, WalletRow};
pub use fork::Fork;
pub use frame::{Frame, FrameError, FrameKind};
pub use header::Header;
pub use lookup::BlockRef;
pub(crate) use market::tick_of;
pub use market::{Holdings, Market, MarketToken};
pub use sale::{Sale, Venue};
pub use scenario::Kind;
pub use shared::{SharedChain, read, shared, write};
pub use sim_chain::{Reorg, SimChain};
pub use state::{Account, AccountChange, Move};
pub use transaction::SimTx;
pub use withdrawal::Withdrawal;
