//! Removes the oldest blocks of a chain, and carries over what they left in pools.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use model::chain::ChainId;
use model::facts::PoolId;

use super::ChainWrite;
use super::pools::LastWitness;
use crate::Error;
use crate::coverage::Coverage;
use crate::journal::ReaderCursor;
use crate::postgres::chain_row::{Carried, hash};
use crate::postgres::numbers::{sql, u32_at, u64_at};
use crate::postgres::read::readers::cursor;
use crate::postgres::read::{Param, carried_state, pack_carried, pool_id, unpack_change};
use crate::postgres::store::Store;
use crate::prune::{HeldBy, Pruned};
use crate::query::StateAt;

/// Transactions of one commit, more or less: others that want to write wait for no more than this.
const TXS_MAX: u64 = 20_000;

const READERS: &str =
    "select name, seq, start, next from readers where chain = $1 order by name collate \"C\"";
const HEADS: &str = "select number, hash, tx_count from blocks where chain = $1 and number = any($2) order by number";
const PARENT: &str = "select parent_hash from blocks where chain = $1 and number = $2";
const CHANGES: &str = "select pool, number, packed from pool_states \
     where chain = $1 and generation = $2 and number = any($3) order by number, pool";
const CARRY: &str = "insert into carried_pools (chain, pool, epoch, number, packed) values ($1, $2, $3, $4, $5) \
     on conflict (chain, pool) do update set epoch = excluded.epoch, number = excluded.number, packed = excluded.packed";
const FORGET: &str = "delete from carried_pools where chain = $1 and pool = $2";

impl Store {
    pub async fn prune_oldest(
        &self,
        chain: ChainId,
        below: u64,
        limit: usize,
    ) -> Result<Pruned, Error> {
        let done = self.prune_some(chain, below, limit).await;
        self.inner.wrote(done)
    }

    async fn prune_some(&self, chain: ChainId, below: u64, limit: usize) -> Result<Pruned, Error> {
        if self.view().await?.coverage(chain).is_empty() {
            return Ok(Pruned { blocks: 0, coverage: Coverage::default(), held_by: None });
        }
        let mut write = ChainWrite::begin(self, chain).await?;
        let readers = write.connection.query(READERS, &[&write.id()]).await?;
        let readers = readers.iter().map(|row| (row.get(0), cursor(row))).collect();
        let held_by = held_by(readers, &write.row.coverage, below);
        let below = held_by.as_ref().map_or(below, |held| held.next_block);
        let stored = write.row.coverage.ranges().iter().flat_map(|(from, to)| *from..=*to);
        let oldest: Vec<u64> = stored.take_while(|n| *n < below).take(limit).collect();
        let heads = write.heads(&oldest).await?;
        if heads.is_empty() {
            let coverage = write.row.coverage.clone();
            return Ok(Pruned { blocks: 0, coverage, held_by });
        }
        let numbers: Vec<u64> = heads.iter().map(|(number, _)| *number).collect();
        write.carry_pools(&heads).await?;
        let wallets = write.remove_blocks(&numbers).await?;
        let generations = write.row.generations.written().collect::<Vec<u8>>();
        let untold = write.remove_facts(&numbers, &generations).await?;
        write.count(wallets).await?;
        write.settle_pools(&untold, &[], LastWitness::Keep).await?;
        numbers.iter().for_each(|number| write.row.coverage.remove(*number));
        // The journal says nothing of it. Answers made before it hold no longer all the same.
        write.row.seq += 1;
        let coverage = write.row.coverage.clone();
        write.finish().await?;
        Ok(Pruned { blocks: numbers.len() as u64, coverage, held_by })
    }
}

/// The slowest reader, if a block that it has not passed would go.
fn held_by(
    readers: Vec<(String, ReaderCursor)>,
    coverage: &Coverage,
    below: u64,
) -> Option<HeldBy> {
    let (reader, cursor) = readers.into_iter().min_by_key(|(_, cursor)| cursor.next)?;
    let next_block = cursor.next;
    let mut ranges = coverage.ranges().iter();
    let holds = next_block < below && ranges.any(|(from, to)| *from < below && *to >= next_block);
    holds.then_some(HeldBy { reader, next_block })
}

impl ChainWrite<'_> {
    /// As many as fit into one commit, lowest first.
    async fn heads(&self, numbers: &[u64]) -> Result<Vec<(u64, B256)>, Error> {
        let list: Vec<i64> = numbers.iter().map(|number| sql(*number)).collect();
        let (mut heads, mut txs) = (Vec::new(), 0);
        for row in self.connection.query(HEADS, &[&self.id(), &list]).await? {
            heads.push((u64_at(&row, 0), hash(row.get(1))));
            txs += u64::from(u32_at(&row, 2));
            if txs > TXS_MAX {
                break;
            }
        }
        Ok(heads)
    }

    /// What the blocks that go left behind in pools; their rows are still there.
    async fn carry_pools(&mut self, heads: &[(u64, B256)]) -> Result<(), Error> {
        let Some((first, _)) = heads.first().copied() else { return Ok(()) };
        let known = self.standing_carried().await?;
        let epoch = self.row.pruned.map_or(0, |last| last.epoch + 1);
        let next = known.unwrap_or(Carried { next: first, last_hash: B256::ZERO, epoch });
        let mut pools = PoolsToCarry { known, new: next, states: BTreeMap::new() };
        let numbers: Vec<i64> = heads.iter().map(|(number, _)| sql(*number)).collect();
        let generation = i16::from(self.row.generations.current);
        let params: [Param; 3] = [&self.id(), &generation, &numbers];
        let mut changes = self.connection.query(CHANGES, &params).await?.into_iter().peekable();
        for (number, hash) in heads.iter().copied() {
            let is_counted = pools.pass(number, hash);
            while let Some(row) = changes.next_if(|row| u64_at(row, 1) == number) {
                if is_counted {
                    self.take_in(&mut pools, number, &row).await?;
                }
            }
        }
        self.row.pruned = Some(pools.new);
        for (id, state) in &pools.states {
            match state {
                Some(at) => {
                    let packed = pack_carried(pools.new.epoch, id, at);
                    let (epoch, block) = (sql(pools.new.epoch), sql(at.block));
                    let params: [Param; 5] = [&self.id(), &id.as_slice(), &epoch, &block, &packed];
                    self.connection.execute(CARRY, &params).await?;
                }
                None => {
                    self.connection.execute(FORGET, &[&self.id(), &id.as_slice()]).await?;
                }
            }
        }
        Ok(())
    }

    async fn take_in(
        &self,
        pools: &mut PoolsToCarry,
        number: u64,
        row: &tokio_postgres::Row,
    ) -> Result<(), Error> {
        let id: PoolId = pool_id(row.get(0))?;
        let change = unpack_change(id, row.get(2))?;
        let before = match (pools.states.get(&id), &pools.known) {
            (Some(state), _) => state.clone(),
            (None, Some(known)) => {
                carried_state(&self.connection, self.chain, known, &[id]).await?.remove(&id)
            }
            (None, None) => None,
        };
        let after = change.change.fold(before.map(|at| at.state).as_ref());
        pools.states.insert(id, after.map(|state| StateAt { state, block: number }));
        Ok(())
    }

    /// None where nothing was pruned, or where what is stored does not stand on it.
    async fn standing_carried(&self) -> Result<Option<Carried>, Error> {
        let Some(carried) = self.row.pruned else { return Ok(None) };
        let row = self.connection.first(PARENT, &[&self.id(), &sql(carried.next)]).await?;
        let parent = row.and_then(|row| row.get::<_, Option<&[u8]>>(0).map(hash));
        Ok(Some(carried).filter(|carried| parent == Some(carried.last_hash)))
    }
}

struct PoolsToCarry {
    /// What is known from earlier, if the blocks stand on it.
    known: Option<Carried>,
    /// What will be known. Its `next` is the next block to take in; those below are in it already.
    new: Carried,
    /// As of now; none where no whole state is known.
    states: BTreeMap<PoolId, Option<StateAt>>,
}

impl PoolsToCarry {
    /// Blocks come in rising order. Whether this one's changes are not in it yet.
    fn pass(&mut self, number: u64, hash: B256) -> bool {
        if number < self.new.next {
            return false;
        }
        if number > self.new.next {
            // In the gap anything may have happened.
            self.new.epoch += 1;
            self.known = None;
            self.states.clear();
        }
        (self.new.next, self.new.last_hash) = (number.saturating_add(1), hash);
        true
    }
}
