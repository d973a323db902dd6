//! Pools of a token, and what pools held at a block.

use std::collections::HashMap;

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Pool, PoolChange, PoolId};
use model::token::Token;
use tokio_postgres::Row;

use super::View;
use crate::Error;
use crate::embedded::carried::{pack_state, unpack_state};
use crate::embedded::codec::{self, Packed};
use crate::postgres::chain_row::Carried;
use crate::postgres::connection::Connection;
use crate::postgres::numbers::{sql, u64_at};
use crate::query::{PoolStatesQuery, StateAt};

/// How far back the last whole state is looked for behind changes of liquidity alone.
const CHANGES_MAX: usize = 4096;
const BROKEN: Error = Error::Broken { what: "pool" };

const OF_TOKEN: &str = "select pool, packed from pools where chain = $1 and generation = $2 and token0 = $3 \
     union select pool, packed from pools where chain = $1 and generation = $2 and token1 = $3 order by 1";
const BETWEEN: &str = "select p.pool, p.packed from unnest($3::bytea[], $4::bytea[]) with ordinality as w (one, other, place) \
     join pools p on p.chain = $1 and p.generation = $2 \
     and ((p.token0 = w.one and p.token1 = w.other) or (p.token0 = w.other and p.token1 = w.one)) \
     order by w.place, p.pool";
/// Newest first; from the last one that tells a whole state.
const CHANGES: &str = "select s.pool, s.number, s.packed from unnest($3::bytea[]) as w (pool) cross join lateral \
     (select pool, number, packed, kind from pool_states where chain = $1 and generation = $2 and pool = w.pool \
      and number between coalesce((select max(number) from pool_states where chain = $1 and generation = $2 \
      and pool = w.pool and number between $4 and $5 and kind <> 'liquidity'), $4) and $5 \
      order by number desc limit 4096) s";
const CARRIED: &str =
    "select pool, epoch, number, packed from carried_pools where chain = $1 and pool = any($2)";
const TOKENS: &str = "select address, packed from tokens where chain = $1";
const TOKEN: &str = "select packed from tokens where chain = $1 and address = $2";

pub fn pool_id(bytes: &[u8]) -> Result<PoolId, Error> {
    PoolId::from_slice(bytes).ok_or(BROKEN)
}

pub fn unpack_change(id: PoolId, mut packed: &[u8]) -> Result<PoolChange, Error> {
    codec::pool_change::unpack(id, &mut packed).ok_or(BROKEN)
}

pub fn unpack_pool(row: &Row) -> Result<Pool, Error> {
    let id = pool_id(row.get(0))?;
    codec::pool::unpack(id, &mut row.get::<_, &[u8]>(1)).ok_or(BROKEN)
}

/// How pools were left by the blocks that were pruned, as far as that still holds.
pub async fn carried_state(
    connection: &Connection,
    chain: ChainId,
    carried: &Carried,
    pools: &[PoolId],
) -> Result<HashMap<PoolId, StateAt>, Error> {
    let ids: Vec<&[u8]> = pools.iter().map(PoolId::as_slice).collect();
    let mut states = HashMap::new();
    for row in connection.query(CARRIED, &[&sql(chain.0), &ids]).await? {
        let id = pool_id(row.get(0))?;
        if u64_at(&row, 1) == carried.epoch {
            let (_, at) = unpack_state(&id, row.get(3)).ok_or(BROKEN)?;
            states.insert(id, at);
        }
    }
    Ok(states)
}

/// As `carried_state` reads it.
pub fn pack_carried(epoch: u64, id: &PoolId, at: &StateAt) -> Vec<u8> {
    pack_state(epoch, id, at)
}

impl View {
    pub async fn pools_of(&self, chain: ChainId, token: Address) -> Result<Vec<Pool>, Error> {
        let generation = i16::from(self.version(chain).generation);
        let params: [super::Param; 3] = [&sql(chain.0), &generation, &token.as_slice()];
        self.connection.query(OF_TOKEN, &params).await?.iter().map(unpack_pool).collect()
    }

    pub async fn pools_between(
        &self,
        chain: ChainId,
        pairs: &[(Address, Address)],
    ) -> Result<Vec<Pool>, Error> {
        let generation = i16::from(self.version(chain).generation);
        let (one, other): (Vec<&[u8]>, Vec<&[u8]>) =
            pairs.iter().map(|(one, other)| (one.as_slice(), other.as_slice())).unzip();
        let params: [super::Param; 4] = [&sql(chain.0), &generation, &one, &other];
        self.connection.query(BETWEEN, &params).await?.iter().map(unpack_pool).collect()
    }

    /// None where nothing was pruned, or where what is stored does not stand on it.
    async fn carried(&self, chain: ChainId) -> Result<Option<Carried>, Error> {
        let Some(carried) = self.chain(chain).pruned else { return Ok(None) };
        let parent = self.parent_hash(chain, carried.next).await?;
        Ok(Some(carried).filter(|carried| parent == Some(carried.last_hash)))
    }

    pub async fn pool_states(
        &self,
        q: &PoolStatesQuery<'_>,
    ) -> Result<Vec<Option<StateAt>>, Error> {
        if q.first > q.last || q.pools.is_empty() {
            return Ok(vec![None; q.pools.len()]);
        }
        let carried = self.carried(q.chain).await?;
        let carried = carried.filter(|it| (q.first..=q.last).contains(&it.next));
        let ids: Vec<&[u8]> = q.pools.iter().map(PoolId::as_slice).collect();
        let generation = i16::from(self.version(q.chain).generation);
        let params: [super::Param; 5] =
            [&sql(q.chain.0), &generation, &ids, &sql(q.first), &sql(q.last)];
        let mut changes: HashMap<PoolId, Vec<(u64, PoolChange)>> = HashMap::new();
        for row in self.connection.query(CHANGES, &params).await? {
            let id = pool_id(row.get(0))?;
            let change = unpack_change(id, row.get(2))?;
            let known = changes.entry(id).or_default();
            // A pool that is asked for twice is read twice.
            if known.last().is_none_or(|(last, _)| *last > u64_at(&row, 1)) {
                known.push((u64_at(&row, 1), change));
            }
        }
        let before = match &carried {
            Some(carried) => carried_state(&self.connection, q.chain, carried, q.pools).await?,
            None => HashMap::new(),
        };
        let state = |id: &PoolId| {
            let changes = changes.get(id).cloned().unwrap_or_default();
            fold(changes, carried.as_ref(), before.get(id).cloned())
        };
        Ok(q.pools.iter().map(state).collect())
    }

    pub async fn token(&self, chain: ChainId, address: Address) -> Result<Option<Token>, Error> {
        let row = self.connection.first(TOKEN, &[&sql(chain.0), &address.as_slice()]).await?;
        let Some(row) = row else { return Ok(None) };
        let token = Token::unpack(&mut row.get::<_, &[u8]>(0));
        token.map(Some).ok_or(Error::Broken { what: "token" })
    }

    pub async fn tokens(&self, chain: ChainId) -> Result<Vec<(Address, Token)>, Error> {
        let rows = self.connection.query(TOKENS, &[&sql(chain.0)]).await?;
        let token = |row: &tokio_postgres::Row| {
            let token = Token::unpack(&mut row.get::<_, &[u8]>(1));
            Ok((super::address(row.get(0)), token.ok_or(Error::Broken { what: "token" })?))
        };
        rows.iter().map(token).collect()
    }
}

/// Changes are newest first and end with one that tells a whole state, if any does.
fn fold(
    mut changes: Vec<(u64, PoolChange)>,
    carried: Option<&Carried>,
    before: Option<StateAt>,
) -> Option<StateAt> {
    let is_whole = changes.last().is_some_and(|(_, last)| last.change.fold(None).is_some());
    let before = before.filter(|_| !is_whole && changes.len() < CHANGES_MAX);
    if let Some((carried, _)) = carried.zip(before.as_ref()) {
        // What was pruned is in it already, also where such a block is stored again.
        changes.retain(|(number, _)| *number >= carried.next);
    }
    let newest = changes.first().map(|(block, _)| *block);
    let block = newest.or(before.as_ref().map(|it| it.block))?;
    let mut state = before.map(|it| it.state);
    for (_, change) in changes.iter().rev() {
        state = change.change.fold(state.as_ref());
    }
    state.map(|state| StateAt { state, block })
}
