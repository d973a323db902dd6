//! A simulated chain that is a real one in all that can be checked.
//!
//! In: a seeded configuration. Out: linked blocks with right hashes, roots, blooms, signatures,
//! receipts, traces and balances, and the answers an indexer must give for them. Knows no network.

mod block;
mod builder;
mod cast;
mod config;
mod envelope;
mod expected;
mod frame;
mod header;
mod lookup;
mod next_block;
mod sale;
mod scenario;
mod shared;
mod sign;
mod sim_chain;
mod state;
mod transaction;
mod typed;

pub use block::SimBlock;
pub use cast::{Cast, Contracts, Wallet};
pub use config::SimConfig;
pub use envelope::Envelope;
pub use expected::{ExpectedSale, ExpectedWallet, WalletRow};
pub use frame::{Frame, FrameError, FrameKind};
pub use lookup::BlockRef;
pub use sale::{Sale, Venue};
pub use scenario::Kind;
pub use shared::{SharedChain, read, shared, write};
pub use sim_chain::{Reorg, SimChain};
pub use state::{Account, AccountChange, Move};
pub use transaction::SimTx;
