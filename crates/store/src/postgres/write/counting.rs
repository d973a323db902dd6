//! Brings the counts of the wallets that a commit touches up to date, when their rows are written.

use std::collections::BTreeMap;

use alloy_primitives::Address;

use super::ChainWrite;
use crate::Error;
use crate::embedded::counts::{Buckets, Count, Delta, FEW, MANY_AT_ONCE, TOTAL};
use crate::postgres::numbers::{sql, u64_at};
use crate::postgres::read::{Param, address};

const BROKEN: Error = Error::Broken { what: "count of a wallet" };

const TOTALS: &str = "select address, direct, internal from wallet_counts \
     where chain = $1 and address = any($2) and level = 0 and bucket = 0";
const ADD: &str = "insert into wallet_counts as c (chain, address, level, bucket, direct, internal) \
     select $1, * from unnest($2::bytea[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[]) \
     on conflict (chain, address, level, bucket) do update \
     set direct = c.direct + excluded.direct, internal = c.internal + excluded.internal";
const DROP: &str = "delete from wallet_counts where chain = $1 and address = any($2)";
const DROP_EMPTY: &str = "delete from wallet_counts where chain = $1 and address = any($2) \
     and direct = 0 and internal = 0";
const ALL_ROWS: &str = "select address, number, count(*) filter (where direct), count(*) filter (where not direct) \
     from wallet_transactions where chain = $1 and address in \
     (select address from wallet_transactions where chain = $1 and address = any($2) group by address having count(*) > $3) \
     group by address, number order by address, number";

/// A row of a wallet that came or went.
#[derive(Clone, Copy)]
pub struct WalletRow {
    pub address: Address,
    pub number: u64,
    pub index: u32,
    pub direct: bool,
    /// 1 or -1.
    pub sign: i8,
}

/// Counts to be added to those that there are.
#[derive(Default)]
struct Changes {
    addresses: Vec<Vec<u8>>,
    levels: Vec<i16>,
    buckets: Vec<i64>,
    direct: Vec<i64>,
    internal: Vec<i64>,
}

impl Changes {
    fn add(&mut self, address: &Address, changes: &Buckets) {
        let total = (TOTAL, 0, changes.total());
        for (level, bucket, delta) in changes.levels().into_iter().chain([total]) {
            if delta == Delta::default() {
                continue;
            }
            self.addresses.push(address.to_vec());
            self.levels.push(i16::from(level));
            self.buckets.push(sql(bucket));
            self.direct.push(delta.direct);
            self.internal.push(delta.internal);
        }
    }
}

impl ChainWrite<'_> {
    /// `rows` are all that this commit wrote and removed.
    pub async fn count(&self, rows: Vec<WalletRow>) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut wallets: BTreeMap<Address, Vec<WalletRow>> = BTreeMap::new();
        for row in rows {
            wallets.entry(row.address).or_default().push(row);
        }
        let totals = self.totals(&wallets).await?;
        let (mut changes, mut dropped, mut shrunk) = (Changes::default(), Vec::new(), Vec::new());
        let mut candidates: Vec<&[u8]> = Vec::new();
        for (address, rows) in &wallets {
            let Some(total) = totals.get(address) else {
                if rows.iter().filter(|row| row.sign > 0).count() >= MANY_AT_ONCE {
                    candidates.push(address.as_slice());
                }
                continue;
            };
            let mut buckets = Buckets::default();
            for row in rows {
                buckets.add(row.number, Delta::of(row.direct, i64::from(row.sign)));
            }
            let new = total.changed_by(buckets.total()).ok_or(BROKEN)?;
            if !new.is_many() {
                dropped.push(address.as_slice());
                continue;
            }
            if rows.iter().any(|row| row.sign < 0) {
                shrunk.push(address.as_slice());
            }
            changes.add(address, &buckets);
        }
        self.add_counts(&changes).await?;
        for (statement, list) in [(DROP, &dropped), (DROP_EMPTY, &shrunk)] {
            if !list.is_empty() {
                self.connection.execute(statement, &[&self.id(), list]).await?;
            }
        }
        self.begin_to_count(&candidates).await
    }

    async fn totals(
        &self,
        wallets: &BTreeMap<Address, Vec<WalletRow>>,
    ) -> Result<BTreeMap<Address, Count>, Error> {
        let addresses: Vec<&[u8]> = wallets.keys().map(|it| it.as_slice()).collect();
        let rows = self.connection.query(TOTALS, &[&self.id(), &addresses]).await?;
        let total = |row: &tokio_postgres::Row| {
            (address(row.get(0)), Count { direct: u64_at(row, 1), internal: u64_at(row, 2) })
        };
        Ok(rows.iter().map(total).collect())
    }

    async fn add_counts(&self, changes: &Changes) -> Result<(), Error> {
        if changes.addresses.is_empty() {
            return Ok(());
        }
        let Changes { addresses, levels, buckets, direct, internal } = changes;
        let params: [Param; 6] = [&self.id(), addresses, levels, buckets, direct, internal];
        self.connection.execute(ADD, &params).await.map(|_| ())
    }

    /// Those of these that have many rows by now, and had no counts.
    async fn begin_to_count(&self, candidates: &[&[u8]]) -> Result<(), Error> {
        if candidates.is_empty() {
            return Ok(());
        }
        let params: [Param; 3] = [&self.id(), &candidates, &sql(FEW)];
        let rows = self.connection.query(ALL_ROWS, &params).await?;
        let mut wallets: BTreeMap<Address, Buckets> = BTreeMap::new();
        for row in &rows {
            let (direct, internal) = (row.get::<_, i64>(2), row.get::<_, i64>(3));
            let of_wallet = wallets.entry(address(row.get(0))).or_default();
            of_wallet.add(u64_at(row, 1), Delta { direct, internal });
        }
        let mut changes = Changes::default();
        wallets.iter().for_each(|(address, buckets)| changes.add(address, buckets));
        self.add_counts(&changes).await
    }
}
