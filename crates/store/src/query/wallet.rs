//! What can be asked about a wallet.

use std::sync::Arc;

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
    pub txs: Vec<Arc<StoredTx>>,
    /// Whether anything follows.
    pub more: bool,
}
