//! What blocks tell of pools, and when that is forgotten.
//!
//! A pool is known while a stored block tells of it: every block that does leaves a row. When the last of them is
//! reverted, the pool goes in the same batch, whoever made that block up. Blocks that are pruned stay
//! witnesses: they were right. Of pools that an older build wrote it is not known who told of them; they stay.

use alloy_primitives::Address;
use alloy_primitives::map::{HashMap, HashSet};
use model::facts::{Pool, PoolId};

use super::batch::Batch;
use crate::Error;
use crate::embedded::facts::FactsRow;
use crate::embedded::read::View;
use crate::embedded::told_pools::{PoolWitness, ids_of_row, row_of_ids};
use crate::embedded::{codec, keys};

/// A pool of one generation.
type KnownPool = (u8, PoolId);

/// What one batch does to what is known of pools.
#[derive(Default)]
pub(super) struct PoolNews {
    /// Who is told of, by which block. Written at the end, when it is clear who goes.
    told: Vec<(u8, u64, Pool)>,
    /// Which blocks that told of a pool go with this batch.
    untold: HashMap<KnownPool, HashSet<u64>>,
    /// Rows of these are there once the batch is written.
    pub known: HashSet<KnownPool>,
    /// And of these they are gone.
    pub unlearned: Vec<KnownPool>,
}

/// What becomes of pools whose last witness goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastWitness {
    Forget,
    /// It was pruned.
    Keep,
}

impl Batch<'_> {
    pub(super) fn tell_pools(
        &mut self,
        generation: u8,
        number: u64,
        seen: &[Pool],
        row: &FactsRow,
    ) {
        self.pools.told.extend(seen.iter().map(|pool| (generation, number, pool.clone())));
        let changed: HashSet<&PoolId> = row.changed_pools.iter().collect();
        // Those that the block changed are listed in its facts.
        let others = seen.iter().map(|pool| &pool.id).filter(|id| !changed.contains(id));
        let others = row_of_ids(others);
        if !others.is_empty() {
            let table = self.tables.told_pools.clone();
            self.put(&table, keys::told_in_block(self.chain, generation, number), others);
        }
    }

    /// `changed` is what the block's facts list.
    pub(super) fn untell_pools(
        &mut self,
        view: &View,
        generation: u8,
        number: u64,
        changed: &[PoolId],
    ) -> Result<(), Error> {
        let (chain, table) = (self.chain, self.tables.told_pools.clone());
        let in_block = keys::told_in_block(chain, generation, number);
        let mut ids: Vec<PoolId> = changed.to_vec();
        if let Some(row) = view.snapshot.get(&table, &in_block)? {
            ids.extend(ids_of_row(&row).ok_or(Error::Broken { what: "list of pools" })?);
            self.drop_key(&table, in_block);
        }
        for id in ids {
            let key = keys::told_by(chain, generation, &id, number);
            if view.snapshot.get(&table, &key)?.is_some() {
                self.drop_key(&table, key);
                self.pools.untold.entry((generation, id)).or_default().insert(number);
            }
        }
        Ok(())
    }

    /// To be called when all blocks of the batch are in it.
    pub(super) fn settle_pools(&mut self, view: &View, last: LastWitness) -> Result<(), Error> {
        let told = std::mem::take(&mut self.pools.told);
        let told_again: HashSet<KnownPool> =
            told.iter().map(|(generation, _, pool)| (*generation, pool.id)).collect();
        for ((generation, id), numbers) in std::mem::take(&mut self.pools.untold) {
            if told_again.contains(&(generation, id)) {
                continue;
            }
            let at = keys::pool_witness(self.chain, generation, &id);
            let table = self.tables.told_pools.clone();
            let witness = view.snapshot.get(&table, &at)?;
            let witness = witness.as_deref().and_then(PoolWitness::unpack);
            let Some(witness) = witness.filter(|witness| !witness.is_kept) else { continue };
            if last == LastWitness::Keep {
                self.put(&table, at, PoolWitness { is_kept: true, ..witness }.pack());
            } else if !is_told_by_others(view, &at, &numbers)? {
                self.drop_pool(generation, id, witness.tokens);
                self.drop_key(&table, at);
                self.pools.unlearned.push((generation, id));
            }
        }
        told.into_iter().try_for_each(|(generation, number, pool)| {
            self.put_pool(view, generation, number, &pool)
        })
    }

    fn put_pool(
        &mut self,
        view: &View,
        generation: u8,
        number: u64,
        pool: &Pool,
    ) -> Result<(), Error> {
        let (chain, t) = (self.chain, self.tables.clone());
        self.put(&t.told_pools, keys::told_by(chain, generation, &pool.id, number), Vec::new());
        let known_before =
            self.store.inner.known_pools.get(&(chain, generation, pool.id)).is_some();
        if known_before || !self.pools.known.insert((generation, pool.id)) {
            return Ok(());
        }
        let at = keys::pool_witness(chain, generation, &pool.id);
        let [one_way, _] = both_ways((pool.token0, pool.token1));
        let is_there = view.snapshot.get(&t.told_pools, &at)?.is_some()
            || view
                .snapshot
                .get(&t.pools, keys::pool(chain, generation, one_way, &pool.id))?
                .is_some();
        if is_there {
            return Ok(());
        }
        let mut value = Vec::with_capacity(72);
        codec::pool::pack(pool, &mut value);
        let tokens = (pool.token0, pool.token1);
        for pair in both_ways(tokens) {
            self.put(&t.pools, keys::pool(chain, generation, pair, &pool.id), value.clone());
        }
        self.put(&t.told_pools, at, PoolWitness { is_kept: false, tokens }.pack());
        Ok(())
    }

    fn drop_pool(&mut self, generation: u8, id: PoolId, tokens: (Address, Address)) {
        let table = self.tables.pools.clone();
        for pair in both_ways(tokens) {
            self.drop_key(&table, keys::pool(self.chain, generation, pair, &id));
        }
        self.removes = true;
    }
}

/// Whether a block beside these tells of the pool whose rows begin like this. The newest come first, and these
/// are mostly what goes.
fn is_told_by_others(view: &View, at: &[u8], numbers: &HashSet<u64>) -> Result<bool, Error> {
    for item in view.snapshot.prefix(&view.tables.told_pools, at) {
        let key = item.key()?;
        if let Some(number) = keys::teller_of(&key, at)
            && !numbers.contains(&number)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn both_ways((one, other): (Address, Address)) -> [(Address, Address); 2] {
    [(one, other), (other, one)]
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, U256};
    use model::chain::ChainId;
    use model::exchange_families::ExchangeKind;
    use model::facts::{Facts, PoolFacts};
    use model::proof::Proof;
    use model::raw::{Block, Header};

    use super::*;
    use crate::block::VerifiedBlock;
    use crate::change::ChangeOf;
    use crate::embedded::Store;
    use crate::embedded::engine::{Durability, Op};
    use crate::embedded::write::prepare;
    use crate::journal::Origin;
    use crate::options::Options;

    const CHAIN: ChainId = ChainId(1);

    fn pool(n: u8) -> Pool {
        Pool {
            id: PoolId::Contract(Address::repeat_byte(n)),
            factory: Address::repeat_byte(99),
            kind: ExchangeKind::V3,
            token0: Address::repeat_byte(1),
            token1: Address::repeat_byte(2),
            fee: None,
            tick_spacing: None,
            hooks: Address::ZERO,
            stable: None,
        }
    }

    /// Blocks on each other that tell of these pools.
    fn apply(store: &Store, number: u64, seen: Vec<Pool>) {
        let hash = |n: u64| B256::from(U256::from(n + 1));
        let (parent_hash, timestamp) = (hash(number - 1), number * 12);
        let header = Header { parent_hash: Some(parent_hash), ..Header::default() };
        let hash = hash(number);
        let block = Block { number, hash, parent_hash, timestamp, header, ..Block::default() };
        let facts = Facts { trades: Vec::new(), pools: PoolFacts { seen, changes: Vec::new() } };
        let block = prepare(CHAIN, VerifiedBlock { block, proof: Proof::default(), facts });
        store.commit(CHAIN, ChangeOf::apply(Origin::Head, vec![block])).unwrap();
    }

    fn known(store: &Store) -> Vec<u8> {
        let pools = store.view().unwrap().pools_of(CHAIN, Address::repeat_byte(1)).unwrap();
        pools.iter().map(|pool| pool.id.as_slice()[0]).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn pools_that_an_older_build_wrote_stay_whoever_goes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Options::new(dir.path()), &|_| ()).unwrap();
        apply(&store, 5, vec![pool(11)]);
        // What such a build left: the pool, and nobody who told of it.
        let view = store.view().unwrap();
        let table = view.tables.told_pools.clone();
        let removed = |key| Op { table: table.clone(), key, value: None };
        let ops = view.snapshot.iter(&table).map(|item| removed(item.key().unwrap())).collect();
        store.inner.write(ops, Durability::Process, None).unwrap();
        store.forget_known_pools();
        apply(&store, 6, vec![pool(11), pool(12)]);
        assert_eq!(known(&store), [11, 12]);
        assert!(store.check(&|_| ()).unwrap().holds());
        store.commit(CHAIN, ChangeOf::revert(Origin::Head, vec![6])).unwrap();
        assert_eq!(known(&store), [11], "the one that this build wrote goes");
        store.commit(CHAIN, ChangeOf::revert(Origin::Head, vec![5])).unwrap();
        assert_eq!(known(&store), [11]);
    }
}
