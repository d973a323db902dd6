//! Marks of journal readers whose cursors are in another database: so that no journal entry and no block goes that they still
//! need. A mark is a reader's row; it may be behind its reader, never ahead.

use model::chain::ChainId;

use super::connection::Param;
use super::numbers::{sql, stored};
use super::readers::LOCK;
use super::store::Store;
use crate::Error;
use crate::journal::ReaderCursor;

/// Only ever downwards: whoever is late does no harm.
const HOLD: &str = "insert into readers (chain, name, seq, start, next) values ($1, $2, $3, $4, $5) \
     on conflict (chain, name) do update set seq = least(readers.seq, excluded.seq), \
     start = least(readers.start, excluded.start), next = least(readers.next, excluded.next)";
/// Not by a process that was replaced: a later sequence is another's.
const FOLLOW: &str = "update readers set seq = $3, start = $4, next = $5 \
     where chain = $1 and name = $2 and seq <= $3";
const DROP: &str = "delete from readers where chain = $1 and name = $2";
const OWN: &str = "select name from readers where chain = $1 and starts_with(name, $2)";

impl Store {
    /// Before the reader is where it will be: nothing from there on may go.
    pub async fn hold_mark(
        &self,
        chain: ChainId,
        mark: &str,
        at: ReaderCursor,
    ) -> Result<(), Error> {
        let mut connection = self.inner.begin().await?;
        // No commit of blocks may prune the journal between the look and the write.
        connection.query(LOCK, &[&sql(chain.0)]).await?;
        let (seq, start) = (stored("reader", at.seq)?, stored("reader", at.start)?);
        let params: [Param; 5] = [&sql(chain.0), &mark, &seq, &start, &stored("reader", at.next)?];
        connection.execute(HOLD, &params).await?;
        connection.commit().await
    }

    /// After the reader got there.
    pub async fn follow_mark(
        &self,
        chain: ChainId,
        mark: &str,
        at: ReaderCursor,
    ) -> Result<(), Error> {
        let (seq, start) = (stored("reader", at.seq)?, stored("reader", at.start)?);
        let params: [Param; 5] = [&sql(chain.0), &mark, &seq, &start, &stored("reader", at.next)?];
        self.inner.pool.get().await?.execute(FOLLOW, &params).await.map(|_| ())
    }

    pub async fn drop_mark(&self, chain: ChainId, mark: &str) -> Result<(), Error> {
        let connection = self.inner.pool.get().await?;
        connection.execute(DROP, &[&sql(chain.0), &mark]).await.map(|_| ())
    }

    /// All marks of the chain whose names begin so.
    pub async fn marks(&self, chain: ChainId, prefix: &str) -> Result<Vec<String>, Error> {
        let rows = self.inner.pool.get().await?.query(OWN, &[&sql(chain.0), &prefix]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
