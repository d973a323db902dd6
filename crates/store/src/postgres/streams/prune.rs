//! Forgets deliveries that ended long ago, and what is listed of attempts as old.

use crate::Error;
use crate::postgres::connection::Param;
use crate::postgres::numbers::{sql, sql_limit};
use crate::postgres::store::Store;

/// Deliveries of one write; others that want to write wait for no more than this.
const AT_ONCE: usize = 1024;

/// Of one whose turn came early the queue must know until those below it were tried. Once a delivery is forgotten,
/// nothing can amend it: a match that waits for nothing but traces goes with it.
const PRUNE: &str = "with gone as (select d.stream, d.seq, d.chain, d.number, d.traces_missing, d.failed_ms, \
     d.failed_retries, q.tenant from deliveries d join stream_queues q on q.stream = d.stream \
     where d.ended_ms is not null and d.ended_ms < $1 and not q.is_removed and d.seq <= q.tried_seq \
     order by d.ended_ms, d.stream, d.seq limit $2 for update of d), \
     matches as (delete from stream_matches m using gone g where g.traces_missing and m.stream = g.stream \
     and m.chain = g.chain and m.number = g.number and m.parts = 0 and m.first_seq = g.seq), \
     failed as (delete from stream_failed f using gone g where f.tenant = g.tenant and f.at_ms = g.failed_ms \
     and f.stream = g.stream and f.seq = g.seq and f.retries = g.failed_retries) \
     delete from deliveries d using gone g where d.stream = g.stream and d.seq = g.seq";
const PRUNE_ATTEMPTS: &str = "delete from stream_attempts where at_ms < $1";

impl Store {
    pub async fn prune_deliveries(&self, before_ms: u64, limit: usize) -> Result<usize, Error> {
        self.finish_removals().await?;
        let (before, mut pruned) = (sql(before_ms), 0);
        while pruned < limit {
            let some = AT_ONCE.min(limit - pruned);
            let params: [Param; 2] = [&before, &sql_limit(some)];
            let gone = self.inner.pool.get().await?.execute(PRUNE, &params).await? as usize;
            pruned += gone;
            if gone < some {
                break;
            }
        }
        self.inner.pool.get().await?.execute(PRUNE_ATTEMPTS, &[&before]).await?;
        Ok(pruned)
    }
}
