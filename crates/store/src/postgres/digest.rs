//! The same hash as the embedded engine's, over the rows that it would have: they follow from what is stored here.

use alloy_primitives::{Address, B256, U256};
use futures_util::TryStreamExt;
use model::chain::ChainId;
use tokio_postgres::Row;

use super::numbers::{sql, u32_at, u64_at};
use super::read::{BlockParts, View, address, pool_id, read_blocks};
use crate::Error;
use crate::block::VerifiedBlock;
use crate::embedded::body_groups;
use crate::embedded::codec::pack_coverage;
use crate::embedded::counts::{Buckets, Delta};
use crate::embedded::digest::ChainDigest;
use crate::embedded::facts::LOWEST_LEVELS;
use crate::embedded::keys::{self, SalesOf};
use crate::embedded::wallet_counts::counts_of;
use model::facts::Market;

const HEADERS: &str = "select number, packed from blocks where chain = $1 order by number";
const BY_HASH: &str = "select hash, number from blocks where chain = $1 order by hash";
const BY_TIME: &str =
    "select timestamp, number from blocks where chain = $1 order by timestamp, number";
const WALLETS: &str = "select address, number, tx_index from wallet_transactions where chain = $1 and direct = $2 \
     order by address, number desc, tx_index desc";
const COUNTS: &str = "select address, number, count(*) filter (where direct), count(*) filter (where not direct) \
     from wallet_transactions where chain = $1 group by address, number order by address, number";
const FACTS: &str =
    "select number, packed from facts where chain = $1 and generation = $2 order by number";
/// Under their own market, and under any.
const TRADES: &str = "select contract, market, number, place from \
     (select contract, market, number, place from trades where chain = $1 and generation = $2 union all \
      select contract, 255::smallint, number, place from trades where chain = $1 and generation = $2) listed \
     order by contract, market, number desc, place desc";
const LOWEST: &str = "select contract, market, level, number >> shift, price::text, number, place from \
     (select contract, market, price, number, place from trades \
      where chain = $1 and generation = $2 and in_native and price > 0 union all \
      select contract, 255::smallint, price, number, place from trades \
      where chain = $1 and generation = $2 and in_native and price > 0) listed \
     cross join unnest($3::smallint[], $4::integer[]) as levels (level, shift) \
     order by contract, market, level, number >> shift, price, number, place";
const STATES: &str = "select pool, number, packed from pool_states where chain = $1 and generation = $2 \
     order by length(pool), pool, number desc";

const BLOCKS_AT_ONCE: usize = 64;
const BROKEN_TRADE: Error = Error::Broken { what: "NFT trade" };

impl View {
    pub async fn digest(&self, chain: ChainId) -> Result<B256, Error> {
        // It may take as long as it takes.
        self.connection.run("set local statement_timeout = 0").await?;
        let mut digest = ChainDigest::of(chain, self.generations(chain).current);
        self.digest_headers(chain, &mut digest).await?;
        self.digest_bodies(chain, &mut digest).await?;
        self.digest_wallets(chain, &mut digest).await?;
        self.digest_facts(chain, &mut digest).await?;
        digest.begin("coverage");
        let coverage = self.coverage(chain);
        if !coverage.is_empty() {
            digest.add("coverage", &[], &pack_coverage(&coverage))?;
        }
        Ok(digest.finish())
    }

    async fn digest_headers(&self, chain: ChainId, digest: &mut ChainDigest) -> Result<(), Error> {
        let id = sql(chain.0);
        digest.begin("headers");
        let mut rows = self.connection.stream(HEADERS, &[&id]).await?;
        while let Some(row) = rows.try_next().await? {
            digest.add("headers", &u64_at(&row, 0).to_be_bytes(), row.get(1))?;
        }
        digest.begin("block_by_hash");
        let mut rows = self.connection.stream(BY_HASH, &[&id]).await?;
        while let Some(row) = rows.try_next().await? {
            digest.add("block_by_hash", row.get(0), &u64_at(&row, 1).to_be_bytes())?;
        }
        digest.begin("block_by_time");
        let mut rows = self.connection.stream(BY_TIME, &[&id]).await?;
        while let Some(row) = rows.try_next().await? {
            let key = keys::by_time(chain, u64_at(&row, 0), u64_at(&row, 1));
            digest.add("block_by_time", key.get(8..).unwrap_or_default(), &[])?;
        }
        Ok(())
    }

    /// Groups of transactions, then of logs, then of frames, as the blocks would be packed.
    async fn digest_bodies(&self, chain: ChainId, digest: &mut ChainDigest) -> Result<(), Error> {
        let coverage = self.coverage(chain);
        for (kind, table) in ["txs", "logs", "traces"].into_iter().enumerate() {
            digest.begin(table);
            let mut some = coverage.some_from(0, BLOCKS_AT_ONCE);
            while let Some(last) = some.last().copied() {
                let parts = BlockParts::Everything;
                for (block, proof) in read_blocks(&self.connection, chain, &some, parts).await? {
                    let (number, facts) = (block.number, Default::default());
                    let groups = body_groups(chain, VerifiedBlock { block, proof, facts });
                    for (group, row) in groups.into_iter().nth(kind).unwrap_or_default() {
                        let key = keys::in_block(chain, number, group);
                        digest.add(table, key.get(8..).unwrap_or_default(), &row)?;
                    }
                }
                some = coverage.some_from(last.saturating_add(1), BLOCKS_AT_ONCE);
            }
        }
        Ok(())
    }

    async fn digest_wallets(&self, chain: ChainId, digest: &mut ChainDigest) -> Result<(), Error> {
        let id = sql(chain.0);
        for (table, direct) in [("wallet_txs", true), ("wallet_internal", false)] {
            digest.begin(table);
            let mut rows = self.connection.stream(WALLETS, &[&id, &direct]).await?;
            while let Some(row) = rows.try_next().await? {
                let of = address(row.get(0));
                let key = keys::wallet(chain, of, u64_at(&row, 1), u32_at(&row, 2));
                digest.add(table, key.get(8..).unwrap_or_default(), &[])?;
            }
        }
        digest.begin("wallet_counts");
        let mut rows = self.connection.stream(COUNTS, &[&id]).await?;
        let mut wallet: Option<(Address, Buckets)> = None;
        while let Some(row) = rows.try_next().await? {
            let of = address(row.get(0));
            if let Some((last, buckets)) = wallet.take_if(|(last, _)| *last != of) {
                add_counts(digest, chain, last, &buckets)?;
            }
            let (_, buckets) = wallet.get_or_insert_with(|| (of, Buckets::default()));
            let (direct, internal) = (row.get(2), row.get(3));
            buckets.add(u64_at(&row, 1), Delta { direct, internal });
        }
        match wallet {
            Some((last, buckets)) => add_counts(digest, chain, last, &buckets),
            None => Ok(()),
        }
    }

    async fn digest_facts(&self, chain: ChainId, digest: &mut ChainDigest) -> Result<(), Error> {
        let (id, generation) = (sql(chain.0), self.generations(chain).current);
        let current = i16::from(generation);
        digest.begin("facts");
        let mut rows = self.connection.stream(FACTS, &[&id, &current]).await?;
        while let Some(row) = rows.try_next().await? {
            digest.add("facts", &u64_at(&row, 0).to_be_bytes(), row.get(1))?;
        }
        digest.begin("nft_trades");
        let mut rows = self.connection.stream(TRADES, &[&id, &current]).await?;
        while let Some(row) = rows.try_next().await? {
            let key = sales(chain, generation, &row)?.trade(u64_at(&row, 2), u32_at(&row, 3));
            digest.add("nft_trades", key.get(9..).unwrap_or_default(), &[])?;
        }
        digest.begin("nft_lowest");
        let levels: Vec<i16> = LOWEST_LEVELS.iter().map(|(level, _)| i16::from(*level)).collect();
        let shifts: Vec<i32> = LOWEST_LEVELS.iter().map(|(_, shift)| *shift as i32).collect();
        let mut rows = self.connection.stream(LOWEST, &[&id, &current, &levels, &shifts]).await?;
        while let Some(row) = rows.try_next().await? {
            let price: U256 = row.get::<_, &str>(4).parse().map_err(|_| BROKEN_TRADE)?;
            let bucket = (row.get::<_, i16>(2) as u8, u64_at(&row, 3));
            let place = (u64_at(&row, 5), u32_at(&row, 6));
            let key = sales(chain, generation, &row)?.price(bucket, price, place);
            digest.add("nft_lowest", key.get(9..).unwrap_or_default(), &[])?;
        }
        digest.begin("pool_states");
        let mut rows = self.connection.stream(STATES, &[&id, &current]).await?;
        while let Some(row) = rows.try_next().await? {
            let id = pool_id(row.get(0))?;
            let key = keys::pool_state(chain, generation, &id, u64_at(&row, 1));
            digest.add("pool_states", key.get(9..).unwrap_or_default(), row.get(2))?;
        }
        Ok(())
    }
}

fn add_counts(
    digest: &mut ChainDigest,
    chain: ChainId,
    address: Address,
    buckets: &Buckets,
) -> Result<(), Error> {
    for (key, count) in counts_of(chain, address, buckets)? {
        digest.add("wallet_counts", key.get(8..).unwrap_or_default(), &count.pack())?;
    }
    Ok(())
}

fn sales(chain: ChainId, generation: u8, row: &Row) -> Result<SalesOf, Error> {
    let code = row.get::<_, i16>(1) as u8;
    let market =
        if code == u8::MAX { None } else { Some(Market::from_code(code).ok_or(BROKEN_TRADE)?) };
    Ok(SalesOf { chain, generation, contract: address(row.get(0)), market })
}
