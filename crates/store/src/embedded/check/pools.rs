//! Pools: every row can be read; whoever tells of a pool is stored, and the pool is there, in both directions;
//! none is left whose witnesses are gone.

use std::collections::BTreeSet;

use model::facts::PoolId;

use super::ChainCheck;
use crate::Error;
use crate::check::CheckedPart;
use crate::coverage::Coverage;
use crate::embedded::codec;
use crate::embedded::keys::{self, ToldKey};
use crate::embedded::told_pools::{PoolWitness, ids_of_row};

impl ChainCheck<'_> {
    pub(super) fn pools(&mut self, generation: u8) {
        let mut part = self.part("pools");
        if let Err(error) = self.walk_pools(generation, &mut part) {
            part.fault(error.to_string());
        }
        self.parts.push(part);
        let mut part = self.part("witnesses of pools");
        if let Err(error) = self.walk_witnesses(generation, &mut part) {
            part.fault(error.to_string());
        }
        self.parts.push(part);
    }

    fn walk_pools(&self, generation: u8, part: &mut CheckedPart) -> Result<(), Error> {
        let prefix = keys::of_facts(self.chain, generation);
        for item in self.view.snapshot.prefix(&self.view.tables.pools, prefix) {
            let (key, value) = item.into_inner()?;
            part.count += 1;
            let id = keys::id_of_pool_key(&key);
            if id.and_then(|id| codec::pool::unpack(id, &mut &*value)).is_none() {
                part.fault("a pool cannot be read back");
            }
        }
        Ok(())
    }

    /// In the order of their keys: a pool's own row comes before those of the blocks that tell of it, and what
    /// blocks tell beside comes last.
    fn walk_witnesses(&self, generation: u8, part: &mut CheckedPart) -> Result<(), Error> {
        let (chain, t) = (self.chain, &self.view.tables);
        let coverage = self.view.coverage(chain)?;
        let mut alone: Option<PoolId> = None;
        for item in self.view.snapshot.prefix(&t.told_pools, keys::of_facts(chain, generation)) {
            let (key, value) = item.into_inner()?;
            part.count += 1;
            match keys::told_key(&key) {
                Some(ToldKey::ToldBy(id, number)) => {
                    alone = alone.filter(|waiting| *waiting != id);
                    missing_block(&coverage, number, part);
                }
                Some(ToldKey::Witness(id)) => {
                    tell_alone(alone.take(), part);
                    match PoolWitness::unpack(&value) {
                        Some(witness) => {
                            alone = (!witness.is_kept).then_some(id);
                            self.pool_is_there(generation, id, witness, part)?;
                        }
                        None => {
                            part.fault(format!("what is known of pool {id:?} cannot be read back"))
                        }
                    }
                }
                Some(ToldKey::InBlock(number)) => {
                    missing_block(&coverage, number, part);
                    let Some(ids) = ids_of_row(&value) else {
                        part.fault(format!("the pools of block {number} cannot be read back"));
                        continue;
                    };
                    for id in BTreeSet::from_iter(ids) {
                        let told = keys::told_by(chain, generation, &id, number);
                        if self.view.snapshot.get(&t.told_pools, told)?.is_none() {
                            part.fault(format!("block {number} is no witness of pool {id:?}"));
                        }
                    }
                }
                None => part.fault("a key of a pool's witness cannot be read back"),
            }
        }
        tell_alone(alone, part);
        Ok(())
    }

    fn pool_is_there(
        &self,
        generation: u8,
        id: PoolId,
        witness: PoolWitness,
        part: &mut CheckedPart,
    ) -> Result<(), Error> {
        let (one, other) = witness.tokens;
        for pair in [(one, other), (other, one)] {
            let key = keys::pool(self.chain, generation, pair, &id);
            if self.view.snapshot.get(&self.view.tables.pools, key)?.is_none() {
                part.fault(format!("pool {id:?} is told of, and not there"));
            }
        }
        Ok(())
    }
}

fn missing_block(coverage: &Coverage, number: u64, part: &mut CheckedPart) {
    if !coverage.contains(number) {
        part.fault(format!("block {number} tells of a pool and is not stored"));
    }
}

fn tell_alone(alone: Option<PoolId>, part: &mut CheckedPart) {
    if let Some(id) = alone {
        part.fault(format!("no stored block tells of pool {id:?}"));
    }
}
