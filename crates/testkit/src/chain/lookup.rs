//! Questions a node can answer about the chain: blocks, transactions, accounts, rendered JSON.

use super::{Account, Actors, Holdings, SimBlock, SimChain, SimConfig, state_trie};
use alloy_primitives::{Address, B256};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::broadcast;

/// A block by number or by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRef {
    Number(u64),
    Hash(B256),
}

impl From<u64> for BlockRef {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<B256> for BlockRef {
    fn from(hash: B256) -> Self {
        Self::Hash(hash)
    }
}

impl SimChain {
    pub fn config(&self) -> &SimConfig {
        &self.config
    }

    pub fn actors(&self) -> &Actors {
        &self.actors
    }

    /// Addresses that send transactions, the busiest first.
    pub fn wallets(&self) -> Vec<Address> {
        self.actors.wallets.iter().map(|wallet| wallet.address).collect()
    }

    /// `exchange`, `whale`, `deployer`, `internal-only`, `vault`, `miner`, … with their addresses.
    pub fn named(&self) -> Vec<(&'static str, Address)> {
        self.actors.named()
    }

    pub fn address_of(&self, name: &str) -> Option<Address> {
        self.named().into_iter().find(|(known, _)| *known == name).map(|(_, address)| address)
    }

    pub fn head(&self) -> Arc<SimBlock> {
        self.head.clone()
    }

    pub fn head_number(&self) -> u64 {
        self.head.number()
    }

    /// Canonical blocks, genesis first.
    pub fn blocks(&self) -> &[Arc<SimBlock>] {
        &self.blocks
    }

    /// The canonical block of that number.
    pub fn block(&self, number: u64) -> Option<Arc<SimBlock>> {
        self.blocks.get(usize::try_from(number).ok()?).cloned()
    }

    /// Canonical, or dropped by a reorg.
    pub fn block_by_hash(&self, hash: B256) -> Option<Arc<SimBlock>> {
        self.by_hash.get(&hash).cloned()
    }

    pub fn find(&self, block: impl Into<BlockRef>) -> Option<Arc<SimBlock>> {
        match block.into() {
            BlockRef::Number(number) => self.block(number),
            BlockRef::Hash(hash) => self.block_by_hash(hash),
        }
    }

    /// Canonical block and place in it of a transaction.
    pub fn transaction(&self, hash: B256) -> Option<(Arc<SimBlock>, usize)> {
        let (number, index) = self.tx_places.get(&hash).copied()?;
        Some((self.block(number)?, index))
    }

    /// Balance in wei after the head.
    pub fn balance(&self, address: Address) -> u128 {
        self.state.balance(address)
    }

    /// Balance and nonce after that canonical block.
    pub fn account_at(&self, address: Address, number: u64) -> Account {
        let Some(steps) = self.history.get(&address) else { return Account::default() };
        let until = steps.partition_point(|(changed_in, _)| *changed_in <= number);
        let last = until.checked_sub(1).and_then(|place| steps.get(place));
        last.map(|(_, account)| *account).unwrap_or_default()
    }

    /// What the market's pools held after that canonical block; those that were open.
    pub fn pools_at(&self, number: u64) -> Vec<(Address, Holdings)> {
        let held = self.block(number).map(|block| block.pools.clone()).unwrap_or_default();
        let pools = self.actors.market.pools.iter().map(|pool| pool.address);
        pools.zip(held).collect()
    }

    /// The nodes from the state root of that canonical block to an account, or as far as they lead.
    pub fn account_proof(&self, address: Address, number: u64) -> Vec<alloy_primitives::Bytes> {
        let known = self.history.keys();
        let mut accounts = known.map(|address| (*address, self.account_at(*address, number)));
        state_trie::proof(&mut accounts, address)
    }

    /// Every block that becomes part of the chain from now on, in order.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<SimBlock>> {
        self.heads.subscribe()
    }

    /// `eth_getBlockBy…`, with whole transactions or their hashes.
    pub fn block_json(&self, block: impl Into<BlockRef>, full: bool) -> Option<Bytes> {
        self.find(block).map(|block| block.block_json(full))
    }

    /// `eth_getBlockReceipts`.
    pub fn receipts_json(&self, block: impl Into<BlockRef>) -> Option<Bytes> {
        self.find(block).map(|block| block.receipts_json())
    }

    /// `eth_getTransactionReceipt`.
    pub fn receipt_json(&self, tx_hash: B256) -> Option<Bytes> {
        let (block, index) = self.transaction(tx_hash)?;
        block.receipt_json(index)
    }

    /// `eth_getTransactionByHash`.
    pub fn transaction_json(&self, tx_hash: B256) -> Option<Bytes> {
        let (block, index) = self.transaction(tx_hash)?;
        block.transaction_json(index)
    }

    /// `debug_traceBlockBy…` with the call tracer.
    pub fn traces_geth_json(&self, block: impl Into<BlockRef>) -> Option<Bytes> {
        self.find(block).map(|block| block.traces_geth_json())
    }

    /// `trace_block`.
    pub fn traces_parity_json(&self, block: impl Into<BlockRef>) -> Option<Bytes> {
        self.find(block).map(|block| block.traces_parity_json())
    }
}
