//! Removes the oldest blocks of a chain.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use model::chain::ChainId;
use model::facts::PoolId;

use super::as_stored;
use super::batch::Batch;
use super::pools::LastWitness;
use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::carried::{Carried, pack_state};
use crate::embedded::engine::Durability;
use crate::embedded::facts::FactsRow;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::embedded::write_turn::Priority;
use crate::embedded::{codec, keys};
use crate::journal::Origin;
use crate::prune::{HeldBy, Pruned};
use crate::query::StateAt;

/// Rows of one commit, more or less: others that want to write wait for no more than this.
const ROWS_MAX: usize = 100_000;

impl Store {
    pub fn prune_oldest(&self, chain: ChainId, below: u64, limit: usize) -> Result<Pruned, Error> {
        // Readers say how far they came under the same lock.
        let oldest = [0..=below.saturating_sub(1)];
        let _one_at_a_time = self.one_at_a_time_folded(chain, &oldest, Priority::Low)?;
        let view = self.view()?;
        let coverage = view.coverage(chain)?;
        let held_by = held_by(&view, chain, &coverage, below)?;
        let below = held_by.as_ref().map_or(below, |held| held.next_block);
        let stored = coverage.ranges().iter().flat_map(|(from, to)| *from..=*to);
        let numbers: Vec<u64> = stored.take_while(|n| *n < below).take(limit).collect();
        let Some(first) = numbers.first() else {
            return Ok(Pruned { blocks: 0, coverage, held_by });
        };
        let mut batch = Batch::new(self, chain, &view, Origin::History)?;
        let mut pools = PoolsToCarry::new(&view, chain, *first)?;
        let mut blocks = 0;
        for number in numbers {
            let block = as_stored(&view, chain, number)?;
            pools.take_in(number, block.head.hash)?;
            batch.drop_block(block, &view)?;
            batch.coverage.remove(number);
            blocks += 1;
            if batch.ops.len() + batch.wallets.len() > ROWS_MAX {
                break;
            }
        }
        pools.write(&mut batch);
        let coverage = batch.commit_without_entry(&view)?;
        Ok(Pruned { blocks, coverage, held_by })
    }

    pub fn reclaim(&self) -> Result<(), Error> {
        self.sweep_segments()?;
        self.inner.database()?.reclaim().map_err(|failure| failure.error)
    }
}

/// The slowest reader, if a block that it has not passed would go.
fn held_by(
    view: &View,
    chain: ChainId,
    coverage: &Coverage,
    below: u64,
) -> Result<Option<HeldBy>, Error> {
    let readers = view.readers(chain)?;
    let slowest = readers.into_iter().min_by_key(|(_, cursor)| cursor.next);
    let holds = |next: u64| {
        let ranges = coverage.ranges().iter();
        ranges.clone().any(|(from, to)| *from < below && *to >= next)
    };
    let slowest = slowest.filter(|(_, cursor)| cursor.next < below && holds(cursor.next));
    Ok(slowest.map(|(reader, cursor)| HeldBy { reader, next_block: cursor.next }))
}

impl Batch<'_> {
    /// The journal says nothing of it. The sequence moves on all the same: answers made before it hold no
    /// longer.
    fn commit_without_entry(mut self, view: &View) -> Result<Coverage, Error> {
        self.seq += 1;
        self.write_wallets()?;
        self.settle_pools(view, LastWitness::Keep)?;
        self.put_coverage();
        self.put_version(self.generations.current);
        let coverage = self.coverage.clone();
        self.write(Durability::Disk)?;
        Ok(coverage)
    }
}

/// What the pruned blocks left behind in pools.
struct PoolsToCarry<'a> {
    view: &'a View,
    chain: ChainId,
    generation: u8,
    /// What is known from earlier, if the blocks stand on it.
    known: Option<Carried>,
    /// What will be known. Its `next` is the next block to take in; those below are in it already.
    new: Carried,
    /// As of now; none where no whole state is known.
    states: BTreeMap<PoolId, Option<StateAt>>,
}

impl<'a> PoolsToCarry<'a> {
    fn new(view: &'a View, chain: ChainId, first: u64) -> Result<Self, Error> {
        let known = view.carried(chain)?;
        let epoch = view.last_pruned(chain)?.map_or(0, |last| last.epoch + 1);
        Ok(PoolsToCarry {
            view,
            chain,
            generation: view.generations(chain)?.current,
            known,
            new: known.unwrap_or(Carried { next: first, last_hash: B256::ZERO, epoch }),
            states: BTreeMap::new(),
        })
    }

    /// Blocks come in rising order.
    fn take_in(&mut self, number: u64, hash: B256) -> Result<(), Error> {
        if number < self.new.next {
            return Ok(());
        }
        if number > self.new.next {
            // In the gap anything may have happened.
            self.new.epoch += 1;
            self.known = None;
            self.states.clear();
        }
        (self.new.next, self.new.last_hash) = (number.saturating_add(1), hash);
        let (chain, generation, t) = (self.chain, self.generation, &self.view.tables);
        let key = keys::facts(chain, generation, number);
        let Some(row) = self.view.snapshot.get(&t.facts, key)? else { return Ok(()) };
        let row = FactsRow::unpack(&row).ok_or(Error::Broken { what: "list of facts" })?;
        for id in row.changed_pools {
            let key = keys::pool_state(chain, generation, &id, number);
            let Some(row) = self.view.snapshot.get(&t.pool_states, key)? else { continue };
            let change = codec::pool_change::unpack(id, &mut &*row);
            let change = change.ok_or(Error::Broken { what: "pool" })?;
            let before = self.state(&id)?.map(|at| at.state);
            let after = change.change.fold(before.as_ref());
            self.states.insert(id, after.map(|state| StateAt { state, block: number }));
        }
        Ok(())
    }

    fn state(&self, id: &PoolId) -> Result<Option<StateAt>, Error> {
        match (self.states.get(id), &self.known) {
            (Some(state), _) => Ok(state.clone()),
            (None, Some(known)) => self.view.carried_state(self.chain, known, id),
            (None, None) => Ok(None),
        }
    }

    fn write(self, batch: &mut Batch) {
        let t = batch.tables.clone();
        for (id, state) in &self.states {
            let key = keys::carried_pool(self.chain, id);
            match state {
                Some(at) => {
                    batch.put(&t.carried_pools, key, pack_state(self.new.epoch, id, at));
                }
                None => batch.drop_key(&t.carried_pools, key),
            }
        }
        batch.put(&t.meta, keys::pruned(self.chain), self.new.pack());
    }
}
