//! The addresses that a stream watches.

use std::collections::BTreeSet;
use std::ops::Bound;

use alloy_primitives::Address;

use super::batch::StreamBatch;
use super::{BROKEN_STREAM, keys};
use crate::Error;
use crate::embedded::engine::Durability;
use crate::embedded::open::Store;
use crate::streams::StreamId;

impl Store {
    pub fn change_stream_addresses(
        &self,
        stream: StreamId,
        add: &[Address],
        remove: &[Address],
    ) -> Result<u64, Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let table = &view.tables.stream_addresses;
        let mut batch = StreamBatch::new(&view);
        let Some(mut count) = batch.queue(stream)?.map(|row| row.addresses) else { return Ok(0) };
        // In the order of their keys: neighbours are found together.
        let add: BTreeSet<&Address> = add.iter().collect();
        let remove: BTreeSet<&Address> = remove.iter().filter(|it| !add.contains(it)).collect();
        for address in remove {
            let key = keys::address(stream, *address);
            if view.snapshot.get(table, key)?.is_some() {
                batch.remove(table, &key);
                count = count.saturating_sub(1);
            }
        }
        for address in add {
            let key = keys::address(stream, *address);
            if view.snapshot.get(table, key)?.is_none() {
                batch.put(table, &key, Vec::new());
                count += 1;
            }
        }
        if let Some(row) = batch.queue(stream)? {
            row.addresses = count;
        }
        self.inner.write(batch.into_ops(), Durability::Disk, None)?;
        Ok(count)
    }

    pub fn stream_addresses(
        &self,
        stream: StreamId,
        after: Option<Address>,
        limit: usize,
    ) -> Result<Vec<Address>, Error> {
        let view = self.view()?;
        let highest = Address::repeat_byte(u8::MAX);
        if after == Some(highest) || view.live_queue(stream)?.is_none() {
            return Ok(Vec::new());
        }
        let first = match after {
            Some(after) => Bound::Excluded(keys::address(stream, after)),
            None => Bound::Included(keys::address(stream, Address::ZERO)),
        };
        let last = Bound::Included(keys::address(stream, highest));
        let mut addresses = Vec::new();
        let rows = view.snapshot.range(&view.tables.stream_addresses, (first, last));
        for item in rows.take(limit) {
            addresses.push(keys::address_of(&item.key()?).ok_or(BROKEN_STREAM)?);
        }
        Ok(addresses)
    }

    pub fn stream_address_count(&self, stream: StreamId) -> Result<u64, Error> {
        Ok(self.view()?.live_queue(stream)?.map_or(0, |row| row.addresses))
    }
}
