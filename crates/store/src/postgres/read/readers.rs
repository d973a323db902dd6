//! The journal, who reads it, and rows that readers keep.

use model::chain::ChainId;
use tokio_postgres::Row;

use super::View;
use crate::Error;
use crate::journal::{Entry, EntryKind, Origin, ReaderCursor, ReaderRow};
use crate::postgres::chain_row::hash;
use crate::postgres::numbers::{sql, sql_limit, u64_at};

const ENTRIES: &str = "select seq, kind, origin, number, hash from journal where chain = $1 and seq > $2 \
     order by seq limit $3";
const READERS: &str =
    "select name, seq, start, next from readers where chain = $1 order by name collate \"C\"";
pub const READER: &str =
    "select name, seq, start, next from readers where chain = $1 and name = $2";
/// Keys from a prefix on, up to the first that does not begin so.
const ROWS: &str = "select key, value from reader_rows where chain = $1 and name = $2 and key >= $3 \
     and ($4::bytea is null or key < $4) order by key limit $5";

pub fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Apply => "apply",
        EntryKind::Revert => "revert",
        EntryKind::Amend => "amend",
    }
}

pub fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Head => "head",
        Origin::History => "history",
        Origin::Import => "import",
    }
}

fn entry(row: &Row) -> Entry {
    Entry {
        seq: u64_at(row, 0),
        kind: match row.get::<_, &str>(1) {
            "apply" => EntryKind::Apply,
            "revert" => EntryKind::Revert,
            _ => EntryKind::Amend,
        },
        origin: match row.get::<_, &str>(2) {
            "head" => Origin::Head,
            "history" => Origin::History,
            _ => Origin::Import,
        },
        number: u64_at(row, 3),
        hash: hash(row.get(4)),
    }
}

pub fn cursor(row: &Row) -> ReaderCursor {
    ReaderCursor { seq: u64_at(row, 1), start: u64_at(row, 2), next: u64_at(row, 3) }
}

impl View {
    pub async fn journal_after(
        &self,
        chain: ChainId,
        seq: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let params: [super::Param; 3] = [&sql(chain.0), &sql(seq), &sql_limit(limit)];
        Ok(self.connection.query(ENTRIES, &params).await?.iter().map(entry).collect())
    }

    pub async fn readers(&self, chain: ChainId) -> Result<Vec<(String, ReaderCursor)>, Error> {
        let rows = self.connection.query(READERS, &[&sql(chain.0)]).await?;
        Ok(rows.iter().map(|row| (row.get(0), cursor(row))).collect())
    }

    pub async fn reader_cursor(
        &self,
        chain: ChainId,
        name: &str,
    ) -> Result<Option<ReaderCursor>, Error> {
        let row = self.connection.first(READER, &[&sql(chain.0), &name]).await?;
        Ok(row.as_ref().map(cursor))
    }

    pub async fn reader_rows(
        &self,
        (chain, name): (ChainId, &str),
        prefix: &[u8],
        limit: usize,
    ) -> Result<Vec<ReaderRow>, Error> {
        let end = crate::embedded::streams::keys::after_all_of(prefix);
        let params: [super::Param; 5] = [&sql(chain.0), &name, &prefix, &end, &sql_limit(limit)];
        let rows = self.connection.query(ROWS, &params).await?;
        let row = |row: &Row| ReaderRow { key: row.get(0), value: Some(row.get(1)) };
        Ok(rows.iter().map(row).collect())
    }
}
