//! The transactions of a wallet: a page of them, and how many there are.

use std::ops::{Bound, RangeInclusive};

use alloy_primitives::Address;
use model::chain::ChainId;

use super::View;
use crate::Error;
use crate::embedded::blocking::may_block;
use crate::embedded::buckets::pieces;
use crate::embedded::counts::{Count, LEVELS, ONE_BLOCK, TOTAL};
use crate::embedded::engine::{Item, Table};
use crate::embedded::keys;
use crate::embedded::runs::RunTable;
use crate::query::{Place, WalletPage, WalletQuery};

/// So many are counted in a moment.
const FEW_ROWS: usize = 512;
const BROKEN: Error = Error::Broken { what: "row of a wallet" };
const BROKEN_COUNT: Error = Error::Broken { what: "count of a wallet" };

impl View {
    pub fn wallet_page(&self, q: &WalletQuery) -> Result<WalletPage, Error> {
        let page = self.wallet_places(q)?;
        let txs = self.page_rows(q.chain, page.places, q.with_internal)?;
        Ok(WalletPage { txs, more: page.more })
    }

    fn wallet_places(&self, q: &WalletQuery) -> Result<Places, Error> {
        let mut page = Places { places: Vec::with_capacity(q.limit.min(512)), more: false };
        let Some(range) = key_range(q) else { return Ok(page) };
        let mut direct = self.run(&self.tables.wallet_txs, &range, q.oldest_first);
        let nothing = || Box::new(std::iter::empty()) as Run;
        let mut internal = if q.with_internal {
            self.run(&self.tables.wallet_internal, &range, q.oldest_first)
        } else {
            nothing()
        };
        let (mut a, mut b) = (direct.next().transpose()?, internal.next().transpose()?);
        loop {
            // A transaction stands in one of the two runs only, so there are no ties.
            let take_direct = match (&a, &b) {
                (None, None) => return Ok(page),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(x), Some(y)) => (x < y) == q.oldest_first,
            };
            if page.places.len() == q.limit {
                page.more = true;
                return Ok(page);
            }
            if take_direct {
                page.places.extend(a);
                a = direct.next().transpose()?;
            } else {
                page.places.extend(b);
                b = internal.next().transpose()?;
            }
        }
    }

    fn run(&self, table: &Table, range: &RangeInclusive<[u8; 40]>, oldest_first: bool) -> Run {
        let items = self.snapshot.range(table, range.clone());
        let place =
            |item: Item| -> Result<Place, Error> { keys::place_at_end(&item.key()?).ok_or(BROKEN) };
        if oldest_first { Box::new(items.rev().map(place)) } else { Box::new(items.map(place)) }
    }

    pub fn wallet_total(&self, q: &WalletQuery) -> Result<u64, Error> {
        if q.from_block > q.to_block {
            return Ok(0);
        }
        let total = self
            .snapshot
            .get(&self.tables.wallet_counts, keys::count(q.chain, q.address, TOTAL, 0))?;
        // Counts are of what is in tables.
        let elsewhere = self.count_in_runs(q) + self.count_in_files(q)?;
        let Some(total) = total else { return Ok(self.count_rows(q)? + elsewhere) };
        if (q.from_block, q.to_block) == (0, u64::MAX) {
            let total = Count::unpack(&total).ok_or(BROKEN_COUNT)?;
            return Ok(total.rows(q.with_internal) + elsewhere);
        }
        let count = |(from, to, level)| self.count_buckets(q, level, from, to);
        let pieces = pieces(&LEVELS, q.from_block, q.to_block);
        let in_tables: Result<u64, Error> = pieces.into_iter().map(count).sum();
        Ok(in_tables? + elsewhere)
    }

    /// Not earlier than its last change.
    pub fn wallet_changed_seq(&self, chain: ChainId, address: Address) -> Result<u64, Error> {
        Ok(self.wallet_changes.changed(chain, address, self.version(chain)?.seq))
    }

    fn count_in_runs(&self, q: &WalletQuery) -> u64 {
        let range = rows_of(q);
        let bounds =
            (Bound::Included(range.start().as_slice()), Bound::Included(range.end().as_slice()));
        let internal = q.with_internal.then_some(RunTable::WalletInternal);
        let runs = self.snapshot.runs().iter().filter(|run| run.chain == q.chain);
        let rows = runs.map(|run| {
            let tables = [Some(RunTable::WalletTxs), internal].into_iter().flatten();
            tables.map(|table| run.rows_in(table, bounds).len() as u64).sum::<u64>()
        });
        rows.sum()
    }

    fn count_in_files(&self, q: &WalletQuery) -> Result<u64, Error> {
        let files = self.snapshot.files();
        let count = |table| {
            let (of, blocks) = ((q.chain, q.address.as_slice()), (q.from_block, q.to_block));
            files.count(table, of, blocks)
        };
        let internal = if q.with_internal { count(RunTable::WalletInternal)? } else { 0 };
        Ok(count(RunTable::WalletTxs)? + internal)
    }

    /// Buckets of a level. The last one's are single blocks, so a range is never cut finer.
    fn count_buckets(
        &self,
        q: &WalletQuery,
        level: Option<u8>,
        from: u64,
        to: u64,
    ) -> Result<u64, Error> {
        let level = level.unwrap_or(ONE_BLOCK);
        let low = keys::count(q.chain, q.address, level, from);
        let high = keys::count(q.chain, q.address, level, to);
        let mut total = 0;
        for item in self.snapshot.range(&self.tables.wallet_counts, low..=high) {
            let count = Count::unpack(&item.value()?);
            let count = count.ok_or(BROKEN_COUNT)?;
            total += count.rows(q.with_internal);
        }
        Ok(total)
    }

    /// In tables.
    fn count_rows(&self, q: &WalletQuery) -> Result<u64, Error> {
        let range = rows_of(q);
        let mut total = 0;
        let internal = q.with_internal.then_some(&self.tables.wallet_internal);
        for table in [Some(&self.tables.wallet_txs), internal].into_iter().flatten() {
            let mut rows = self.snapshot.range_in_table(table, range.clone());
            let few = count(rows.by_ref().take(FEW_ROWS))?;
            total += few;
            if few == FEW_ROWS as u64 {
                total += may_block(|| count(rows))?;
            }
        }
        Ok(total)
    }
}

fn count(rows: impl Iterator<Item = Item>) -> Result<u64, Error> {
    let mut total = 0;
    for row in rows {
        // A row that cannot be read is no row.
        row.key()?;
        total += 1;
    }
    Ok(total)
}

/// All rows of a query, whatever the page.
fn rows_of(q: &WalletQuery) -> RangeInclusive<[u8; 40]> {
    let low = keys::wallet(q.chain, q.address, q.to_block, u32::MAX);
    low..=keys::wallet(q.chain, q.address, q.from_block, 0)
}

/// Where the transactions of a page stand.
struct Places {
    places: Vec<Place>,
    more: bool,
}

type Run = Box<dyn Iterator<Item = Result<Place, Error>>>;

/// Keys from the newest to the oldest row of the question that is left after the last page.
fn key_range(q: &WalletQuery) -> Option<RangeInclusive<[u8; 40]>> {
    let mut newest = (q.to_block, u32::MAX);
    let mut oldest = (q.from_block, 0);
    if let Some((number, index)) = q.after {
        if q.oldest_first {
            let next = (number, index.checked_add(1)?);
            oldest = oldest.max(next);
        } else {
            let next = match index.checked_sub(1) {
                Some(index) => (number, index),
                None => (number.checked_sub(1)?, u32::MAX),
            };
            newest = newest.min(next);
        }
    }
    let key = |place: Place| keys::wallet(q.chain, q.address, place.0, place.1);
    (oldest <= newest).then(|| key(newest)..=key(oldest))
}
