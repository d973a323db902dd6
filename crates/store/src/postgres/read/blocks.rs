//! Which blocks are stored, what they hold, when they were.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Header};

use super::View;
use super::block::{BROKEN_HEADER, BlockParts, read_blocks};
use crate::Error;
use crate::block::BlockSummary;
use crate::embedded::codec::rows::unpack_header;
use crate::postgres::numbers::{sql, sql_limit, u64_at};

const HEADER: &str = "select packed from blocks where chain = $1 and number = $2";
const BY_HASH: &str = "select max(number) from blocks where chain = $1 and hash = $2";
const FROM_TIME: &str = "select number from blocks where chain = $1 and timestamp >= $2 order by timestamp, number limit 1";
const UNTIL_TIME: &str = "select number from blocks where chain = $1 and timestamp <= $2 order by timestamp desc, number desc limit 1";
const UNTRACED: &str = "select number from blocks where chain = $1 and number < $2 and tx_count > 0 and not has_traces \
     order by number desc limit $3";
const RECEIPTLESS: &str = "select number from blocks where chain = $1 and number between $2 and $3 \
     and receipt_count < tx_count order by number limit 1";

impl View {
    pub async fn head(&self, chain: ChainId) -> Result<Option<BlockSummary>, Error> {
        match self.coverage(chain).newest() {
            Some(number) => self.block_summary(chain, number).await,
            None => Ok(None),
        }
    }

    async fn header_row(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<(BlockSummary, Header)>, Error> {
        let row = self.connection.first(HEADER, &[&sql(chain.0), &sql(number)]).await?;
        let Some(row) = row else { return Ok(None) };
        unpack_header(number, row.get(0)).map(Some).ok_or(BROKEN_HEADER)
    }

    pub async fn block_summary(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<BlockSummary>, Error> {
        Ok(self.header_row(chain, number).await?.map(|(summary, _)| summary))
    }

    pub async fn header(&self, chain: ChainId, number: u64) -> Result<Option<Header>, Error> {
        Ok(self.header_row(chain, number).await?.map(|(_, header)| header))
    }

    pub async fn parent_hash(&self, chain: ChainId, number: u64) -> Result<Option<B256>, Error> {
        Ok(self.header(chain, number).await?.and_then(|header| header.parent_hash))
    }

    pub async fn number_of(&self, chain: ChainId, hash: B256) -> Result<Option<u64>, Error> {
        let row = self.connection.first(BY_HASH, &[&sql(chain.0), &hash.as_slice()]).await?;
        Ok(row.and_then(|row| row.get::<_, Option<i64>>(0)).map(|number| number as u64))
    }

    pub async fn read_block(
        &self,
        chain: ChainId,
        number: u64,
        parts: BlockParts,
    ) -> Result<Option<(Block, Proof)>, Error> {
        Ok(read_blocks(&self.connection, chain, &[number], parts).await?.pop())
    }

    pub async fn first_block_from(
        &self,
        chain: ChainId,
        timestamp: u64,
    ) -> Result<Option<u64>, Error> {
        let row = self.connection.first(FROM_TIME, &[&sql(chain.0), &sql(timestamp)]).await?;
        Ok(row.map(|row| u64_at(&row, 0)))
    }

    pub async fn last_block_until(
        &self,
        chain: ChainId,
        timestamp: u64,
    ) -> Result<Option<u64>, Error> {
        let row = self.connection.first(UNTIL_TIME, &[&sql(chain.0), &sql(timestamp)]).await?;
        Ok(row.map(|row| u64_at(&row, 0)))
    }

    pub async fn untraced_blocks(
        &self,
        chain: ChainId,
        below: u64,
        limit: usize,
    ) -> Result<Vec<u64>, Error> {
        let (below, limit) = (sql(below), sql_limit(limit));
        let rows = self.connection.query(UNTRACED, &[&sql(chain.0), &below, &limit]).await?;
        Ok(rows.iter().map(|row| u64_at(row, 0)).collect())
    }

    pub async fn first_receiptless(
        &self,
        chain: ChainId,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, Error> {
        let row =
            self.connection.first(RECEIPTLESS, &[&sql(chain.0), &sql(from), &sql(to)]).await?;
        Ok(row.map(|row| u64_at(&row, 0)))
    }
}
