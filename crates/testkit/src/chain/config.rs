//! What a simulated chain is made from. The same configuration gives the same blocks, byte for byte.

use super::fork::Fork;

/// The knobs of a [`SimChain`](super::SimChain). Start from `SimConfig::default()` and change what matters.
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// Everything random follows from this number.
    pub seed: u64,
    pub chain_id: u64,
    /// Exactly so many transactions are in every block but the genesis.
    pub txs_per_block: usize,
    /// Unix seconds of the genesis block.
    pub start_time: u64,
    pub block_time_s: u64,
    /// Accounts with a key that send transactions; a few of them are busy, most are not.
    pub wallets: usize,
    pub withdrawals_per_block: usize,
    /// So many of the transactions, but never the first of a block, are sales of the NFT contract's
    /// tokens on marketplaces that stand where Ethereum has them.
    pub nft_sales_per_block: usize,
    /// So many others are trades in pools of exchanges that stand where Ethereum has them.
    pub pool_trades_per_block: usize,
    /// The rules of all its blocks.
    pub fork: Fork,
    /// As chains of the OP stack are: every block opens with a deposit that nobody signed, and has another
    /// root in the place of the withdrawals'.
    pub op_stack: bool,
    /// State roots are those of a trie over all accounts, so that nodes can prove balances (`eth_getProof`).
    /// Costs time with every block; else a root is a hash over what changed.
    pub state_proofs: bool,
    /// Rendered JSON is kept beside the block, so it is built once. Off saves memory on long chains.
    pub keep_text: bool,
    /// Blocks are rendered before they are announced, so that what is measured from then on is the reader's time and
    /// not this node's. Needs `keep_text`.
    pub render_ahead: bool,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            chain_id: 1337,
            txs_per_block: 20,
            start_time: 1_750_000_000,
            block_time_s: 12,
            wallets: 100,
            withdrawals_per_block: 2,
            nft_sales_per_block: 0,
            pool_trades_per_block: 0,
            fork: Fork::default(),
            op_stack: false,
            state_proofs: false,
            keep_text: true,
            render_ahead: false,
        }
    }
}

impl SimConfig {
    /// The defaults with another seed: the usual thing a property test wants.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }
}
