//! Forgets deliveries that ended long ago, and what is listed of attempts as old.

use super::batch::StreamBatch;
use super::{BROKEN_ATTEMPT, BROKEN_DELIVERY, keys};
use crate::Error;
use crate::embedded::engine::{Durability, Op};
use crate::embedded::open::Store;
use crate::streams::StreamId;

/// Deliveries of one write; others that want to write wait for no more than this.
const DELIVERIES_AT_ONCE: usize = 1024;
const ROWS_AT_ONCE: usize = 4096;

impl Store {
    pub fn prune_deliveries(&self, before_ms: u64, limit: usize) -> Result<usize, Error> {
        self.finish_removals()?;
        let mut from = keys::end(0, StreamId::ZERO, 0).to_vec();
        let mut pruned = 0;
        while pruned < limit {
            let at_once = DELIVERIES_AT_ONCE.min(limit - pruned);
            let some = self.prune_some(&from, before_ms, at_once)?;
            pruned += some.pruned;
            match some.next {
                Some(next) => from = next,
                None => break,
            }
        }
        self.prune_attempts(before_ms)?;
        Ok(pruned)
    }

    fn prune_some(&self, from: &[u8], before_ms: u64, limit: usize) -> Result<PrunedSome, Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let mut batch = StreamBatch::new(&view);
        let (mut pruned, mut next) = (0, None);
        let end = keys::end(before_ms, StreamId::ZERO, 0).to_vec();
        for item in view.snapshot.range(&view.tables.delivery_ends, from.to_vec()..end) {
            let key = item.key()?;
            if pruned == limit {
                next = Some(key.to_vec());
                break;
            }
            let (_, stream, seq) = keys::parts_of_end(&key).ok_or(BROKEN_DELIVERY)?;
            // One that is being removed goes with its stream. Of one whose turn came early the queue must
            // know until those below it were tried.
            let Some(row) = batch.queue(stream)?.filter(|row| seq <= row.queue.tried_seq) else {
                continue;
            };
            let tenant = keys::tenant(&row.tenant);
            batch.drop_marker(stream, seq)?;
            batch.drop_delivery(&tenant, stream, seq)?;
            pruned += 1;
        }
        if pruned > 0 {
            self.inner.write(batch.into_ops(), Durability::Process, None)?;
        }
        Ok(PrunedSome { pruned, next })
    }

    /// All that are older, of whatever delivery, tenant by tenant.
    fn prune_attempts(&self, before_ms: u64) -> Result<(), Error> {
        let view = self.view()?;
        let table = &view.tables.stream_attempts;
        let Some(newest_ms) = before_ms.checked_sub(1) else { return Ok(()) };
        let mut from = Some(vec![0]);
        let mut ops = Vec::new();
        while let Some(key) = from {
            let mut rows = view.snapshot.range(table, key..);
            let Some(key) = rows.next().map(|item| item.key()).transpose()? else { break };
            let tenant = keys::tenant_part(&key).ok_or(BROKEN_ATTEMPT)?;
            from = keys::after_all_of(tenant);
            let Some(end) = from.clone() else { break };
            let old = keys::attempts_until(tenant, newest_ms);
            for item in view.snapshot.range(table, old..end) {
                ops.push(Op { table: table.clone(), key: item.key()?, value: None });
                if ops.len() == ROWS_AT_ONCE {
                    self.inner.write(std::mem::take(&mut ops), Durability::Process, None)?;
                }
            }
        }
        if ops.is_empty() {
            return Ok(());
        }
        self.inner.write(ops, Durability::Process, None)
    }
}

struct PrunedSome {
    pruned: usize,
    /// Where the next ones begin.
    next: Option<Vec<u8>>,
}
