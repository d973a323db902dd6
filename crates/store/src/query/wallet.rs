//! What can be asked about a wallet.

use alloy_primitives::Address;
use model::chain::ChainId;

use crate::block::StoredTx;

/// Block number and index: where a transaction stands on its chain.
pub type Place = (u64, u32);

#[derive(Clone, Debug)]
pub struct WalletQuery {
    pub chain: ChainId,
    pub address: Address,
    pub from_block: u64,
    pub to_block: u64,
    pub oldest_first: bool,
    /// Also transactions in which the wallet takes part only inside; rows come with their frames.
    pub with_internal: bool,
    /// Where the page before this one ended.
    pub after: Option<Place>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WalletPage {
    pub txs: Vec<StoredTx>,
    /// Whether anything follows.
    pub more: bool,
}

/// All that is known of a wallet without looking at its transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalletSummary {
    /// Transactions it sent, received, or was created by.
    pub direct: u64,
    /// Transactions in which it takes part only inside.
    pub internal: u64,
    /// Journal sequence of the last commit that changed any of them.
    pub changed_seq: u64,
}
