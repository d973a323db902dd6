//! Writes what decoders found in blocks, and removes it.

use model::facts::{Change, Facts, PoolChange, PoolState};
use tokio_postgres::types::Type;

use super::ChainWrite;
use super::copy_rows::Copy;
use crate::Error;
use crate::embedded::codec;
use crate::embedded::facts::FactsRow;
use crate::postgres::connection::Columns;
use crate::postgres::numbers::{Amount, sql};
use crate::postgres::prepare::PgBlock;
use crate::postgres::read::{Param, pool_id};

const FACTS: &str = "copy facts (chain, generation, number, packed) from stdin (format binary)";
const FACTS_TYPES: Columns = &[Type::INT8, Type::INT2, Type::INT8, Type::BYTEA];
const TRADES: &str = "copy trades (chain, generation, number, place, tx_index, log_index, contract, market, marketplace, \
     seller, buyer, currency, price, in_native) from stdin (format binary)";
const TRADE_TYPES: Columns = &[
    Type::INT8,
    Type::INT2,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::INT8,
    Type::BYTEA,
    Type::INT2,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::NUMERIC,
    Type::BOOL,
];
const STATES: &str = "copy pool_states (chain, generation, pool, number, kind, reserve0, reserve1, sqrt_price, liquidity, tick, \
     packed) from stdin (format binary)";
const STATE_TYPES: Columns = &[
    Type::INT8,
    Type::INT2,
    Type::BYTEA,
    Type::INT8,
    Type::TEXT,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::INT4,
    Type::BYTEA,
];
const BY_BLOCK: [&str; 3] = [
    "delete from facts where chain = $1 and generation = any($2) and number = any($3)",
    "delete from trades where chain = $1 and generation = any($2) and number = any($3)",
    "delete from pool_states where chain = $1 and generation = any($2) and number = any($3)",
];
const UNTELL: &str = "delete from told_pools where chain = $1 and generation = any($2) and number = any($3) \
     returning generation, pool";

/// What is found in a block, for one generation.
pub struct Found<'a> {
    pub generation: u8,
    pub number: u64,
    pub facts: &'a Facts,
}

impl ChainWrite<'_> {
    /// Into every generation that blocks are written to.
    pub async fn add_facts(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        let found = self.found(blocks);
        self.copy_facts(&found).await
    }

    pub fn found<'b>(&self, blocks: &'b [PgBlock]) -> Vec<Found<'b>> {
        let generations: Vec<u8> = self.row.generations.written().collect();
        let of_block = |block: &'b PgBlock| {
            let (number, facts) = (block.head.number, &block.facts);
            generations.iter().map(move |generation| Found {
                generation: *generation,
                number,
                facts,
            })
        };
        blocks.iter().flat_map(of_block).collect()
    }

    pub async fn copy_facts(&self, found: &[Found<'_>]) -> Result<(), Error> {
        let rows: Vec<(&Found, FactsRow)> =
            found.iter().map(|found| (found, FactsRow::of(found.facts))).collect();
        let told = rows.iter().filter(|(_, row)| !row.is_empty());
        if told.clone().next().is_none() {
            return Ok(());
        }
        let mut copy = Copy::begin(&self.connection, FACTS, FACTS_TYPES).await?;
        for (found, row) in told.clone() {
            let (generation, number) = (i16::from(found.generation), sql(found.number));
            copy.row(&[&self.id(), &generation, &number, &row.pack()]).await?;
        }
        copy.end().await?;
        if told.clone().any(|(_, row)| !row.trades.is_empty()) {
            self.copy_trades(found).await?;
        }
        if told.clone().any(|(_, row)| !row.changed_pools.is_empty()) {
            self.copy_states(found).await?;
        }
        Ok(())
    }

    async fn copy_trades(&self, found: &[Found<'_>]) -> Result<(), Error> {
        let mut copy = Copy::begin(&self.connection, TRADES, TRADE_TYPES).await?;
        for Found { generation, number, facts } in found {
            for (place, trade) in (0i32..).zip(&facts.trades) {
                copy.row(&[
                    &self.id(),
                    &i16::from(*generation),
                    &sql(*number),
                    &place,
                    &(trade.tx_index as i32),
                    &i64::from(trade.log_index),
                    &trade.contract.as_slice(),
                    &i16::from(trade.market.code()),
                    &trade.marketplace.as_slice(),
                    &trade.seller.as_slice(),
                    &trade.buyer.as_slice(),
                    &trade.currency.as_slice(),
                    &Amount(trade.price),
                    &trade.in_native,
                ])
                .await?;
            }
        }
        copy.end().await
    }

    async fn copy_states(&self, found: &[Found<'_>]) -> Result<(), Error> {
        let mut copy = Copy::begin(&self.connection, STATES, STATE_TYPES).await?;
        for Found { generation, number, facts } in found {
            for change in last_of_each(&facts.pools.changes) {
                let StateColumns { kind, amounts, tick } = columns(&change.change);
                let [reserve0, reserve1, sqrt_price, liquidity] = amounts;
                let mut packed = Vec::with_capacity(48);
                codec::pool_change::pack(change, &mut packed);
                copy.row(&[
                    &self.id(),
                    &i16::from(*generation),
                    &change.id.as_slice(),
                    &sql(*number),
                    &kind,
                    &reserve0,
                    &reserve1,
                    &sqrt_price,
                    &liquidity,
                    &tick,
                    &packed,
                ])
                .await?;
            }
        }
        copy.end().await
    }

    /// What was found in these blocks goes; gives the pools that they told of.
    pub async fn remove_facts(
        &self,
        numbers: &[u64],
        generations: &[u8],
    ) -> Result<Vec<super::pools::KnownPool>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i64> = numbers.iter().map(|number| sql(*number)).collect();
        let generations: Vec<i16> = generations.iter().map(|it| i16::from(*it)).collect();
        let params: [Param; 3] = [&self.id(), &generations, &numbers];
        for statement in BY_BLOCK {
            self.connection.execute(statement, &params).await?;
        }
        let mut untold = Vec::new();
        for row in self.connection.query(UNTELL, &params).await? {
            untold.push((row.get::<_, i16>(0) as u8, pool_id(row.get(1))?));
        }
        Ok(untold)
    }
}

/// A block tells of a pool once; where one does not, the last word counts.
fn last_of_each(changes: &[PoolChange]) -> Vec<&PoolChange> {
    let last: std::collections::BTreeMap<_, _> =
        changes.iter().map(|change| (change.id, change)).collect();
    last.into_values().collect()
}

struct StateColumns {
    kind: &'static str,
    /// Reserves, then price and liquidity.
    amounts: [Option<Amount>; 4],
    tick: Option<i32>,
}

fn columns(change: &Change) -> StateColumns {
    let amount = |value| Some(Amount(value));
    match change {
        Change::State(PoolState::Reserves { reserve0, reserve1 }) => StateColumns {
            kind: "reserves",
            amounts: [amount(*reserve0), amount(*reserve1), None, None],
            tick: None,
        },
        Change::State(PoolState::Ranged { sqrt_price, liquidity, tick }) => StateColumns {
            kind: "ranged",
            amounts: [
                None,
                None,
                amount(*sqrt_price),
                amount(alloy_primitives::U256::from(*liquidity)),
            ],
            tick: Some(*tick),
        },
        Change::Liquidity(_) => StateColumns { kind: "liquidity", amounts: [None; 4], tick: None },
    }
}
