//! A new reading of stored blocks, made beside the one that answers and put in its place at once.
//!
//! `begin_generation`, then `write_generation` for every stored block from the newest down, then
//! `finish_generation`, then `sweep_generations`. A process may end anywhere between: what was written
//! stays, and the next one goes on from there. Commits meanwhile write to both generations. Outside of
//! the engine this is one thing, `FactsRebuild`.

use alloy_primitives::map::HashSet;
use model::chain::ChainId;

use super::batch::Batch;
use super::pools::LastWitness;
use crate::Error;
use crate::embedded::engine::{Durability, Slice, Table};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::embedded::write_turn::{Priority, WriteTurn};
use crate::generations::{Building, Decoded, Fingerprint, Generations, StopFn};
use crate::journal::Origin;

/// Rows removed at once: commits wait for no more than this.
const SWEEP_ROWS: usize = 4096;

impl Store {
    /// Says who finds the facts that this process commits. A chain of which nothing was ever stored
    /// belongs to this decoder from the start.
    pub fn decode_with(&self, chain: ChainId, decoder: Fingerprint) -> Result<Generations, Error> {
        let _one_at_a_time = self.one_at_a_time();
        self.inner.decoders.lock().unwrap_or_else(|e| e.into_inner()).insert(chain, decoder);
        let view = self.view()?;
        let known = view.generations(chain)?;
        if view.version(chain)?.seq > 0 || known.decoded_with == decoder {
            return Ok(known);
        }
        let adopted = Generations { decoded_with: decoder, ..known };
        self.put_generations(chain, &view, adopted)?;
        Ok(adopted)
    }

    pub(super) fn decoder(&self, chain: ChainId) -> Fingerprint {
        let decoders = self.inner.decoders.lock().unwrap_or_else(|e| e.into_inner());
        decoders.get(&chain).copied().unwrap_or_default()
    }

    /// Goes on with the generation of this decoder that is half done, or begins one. `is_over` is
    /// asked now and then while what is left of an earlier attempt goes; true ends it with nothing
    /// begun.
    pub fn begin_generation(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
        stop: StopFn,
    ) -> Result<Option<Building>, Error> {
        self.decode_with(chain, decoder)?;
        if let Some(building) = self.resume(chain, decoder)? {
            return Ok(Some(building));
        }
        // Its rows would be taken for ours.
        self.sweep_generations(chain, stop)?;
        if stop() {
            return Ok(None);
        }
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let known = view.generations(chain)?;
        self.forget_known_pools();
        let building = Building { generation: known.next(), decoded_with: decoder, reached: None };
        self.put_generations(chain, &view, Generations { building: Some(building), ..known })?;
        Ok(Some(building))
    }

    /// The generation of this decoder that is half done. One of another's ends here.
    fn resume(&self, chain: ChainId, decoder: Fingerprint) -> Result<Option<Building>, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let known = view.generations(chain)?;
        match known.building {
            Some(building) if building.decoded_with == decoder => return Ok(Some(building)),
            Some(_) => {
                self.put_generations(chain, &view, Generations { building: None, ..known })?;
            }
            None => {}
        }
        Ok(None)
    }

    /// Puts facts into the generation being built, in the place of what is there, and notes that
    /// every stored block from `reached` on is now in it. Blocks that are no longer stored are passed
    /// over: what came in their place was written when it came. Says how many were not.
    pub fn write_generation(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
        blocks: &[Decoded],
        reached: u64,
    ) -> Result<usize, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let mut batch = Batch::new(self, chain, &view, Origin::History)?;
        // A row may be dropped and written: only the last counts.
        batch.removes = true;
        let mut building = batch.generations.building_with(chain, decoder)?;
        let mut written = HashSet::<u64>::default();
        for block in blocks {
            let is_stored =
                view.block_summary(chain, block.number)?.is_some_and(|s| s.hash == block.hash);
            if is_stored && written.insert(block.number) {
                batch.drop_facts(&view, building.generation, block.number)?;
                batch.put_facts(building.generation, block.number, &block.facts);
            }
        }
        batch.settle_pools(&view, LastWitness::Forget)?;
        building.reached = Some(reached);
        batch.put_generations(Generations { building: Some(building), ..batch.generations });
        // No need to wait for the disk: what is lost with the machine is walked again.
        batch.write(Durability::Process)?;
        Ok(written.len())
    }

    /// From here on everybody reads the generation that was being built. It is on disk.
    pub fn finish_generation(&self, chain: ChainId, decoder: Fingerprint) -> Result<(), Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let built = view.generations(chain)?.building_with(chain, decoder)?;
        let generations = Generations {
            current: built.generation,
            decoded_with: built.decoded_with,
            building: None,
        };
        self.put_generations(chain, &view, generations)
    }

    /// Removes the rows of generations that nobody reads or builds any more, a few at a time, until
    /// none is left or `stop` says so. Readers that began before go on undisturbed.
    pub fn sweep_generations(&self, chain: ChainId, stop: StopFn) -> Result<u64, Error> {
        let t = self.view()?.tables;
        let mut removed = 0;
        let tables =
            [&t.facts, &t.nft_trades, &t.nft_lowest, &t.pools, &t.told_pools, &t.pool_states];
        for table in tables {
            let mut next = Some(0);
            while let Some(at) = next {
                let Some(generation) = self.view()?.generation_from(table, chain, at)? else {
                    break;
                };
                // From where the last rows were: those before are gone, but still cost a look.
                let mut from = Slice::from(keys::of_facts(chain, generation));
                while !stop()
                    && let Some((last, rows)) = self.sweep_some(chain, generation, table, &from)?
                {
                    removed += rows;
                    from = last;
                }
                next = generation.checked_add(1);
            }
        }
        Ok(removed)
    }

    /// The last key that was removed, and how many; none where there was nothing to remove.
    fn sweep_some(
        &self,
        chain: ChainId,
        generation: u8,
        table: &Table,
        from: &Slice,
    ) -> Result<Option<(Slice, u64)>, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let mut batch = Batch::new(self, chain, &view, Origin::History)?;
        if batch.generations.written().any(|used| used == generation) {
            return Ok(None);
        }
        let prefix = keys::of_facts(chain, generation);
        let mut last = None;
        let mut count = 0;
        for item in view.snapshot.range(table, from.clone()..).take(SWEEP_ROWS) {
            let key = item.key()?;
            if !key.starts_with(&prefix) {
                break;
            }
            batch.drop_key(table, &key);
            count += 1;
            last = Some(key);
        }
        if count > 0 {
            batch.write(Durability::Process)?;
        }
        Ok(last.map(|last| (last, count)))
    }

    fn put_generations(
        &self,
        chain: ChainId,
        view: &View,
        generations: Generations,
    ) -> Result<(), Error> {
        let mut batch = Batch::new(self, chain, view, Origin::History)?;
        batch.put_generations(generations);
        batch.write(Durability::Disk)
    }

    pub fn one_at_a_time(&self) -> WriteTurn<'_> {
        self.inner.writing.take(Priority::Normal)
    }
}

impl View {
    /// The first generation from `at` on that has rows in this table.
    fn generation_from(&self, table: &Table, chain: ChainId, at: u8) -> Result<Option<u8>, Error> {
        let Some(item) = self.snapshot.range(table, keys::of_facts(chain, at)..).next() else {
            return Ok(None);
        };
        let key = item.key()?;
        let rest = key.strip_prefix(&keys::chain(chain));
        Ok(rest.and_then(<[u8]>::first).copied())
    }
}
