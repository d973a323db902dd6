//! Sales of an NFT contract: a page of them, and the cheapest.

use std::collections::HashMap;

use model::chain::ChainId;

use super::View;
use crate::Error;
use crate::embedded::facts::FactsRow;
use crate::postgres::numbers::{sql, sql_limit, u32_at, u64_at};
use crate::query::{LowestTradeQuery, StoredTrade, TradePlace, TradesPage, TradesQuery};

const BROKEN: Error = Error::Broken { what: "NFT trade" };

const PAGE: &str = "select number, place from trades where chain = $1 and generation = $2 and contract = $3 \
     and ($4::smallint is null or market = $4) and number >= $5 and (number, place) <= ($6, $7) \
     order by number desc, place desc limit $8";
const LOWEST: &str = "select number, place from trades where chain = $1 and generation = $2 and contract = $3 \
     and ($4::smallint is null or market = $4) and number >= $5 and in_native and price > 0 \
     order by price, number, place limit 1";
const FACTS: &str =
    "select number, packed from facts where chain = $1 and generation = $2 and number = any($3)";

impl View {
    pub async fn trades_page(&self, q: &TradesQuery) -> Result<TradesPage, Error> {
        let mut page = TradesPage { trades: Vec::new(), more: false };
        let Some(newest) = q.newest() else { return Ok(page) };
        let params: [super::Param; 8] = [
            &sql(q.chain.0),
            &i16::from(self.version(q.chain).generation),
            &q.contract.as_slice(),
            &q.market.map(|market| i16::from(market.code())),
            &sql(q.from_block),
            &sql(newest.0),
            &i32::try_from(newest.1).unwrap_or(i32::MAX),
            &sql_limit(q.limit).saturating_add(1),
        ];
        let rows = self.connection.query(PAGE, &params).await?;
        page.more = rows.len() > q.limit;
        let places: Vec<TradePlace> =
            rows.iter().take(q.limit).map(|row| (u64_at(row, 0), u32_at(row, 1))).collect();
        page.trades = self.trades_at(q.chain, &places).await?;
        Ok(page)
    }

    pub async fn lowest_trade(&self, q: &LowestTradeQuery) -> Result<Option<StoredTrade>, Error> {
        let params: [super::Param; 5] = [
            &sql(q.chain.0),
            &i16::from(self.version(q.chain).generation),
            &q.contract.as_slice(),
            &q.market.map(|market| i16::from(market.code())),
            &sql(q.from_block),
        ];
        let Some(row) = self.connection.first(LOWEST, &params).await? else { return Ok(None) };
        let place = (u64_at(&row, 0), u32_at(&row, 1));
        Ok(self.trades_at(q.chain, &[place]).await?.pop())
    }

    /// With the transactions that they were made in.
    async fn trades_at(
        &self,
        chain: ChainId,
        places: &[TradePlace],
    ) -> Result<Vec<StoredTrade>, Error> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let mut numbers: Vec<i64> = places.iter().map(|(number, _)| sql(*number)).collect();
        numbers.dedup();
        let generation = i16::from(self.version(chain).generation);
        let rows = self.connection.query(FACTS, &[&sql(chain.0), &generation, &numbers]).await?;
        let mut facts: HashMap<u64, FactsRow> = HashMap::new();
        for row in &rows {
            facts.insert(u64_at(row, 0), FactsRow::unpack(row.get(1)).ok_or(BROKEN)?);
        }
        let mut trades = Vec::with_capacity(places.len());
        for (number, place) in places {
            let row = facts.get(number).ok_or(BROKEN)?;
            trades.push(row.trades.get(*place as usize).cloned().ok_or(BROKEN)?);
        }
        let of_tx: Vec<_> =
            places.iter().zip(&trades).map(|(at, it)| (at.0, it.tx_index)).collect();
        let txs = self.txs_at(chain, &of_tx).await?;
        if txs.len() != trades.len() {
            return Err(BROKEN);
        }
        let sold = places.iter().zip(trades).zip(txs);
        Ok(sold.map(|((place, trade), tx)| StoredTrade { place: *place, trade, tx }).collect())
    }
}
