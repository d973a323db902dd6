//! A chain and nodes to test against, for every crate's tests and for `headwater demo`.
//!
//! ```ignore
//! let chain = testkit::shared(SimConfig { txs_per_block: 50, ..SimConfig::seeded(7) });
//! testkit::write(&chain).extend(200);              // 200 blocks after the genesis
//! let node = SimNode::start(chain.clone()).await?; // node.url(), node.ws_url()
//! node.faults.add(Rule::from(Tamper::DroppedLog).on_blocks(10..=20));
//! node.faults.add(Rule::new(Fault::RateLimit { retry_after_s: 1 }).with_probability(0.1));
//! testkit::write(&chain).reorg(3, 4);              // three blocks dropped, four others in their place
//! let rows = testkit::read(&chain).expected_wallet(address); // what an indexer must answer
//! ```
//!
//! [`SimChain`] is made from a seed and is right in all that can be checked: hashes, roots, blooms,
//! signatures, receipts, traces, balances. [`SimNode`] serves one over HTTP and WebSocket and can be made
//! slow, wrong or dishonest by [`Rule`]s. [`Strangers`] bother a server by the thousand; a [`SmallDisk`] can be
//! filled up. Nothing here depends on another crate of the project.

mod chain;
pub mod fixtures;
pub mod lies;
mod node;
mod render;
mod rounds;
mod small_disk;
mod strangers;

pub use chain::{
    AccessListItem, Account, AccountChange, Actors, BlockRef, Contracts, Deposit, Envelope,
    ExpectedSale, ExpectedWallet, Fork, Frame, FrameError, FrameKind, Header, Holdings, Kind,
    Market, MarketToken, Move, Reorg, Sale, SharedChain, SignedAuthorization, SimBlock, SimChain,
    SimConfig, SimTx, TxType, Unsigned, Venue, Wallet, WalletRow, Withdrawal, read, shared, write,
};
pub use node::{Fault, Faults, Rule, RuleId, SimNode, Tamper};
pub use rounds::rounds;
pub use small_disk::SmallDisk;
pub use strangers::{Strangers, Tally};
