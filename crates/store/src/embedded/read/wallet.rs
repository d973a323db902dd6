//! The transactions of a wallet: a page of places, and how many there are.

use std::ops::RangeInclusive;

use alloy_primitives::Address;
use fjall::{Keyspace, Readable};
use model::chain::ChainId;

use super::View;
use crate::Error;
use crate::embedded::buckets::pieces;
use crate::embedded::counts::{Count, LEVELS, TOTAL};
use crate::embedded::keys;

/// Block number and index: where a transaction stands on its chain.
pub type Place = (u64, u32);

#[derive(Clone, Debug)]
pub struct WalletQuestion {
    pub chain: ChainId,
    pub address: Address,
    pub from_block: u64,
    pub to_block: u64,
    pub oldest_first: bool,
    /// Also transactions in which the wallet takes part only inside.
    pub with_internal: bool,
    /// Where the page before this one ended.
    pub after: Option<Place>,
    pub limit: usize,
}

pub struct WalletPage {
    pub places: Vec<Place>,
    /// Whether anything follows.
    pub more: bool,
}

impl View {
    pub fn wallet_page(&self, q: &WalletQuestion) -> Result<WalletPage, Error> {
        let mut page = WalletPage { places: Vec::with_capacity(q.limit.min(512)), more: false };
        let Some(range) = key_range(q) else { return Ok(page) };
        let mut direct = self.run(&self.tables.wallet_txs, &range, q.oldest_first);
        let nothing = || Box::new(std::iter::empty()) as Run;
        let mut internal = match q.with_internal {
            true => self.run(&self.tables.wallet_internal, &range, q.oldest_first),
            false => nothing(),
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

    fn run(&self, table: &Keyspace, range: &RangeInclusive<[u8; 40]>, oldest_first: bool) -> Run {
        let items = self.snapshot.range(table, range.clone());
        let place = |item: fjall::Guard| -> Result<Place, Error> {
            let key = item.key()?;
            keys::place_of_wallet_key(&key).ok_or(Error::BrokenRow { table: "wallet" })
        };
        match oldest_first {
            true => Box::new(items.rev().map(place)),
            false => Box::new(items.map(place)),
        }
    }

    /// How many rows the question has in all, whatever the page.
    pub fn wallet_total(&self, q: &WalletQuestion) -> Result<u64, Error> {
        if q.from_block > q.to_block {
            return Ok(0);
        }
        let summary = self.wallet_summary(q.chain, q.address)?;
        if (q.from_block, q.to_block) == (0, u64::MAX) {
            return Ok(summary.rows(q.with_internal));
        }
        if !summary.has_buckets() {
            return self.count_rows(q, q.from_block, q.to_block);
        }
        let mut total = 0;
        for (from, to, level) in pieces(&LEVELS, q.from_block, q.to_block) {
            total += match level {
                Some(level) => self.count_buckets(q, level, from, to)?,
                None => self.count_rows(q, from, to)?,
            };
        }
        Ok(total)
    }

    /// The wallet's row count and when it last changed.
    pub fn wallet_summary(&self, chain: ChainId, address: Address) -> Result<Count, Error> {
        match self
            .snapshot
            .get(&self.tables.wallet_counts, keys::count(chain, address, TOTAL, 0))?
        {
            Some(row) => Count::unpack(&row).ok_or(Error::BrokenRow { table: "wallet_counts" }),
            None => Ok(Count::default()),
        }
    }

    fn count_buckets(
        &self,
        q: &WalletQuestion,
        level: u8,
        from: u64,
        to: u64,
    ) -> Result<u64, Error> {
        let low = keys::count(q.chain, q.address, level, from);
        let high = keys::count(q.chain, q.address, level, to);
        let mut total = 0;
        for item in self.snapshot.range(&self.tables.wallet_counts, low..=high) {
            let count = Count::unpack(&item.value()?);
            let count = count.ok_or(Error::BrokenRow { table: "wallet_counts" })?;
            total += count.rows(q.with_internal);
        }
        Ok(total)
    }

    fn count_rows(&self, q: &WalletQuestion, from: u64, to: u64) -> Result<u64, Error> {
        let low = keys::wallet(q.chain, q.address, to, u32::MAX);
        let range = low..=keys::wallet(q.chain, q.address, from, 0);
        let mut total = self.snapshot.range(&self.tables.wallet_txs, range.clone()).count();
        if q.with_internal {
            total += self.snapshot.range(&self.tables.wallet_internal, range).count();
        }
        Ok(total as u64)
    }
}

type Run = Box<dyn Iterator<Item = Result<Place, Error>>>;

/// Keys from the newest to the oldest row of the question that is left after the last page.
fn key_range(q: &WalletQuestion) -> Option<RangeInclusive<[u8; 40]>> {
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
