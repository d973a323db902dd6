//! The chain itself: made from a seed, extended, reorganised. Questions about it are in `lookup`.

use super::{
    SimConfig,
    actors::Actors,
    block::{BlockEffects, SimBlock},
    market::WRAPPED,
    next_block::{Origin, next_block},
    seal,
    state::{Account, State},
    transaction::SimTx,
};
use alloy_primitives::{Address, B256, map::HashMap};
use std::sync::Arc;
use tokio::sync::broadcast;

/// A million coins: more than any wallet spends in a simulation.
const WALLET_START: u128 = 1_000_000_000_000_000_000_000_000;
/// The exchange stands in for wallets that ran dry.
const EXCHANGE_START: u128 = WALLET_START * 1_000_000;
const HEADS_KEPT: usize = 1024;

pub struct SimChain {
    pub(super) config: SimConfig,
    pub(super) actors: Actors,
    pub(super) state: State,
    /// Index is block number.
    pub(super) blocks: Vec<Arc<SimBlock>>,
    /// The last of `blocks`.
    pub(super) head: Arc<SimBlock>,
    /// Blocks a reorg dropped stay here: nodes, too, still know them by hash.
    pub(super) by_hash: HashMap<B256, Arc<SimBlock>>,
    pub(super) tx_places: HashMap<B256, (u64, usize)>,
    pub(super) history: HashMap<Address, Vec<(u64, Account)>>,
    pub(super) heads: broadcast::Sender<Arc<SimBlock>>,
    /// Transactions of dropped blocks, waiting to be included again.
    dropped: Vec<SimTx>,
    /// Counts reorgs, so that a new branch differs from the old one.
    branch: u64,
}

/// What a reorg took away and what it put there, both in rising order.
pub struct Reorg {
    pub dropped: Vec<Arc<SimBlock>>,
    pub added: Vec<Arc<SimBlock>>,
}

impl SimChain {
    /// A chain with its genesis block alone.
    pub fn new(config: SimConfig) -> Self {
        let actors = Actors::new(config.seed, config.wallets);
        let mut state = State::default();
        fund(&mut state, &actors);
        if config.pool_trades_per_block > 0 {
            // Whoever unwraps coins gets some that others wrapped before the chain began.
            state.credit(WRAPPED, WALLET_START);
        }
        let changes = state.take_changes();
        let effects = BlockEffects { withdrawals: Vec::new(), changes, pools: Vec::new() };
        let header = seal::genesis(&config, &effects.changes);
        let genesis = SimBlock::seal(header, Vec::new(), effects, config.keep_text);
        let genesis = Arc::new(genesis);
        let mut chain = Self {
            config,
            actors,
            state,
            blocks: Vec::new(),
            head: genesis.clone(),
            by_hash: HashMap::default(),
            tx_places: HashMap::default(),
            history: HashMap::default(),
            heads: broadcast::Sender::new(HEADS_KEPT),
            dropped: Vec::new(),
            branch: 0,
        };
        chain.push(genesis);
        chain
    }

    /// Seconds from one block to the next, from now on.
    pub fn set_block_time(&mut self, block_time_s: u64) {
        self.config.block_time_s = block_time_s;
    }

    /// Appends `count` blocks and announces each to subscribers.
    pub fn extend(&mut self, count: usize) -> Vec<Arc<SimBlock>> {
        let mut added = Vec::with_capacity(count);
        for _ in 0..count {
            let origin = Origin { config: &self.config, actors: &self.actors, branch: self.branch };
            let block = next_block(&origin, &self.head, &mut self.state, &mut self.dropped);
            if self.config.render_ahead {
                block.render();
            }
            let block = Arc::new(block);
            self.push(block.clone());
            let _ = self.heads.send(block.clone()); // nobody listening is fine
            added.push(block);
        }
        added
    }

    /// Drops the last `depth` blocks (never the genesis) and builds `new_len` others in their place.
    /// Some transactions of the dropped blocks come back in the new ones, as they do in life.
    pub fn reorg(&mut self, depth: usize, new_len: usize) -> Reorg {
        let keep = self.blocks.len().saturating_sub(depth).max(1);
        let dropped = self.blocks.split_off(keep);
        for block in dropped.iter().rev() {
            self.forget(block);
        }
        if let Some(head) = self.blocks.last() {
            self.head = head.clone();
            self.state.pools.clone_from(&head.pools);
        }
        self.dropped = dropped.iter().flat_map(|block| block.txs.iter().cloned()).collect();
        self.branch += 1;
        let added = self.extend(new_len);
        Reorg { dropped, added }
    }

    fn push(&mut self, block: Arc<SimBlock>) {
        let number = block.number();
        for (index, tx) in block.txs.iter().enumerate() {
            self.tx_places.insert(tx.hash, (number, index));
        }
        for change in &block.changes {
            self.history.entry(change.address).or_default().push((number, change.after));
        }
        self.by_hash.insert(block.hash, block.clone());
        self.head = block.clone();
        self.blocks.push(block);
    }

    fn forget(&mut self, block: &SimBlock) {
        self.state.undo(&block.changes);
        for tx in &block.txs {
            self.tx_places.remove(&tx.hash);
        }
        for change in &block.changes {
            if let Some(steps) = self.history.get_mut(&change.address) {
                steps.pop();
            }
        }
    }
}

fn fund(state: &mut State, actors: &Actors) {
    for (place, wallet) in actors.wallets.iter().enumerate() {
        state.credit(wallet.address, if place == 0 { EXCHANGE_START } else { WALLET_START });
    }
    for contract in actors.funded_contracts() {
        state.credit(contract, WALLET_START);
        state.set_nonce(contract, 1);
    }
}
