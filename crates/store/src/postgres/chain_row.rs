//! What is known of a chain as a whole: one row, which every commit locks and every view begins with.

use alloy_primitives::B256;
use model::chain::ChainId;
use tokio_postgres::Row;

use super::numbers::{option_at, sql, u64_at};
use crate::coverage::Coverage;
use crate::generations::{Building, Generations};
use crate::journal::Version;

macro_rules! columns {
    () => {
        "chain, epoch, seq, journal_tail, covered_from, covered_to, generation, decoded_with, building, building_with, \
         building_reached, pruned_next, pruned_epoch, pruned_hash"
    };
}

pub const ALL_CHAINS: &str = concat!("select ", columns!(), " from chains order by chain");
pub const LOCK_CHAIN: &str =
    concat!("select ", columns!(), " from chains where chain = $1 for update");
pub const WRITE_CHAIN: &str = "update chains set seq = $2, journal_tail = $3, covered_from = $4, covered_to = $5, \
     generation = $6, decoded_with = $7, building = $8, building_with = $9, building_reached = $10, pruned_next = $11, \
     pruned_epoch = $12, pruned_hash = $13 where chain = $1";

/// Up to where a chain was pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The first block that was not.
    pub next: u64,
    /// Of the last that was.
    pub last_hash: B256,
    /// Raised where a block was missing, or the chain is another: what was carried before holds no longer.
    pub epoch: u64,
}

#[derive(Clone, Debug, Default)]
pub struct ChainRow {
    pub epoch: i64,
    pub seq: u64,
    pub journal_tail: u64,
    pub coverage: Coverage,
    pub generations: Generations,
    pub pruned: Option<Carried>,
}

impl ChainRow {
    pub fn version(&self) -> Version {
        Version { seq: self.seq, generation: self.generations.current }
    }

    pub fn read(row: &Row) -> (ChainId, Self) {
        let (from, to): (Vec<i64>, Vec<i64>) = (row.get(4), row.get(5));
        let ranges = from.into_iter().zip(to).map(|(from, to)| (from as u64, to as u64)).collect();
        let building = row.get::<_, Option<i16>>(8).map(|generation| Building {
            generation: generation as u8,
            decoded_with: row.get::<_, Option<&[u8]>>(9).map(hash).unwrap_or_default(),
            reached: option_at(row, 10),
        });
        let generations = Generations {
            current: row.get::<_, i16>(6) as u8,
            decoded_with: hash(row.get(7)),
            building,
        };
        let pruned = option_at(row, 11).map(|next| Carried {
            next,
            epoch: option_at(row, 12).unwrap_or_default(),
            last_hash: row.get::<_, Option<&[u8]>>(13).map(hash).unwrap_or_default(),
        });
        let coverage = Coverage::from_ranges(ranges);
        let (seq, journal_tail) = (u64_at(row, 2), u64_at(row, 3));
        let epoch = row.get(1);
        let state = ChainRow { epoch, seq, journal_tail, coverage, generations, pruned };
        (ChainId(u64_at(row, 0)), state)
    }

    /// In the place of what is stored, which must be locked.
    pub async fn write(
        &self,
        connection: &super::connection::Connection,
        chain: ChainId,
    ) -> Result<(), crate::Error> {
        let from: Vec<i64> = self.coverage.ranges().iter().map(|range| sql(range.0)).collect();
        let to: Vec<i64> = self.coverage.ranges().iter().map(|range| sql(range.1)).collect();
        let Generations { current, decoded_with, building } = self.generations;
        let building_with = building.map(|it| it.decoded_with.to_vec());
        let reached = building.and_then(|it| it.reached).map(sql);
        let pruned_hash = self.pruned.map(|it| it.last_hash.to_vec());
        connection
            .execute(
                WRITE_CHAIN,
                &[
                    &sql(chain.0),
                    &sql(self.seq),
                    &sql(self.journal_tail),
                    &from,
                    &to,
                    &i16::from(current),
                    &decoded_with.as_slice(),
                    &building.map(|it| i16::from(it.generation)),
                    &building_with,
                    &reached,
                    &self.pruned.map(|it| sql(it.next)),
                    &self.pruned.map(|it| sql(it.epoch)),
                    &pruned_hash,
                ],
            )
            .await
            .map(|_| ())
    }
}

/// Bytes of a column that holds a hash; anything else is no hash of ours.
pub fn hash(bytes: &[u8]) -> B256 {
    B256::try_from(bytes).unwrap_or_default()
}
