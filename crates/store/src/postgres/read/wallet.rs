//! The transactions of a wallet: a page of them, and how many there are.

use std::sync::Arc;

use super::View;
use crate::Error;
use crate::embedded::buckets::pieces;
use crate::embedded::counts::{LEVELS, ONE_BLOCK, TOTAL};
use crate::postgres::numbers::{sql, sql_limit, u32_at, u64_at};
use crate::query::{Place, WalletPage, WalletQuery};

const BROKEN: Error = Error::Broken { what: "row of a wallet" };

/// Two runs of the same index, each read as far as the page goes, put together.
const NEWEST_FIRST: &str = "select number, tx_index from (\
     (select number, tx_index from wallet_transactions where chain = $1 and address = $2 and direct \
      and (number, tx_index) >= ($3, $4) and (number, tx_index) <= ($5, $6) order by number desc, tx_index desc limit $7) \
     union all \
     (select number, tx_index from wallet_transactions where chain = $1 and address = $2 and not direct and $8 \
      and (number, tx_index) >= ($3, $4) and (number, tx_index) <= ($5, $6) order by number desc, tx_index desc limit $7)\
     ) page order by number desc, tx_index desc limit $7";
const OLDEST_FIRST: &str = "select number, tx_index from (\
     (select number, tx_index from wallet_transactions where chain = $1 and address = $2 and direct \
      and (number, tx_index) >= ($3, $4) and (number, tx_index) <= ($5, $6) order by number, tx_index limit $7) \
     union all \
     (select number, tx_index from wallet_transactions where chain = $1 and address = $2 and not direct and $8 \
      and (number, tx_index) >= ($3, $4) and (number, tx_index) <= ($5, $6) order by number, tx_index limit $7)\
     ) page order by number, tx_index limit $7";
const IS_COUNTED: &str = "select direct, internal from wallet_counts \
     where chain = $1 and address = $2 and level = $3 and bucket = 0";
const ROWS: &str = "select count(*) from wallet_transactions where chain = $1 and address = $2 \
     and direct = any($3) and number between $4 and $5";
const BUCKETS: &str = "select coalesce(sum(direct), 0)::bigint, coalesce(sum(internal), 0)::bigint from \
     unnest($3::smallint[], $4::bigint[], $5::bigint[]) as p (level, low, high) join wallet_counts c \
     on c.chain = $1 and c.address = $2 and c.level = p.level and c.bucket between p.low and p.high";

/// The places that are left of the question after the last page: the lowest and the highest.
fn range(q: &WalletQuery) -> Option<(Place, Place)> {
    let mut newest = (q.to_block, u32::MAX);
    let mut oldest = (q.from_block, 0);
    if let Some((number, index)) = q.after {
        if q.oldest_first {
            oldest = oldest.max((number, index.checked_add(1)?));
        } else {
            let next = match index.checked_sub(1) {
                Some(index) => (number, index),
                None => (number.checked_sub(1)?, u32::MAX),
            };
            newest = newest.min(next);
        }
    }
    (oldest <= newest).then_some((oldest, newest))
}

impl View {
    pub async fn wallet_page(&self, q: &WalletQuery) -> Result<WalletPage, Error> {
        let (places, more) = self.wallet_places(q).await?;
        let mut txs = self.txs_at(q.chain, &places).await?;
        if txs.len() != places.len() {
            return Err(BROKEN);
        }
        if q.with_internal && !places.is_empty() {
            let mut frames = self.frames_at(q.chain, &places).await?;
            for (tx, place) in txs.iter_mut().zip(&places) {
                tx.frames = Some(frames.remove(place).unwrap_or_default());
            }
        }
        Ok(WalletPage { txs: txs.into_iter().map(Arc::new).collect(), more })
    }

    async fn wallet_places(&self, q: &WalletQuery) -> Result<(Vec<Place>, bool), Error> {
        let Some((oldest, newest)) = range(q) else { return Ok((Vec::new(), false)) };
        let index = |index: u32| i32::try_from(index).unwrap_or(i32::MAX);
        let statement = if q.oldest_first { OLDEST_FIRST } else { NEWEST_FIRST };
        let rows = self
            .connection
            .query(
                statement,
                &[
                    &sql(q.chain.0),
                    &q.address.as_slice(),
                    &sql(oldest.0),
                    &index(oldest.1),
                    &sql(newest.0),
                    &index(newest.1),
                    &sql_limit(q.limit).saturating_add(1),
                    &q.with_internal,
                ],
            )
            .await?;
        let more = rows.len() > q.limit;
        let places = rows.iter().take(q.limit).map(|row| (u64_at(row, 0), u32_at(row, 1)));
        Ok((places.collect(), more))
    }

    pub async fn wallet_total(&self, q: &WalletQuery) -> Result<u64, Error> {
        if q.from_block > q.to_block {
            return Ok(0);
        }
        let (chain, address) = (sql(q.chain.0), q.address.as_slice());
        let level = i16::from(TOTAL);
        let total = self.connection.first(IS_COUNTED, &[&chain, &address, &level]).await?;
        let sum = |row: &tokio_postgres::Row| {
            u64_at(row, 0) + if q.with_internal { u64_at(row, 1) } else { 0 }
        };
        let Some(total) = total else {
            let kinds: &[bool] = if q.with_internal { &[true, false] } else { &[true] };
            let (from, to) = (sql(q.from_block), sql(q.to_block));
            let rows = self.connection.first(ROWS, &[&chain, &address, &kinds, &from, &to]).await?;
            return Ok(rows.map_or(0, |row| u64_at(&row, 0)));
        };
        if (q.from_block, q.to_block) == (0, u64::MAX) {
            return Ok(sum(&total));
        }
        let (mut levels, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
        for (from, to, level) in pieces(&LEVELS, q.from_block, q.to_block) {
            levels.push(i16::from(level.unwrap_or(ONE_BLOCK)));
            low.push(sql(from));
            high.push(sql(to));
        }
        let row = self.connection.first(BUCKETS, &[&chain, &address, &levels, &low, &high]).await?;
        Ok(row.map_or(0, |row| sum(&row)))
    }
}
