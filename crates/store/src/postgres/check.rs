//! Reads everything and says what holds: blocks as they are put together, and every table that follows from them.

use futures_util::TryStreamExt;
use model::chain::ChainId;
use xxhash_rust::xxh3::xxh3_64;

use super::connection::{Connection, Param};
use super::numbers::{sql, u64_at};
use super::prepare::prepare;
use super::read::{BlockParts, View, read_blocks};
use super::store::Store;
use crate::Error;
use crate::block::VerifiedBlock;
use crate::check::{CheckProgress, CheckReport, CheckedPart};
use crate::embedded::counts::LEVELS;
use crate::embedded::facts::FactsRow;

const BLOCKS_AT_ONCE: usize = 64;

const ROWS_OF: [(&str, &str); 4] = [
    ("blocks", "select count(*) from blocks where chain = $1"),
    ("transactions", "select count(*) from transactions where chain = $1"),
    ("logs", "select count(*) from logs where chain = $1"),
    ("internal transactions", "select count(*) from internal_transactions where chain = $1"),
];
const WALLETS: &str =
    "select address, direct, number, tx_index from wallet_transactions where chain = $1";
const HASHES: &str = "select number, tx_index, hash from transactions where chain = $1";
/// Counts that are other than the rows say, of wallets that are counted.
const WRONG_COUNTS: &str = "with counted as (select address from wallet_counts where chain = $1 and level = 0), \
     by_block as (select address, number, count(*) filter (where direct) as direct, \
     count(*) filter (where not direct) as internal from wallet_transactions \
     where chain = $1 and address in (select address from counted) group by address, number), \
     expected as (select address, level, number >> shift as bucket, sum(direct)::bigint as direct, \
     sum(internal)::bigint as internal from by_block cross join unnest($2::smallint[], $3::integer[]) as l (level, shift) \
     group by 1, 2, 3 union all \
     select address, 0::smallint, 0::bigint, sum(direct)::bigint, sum(internal)::bigint from by_block group by 1), \
     found as (select address, level, bucket, direct, internal from wallet_counts where chain = $1) \
     select count(*) from ((select * from expected except select * from found) union all \
     (select * from found except select * from expected)) wrong";
const FACTS: &str = "select generation, packed from facts where chain = $1";
const FOUND: &str = "select (select count(*) from trades where chain = $1), (select count(*) from pool_states where chain = $1)";
const LOST_POOLS: &str = "select (select count(*) from pools p where p.chain = $1 and not p.is_kept and not exists \
     (select from told_pools t where t.chain = $1 and t.generation = p.generation and t.pool = p.pool)) + \
     (select count(*) from told_pools t where t.chain = $1 and not exists \
     (select from pools p where p.chain = $1 and p.generation = t.generation and p.pool = t.pool)) + \
     (select count(*) from told_pools t where t.chain = $1 and not exists \
     (select from blocks b where b.chain = $1 and b.number = t.number))";
const JOURNAL: &str = "select count(*) from journal j join chains c on c.chain = j.chain \
     where j.chain = $1 and (j.seq > c.seq or j.seq < c.journal_tail)";
const STREAMS: [(&str, &str); 5] = [
    (
        "queues that say how much waits",
        "select count(*) from stream_queues q where not q.is_removed and \
     (q.waiting, q.waiting_bytes::numeric) <> (select count(*), coalesce(sum(body_bytes), 0) from deliveries d \
     where d.stream = q.stream and (d.due_ms is not null or (d.delivered_ms is null and not d.given_up)))",
    ),
    (
        "queues that say how many addresses there are",
        "select count(*) from stream_queues q where not q.is_removed \
     and q.addresses <> (select count(*) from stream_addresses a where a.stream = q.stream)",
    ),
    (
        "queues that know their newest delivery",
        "select count(*) from stream_queues q where not q.is_removed and exists \
     (select from deliveries d where d.stream = q.stream and (d.seq > q.last_seq or \
     (d.seq = q.last_seq and d.digest <> q.last_digest)))",
    ),
    (
        "digests of deliveries that follow each other",
        "select count(*) from deliveries d join deliveries below \
     on below.stream = d.stream and below.seq = d.seq - 1 where d.previous_digest <> below.digest",
    ),
    (
        "rows of streams that are known",
        "select (select count(*) from deliveries d where not exists \
     (select from stream_queues q where q.stream = d.stream)) + (select count(*) from stream_matches m where not exists \
     (select from stream_queues q where q.stream = m.stream)) + (select count(*) from stream_addresses a where not exists \
     (select from stream_queues q where q.stream = a.stream))",
    ),
];

/// A sum over rows in any order.
#[derive(Default, PartialEq)]
struct Sum {
    rows: u64,
    hash: u64,
}

impl Sum {
    fn add(&mut self, parts: &[&[u8]]) {
        self.rows += 1;
        self.hash = self.hash.wrapping_add(xxh3_64(&parts.concat()));
    }
}

/// What the tables of a chain should hold, from its blocks.
#[derive(Default)]
struct Expected {
    rows: [u64; 4],
    wallets: Sum,
    hashes: Sum,
}

impl Store {
    pub async fn check(
        &self,
        progress: &(dyn Fn(CheckProgress) + Send + Sync),
    ) -> Result<CheckReport, Error> {
        let view = self.view().await?;
        view.connection.run("set local statement_timeout = 0").await?;
        let chains = view.chains();
        let blocks_total = chains.iter().map(|chain| view.coverage(*chain).blocks()).sum();
        let mut report = CheckReport::default();
        let mut seen = CheckProgress { blocks_done: 0, blocks_total };
        for chain in chains {
            view.check_chain(chain, &mut report, &mut |blocks| {
                seen.blocks_done += blocks;
                progress(seen);
            })
            .await?;
        }
        for (what, wrong) in STREAMS {
            let mut part = CheckedPart::new(what);
            part.expect_none(&view.connection, wrong, &[]).await?;
            report.parts.push(part);
        }
        Ok(report)
    }
}

impl CheckedPart {
    /// Of rows that should not be.
    async fn expect_none(
        &mut self,
        connection: &Connection,
        wrong: &'static str,
        params: &[Param<'_>],
    ) -> Result<(), Error> {
        let row = connection.first(wrong, params).await?;
        let count = row.map_or(0, |row| row.get::<_, i64>(0));
        self.count += 1;
        if count > 0 {
            self.fault(format!("{count} rows do not hold"));
        }
        Ok(())
    }

    fn expect<T: PartialEq + std::fmt::Display>(&mut self, what: &str, expected: T, found: T) {
        if expected != found {
            self.fault(format!("{what}: {found} instead of {expected}"));
        }
    }
}

impl View {
    async fn check_chain(
        &self,
        chain: ChainId,
        report: &mut CheckReport,
        done: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), Error> {
        let named = |what: &str| CheckedPart::new(format!("chain {}: {what}", chain.0));
        let mut blocks = named("blocks");
        let expected = self.check_blocks(chain, &mut blocks, done).await?;
        let id = sql(chain.0);
        for ((what, count), expected) in ROWS_OF.into_iter().zip(expected.rows) {
            let row = self.connection.first(count, &[&id]).await?;
            blocks.expect(what, expected, row.map_or(0, |row| u64_at(&row, 0)));
        }
        let (found, wallets) = (self.hashes(chain).await?, self.wallets(chain).await?);
        blocks.expect("hashes of transactions", expected.hashes.hash, found.hash);
        let mut part = named("transactions of wallets");
        part.count = wallets.rows;
        part.expect("rows", expected.wallets.rows, wallets.rows);
        part.expect("sum over rows", expected.wallets.hash, wallets.hash);
        let levels: Vec<i16> = LEVELS.iter().map(|(level, _)| i16::from(*level)).collect();
        let shifts: Vec<i32> = LEVELS.iter().map(|(_, shift)| *shift as i32).collect();
        part.expect_none(&self.connection, WRONG_COUNTS, &[&id, &levels, &shifts]).await?;
        let mut pools = named("pools that blocks tell of");
        pools.expect_none(&self.connection, LOST_POOLS, &[&id]).await?;
        let mut journal = named("journal");
        journal.expect_none(&self.connection, JOURNAL, &[&id]).await?;
        let facts = self.check_facts(chain, named("facts")).await?;
        report.parts.extend([blocks, part, facts, pools, journal]);
        Ok(())
    }

    async fn check_blocks(
        &self,
        chain: ChainId,
        part: &mut CheckedPart,
        done: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Expected, Error> {
        let (coverage, mut expected) = (self.coverage(chain), Expected::default());
        let mut next = coverage.some_from(0, BLOCKS_AT_ONCE);
        let mut below = None;
        while let Some(last) = next.last().copied() {
            let some = std::mem::replace(
                &mut next,
                coverage.some_from(last.saturating_add(1), BLOCKS_AT_ONCE),
            );
            let blocks = read_blocks(&self.connection, chain, &some, BlockParts::Everything).await;
            let blocks = match blocks {
                Ok(blocks) => blocks,
                Err(Error::Broken { what }) => {
                    part.fault(format!("of blocks {some:?} a {what} cannot be read"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            part.expect("blocks of a range", some.len(), blocks.len());
            for (block, proof) in blocks {
                if below.is_some_and(|(number, hash)| {
                    number + 1 == block.number && hash != block.parent_hash
                }) {
                    part.fault(format!("block {} does not stand on the one below", block.number));
                }
                below = Some((block.number, block.hash));
                part.count += 1;
                let facts = Default::default();
                expected.add(&prepare(chain, VerifiedBlock { block, proof, facts }));
            }
            done(some.len() as u64);
        }
        Ok(expected)
    }

    async fn wallets(&self, chain: ChainId) -> Result<Sum, Error> {
        let id = sql(chain.0);
        let mut rows = self.connection.stream(WALLETS, &[&id]).await?;
        let mut sum = Sum::default();
        while let Some(row) = rows.try_next().await? {
            let direct = [u8::from(row.get::<_, bool>(1))];
            let number = row.get::<_, i64>(2).to_be_bytes();
            sum.add(&[row.get(0), &direct, &number, &row.get::<_, i32>(3).to_be_bytes()]);
        }
        Ok(sum)
    }

    async fn hashes(&self, chain: ChainId) -> Result<Sum, Error> {
        let id = sql(chain.0);
        let mut rows = self.connection.stream(HASHES, &[&id]).await?;
        let mut sum = Sum::default();
        while let Some(row) = rows.try_next().await? {
            let number = row.get::<_, i64>(0).to_be_bytes();
            let hash = row.get::<_, Option<&[u8]>>(2).unwrap_or_default();
            sum.add(&[&number, &row.get::<_, i32>(1).to_be_bytes(), hash]);
        }
        Ok(sum)
    }

    async fn check_facts(
        &self,
        chain: ChainId,
        mut part: CheckedPart,
    ) -> Result<CheckedPart, Error> {
        let id = sql(chain.0);
        let mut rows = self.connection.stream(FACTS, &[&id]).await?;
        let (mut trades, mut changes) = (0, 0);
        while let Some(row) = rows.try_next().await? {
            part.count += 1;
            match FactsRow::unpack(row.get(1)) {
                Some(found) => {
                    trades += found.trades.len() as u64;
                    changes += found.changed_pools.len() as u64;
                }
                None => part.fault("a list of facts cannot be read"),
            }
        }
        drop(rows);
        if let Some(row) = self.connection.first(FOUND, &[&id]).await? {
            part.expect("trades", trades, u64_at(&row, 0));
            part.expect("changes of pools", changes, u64_at(&row, 1));
        }
        Ok(part)
    }
}

impl Expected {
    fn add(&mut self, block: &super::prepare::PgBlock) {
        let rows = [1, block.txs.len(), block.logs.len(), block.frames.len()];
        self.rows.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows as u64);
        let number = (block.head.number as i64).to_be_bytes();
        for party in &block.wallets {
            let direct = [u8::from(party.direct)];
            let index = (party.index as i32).to_be_bytes();
            self.wallets.add(&[party.address.as_slice(), &direct, &number, &index]);
        }
        for tx in &block.txs {
            let hash = tx.hash.as_ref().map(|hash| hash.as_slice()).unwrap_or_default();
            self.hashes.add(&[&number, &(tx.index as i32).to_be_bytes(), hash]);
        }
    }
}
