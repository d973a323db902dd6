//! Streams as their tenants set them.

use super::keys;
use super::queue_row::QueueRow;
use super::{BROKEN_QUEUE, BROKEN_STREAM};
use crate::Error;
use crate::embedded::codec::{put_counted, take_text};
use crate::embedded::engine::{Durability, Op, Slice};
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::streams::{StreamId, StreamRow};

/// Without the id, which is the key.
pub fn pack_stream(row: &StreamRow) -> Vec<u8> {
    let mut out = Vec::with_capacity(row.body.len() + row.tenant.len() + 2);
    put_counted(&mut out, row.tenant.as_bytes());
    out.extend_from_slice(&row.body);
    out
}

pub fn unpack_stream(key: &[u8], mut row: &[u8]) -> Option<StreamRow> {
    let id: [u8; 16] = key.try_into().ok()?;
    let tenant = take_text(&mut row)?.to_owned();
    Some(StreamRow { id: StreamId::from(id), tenant, body: row.to_vec() })
}

impl View {
    /// Also of a stream that is being removed.
    pub fn queue_row(&self, stream: StreamId) -> Result<Option<QueueRow>, Error> {
        match self.snapshot.get(&self.tables.stream_queues, stream)? {
            Some(row) => QueueRow::unpack(&row).map(Some).ok_or(BROKEN_QUEUE),
            None => Ok(None),
        }
    }

    /// The same of one that is not.
    pub fn live_queue(&self, stream: StreamId) -> Result<Option<QueueRow>, Error> {
        Ok(self.queue_row(stream)?.filter(|row| !row.is_removed))
    }
}

impl Store {
    pub fn streams(&self) -> Result<Vec<StreamRow>, Error> {
        let view = self.view()?;
        let mut streams = Vec::new();
        for item in view.snapshot.iter(&view.tables.streams) {
            let (key, row) = item.into_inner()?;
            streams.push(unpack_stream(&key, &row).ok_or(BROKEN_STREAM)?);
        }
        Ok(streams)
    }

    pub fn put_stream(&self, row: &StreamRow) -> Result<(), Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let t = &view.tables;
        let known = view.queue_row(row.id)?;
        // Whoever changes it while it is being removed came too late.
        if known.as_ref().is_some_and(|known| known.is_removed) {
            return Ok(());
        }
        let key = Slice::from(row.id.as_slice());
        let value = Some(pack_stream(row).into());
        let mut ops = vec![Op { table: t.streams.clone(), key: key.clone(), value }];
        if known.is_none() {
            let value = Some(QueueRow::new(&row.tenant).pack().into());
            ops.push(Op { table: t.stream_queues.clone(), key, value });
        }
        self.inner.write(ops, Durability::Disk, None)
    }

    pub fn stream_settings(&self, tenant: &str) -> Result<Option<Vec<u8>>, Error> {
        let view = self.view()?;
        let row = view.snapshot.get(&view.tables.stream_settings, keys::tenant(tenant))?;
        Ok(row.map(|row| row.to_vec()))
    }

    pub fn put_stream_settings(&self, tenant: &str, body: &[u8]) -> Result<(), Error> {
        let table = self.inner.database()?.tables.stream_settings.clone();
        self.put(&table, &keys::tenant(tenant), Some(body.to_vec()), Durability::Disk)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (id, tenant, body) in (any::<[u8; 16]>(), ".{0,9}", any::<Vec<u8>>()),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let row = StreamRow { id: id.into(), tenant, body };
            prop_assert_eq!(unpack_stream(&id, &pack_stream(&row)), Some(row));
            let _ = (unpack_stream(&id, &bytes), unpack_stream(&bytes, &bytes));
        }
    }
}
