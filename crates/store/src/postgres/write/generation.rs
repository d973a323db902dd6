//! A new reading of stored blocks, made beside the one that answers and put in its place at once.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use alloy_primitives::B256;
use model::chain::ChainId;

use super::ChainWrite;
use super::facts::Found;
use super::pools::LastWitness;
use crate::Error;
use crate::generations::{Building, Decoded, Fingerprint, Generations, StopFn};
use crate::postgres::chain_row::hash;
use crate::postgres::numbers::{sql, u64_at};
use crate::postgres::read::Param;
use crate::postgres::store::Store;

/// Rows removed at once: commits wait for no more than this.
const SWEEP_ROWS: i64 = 4096;
const HASHES: &str = "select number, hash from blocks where chain = $1 and number = any($2)";
const SWEEPS: [&str; 5] = [
    "delete from facts t using (select generation, number from facts where chain = $1 and generation = any($2) limit $3) g \
     where t.chain = $1 and t.generation = g.generation and t.number = g.number",
    "delete from trades t using (select generation, contract, number, place from trades where chain = $1 and generation = any($2) limit $3) g \
     where t.chain = $1 and t.generation = g.generation and t.contract = g.contract and t.number = g.number and t.place = g.place",
    "delete from pools t using (select generation, pool from pools where chain = $1 and generation = any($2) limit $3) g \
     where t.chain = $1 and t.generation = g.generation and t.pool = g.pool",
    "delete from told_pools t using (select generation, pool, number from told_pools where chain = $1 and generation = any($2) limit $3) g \
     where t.chain = $1 and t.generation = g.generation and t.pool = g.pool and t.number = g.number",
    "delete from pool_states t using (select generation, pool, number from pool_states where chain = $1 and generation = any($2) limit $3) g \
     where t.chain = $1 and t.generation = g.generation and t.pool = g.pool and t.number = g.number",
];

impl Store {
    pub async fn decode_with(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
    ) -> Result<Generations, Error> {
        let known = self.generations_of(chain, decoder).await?;
        let Some(known) = known else { return self.adopt(chain, decoder).await };
        Ok(known)
    }

    /// Notes who decodes; none where the chain is to belong to this decoder.
    async fn generations_of(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
    ) -> Result<Option<Generations>, Error> {
        let decoders = self.inner.decoders.lock();
        decoders.unwrap_or_else(PoisonError::into_inner).insert(chain, decoder);
        let view = self.view().await?;
        let known = view.generations(chain);
        let stays = view.version(chain).seq > 0 || known.decoded_with == decoder;
        Ok(stays.then_some(known))
    }

    async fn adopt(&self, chain: ChainId, decoder: Fingerprint) -> Result<Generations, Error> {
        let mut write = ChainWrite::begin(self, chain).await?;
        let known = write.row.generations;
        if write.row.seq > 0 || known.decoded_with == decoder {
            return Ok(known);
        }
        let adopted = Generations { decoded_with: decoder, ..known };
        write.row.generations = adopted;
        write.finish().await?;
        Ok(adopted)
    }

    pub async fn begin_generation(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
        stop: StopFn<'_>,
    ) -> Result<Option<Building>, Error> {
        self.decode_with(chain, decoder).await?;
        if let Some(building) = self.resume(chain, decoder).await? {
            return Ok(Some(building));
        }
        // Its rows would be taken for ours.
        self.sweep_generations(chain, stop).await?;
        if stop() {
            return Ok(None);
        }
        let mut write = ChainWrite::begin(self, chain).await?;
        let known = write.row.generations;
        let building = Building { generation: known.next(), decoded_with: decoder, reached: None };
        write.row.generations = Generations { building: Some(building), ..known };
        write.finish().await?;
        Ok(Some(building))
    }

    /// The generation of this decoder that is half done. One of another's ends here.
    async fn resume(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
    ) -> Result<Option<Building>, Error> {
        let mut write = ChainWrite::begin(self, chain).await?;
        let known = write.row.generations;
        match known.building {
            Some(building) if building.decoded_with == decoder => return Ok(Some(building)),
            Some(_) => {
                write.row.generations = Generations { building: None, ..known };
                write.finish().await?;
            }
            None => {}
        }
        Ok(None)
    }

    pub async fn write_generation(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
        blocks: &[Decoded],
        reached: u64,
    ) -> Result<usize, Error> {
        let mut write = ChainWrite::begin(self, chain).await?;
        let mut building = write.row.generations.building_with(chain, decoder)?;
        let numbers: Vec<i64> = blocks.iter().map(|block| sql(block.number)).collect();
        let rows = write.connection.query(HASHES, &[&write.id(), &numbers]).await?;
        let stored: HashMap<u64, B256> =
            rows.iter().map(|row| (u64_at(row, 0), hash(row.get(1)))).collect();
        let mut written = HashSet::new();
        let mut is_taken = |block: &&Decoded| {
            stored.get(&block.number) == Some(&block.hash) && written.insert(block.number)
        };
        let taken: Vec<&Decoded> = blocks.iter().filter(|block| is_taken(block)).collect();
        let generation = building.generation;
        let numbers: Vec<u64> = taken.iter().map(|block| block.number).collect();
        let untold = write.remove_facts(&numbers, &[generation]).await?;
        let rows: Vec<Found> = taken
            .iter()
            .map(|block| Found { generation, number: block.number, facts: &block.facts })
            .collect();
        write.copy_facts(&rows).await?;
        write.settle(&untold, &rows, LastWitness::Forget).await?;
        building.reached = Some(reached);
        write.row.generations.building = Some(building);
        write.finish().await?;
        Ok(taken.len())
    }

    pub async fn finish_generation(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
    ) -> Result<(), Error> {
        let mut write = ChainWrite::begin(self, chain).await?;
        let built = write.row.generations.building_with(chain, decoder)?;
        write.row.generations = Generations {
            current: built.generation,
            decoded_with: built.decoded_with,
            building: None,
        };
        write.finish().await.map(|_| ())
    }

    pub async fn sweep_generations(&self, chain: ChainId, stop: StopFn<'_>) -> Result<u64, Error> {
        let mut removed = 0;
        for statement in SWEEPS {
            while !stop() {
                let rows = self.sweep_some(chain, statement).await?;
                removed += rows;
                if rows == 0 {
                    break;
                }
            }
        }
        Ok(removed)
    }

    async fn sweep_some(&self, chain: ChainId, statement: &'static str) -> Result<u64, Error> {
        if self.view().await?.chain(chain).epoch == 0 {
            return Ok(0);
        }
        let mut write = ChainWrite::begin(self, chain).await?;
        let used: Vec<u8> = write.row.generations.written().collect();
        let unused: Vec<i16> =
            (0..=u8::MAX).filter(|it| !used.contains(it)).map(i16::from).collect();
        let params: [Param; 3] = [&write.id(), &unused, &SWEEP_ROWS];
        let rows = write.connection.execute(statement, &params).await?;
        write.connection.commit().await?;
        Ok(rows)
    }
}
