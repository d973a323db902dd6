//! What a store must answer, from a plain list of blocks: nothing here is quick, everything is plain.
//!
//! In: what was committed and what was answered by the commit. Out: the answer to every question.
//! Must not know: how any engine keeps its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use alloy_primitives::{Address, B256, U256, keccak256};
use model::facts::{Facts, Pool, PoolId};
use model::raw::{Block, Frame};
use model::wallets::parties;
use store::{
    BlockSummary, Coverage, Decoded, Entry, EntryKind, LowestTradeQuery, Origin, Place,
    PoolStatesQuery, StateAt, StoredTrade, StoredTx, TradesPage, TradesQuery, VerifiedBlock,
    Version, WalletPage, WalletQuery,
};

use crate::decoders::Decoder;
use crate::made_facts;

/// Of another decoder other facts; what a pool is does not depend on it.
pub fn facts_by(decoder: Decoder, block: &Block) -> Facts {
    let hash = keccak256([block.hash.as_slice(), &[decoder.0]].concat());
    made_facts::facts(hash, block.txs.len())
}

/// One moment of a change, as the model takes it.
pub enum Step {
    Revert(u64),
    Amend(VerifiedBlock),
    Apply(VerifiedBlock),
}

/// Pools by the blocks that tell of them.
#[derive(Default)]
struct ToldPools(BTreeMap<PoolId, ToldPool>);

struct ToldPool {
    pool: Pool,
    by: BTreeSet<u64>,
    /// One that told of it was pruned.
    is_kept: bool,
}

impl ToldPools {
    fn tell(&mut self, number: u64, seen: &[Pool]) {
        for pool in seen {
            let told = self.0.entry(pool.id).or_insert_with(|| ToldPool {
                pool: pool.clone(),
                by: BTreeSet::new(),
                is_kept: false,
            });
            told.by.insert(number);
        }
    }

    fn untell(&mut self, number: u64) {
        self.0.values_mut().for_each(|told| {
            told.by.remove(&number);
        });
        self.0.retain(|_, told| told.is_kept || !told.by.is_empty());
    }

    fn prune(&mut self, number: u64) {
        for told in self.0.values_mut() {
            told.is_kept |= told.by.remove(&number);
        }
    }
}

/// The generation being built: pools it has met so far.
struct Building {
    decoder: Decoder,
    pools: ToldPools,
}

pub struct Model {
    pub blocks: BTreeMap<u64, VerifiedBlock>,
    pub journal: Vec<Entry>,
    /// Of the newest entry, or of what was pruned after it.
    pub seq: u64,
    /// Blocks that were pruned, without a gap, newest last.
    gone: Vec<VerifiedBlock>,
    /// The first block that never was.
    pub pruned_to: u64,
    /// Who decodes what is committed.
    pub decoder: Decoder,
    generation: u8,
    pools: ToldPools,
    building: Option<Building>,
    /// The newest journal entry of the last commit that touched a wallet.
    changed: BTreeMap<Address, u64>,
}

impl Model {
    pub fn new(decoder: Decoder) -> Self {
        Model {
            blocks: BTreeMap::new(),
            journal: Vec::new(),
            seq: 0,
            gone: Vec::new(),
            pruned_to: 0,
            decoder,
            generation: 0,
            pools: ToldPools::default(),
            building: None,
            changed: BTreeMap::new(),
        }
    }

    /// All steps of one change.
    pub fn commit(&mut self, origin: Origin, steps: Vec<Step>) {
        let mut touched = Vec::new();
        for step in steps {
            let (kind, number, hash) = match step {
                Step::Revert(number) => {
                    let gone = self.blocks.remove(&number).unwrap();
                    touched.extend(all_parties(&gone));
                    self.generations_of_pools().for_each(|pools| pools.untell(number));
                    (EntryKind::Revert, number, gone.block.hash)
                }
                Step::Amend(block) | Step::Apply(block) => {
                    let (number, hash) = (block.block.number, block.block.hash);
                    touched.extend(all_parties(&block));
                    self.meet_pools(number, &block.facts.pools.seen);
                    let old = self.blocks.insert(number, block);
                    touched.extend(old.iter().flat_map(all_parties));
                    let kind = if old.is_some() { EntryKind::Amend } else { EntryKind::Apply };
                    (kind, number, hash)
                }
            };
            self.seq += 1;
            self.journal.push(Entry { seq: self.seq, kind, origin, number, hash });
        }
        let seq = self.seq;
        self.changed.extend(touched.into_iter().map(|address| (address, seq)));
    }

    /// Drops the oldest blocks below `below`; says how many.
    pub fn prune(&mut self, below: u64, limit: usize) -> u64 {
        let numbers: Vec<u64> = self.blocks.range(..below).map(|(n, _)| *n).take(limit).collect();
        if self.pruned_below().is_none() && !numbers.is_empty() {
            self.gone.clear();
        }
        let mut touched = Vec::new();
        for number in &numbers {
            let block = self.blocks.remove(number).unwrap();
            self.generations_of_pools().for_each(|pools| pools.prune(*number));
            touched.extend(all_parties(&block));
            self.pruned_to = self.pruned_to.max(number + 1);
            let last = self.gone.last().map(|last| last.block.number);
            if last.is_some_and(|last| last + 1 < *number) {
                self.gone.clear();
            }
            if last.is_none_or(|last| last < *number) {
                self.gone.push(block);
            }
        }
        self.seq += u64::from(!numbers.is_empty());
        let seq = self.seq;
        self.changed.extend(touched.into_iter().map(|address| (address, seq)));
        numbers.len() as u64
    }

    /// The block that stands on those that were pruned.
    fn pruned_below(&self) -> Option<u64> {
        let last = &self.gone.last()?.block;
        let above = self.blocks.get(&(last.number + 1))?;
        (above.block.parent_hash == last.hash).then_some(last.number + 1)
    }

    fn generations_of_pools(&mut self) -> impl Iterator<Item = &mut ToldPools> {
        let building = self.building.as_mut().map(|building| &mut building.pools);
        std::iter::once(&mut self.pools).chain(building)
    }

    fn meet_pools(&mut self, number: u64, seen: &[Pool]) {
        // Facts of another decoder end what is being built.
        self.building = self.building.take().filter(|building| building.decoder == self.decoder);
        for pools in self.generations_of_pools() {
            pools.untell(number);
            pools.tell(number, seen);
        }
    }

    /// The walk of a rebuild; the first one of a decoder begins it.
    pub fn rebuild(&mut self, written: &[Decoded]) {
        let decoder = self.decoder;
        self.building = self.building.take().filter(|building| building.decoder == decoder);
        let building =
            self.building.get_or_insert_with(|| Building { decoder, pools: ToldPools::default() });
        for block in written {
            building.pools.untell(block.number);
            building.pools.tell(block.number, &block.facts.pools.seen);
        }
    }

    pub fn finish_rebuild(&mut self) {
        let building = self.building.take().unwrap();
        self.pools = building.pools;
        self.generation = self.generation.wrapping_add(1);
        for block in self.blocks.values_mut() {
            block.facts = facts_by(building.decoder, &block.block);
        }
    }

    pub fn version(&self) -> Version {
        Version { seq: self.seq, generation: self.generation }
    }

    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        self.blocks.keys().for_each(|number| coverage.insert(*number));
        coverage
    }

    /// Stored blocks from `start` up to the first that is missing. Those that were pruned, or are there
    /// again after it, are left out: whoever saw them keeps what it saw.
    pub fn run_from(&self, start: u64) -> Vec<(u64, B256, bool)> {
        let start = start.max(self.pruned_to);
        let blocks = self.blocks.range(start..).zip(start..);
        let run = blocks.take_while(|((number, _), expected)| *number == expected);
        run.map(|((number, b), _)| (*number, b.block.hash, b.block.traces.is_some())).collect()
    }

    pub fn summary(&self, number: u64) -> Option<BlockSummary> {
        let VerifiedBlock { block, proof, .. } = self.blocks.get(&number)?;
        Some(BlockSummary {
            number,
            hash: block.hash,
            timestamp: block.timestamp,
            proof: *proof,
            tx_count: block.txs.len() as u32,
            has_traces: block.traces.is_some(),
        })
    }

    pub fn first_block_from(&self, timestamp: u64) -> Option<u64> {
        let times = self.blocks.iter().map(|(number, b)| (b.block.timestamp, *number));
        times.filter(|(time, _)| *time >= timestamp).min().map(|(_, number)| number)
    }

    pub fn last_block_until(&self, timestamp: u64) -> Option<u64> {
        let times = self.blocks.iter().map(|(number, b)| (b.block.timestamp, *number));
        times.filter(|(time, _)| *time <= timestamp).max().map(|(_, number)| number)
    }

    pub fn untraced(&self, below: u64, limit: usize) -> Vec<u64> {
        let blocks = self.blocks.range(..below).rev();
        let waiting = blocks.filter(|(_, b)| b.block.traces.is_none() && !b.block.txs.is_empty());
        waiting.map(|(number, _)| *number).take(limit).collect()
    }

    pub fn wallet_changed_seq(&self, address: Address) -> u64 {
        self.changed.get(&address).copied().unwrap_or_default()
    }

    pub fn wallet_total(&self, q: &WalletQuery) -> u64 {
        self.wallet_matches(q).len() as u64
    }

    pub fn wallet_page(&self, q: &WalletQuery) -> WalletPage {
        let all = self.wallet_matches(q);
        let is_left = |place: &Place| match q.after {
            Some(after) if q.oldest_first => *place > after,
            Some(after) => *place < after,
            None => true,
        };
        let left: Vec<Place> = all.into_iter().filter(is_left).collect();
        let tx = |place: &Place| Arc::new(self.stored_tx(*place, q.with_internal));
        let txs = left.iter().take(q.limit).map(tx);
        WalletPage { txs: txs.collect(), more: left.len() > q.limit }
    }

    fn wallet_matches(&self, q: &WalletQuery) -> Vec<Place> {
        let rows = self.wallet_rows(q.address).into_iter();
        let fits = |((number, _), direct): &(Place, bool)| {
            (q.from_block..=q.to_block).contains(number) && (*direct || q.with_internal)
        };
        let mut places: Vec<Place> = rows.filter(fits).map(|(place, _)| place).collect();
        if !q.oldest_first {
            places.reverse();
        }
        places
    }

    /// Oldest first, and whether the wallet is a direct party.
    fn wallet_rows(&self, address: Address) -> Vec<(Place, bool)> {
        let mut rows = Vec::new();
        for (number, block) in &self.blocks {
            for index in 0..block.block.txs.len() {
                let parties = parties_of(block, index);
                if parties.direct.contains(&address) {
                    rows.push(((*number, index as u32), true));
                } else if parties.internal.contains(&address) {
                    rows.push(((*number, index as u32), false));
                }
            }
        }
        rows
    }

    fn stored_tx(&self, (number, index): Place, with_frames: bool) -> StoredTx {
        let block = &self.blocks[&number].block;
        let place = index as usize;
        let mut receipt = block.receipts[place].clone();
        receipt.iter_mut().for_each(|r| (r.logs, r.logs_bloom) = (None, None));
        let frames = block.traces.as_ref().map_or(Vec::new(), |all| below_root(&all[place]));
        StoredTx {
            block: self.summary(number).unwrap().block_ref(),
            index,
            tx: block.txs[place].clone(),
            receipt,
            frames: with_frames.then_some(frames),
        }
    }

    /// The block as it comes out: frames without their roots.
    pub fn whole_block(&self, number: u64) -> Option<model::raw::Block> {
        let mut block = self.blocks.get(&number)?.block.clone();
        block.traces.iter_mut().flatten().for_each(|frames| *frames = below_root(frames));
        Some(block)
    }

    pub fn trades_page(&self, q: &TradesQuery) -> TradesPage {
        let sales = self.sales(q.contract, q.market, q.from_block..=q.to_block);
        let left = sales.into_iter().rev();
        let left: Vec<_> =
            left.filter(|sale| q.after.is_none_or(|after| sale.place < after)).collect();
        TradesPage { more: left.len() > q.limit, trades: left.into_iter().take(q.limit).collect() }
    }

    pub fn lowest_trade(&self, q: &LowestTradeQuery) -> Option<StoredTrade> {
        let sales = self.sales(q.contract, q.market, q.from_block..=u64::MAX);
        let is_paid = |sale: &StoredTrade| sale.trade.in_native && sale.trade.price > U256::ZERO;
        sales.into_iter().filter(is_paid).min_by_key(|sale| (sale.trade.price, sale.place))
    }

    /// Oldest first.
    fn sales(
        &self,
        contract: Address,
        market: Option<model::facts::Market>,
        blocks: std::ops::RangeInclusive<u64>,
    ) -> Vec<StoredTrade> {
        let mut sales = Vec::new();
        for (number, block) in self.blocks.iter().filter(|(number, _)| blocks.contains(number)) {
            for (place, trade) in (0u32..).zip(&block.facts.trades) {
                let tx = self.stored_tx((*number, trade.tx_index), false);
                sales.push(StoredTrade { place: (*number, place), trade: trade.clone(), tx });
            }
        }
        let fits = |StoredTrade { trade, .. }: &StoredTrade| {
            trade.contract == contract && market.is_none_or(|market| market == trade.market)
        };
        sales.into_iter().filter(fits).collect()
    }

    /// Sorted by id.
    pub fn pools_of(&self, token: Address) -> Vec<Pool> {
        let pools = self.pools.0.values().map(|told| &told.pool);
        pools.filter(|p| p.token0 == token || p.token1 == token).cloned().collect()
    }

    pub fn pool_states(&self, q: &PoolStatesQuery) -> Vec<Option<StateAt>> {
        q.pools.iter().map(|id| self.pool_state(*id, q.first, q.last)).collect()
    }

    fn pool_state(&self, id: PoolId, first: u64, last: u64) -> Option<StateAt> {
        let stored = self.blocks.range(first..=last.max(first)).filter(|(n, _)| **n <= last);
        let found = state_after(id, None, stored.map(|(_, block)| block));
        let carried = self.pruned_below().filter(|next| (first..=last).contains(next));
        match (found, carried) {
            (None, Some(next)) => {
                let before = state_after(id, None, &self.gone)?;
                let above = self.blocks.range(next..=last).map(|(_, block)| block);
                state_after(id, Some(before), above)
            }
            (found, _) => found,
        }
    }
}

/// What a pool held after these blocks, rising.
fn state_after<'a>(
    id: PoolId,
    mut found: Option<StateAt>,
    blocks: impl IntoIterator<Item = &'a VerifiedBlock>,
) -> Option<StateAt> {
    for verified in blocks {
        for change in verified.facts.pools.changes.iter().filter(|change| change.id == id) {
            let state = change.change.fold(found.as_ref().map(|at| &at.state));
            found = state.map(|state| StateAt { state, block: verified.block.number });
        }
    }
    found
}

fn parties_of(block: &VerifiedBlock, index: usize) -> model::wallets::Parties {
    let block = &block.block;
    let frames = block.traces.as_ref().map_or(&[][..], |all| &all[index]);
    let receipt = block.receipts[index].as_ref();
    parties(&block.txs[index], receipt, &below_root(frames))
}

fn all_parties(block: &VerifiedBlock) -> Vec<Address> {
    let of_txs = (0..block.block.txs.len()).map(|index| parties_of(block, index));
    of_txs.flat_map(|parties| parties.direct.into_iter().chain(parties.internal)).collect()
}

fn below_root(frames: &[Frame]) -> Vec<Frame> {
    frames.iter().filter(|frame| !frame.path.is_empty()).cloned().collect()
}
