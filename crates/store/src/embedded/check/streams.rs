//! Streams: every row can be read, queues add up to their deliveries, digests chain up, and what is listed by
//! time or by block is what deliveries and matches say.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::B256;
use bytes::Bytes;

use super::sum::Sum;
use crate::Error;
use crate::check::CheckedPart;
use crate::embedded::engine::Table;
use crate::embedded::read::View;
use crate::embedded::streams::{
    AttemptRow, BROKEN_ATTEMPT, BROKEN_DELIVERY, BROKEN_MATCH, BROKEN_QUEUE, BROKEN_STREAM,
    MatchRow, QueueRow, keys, unpack_body, unpack_delivery, unpack_stream, waits,
};
use crate::streams::{Delivery, ListAnchor, StreamId, delivery_digest};

pub fn check(view: &View) -> Vec<CheckedPart> {
    let mut check = StreamsCheck::new(view);
    let walks: [(&str, WalkFn<'_>); 4] = [
        ("deliveries", StreamsCheck::walk_deliveries),
        ("streams", StreamsCheck::walk_streams),
        ("matches of streams", StreamsCheck::walk_matches),
        ("attempts of deliveries", StreamsCheck::walk_attempts),
    ];
    let mut parts = Vec::new();
    // Deliveries come first: streams are compared with what they add up to.
    for (what, walk) in walks {
        let mut part = CheckedPart::new(what);
        if let Err(error) = walk(&mut check, &mut part) {
            part.fault(error.to_string());
        }
        parts.push(part);
    }
    check.compare_lists(&mut parts);
    parts
}

type WalkFn<'a> = fn(&mut StreamsCheck<'a>, &mut CheckedPart) -> Result<(), Error>;

/// What the deliveries of a stream add up to.
#[derive(Default)]
struct FoundQueue {
    last_seq: u64,
    last_digest: B256,
    waiting: u64,
    waiting_bytes: u64,
}

struct StreamsCheck<'a> {
    view: &'a View,
    queues: BTreeMap<StreamId, QueueRow>,
    found: BTreeMap<StreamId, FoundQueue>,
    // Rows that follow from others.
    bodies: Sum,
    states: Sum,
    due: Sum,
    ends: Sum,
    failed: Sum,
    by_block: Sum,
}

impl<'a> StreamsCheck<'a> {
    fn new(view: &'a View) -> Self {
        let [bodies, states, due, ends, failed, by_block] = [Sum::default(); 6];
        let (queues, found) = (BTreeMap::new(), BTreeMap::new());
        StreamsCheck { view, queues, found, bodies, states, due, ends, failed, by_block }
    }

    fn read_queues(&mut self) -> Result<(), Error> {
        for item in self.view.snapshot.iter(&self.view.tables.stream_queues) {
            let (key, row) = item.into_inner()?;
            let id: [u8; 16] = key.as_ref().try_into().map_err(|_| BROKEN_QUEUE)?;
            let row = QueueRow::unpack(&row).ok_or(BROKEN_QUEUE)?;
            self.queues.insert(StreamId::from(id), row);
        }
        Ok(())
    }

    fn walk_deliveries(&mut self, part: &mut CheckedPart) -> Result<(), Error> {
        self.read_queues()?;
        for item in self.view.snapshot.iter(&self.view.tables.deliveries) {
            let (key, row) = item.into_inner()?;
            part.count += 1;
            let place = keys::stream_and_seq(&key).ok_or(BROKEN_DELIVERY)?;
            match unpack_delivery(place, &row) {
                Some(delivery) => self.add_delivery(&delivery, part)?,
                None => part.fault(format!("delivery {} of {} cannot be read", place.1, place.0)),
            }
        }
        Ok(())
    }

    fn add_delivery(&mut self, delivery: &Delivery, part: &mut CheckedPart) -> Result<(), Error> {
        let Delivery { stream, seq, .. } = *delivery;
        let (view, key) = (self.view, keys::delivery(stream, seq));
        self.bodies.add(&key, &[]);
        // That one is missing altogether is told by the table's own count.
        let body = match view.snapshot.get(&view.tables.delivery_bodies, key)? {
            Some(packed) => unpack_body(&packed),
            None => Some(Bytes::new()),
        };
        let digest = |body: Bytes| delivery_digest(delivery.previous_digest, seq, &body);
        if body.map(digest) != Some(delivery.digest) {
            part.fault(format!("delivery {seq} of {stream} is not what its digest says"));
        }
        let known = self.found.entry(stream).or_default();
        let follows = known.last_seq + 1 == seq;
        if follows && known.last_digest != delivery.previous_digest {
            part.fault(format!("delivery {seq} of {stream} does not follow the one below it"));
        }
        (known.last_seq, known.last_digest) = (seq, delivery.digest);
        let row = view.state_row(stream, seq)?;
        if row.is_some() {
            self.states.add(&key, &[]);
        }
        let row = row.unwrap_or_default();
        if waits(&row.state) {
            known.waiting += 1;
            known.waiting_bytes += delivery.body_bytes;
        }
        if let Some(due_ms) = row.state.due_ms {
            self.due.add(&keys::due(stream, due_ms, seq), &[]);
        }
        if let Some(ended_ms) = row.ended_ms {
            self.ends.add(&keys::end(ended_ms, stream, seq), &[]);
        }
        match (row.failed, self.queues.get(&stream)) {
            (Some((at_ms, retries)), Some(queue)) => {
                let at = ListAnchor { at_ms, stream, seq, retries };
                self.failed.add(&keys::attempt(&keys::tenant(&queue.tenant), &at), &[]);
            }
            (_, None) => part.fault(format!("delivery {seq} is of {stream}, which is not stored")),
            (None, _) => {}
        }
        Ok(())
    }

    fn walk_streams(&mut self, part: &mut CheckedPart) -> Result<(), Error> {
        let mut streams = BTreeSet::new();
        for item in self.view.snapshot.iter(&self.view.tables.streams) {
            let (key, row) = item.into_inner()?;
            part.count += 1;
            let stream = unpack_stream(&key, &row).ok_or(BROKEN_STREAM)?;
            let queue = self.queues.get(&stream.id).filter(|queue| !queue.is_removed);
            if queue.is_none_or(|queue| queue.tenant != stream.tenant) {
                part.fault(format!("stream {} has no queue of its tenant", stream.id));
            }
            streams.insert(stream.id);
        }
        let table = &self.view.tables.stream_addresses;
        let mut addresses = 0;
        for (stream, row) in &self.queues {
            let found = Sum::of_table(self.view, table, stream.as_slice(), |_| None)?.rows;
            addresses += found;
            if row.is_removed {
                continue;
            }
            if !streams.contains(stream) {
                part.fault(format!("there is a queue of {stream}, which is not stored"));
            }
            if found != row.addresses {
                part.fault(format!("{stream} says {} addresses, and has {found}", row.addresses));
            }
            self.check_queue(*stream, row, part);
        }
        if Sum::of_table(self.view, table, &[], |_| None)?.rows != addresses {
            part.fault("there are addresses of streams that are not stored");
        }
        Ok(())
    }

    fn check_queue(&self, stream: StreamId, row: &QueueRow, part: &mut CheckedPart) {
        let nothing = FoundQueue::default();
        let (queue, found) = (&row.queue, self.found.get(&stream).unwrap_or(&nothing));
        if (queue.waiting, queue.waiting_bytes) != (found.waiting, found.waiting_bytes) {
            part.fault(format!(
                "the queue of {stream} says {} deliveries of {} bytes wait, and {} of {} do",
                queue.waiting, queue.waiting_bytes, found.waiting, found.waiting_bytes
            ));
        }
        // The newest may be pruned already.
        let is_last = found.last_seq == queue.last_seq && found.last_seq > 0;
        let is_wrong = is_last && found.last_digest != queue.last_digest;
        if is_wrong || found.last_seq > queue.last_seq || queue.tried_seq > queue.last_seq {
            part.fault(format!("the queue of {stream} does not end with its last delivery"));
        }
    }

    fn walk_matches(&mut self, part: &mut CheckedPart) -> Result<(), Error> {
        for item in self.view.snapshot.iter(&self.view.tables.stream_matches) {
            let (key, row) = item.into_inner()?;
            part.count += 1;
            let (stream, chain, number) = keys::parts_of_match(&key).ok_or(BROKEN_MATCH)?;
            self.by_block.add(&keys::match_by_block(chain, number, stream), &[]);
            if MatchRow::unpack(&row).is_none() {
                part.fault(format!("the match of {stream} in block {number} cannot be read"));
            }
        }
        Ok(())
    }

    fn walk_attempts(&mut self, part: &mut CheckedPart) -> Result<(), Error> {
        let t = &self.view.tables;
        for table in [&t.stream_attempts, &t.stream_failed] {
            for item in self.view.snapshot.iter(table) {
                let (key, row) = item.into_inner()?;
                part.count += 1;
                let tenant = keys::tenant_part(&key).ok_or(BROKEN_ATTEMPT)?;
                let at = key.get(tenant.len()..).and_then(keys::anchor);
                if at.is_none() || AttemptRow::unpack(&row).is_none() {
                    part.fault("an attempt cannot be read");
                }
            }
        }
        Ok(())
    }

    fn compare_lists(&self, parts: &mut Vec<CheckedPart>) {
        let t = &self.view.tables;
        let lists: [(&str, &Table, Sum); 6] = [
            ("bodies of deliveries", &t.delivery_bodies, self.bodies),
            ("states of deliveries", &t.delivery_states, self.states),
            ("retries by time", &t.delivery_due, self.due),
            ("ended deliveries by time", &t.delivery_ends, self.ends),
            ("failed deliveries by time", &t.stream_failed, self.failed),
            ("matches by block", &t.stream_matches_by_block, self.by_block),
        ];
        for (what, table, expected) in lists {
            let mut part = CheckedPart::new(what);
            match Sum::of_table(self.view, table, &[], |_| None) {
                Ok(found) => {
                    part.count = found.rows;
                    if found != expected {
                        let (rows, should) = (found.rows, expected.rows);
                        part.fault(format!("{rows} rows, and not the {should} that should be"));
                    }
                }
                Err(error) => part.fault(error.to_string()),
            }
            parts.push(part);
        }
    }
}
