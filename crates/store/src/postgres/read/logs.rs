//! Logs by address, topics and range. The server chooses the index by what is rare.

use std::collections::BTreeSet;

use alloy_primitives::B256;
use model::raw::Log;
use tokio_postgres::Row;

use super::View;
use super::block::{BROKEN_LOG, log_row};
use crate::Error;
use crate::block::BlockSummary;
use crate::embedded::codec::groups;
use crate::postgres::numbers::{sql, sql_limit, u64_at};
use crate::postgres::prepare::StandardLog;
use crate::query::{LogsCost, LogsPage, LogsQuery};

macro_rules! chosen {
    () => {
        "from logs l where l.chain = $1 and l.number between $2 and $3 \
         and ($4::bytea[] is null or l.address = any($4)) and ($5::bytea[] is null or l.topic0 = any($5)) \
         and ($6::bytea[] is null or l.topic1 = any($6)) and ($7::bytea[] is null or l.topic2 = any($7)) \
         and ($8::bytea[] is null or l.topic3 = any($8)) and ($9 < 1 or l.topic0 is not null) \
         and ($9 < 2 or l.topic1 is not null) and ($9 < 3 or l.topic2 is not null) \
         and ($9 < 4 or l.topic3 is not null)"
    };
}

const PAGE: &str = concat!(
    "select l.number, l.tx_index, l.place, l.log_index, l.address, l.topic0, l.topic1, l.topic2, l.topic3, l.data, \
     l.form, l.packed, t.hash, b.hash, b.timestamp from (select l.* ",
    chosen!(),
    " order by l.number, l.tx_index, l.place limit $10) l \
     join transactions t on t.chain = $1 and t.number = l.number and t.tx_index = l.tx_index \
     join blocks b on b.chain = $1 and b.number = l.number order by l.number, l.tx_index, l.place"
);
const NEXT: &str = concat!("select min(l.number) ", chosen!());

/// A filter as the parameters of a query; none where nothing can be found.
struct Filter {
    chain: i64,
    addresses: Option<Vec<Vec<u8>>>,
    topics: [Option<Vec<Vec<u8>>>; 4],
    topics_min: i32,
}

impl Filter {
    fn of(q: &LogsQuery) -> Option<Self> {
        // No log of a chain has more topics; more of them in a filter find nothing.
        let topics_min = i32::try_from(q.topics.len()).ok().filter(|count| *count <= 4)?;
        let list = |at: usize| {
            let topics = q.topics.get(at).filter(|topics| !topics.is_empty())?;
            Some(topics.iter().map(|topic: &B256| topic.to_vec()).collect())
        };
        let addresses = q.addresses.iter().map(|address| address.to_vec()).collect();
        Some(Filter {
            chain: sql(q.chain.0),
            addresses: Some(addresses).filter(|list: &Vec<_>| !list.is_empty()),
            topics: [list(0), list(1), list(2), list(3)],
            topics_min,
        })
    }

    async fn page(&self, view: &View, range: (u64, u64), limit: i64) -> Result<Vec<Row>, Error> {
        let [t0, t1, t2, t3] = &self.topics;
        let (from, to) = (sql(range.0), sql(range.1));
        let params: [super::Param; 10] =
            [&self.chain, &from, &to, &self.addresses, t0, t1, t2, t3, &self.topics_min, &limit];
        view.connection.query(PAGE, &params).await
    }

    /// The first block from `from` on with a log that is wanted.
    async fn next(&self, view: &View, from: u64, to: u64) -> Result<Option<u64>, Error> {
        let [t0, t1, t2, t3] = &self.topics;
        let (from, to) = (sql(from), sql(to));
        let params: [super::Param; 9] =
            [&self.chain, &from, &to, &self.addresses, t0, t1, t2, t3, &self.topics_min];
        let row = view.connection.first(NEXT, &params).await?;
        Ok(row.and_then(|row| row.get::<_, Option<i64>>(0)).map(|number| number as u64))
    }
}

impl View {
    pub async fn logs(&self, q: &LogsQuery) -> Result<LogsPage, Error> {
        let mut page = LogsPage::default();
        let Some(filter) = Filter::of(q).filter(|_| q.from_block <= q.to_block) else {
            return Ok(page);
        };
        if q.limit == 0 {
            page.next_block = filter.next(self, q.from_block, q.to_block).await?;
            return Ok(page);
        }
        let limit = sql_limit(q.limit);
        let range = (q.from_block, q.to_block);
        let mut rows = filter.page(self, range, limit.saturating_add(1)).await?;
        if rows.len() > q.limit {
            // The block in which the limit is reached is given as a whole.
            let last = rows.get(q.limit - 1).map_or(0, |row| u64_at(row, 0));
            rows.retain(|row| u64_at(row, 0) < last);
            rows.extend(filter.page(self, (last, last), i64::MAX).await?);
            page.next_block = filter.next(self, last.saturating_add(1), q.to_block).await?;
        }
        let mut read = BTreeSet::new();
        for row in &rows {
            let log = log_of(row)?;
            let columns = log_row(row, 1);
            read.insert((u64_at(row, 0), groups::of(columns.tx_index)));
            page.logs.push(log);
        }
        let blocks: BTreeSet<u64> = read.iter().map(|(number, _)| *number).collect();
        // What the server read to find them it does not say.
        page.cost = LogsCost { words: blocks.len() as u64, groups: read.len() as u64 };
        Ok(page)
    }
}

fn log_of(row: &Row) -> Result<Log, Error> {
    let summary = BlockSummary {
        number: u64_at(row, 0),
        hash: B256::try_from(row.get::<_, &[u8]>(13)).map_err(|_| BROKEN_LOG)?,
        timestamp: u64_at(row, 14),
        proof: Default::default(),
        tx_count: 0,
        has_traces: false,
    };
    let tx_hash = row.get::<_, Option<&[u8]>>(12).and_then(|hash| B256::try_from(hash).ok());
    let columns = log_row(row, 1);
    StandardLog::of(&summary, columns.tx_index, tx_hash).read(&columns).ok_or(BROKEN_LOG)
}
