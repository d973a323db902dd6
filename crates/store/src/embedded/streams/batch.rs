//! What one write changes. Queues and states are read once, changed in memory as often as need be, and written
//! as they are at the end; of other rows with the same key the last one counts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::keys;
use super::packed_body::BodyPacker;
use super::queue_row::QueueRow;
use super::state_row::StateRow;
use crate::Error;
use crate::embedded::engine::{Op, Slice, Table};
use crate::embedded::read::View;
use crate::streams::{ListAnchor, StreamId};

pub struct StreamBatch<'a> {
    pub view: &'a View,
    queues: BTreeMap<StreamId, Option<QueueRow>>,
    states: BTreeMap<(StreamId, u64), StateRow>,
    ops: BTreeMap<(u64, Vec<u8>), Op>,
    pub bodies: BodyPacker,
}

impl<'a> StreamBatch<'a> {
    pub fn new(view: &'a View) -> Self {
        Self::with_bodies(view, BodyPacker::default())
    }

    pub fn with_bodies(view: &'a View, bodies: BodyPacker) -> Self {
        StreamBatch {
            view,
            queues: BTreeMap::new(),
            states: BTreeMap::new(),
            ops: BTreeMap::new(),
            bodies,
        }
    }

    /// To be read and changed; none where the stream is gone.
    pub fn queue(&mut self, stream: StreamId) -> Result<Option<&mut QueueRow>, Error> {
        let row = match self.queues.entry(stream) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(self.view.queue_row(stream)?),
        };
        Ok(row.as_mut().filter(|row| !row.is_removed))
    }

    /// As it will be.
    pub fn state(&self, stream: StreamId, seq: u64) -> Result<StateRow, Error> {
        match self.states.get(&(stream, seq)) {
            Some(row) => Ok(row.clone()),
            None => self.view.state_row(stream, seq).map(Option::unwrap_or_default),
        }
    }

    pub fn put_state(&mut self, stream: StreamId, seq: u64, row: StateRow) {
        self.states.insert((stream, seq), row);
    }

    pub fn put(&mut self, table: &Table, key: &[u8], value: Vec<u8>) {
        self.change(table, key, Some(value));
    }

    pub fn remove(&mut self, table: &Table, key: &[u8]) {
        self.change(table, key, None);
    }

    fn change(&mut self, table: &Table, key: &[u8], value: Option<Vec<u8>>) {
        let value = value.map(Slice::from);
        let op = Op { table: table.clone(), key: Slice::from(key), value };
        self.ops.insert((table.id(), key.to_vec()), op);
    }

    /// A delivery with everything but its attempts. Its stream may be gone: `tenant` is whose it is, or was.
    pub fn drop_delivery(
        &mut self,
        tenant: &[u8],
        stream: StreamId,
        seq: u64,
    ) -> Result<(), Error> {
        let t = self.view.tables.clone();
        let StateRow { state, failed, ended_ms } = self.state(stream, seq)?;
        if let Some(due_ms) = state.due_ms {
            self.remove(&t.delivery_due, &keys::due(stream, due_ms, seq));
        }
        if let Some(ended_ms) = ended_ms {
            self.remove(&t.delivery_ends, &keys::end(ended_ms, stream, seq));
        }
        if let Some((at_ms, retries)) = failed {
            let at = ListAnchor { at_ms, stream, seq, retries };
            self.remove(&t.stream_failed, &keys::attempt(tenant, &at));
        }
        let key = keys::delivery(stream, seq);
        for table in [&t.deliveries, &t.delivery_states, &t.delivery_bodies] {
            self.remove(table, &key);
        }
        Ok(())
    }

    pub fn into_ops(mut self) -> Vec<Op> {
        let t = self.view.tables.clone();
        for (stream, row) in std::mem::take(&mut self.queues) {
            if let Some(row) = row.filter(|row| !row.is_removed) {
                self.put(&t.stream_queues, stream.as_slice(), row.pack());
            }
        }
        for ((stream, seq), row) in std::mem::take(&mut self.states) {
            self.put(&t.delivery_states, &keys::delivery(stream, seq), row.pack());
        }
        self.ops.into_values().collect()
    }
}
