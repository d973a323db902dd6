//! Streams that are copied from another store, or into one.

use super::attempt_row::AttemptRow;
use super::batch::StreamBatch;
use super::definitions::pack_stream;
use super::delivery_row::pack_delivery;
use super::match_row::MatchRow;
use super::queue_row::QueueRow;
use super::state_row::StateRow;
use super::{BROKEN_BODY, BROKEN_STREAM, keys};
use crate::Error;
use crate::embedded::engine::{Durability, Op, Slice, Table};
use crate::embedded::open::Store;
use crate::streams::{
    CopiedStream, ListedAttempt, StoredDelivery, StreamId, StreamPart, StreamRow, is_gone,
};

impl StoredDelivery {
    fn state_row(&self) -> StateRow {
        let (state, failed) = (self.delivery.state.clone(), self.failed);
        StateRow { state, failed, ended_ms: self.ended_ms }
    }

    /// All of it but the body, whichever engine it came from.
    pub fn pack(&self) -> [Vec<u8>; 2] {
        [pack_delivery(&self.delivery), self.state_row().pack()]
    }
}

impl ListedAttempt {
    pub fn pack(&self) -> Vec<u8> {
        let (chain, number, log) = (self.chain, self.number, self.log.clone());
        AttemptRow { chain, number, log }.pack()
    }
}

impl CopiedStream {
    pub fn queue_row(&self) -> QueueRow {
        let CopiedStream { row, queue, totals, addresses } = self;
        let (queue, totals) = (*queue, *totals);
        let tenant = row.tenant.clone();
        QueueRow { tenant, is_removed: false, queue, totals, addresses: *addresses }
    }
}

impl Store {
    pub fn stored_deliveries(
        &self,
        stream: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<StoredDelivery>, Error> {
        let found = self.deliveries(stream, from_seq, limit)?.into_iter();
        let stored = found.map(|delivery| {
            let state = self.view()?.state_row(stream, delivery.seq)?.unwrap_or_default();
            let body = self.delivery_body(stream, delivery.seq)?.ok_or(BROKEN_BODY)?;
            let (failed, ended_ms) = (state.failed, state.ended_ms);
            Ok(StoredDelivery { delivery, failed, ended_ms, body })
        });
        stored.collect()
    }

    pub fn all_stream_settings(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let view = self.view()?;
        let mut settings = Vec::new();
        for item in view.snapshot.iter(&view.tables.stream_settings) {
            let (key, body) = item.into_inner()?;
            let tenant = key.get(8..).and_then(|tenant| std::str::from_utf8(tenant).ok());
            settings.push((tenant.ok_or(BROKEN_STREAM)?.to_owned(), body.to_vec()));
        }
        Ok(settings)
    }

    pub fn begin_stream_copy(&self, row: &StreamRow) -> Result<(), Error> {
        match self.view()?.queue_row(row.id)? {
            Some(known) if !known.is_removed => return Err(is_gone(row.id)),
            Some(left) => self.finish_removal(row.id, &left)?,
            None => {}
        }
        let queue = QueueRow { is_removed: true, ..QueueRow::new(&row.tenant) };
        let table = self.inner.database()?.tables.stream_queues.clone();
        self.put(&table, row.id.as_slice(), Some(queue.pack()), Durability::Disk)
    }

    pub fn add_stream_part(&self, stream: StreamId, part: StreamPart) -> Result<(), Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let marked = view.queue_row(stream)?.filter(|row| row.is_removed);
        let tenant = marked.map(|row| keys::tenant(&row.tenant)).ok_or_else(|| is_gone(stream))?;
        let mut batch = StreamBatch::new(&view);
        batch.add_part(stream, &tenant, part)?;
        self.inner.write(batch.into_ops(), Durability::Process, None)
    }

    pub fn publish_streams(
        &self,
        streams: &[CopiedStream],
        settings: &[(String, Vec<u8>)],
    ) -> Result<(), Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let put = |table: &Table, key: &[u8], value: Vec<u8>| {
            let (table, key) = (table.clone(), Slice::from(key));
            Op { table, key, value: Some(value.into()) }
        };
        let (t, mut ops) = (&view.tables, Vec::new());
        for stream in streams {
            let id = stream.row.id;
            view.queue_row(id)?.filter(|row| row.is_removed).ok_or_else(|| is_gone(id))?;
            ops.push(put(&t.stream_queues, id.as_slice(), stream.queue_row().pack()));
            ops.push(put(&t.streams, id.as_slice(), pack_stream(&stream.row)));
        }
        for (tenant, body) in settings {
            ops.push(put(&t.stream_settings, &keys::tenant(tenant), body.clone()));
        }
        if ops.is_empty() {
            return Ok(());
        }
        self.inner.write(ops, Durability::Disk, None)
    }
}

impl StreamBatch<'_> {
    /// `tenant` is as its key says it.
    fn add_part(&mut self, stream: StreamId, tenant: &[u8], part: StreamPart) -> Result<(), Error> {
        let t = self.view.tables.clone();
        match part {
            StreamPart::Addresses(addresses) => {
                for address in addresses {
                    self.put(&t.stream_addresses, &keys::address(stream, address), Vec::new());
                }
            }
            StreamPart::Deliveries(deliveries) => {
                deliveries.iter().for_each(|stored| self.add_stored(stored));
            }
            StreamPart::Attempts(attempts) => self.list_all(&t.stream_attempts, tenant, &attempts),
            StreamPart::Failed(attempts) => {
                self.list_all(&t.stream_failed, tenant, &attempts);
                for ListedAttempt { at, .. } in &attempts {
                    let state = self.state(stream, at.seq)?;
                    let failed = Some((at.at_ms, at.retries));
                    self.put_state(stream, at.seq, StateRow { failed, ..state });
                }
            }
            StreamPart::Matches(chain, matches) => {
                for kept in matches {
                    let number = kept.number;
                    let packed = MatchRow::of(kept).pack(&mut self.bodies);
                    self.put(&t.stream_matches, &keys::a_match(stream, chain, number), packed);
                    let by_block = keys::match_by_block(chain, number, stream);
                    self.put(&t.stream_matches_by_block, &by_block, Vec::new());
                }
            }
        }
        Ok(())
    }

    /// That it failed is said with the list of those that did, so that the two agree at every moment.
    fn add_stored(&mut self, stored: &StoredDelivery) {
        let delivery = &stored.delivery;
        let state = StateRow { failed: None, ..stored.state_row() };
        let packed = self.bodies.pack(&stored.body).to_vec();
        self.put_delivery(delivery, packed);
        self.move_listed((delivery.stream, delivery.seq), &StateRow::default(), &state);
        if state != StateRow::default() {
            self.put_state(delivery.stream, delivery.seq, state);
        }
    }

    fn list_all(&mut self, table: &Table, tenant: &[u8], attempts: &[ListedAttempt]) {
        for listed in attempts {
            self.put(table, &keys::attempt(tenant, &listed.at), listed.pack());
        }
    }
}
