//! Removes a stream with all that hangs on it.
//!
//! The first write takes the stream's row and marks its queue: from then on nothing of it is seen, and nothing
//! can be added. The queue's row goes last. So a removal that is cut off is known, and pruning ends it.

use super::batch::StreamBatch;
use super::{BROKEN_ATTEMPT, BROKEN_DELIVERY, BROKEN_MATCH, BROKEN_QUEUE, keys};
use crate::Error;
use crate::embedded::engine::{Durability, Op, Slice, Table};
use crate::embedded::open::Store;
use crate::embedded::streams::queue_row::QueueRow;
use crate::streams::StreamId;

/// Removed in one write.
const ROWS_AT_ONCE: usize = 1024;

impl Store {
    pub fn remove_stream(&self, stream: StreamId) -> Result<bool, Error> {
        let Some(row) = self.mark_removed(stream)? else { return Ok(false) };
        self.finish_removal(stream, &row)?;
        Ok(true)
    }

    fn mark_removed(&self, stream: StreamId) -> Result<Option<QueueRow>, Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let Some(row) = view.queue_row(stream)? else { return Ok(None) };
        let row = QueueRow { is_removed: true, ..row };
        let (t, key) = (&view.tables, Slice::from(stream.as_slice()));
        let value = Some(row.pack().into());
        let ops = vec![
            Op { table: t.streams.clone(), key: key.clone(), value: None },
            Op { table: t.stream_queues.clone(), key, value },
        ];
        self.inner.write(ops, Durability::Disk, None)?;
        Ok(Some(row))
    }

    /// Streams whose removal was cut off.
    pub fn finish_removals(&self) -> Result<(), Error> {
        let mut removed = Vec::new();
        let view = self.view()?;
        for item in view.snapshot.iter(&view.tables.stream_queues) {
            let (key, row) = item.into_inner()?;
            let id: [u8; 16] = key.as_ref().try_into().map_err(|_| BROKEN_QUEUE)?;
            let row = QueueRow::unpack(&row).ok_or(BROKEN_QUEUE)?;
            if row.is_removed {
                removed.push((StreamId::from(id), row));
            }
        }
        drop(view);
        removed.iter().try_for_each(|(stream, row)| self.finish_removal(*stream, row))
    }

    pub fn finish_removal(&self, stream: StreamId, row: &QueueRow) -> Result<(), Error> {
        let tenant = keys::tenant(&row.tenant);
        while self.remove_some(stream, &tenant)? {}
        let view = self.view()?;
        self.remove_attempts_of(stream, (&tenant, &view.tables.stream_attempts))?;
        let _one_stream_write = self.one_stream_write();
        let is_marked = self.view()?.queue_row(stream)?.is_some_and(|row| row.is_removed);
        if !is_marked {
            // Somebody else was quicker.
            return Ok(());
        }
        let key = Slice::from(stream.as_slice());
        let op = Op { table: view.tables.stream_queues.clone(), key, value: None };
        self.inner.write(vec![op], Durability::Disk, None)
    }

    /// Deliveries, matches and addresses, a few at a time; false where there are none.
    fn remove_some(&self, stream: StreamId, tenant: &[u8]) -> Result<bool, Error> {
        let view = self.view()?;
        let (t, mut batch) = (&view.tables, StreamBatch::new(&view));
        for item in view.snapshot.prefix(&t.deliveries, stream).take(ROWS_AT_ONCE) {
            let (_, seq) = keys::stream_and_seq(&item.key()?).ok_or(BROKEN_DELIVERY)?;
            batch.drop_delivery(tenant, stream, seq)?;
        }
        for item in view.snapshot.prefix(&t.stream_matches, stream).take(ROWS_AT_ONCE) {
            let key = item.key()?;
            let (_, chain, number) = keys::parts_of_match(&key).ok_or(BROKEN_MATCH)?;
            batch.remove(&t.stream_matches, &key);
            let by_block = keys::match_by_block(chain, number, stream);
            batch.remove(&t.stream_matches_by_block, &by_block);
        }
        for item in view.snapshot.prefix(&t.stream_addresses, stream).take(ROWS_AT_ONCE) {
            batch.remove(&t.stream_addresses, &item.key()?);
        }
        let ops = batch.into_ops();
        if ops.is_empty() {
            return Ok(false);
        }
        self.inner.write(ops, Durability::Process, None)?;
        Ok(true)
    }

    /// They are sorted by time, so all of the tenant's are looked at.
    fn remove_attempts_of(
        &self,
        stream: StreamId,
        (tenant, table): (&[u8], &Table),
    ) -> Result<(), Error> {
        let view = self.view()?;
        let mut ops = Vec::new();
        for item in view.snapshot.prefix(table, tenant) {
            let key = item.key()?;
            let rest = key.strip_prefix(tenant);
            let at = rest.and_then(keys::anchor).ok_or(BROKEN_ATTEMPT)?;
            if at.stream == stream {
                ops.push(Op { table: table.clone(), key, value: None });
            }
            if ops.len() == ROWS_AT_ONCE {
                self.inner.write(std::mem::take(&mut ops), Durability::Process, None)?;
            }
        }
        if ops.is_empty() {
            return Ok(());
        }
        self.inner.write(ops, Durability::Process, None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::damaged::{Filled, STREAM};
    use super::*;

    #[test]
    fn a_removal_that_is_cut_off_is_not_seen_and_pruning_ends_it() {
        let filled = Filled::new();
        let store = &filled.store;
        store.mark_removed(STREAM).unwrap();
        // Some of it is gone, as if the process had ended there.
        let tenant = keys::tenant("ours");
        let view = store.view().unwrap();
        let mut batch = StreamBatch::new(&view);
        batch.drop_delivery(&tenant, STREAM, 2).unwrap();
        store.inner.write(batch.into_ops(), Durability::Disk, None).unwrap();
        drop(view);
        assert_eq!(filled.questions(), Filled::empty().questions());
        assert!(store.check(&|_| ()).unwrap().holds());
        // Who writes it now came too late.
        filled.write_again().unwrap();
        assert_eq!(filled.questions(), Filled::empty().questions());
        assert_ne!(filled.rows(), []);
        assert_eq!(store.prune_deliveries(0, 0).unwrap(), 0);
        assert_eq!(filled.rows(), []);
        assert!(!store.remove_stream(STREAM).unwrap());
    }
}
