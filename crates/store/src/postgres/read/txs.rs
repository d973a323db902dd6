//! Single transactions, by their place or their hash.

use std::collections::HashMap;

use alloy_primitives::B256;
use model::chain::ChainId;
use model::raw::{Frame, Receipt};
use tokio_postgres::Row;

use super::View;
use super::block::{BROKEN_FRAME, BROKEN_TX, logs_of_tx, with_logs};
use crate::Error;
use crate::block::{BlockRef, StoredTx};
use crate::embedded::codec::Packed;
use crate::embedded::codec::rows::{TxPacker, TxRow};
use crate::postgres::numbers::{sql, u32_at, u64_at};
use crate::query::Place;

const BY_HASH: &str = "select number, tx_index from transactions where chain = $1 and hash = $2 \
     order by number, tx_index limit 1";
const TXS: &str = "select t.number, t.tx_index, t.packed, b.hash, b.timestamp, b.has_traces \
     from unnest($2::bigint[], $3::integer[]) with ordinality as p (number, tx_index, place) \
     join transactions t on t.chain = $1 and t.number = p.number and t.tx_index = p.tx_index \
     join blocks b on b.chain = $1 and b.number = p.number order by p.place";
const FRAMES: &str = "select f.number, f.tx_index, f.packed \
     from unnest($2::bigint[], $3::integer[]) as p (number, tx_index) \
     join internal_transactions f on f.chain = $1 and f.number = p.number and f.tx_index = p.tx_index \
     order by f.number, f.tx_index, f.place";
const LOGS: &str = "select number, tx_index, place, log_index, address, topic0, topic1, topic2, topic3, data, form, packed \
     from logs where chain = $1 and number = $2 and tx_index = $3 order by place";

/// Places as two lists, for a query.
fn lists(places: &[Place]) -> (Vec<i64>, Vec<i32>) {
    let index = |index: u32| i32::try_from(index).unwrap_or(i32::MAX);
    places.iter().map(|(number, at)| (sql(*number), index(*at))).unzip()
}

pub fn unpack_tx(chain: ChainId, row: &Row) -> Result<(BlockRef, TxRow), Error> {
    let block = BlockRef {
        number: u64_at(row, 0),
        hash: B256::try_from(row.get::<_, &[u8]>(3)).map_err(|_| BROKEN_TX)?,
        timestamp: u64_at(row, 4),
        has_traces: row.get(5),
    };
    let unpacked = TxPacker::new(&block, chain).unpack(u32_at(row, 1), row.get(2));
    Ok((block, unpacked.ok_or(BROKEN_TX)?))
}

impl View {
    pub async fn place_of_tx(&self, chain: ChainId, hash: B256) -> Result<Option<Place>, Error> {
        let row = self.connection.first(BY_HASH, &[&sql(chain.0), &hash.as_slice()]).await?;
        Ok(row.map(|row| (u64_at(&row, 0), u32_at(&row, 1))))
    }

    /// In the order of the places; those that are not stored are left out.
    pub async fn txs_at(&self, chain: ChainId, places: &[Place]) -> Result<Vec<StoredTx>, Error> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let (numbers, indexes) = lists(places);
        let rows = self.connection.query(TXS, &[&sql(chain.0), &numbers, &indexes]).await?;
        let stored = |row: &Row| {
            let (block, TxRow { tx, receipt, .. }) = unpack_tx(chain, row)?;
            Ok(StoredTx { block, index: u32_at(row, 1), tx, receipt, frames: None })
        };
        rows.iter().map(stored).collect()
    }

    pub async fn transaction(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<StoredTx>, Error> {
        Ok(self.txs_at(chain, &[(number, index)]).await?.pop())
    }

    /// Frames below the root, by place; nothing for those without.
    pub async fn frames_at(
        &self,
        chain: ChainId,
        places: &[Place],
    ) -> Result<HashMap<Place, Vec<Frame>>, Error> {
        let (numbers, indexes) = lists(places);
        let rows = self.connection.query(FRAMES, &[&sql(chain.0), &numbers, &indexes]).await?;
        let mut frames: HashMap<Place, Vec<Frame>> = HashMap::new();
        for row in &rows {
            let frame = Frame::unpack(&mut row.get::<_, &[u8]>(2)).ok_or(BROKEN_FRAME)?;
            frames.entry((u64_at(row, 0), u32_at(row, 1))).or_default().push(frame);
        }
        Ok(frames)
    }

    /// One receipt with its logs.
    pub async fn receipt(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<Receipt>, Error> {
        let (numbers, indexes) = lists(&[(number, index)]);
        let rows = self.connection.query(TXS, &[&sql(chain.0), &numbers, &indexes]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let (_, found) = unpack_tx(chain, row)?;
        let Some(summary) = self.block_summary(chain, number).await? else { return Ok(None) };
        let index = indexes.first().copied().unwrap_or_default();
        let logs = self.connection.query(LOGS, &[&sql(chain.0), &sql(number), &index]).await?;
        let logs = logs_of_tx(&summary, &found.tx, &logs)?;
        Ok(with_logs(&found, logs))
    }
}
