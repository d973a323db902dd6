//! What blocks tell of pools, and when that is forgotten: a pool is known while a stored block tells of it, or one that
//! was pruned did.

use std::collections::BTreeSet;

use model::facts::{Pool, PoolId};

use super::ChainWrite;
use super::facts::Found;
use crate::Error;
use crate::embedded::codec;
use crate::postgres::numbers::sql;
use crate::postgres::prepare::PgBlock;
use crate::postgres::read::Param;

/// A pool of one generation.
pub type KnownPool = (u8, PoolId);

/// What becomes of pools whose last witness goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LastWitness {
    Forget,
    /// It was pruned.
    Keep,
}

const TELL: &str = "insert into told_pools (chain, generation, pool, number) \
     select $1, * from unnest($2::smallint[], $3::bytea[], $4::bigint[]) on conflict do nothing";
const LEARN: &str = "insert into pools (chain, generation, pool, token0, token1, factory, fee, packed) \
     select $1, * from unnest($2::smallint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bytea[]) \
     on conflict do nothing";
const KEEP: &str = "update pools p set is_kept = true from unnest($2::smallint[], $3::bytea[]) as w (generation, pool) \
     where p.chain = $1 and p.generation = w.generation and p.pool = w.pool and not p.is_kept";
const FORGET: &str = "delete from pools p using unnest($2::smallint[], $3::bytea[]) as w (generation, pool) \
     where p.chain = $1 and p.generation = w.generation and p.pool = w.pool and not p.is_kept and not exists \
     (select from told_pools t where t.chain = $1 and t.generation = w.generation and t.pool = w.pool)";

impl ChainWrite<'_> {
    /// When all rows of the blocks are in; `untold` are pools that blocks which went told of.
    pub async fn settle_pools(
        &self,
        untold: &[KnownPool],
        blocks: &[PgBlock],
        last: LastWitness,
    ) -> Result<(), Error> {
        self.settle(untold, &self.found(blocks), last).await
    }

    pub async fn settle(
        &self,
        untold: &[KnownPool],
        found: &[Found<'_>],
        last: LastWitness,
    ) -> Result<(), Error> {
        let told = |found: &Found| {
            let (generation, number) = (found.generation, found.number);
            let seen = found.facts.pools.seen.clone();
            seen.into_iter().map(move |pool| (generation, number, pool)).collect::<Vec<_>>()
        };
        let told: Vec<(u8, u64, Pool)> = found.iter().flat_map(told).collect();
        self.tell(&told).await?;
        let again: BTreeSet<KnownPool> =
            told.iter().map(|(gen_, _, pool)| (*gen_, pool.id)).collect();
        let gone: BTreeSet<&KnownPool> = untold.iter().filter(|it| !again.contains(it)).collect();
        if gone.is_empty() {
            return Ok(());
        }
        let generations: Vec<i16> =
            gone.iter().map(|(generation, _)| i16::from(*generation)).collect();
        let pools: Vec<&[u8]> = gone.iter().map(|(_, id)| id.as_slice()).collect();
        let statement = if last == LastWitness::Keep { KEEP } else { FORGET };
        let params: [Param; 3] = [&self.id(), &generations, &pools];
        self.connection.execute(statement, &params).await.map(|_| ())
    }

    async fn tell(&self, told: &[(u8, u64, Pool)]) -> Result<(), Error> {
        if told.is_empty() {
            return Ok(());
        }
        let generations: Vec<i16> = told.iter().map(|(it, ..)| i16::from(*it)).collect();
        let pools: Vec<&[u8]> = told.iter().map(|(_, _, pool)| pool.id.as_slice()).collect();
        let numbers: Vec<i64> = told.iter().map(|(_, number, _)| sql(*number)).collect();
        let params: [Param; 4] = [&self.id(), &generations, &pools, &numbers];
        self.connection.execute(TELL, &params).await?;
        let token0: Vec<&[u8]> = told.iter().map(|(_, _, it)| it.token0.as_slice()).collect();
        let token1: Vec<&[u8]> = told.iter().map(|(_, _, it)| it.token1.as_slice()).collect();
        let factories: Vec<&[u8]> = told.iter().map(|(_, _, it)| it.factory.as_slice()).collect();
        let fees: Vec<Option<i64>> = told.iter().map(|(_, _, it)| it.fee.map(i64::from)).collect();
        let pack = |(_, _, pool): &(u8, u64, Pool)| {
            let mut packed = Vec::with_capacity(72);
            codec::pool::pack(pool, &mut packed);
            packed
        };
        let packed: Vec<Vec<u8>> = told.iter().map(pack).collect();
        let params: [Param; 8] =
            [&self.id(), &generations, &pools, &token0, &token1, &factories, &fees, &packed];
        self.connection.execute(LEARN, &params).await.map(|_| ())
    }
}
