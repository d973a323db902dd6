//! Sales of an NFT contract: a page of them, and the cheapest.

use alloy_primitives::{Address, U256};
use model::chain::ChainId;
use model::facts::Market;

use super::View;
use super::block::TxReader;
use crate::Error;
use crate::embedded::blocking::may_block;
use crate::embedded::buckets::Level;
use crate::embedded::facts::{FactsRow, LOWEST_LEVELS};
use crate::embedded::keys;
use crate::embedded::keys::{SalesOf, end_of_price_key, place_at_end};
use crate::query::{LowestTradeQuery, StoredTrade, TradePlace, TradesPage, TradesQuery};

/// So many sales from before the window are passed over before a bucket is taken apart; a step costs
/// far less than looking into another bucket.
const OLDER_SALES_MAX: usize = 100;

impl View {
    pub fn trades_page(&self, q: &TradesQuery) -> Result<TradesPage, Error> {
        may_block(|| self.read_trades_page(q))
    }

    fn read_trades_page(&self, q: &TradesQuery) -> Result<TradesPage, Error> {
        let mut page = TradesPage { trades: Vec::with_capacity(q.limit.min(512)), more: false };
        let sales = self.sales(q.chain, q.contract, q.market)?;
        let Some(newest) = q.newest() else { return Ok(page) };
        if newest < (q.from_block, 0) {
            return Ok(page);
        }
        let range = sales.trade(newest.0, newest.1)..=sales.trade(q.from_block, 0);
        let mut rows = TradeRows { facts: None, txs: self.transactions(q.chain) };
        for item in self.snapshot.range(&self.tables.nft_trades, range) {
            if page.trades.len() == q.limit {
                page.more = true;
                break;
            }
            let place = place_at_end(&item.key()?).ok_or(BROKEN)?;
            page.trades.push(rows.read(self, &sales, place)?);
        }
        Ok(page)
    }

    /// From the largest buckets down: whole ones tell their lowest at once. The one that `from_block`
    /// cuts is read by price until a sale of the window turns up; where too many are older, its parts
    /// are looked at in the same way.
    pub fn lowest_trade(&self, q: &LowestTradeQuery) -> Result<Option<StoredTrade>, Error> {
        may_block(|| self.read_lowest_trade(q))
    }

    fn read_lowest_trade(&self, q: &LowestTradeQuery) -> Result<Option<StoredTrade>, Error> {
        let sales = self.sales(q.chain, q.contract, q.market)?;
        let mut lowest = Lowest::default();
        self.find_lowest(&sales, q.from_block, &mut lowest)?;
        let Some((_, number, place)) = lowest.0 else { return Ok(None) };
        let mut rows = TradeRows { facts: None, txs: self.transactions(q.chain) };
        rows.read(self, &sales, (number, place)).map(Some)
    }

    fn find_lowest(
        &self,
        sales: &SalesOf,
        from_block: u64,
        lowest: &mut Lowest,
    ) -> Result<(), Error> {
        let mut to = u64::MAX;
        for bucket_level in LOWEST_LEVELS {
            let shift = bucket_level.1;
            let is_cut = from_block & ((1 << shift) - 1) != 0;
            let first = (from_block >> shift) + u64::from(is_cut);
            self.lowest_of_buckets(sales, bucket_level.0, (first, to >> shift), lowest)?;
            if !is_cut || self.lowest_of_cut_bucket(sales, bucket_level, from_block, lowest)? {
                return Ok(());
            }
            // Behind the very last bucket there is 0, and the block before that is the last one.
            to = (first << shift).wrapping_sub(1);
        }
        self.lowest_of_blocks(sales, (from_block, to), lowest)
    }

    /// Goes from bucket to bucket and looks at the first price of each; empty ones cost nothing.
    fn lowest_of_buckets(
        &self,
        sales: &SalesOf,
        level: u8,
        (from, to): (u64, u64),
        lowest: &mut Lowest,
    ) -> Result<(), Error> {
        let mut next = Some(from);
        while let Some(bucket) = next.filter(|bucket| *bucket <= to) {
            let end = sales.price((level, to), U256::MAX, (u64::MAX, u32::MAX));
            let start = sales.price((level, bucket), U256::ZERO, (0, 0));
            let first = self.snapshot.range(&self.tables.nft_lowest, start..=end).next();
            let Some(item) = first else { return Ok(()) };
            let (found, price, number, place) = end_of_price_key(&item.key()?).ok_or(BROKEN)?;
            lowest.offer((price, number, place));
            next = found.checked_add(1);
        }
        Ok(())
    }

    /// Says whether it came to an end: the lowest of the bucket's sales from that block on is known.
    fn lowest_of_cut_bucket(
        &self,
        sales: &SalesOf,
        (level, shift): Level,
        from_block: u64,
        lowest: &mut Lowest,
    ) -> Result<bool, Error> {
        let at = (level, from_block >> shift);
        let start = sales.price(at, U256::ZERO, (0, 0));
        let end = sales.price(at, U256::MAX, (u64::MAX, u32::MAX));
        let sold = self.snapshot.range(&self.tables.nft_lowest, start..=end);
        for (steps, item) in sold.enumerate() {
            let (_, price, number, place) = end_of_price_key(&item.key()?).ok_or(BROKEN)?;
            if number >= from_block {
                // Of one price the oldest comes first.
                lowest.offer((price, number, place));
                return Ok(true);
            }
            if lowest.0.is_some_and(|known| known.0 < price) {
                return Ok(true);
            }
            if steps == OLDER_SALES_MAX {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn lowest_of_blocks(
        &self,
        sales: &SalesOf,
        (from, to): (u64, u64),
        lowest: &mut Lowest,
    ) -> Result<(), Error> {
        let range = sales.trade(to, u32::MAX)..=sales.trade(from, 0);
        let mut facts = None;
        for item in self.snapshot.range(&self.tables.nft_trades, range) {
            let (number, place) = place_at_end(&item.key()?).ok_or(BROKEN)?;
            let row = self.facts_again(sales, number, &mut facts)?;
            let trade = row.trades.get(place as usize).ok_or(BROKEN)?;
            if trade.in_native && trade.price > U256::ZERO {
                lowest.offer((trade.price, number, place));
            }
        }
        Ok(())
    }

    fn sales(
        &self,
        chain: ChainId,
        contract: Address,
        market: Option<Market>,
    ) -> Result<SalesOf, Error> {
        let generation = self.version(chain)?.generation;
        Ok(SalesOf { chain, generation, contract, market })
    }

    /// Sales of one block stand together, so its facts are read once.
    fn facts_again<'a>(
        &self,
        sales: &SalesOf,
        number: u64,
        last: &'a mut Option<(u64, FactsRow)>,
    ) -> Result<&'a FactsRow, Error> {
        if last.as_ref().is_none_or(|(known, _)| *known != number) {
            *last = Some((number, self.facts_row(sales, number)?));
        }
        last.as_ref().map(|(_, row)| row).ok_or(BROKEN)
    }

    fn facts_row(&self, sales: &SalesOf, number: u64) -> Result<FactsRow, Error> {
        let key = keys::facts(sales.chain, sales.generation, number);
        let row = self.snapshot.get(&self.tables.facts, key)?;
        row.and_then(|row| FactsRow::unpack(&row)).ok_or(BROKEN)
    }
}

/// Reads sales one by one; neighbours are found where the last one was.
struct TradeRows<'a> {
    facts: Option<(u64, FactsRow)>,
    txs: TxReader<'a>,
}

impl TradeRows<'_> {
    fn read(&mut self, view: &View, sales: &SalesOf, at: TradePlace) -> Result<StoredTrade, Error> {
        let row = view.facts_again(sales, at.0, &mut self.facts)?;
        let trade = row.trades.get(at.1 as usize).cloned().ok_or(BROKEN)?;
        let tx = self.txs.read(at.0, trade.tx_index)?.ok_or(BROKEN)?;
        Ok(StoredTrade { place: at, trade, tx })
    }
}

/// Price, block and place of the lowest so far.
#[derive(Default)]
struct Lowest(Option<(U256, u64, u32)>);

impl Lowest {
    fn offer(&mut self, found: (U256, u64, u32)) {
        self.0 = Some(self.0.map_or(found, |known| known.min(found)));
    }
}

const BROKEN: Error = Error::Broken { what: "NFT trade" };
