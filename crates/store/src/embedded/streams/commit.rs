//! What streams matched, written with the cursor of the journal reader that matched it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use alloy_primitives::B256;
use model::chain::ChainId;

use super::batch::StreamBatch;
use super::definitions::pack_stream;
use super::delivery_row::pack_delivery;
use super::match_row::MatchRow;
use super::packed_body::BodyPacker;
use super::{BROKEN_MATCH, keys};
use crate::Error;
use crate::embedded::engine::Durability;
use crate::embedded::open::Store;
use crate::streams::{
    Delivery, DeliveryKind, DeliveryMeta, NewDelivery, NewMatch, QueuedDelivery, StreamChange,
    StreamCommit, StreamId, chain_digests,
};

impl Store {
    pub fn commit_streams(&self, commit: StreamCommit) -> Result<Vec<QueuedDelivery>, Error> {
        let StreamCommit { chain, reader, expected, cursor, change } = commit;
        let sent = change.deliveries.iter().map(|new| &new.body);
        let kept = change.keep.iter().flat_map(|new| new.parts.iter().map(|(_, body)| body));
        // Before the lock: results of attempts wait for it, too.
        let bodies = BodyPacker::with(sent.chain(kept));
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let retired = change.retire.clone().filter(|retired| *retired != reader);
        let mut batch = StreamBatch::with_bodies(&view, bodies);
        let deliveries = batch.add_change(chain, change)?;
        let mut ops = batch.into_ops();
        // No commit of blocks may prune the journal between the look and the write. Only from here on, so
        // that blocks do not wait for digests.
        let mut one_at_a_time = self.one_at_a_time();
        let now = self.view()?;
        if now.reader_cursor(chain, &reader)? != expected {
            return Err(Error::ReaderMoved { name: reader });
        }
        if expected.is_some() {
            one_at_a_time.only_moves_a_reader();
        }
        if let Some(retired) = retired {
            ops.append(&mut now.removal_of_reader(chain, &retired)?);
        }
        ops.push(now.place_of_reader(chain, &reader, &cursor));
        self.inner.write(ops, Durability::Disk, None)?;
        Ok(deliveries)
    }
}

/// One block of one stream.
type MatchPlace = (StreamId, u64);

impl StreamBatch<'_> {
    fn add_change(
        &mut self,
        chain: ChainId,
        change: StreamChange,
    ) -> Result<Vec<QueuedDelivery>, Error> {
        let StreamChange { deliveries, keep, remove, retire: _, streams } = change;
        let is_unconfirmed = |new: &&NewDelivery| new.meta.kind == DeliveryKind::Unconfirmed;
        let place = |new: &NewDelivery| (new.stream, new.meta.number, new.meta.hash);
        let unconfirmed = deliveries.iter().filter(is_unconfirmed).map(place).collect();
        let mut made = Vec::with_capacity(deliveries.len());
        let mut seqs = Vec::with_capacity(deliveries.len());
        for new in deliveries {
            let is_news = self.is_news(new.stream, &new.meta, &unconfirmed)?;
            // None where its stream is gone.
            let queued = self.queue(new.stream)?.map(|row| row.add(new, is_news));
            seqs.push(queued.as_ref().map(|queued| queued.delivery.seq));
            made.extend(queued);
        }
        self.chain_digests(&mut made)?;
        for QueuedDelivery { delivery, body, .. } in &made {
            let packed = self.bodies.pack(body).to_vec();
            self.put_delivery(delivery, packed);
        }
        self.change_matches(chain, keep, remove, &seqs)?;
        let table = self.view.tables.streams.clone();
        for row in streams {
            if self.queue(row.id)?.is_some() {
                self.put(&table, row.id.as_slice(), pack_stream(&row));
            }
        }
        Ok(made)
    }

    /// Whether it is the first to tell of its items: a confirmed delivery may repeat an unconfirmed one.
    fn is_news(
        &self,
        stream: StreamId,
        meta: &DeliveryMeta,
        unconfirmed: &BTreeSet<(StreamId, u64, B256)>,
    ) -> Result<bool, Error> {
        match meta.kind {
            DeliveryKind::Unconfirmed => return Ok(true),
            DeliveryKind::Retracted => return Ok(false),
            DeliveryKind::Confirmed => {}
        }
        if unconfirmed.contains(&(stream, meta.number, meta.hash)) {
            return Ok(false);
        }
        let key = keys::a_match(stream, meta.chain, meta.number);
        let Some(row) = self.view.snapshot.get(&self.view.tables.stream_matches, key)? else {
            return Ok(true);
        };
        let kept = MatchRow::unpack_head(&mut row.as_ref()).ok_or(BROKEN_MATCH)?;
        Ok(kept.hash != meta.hash || kept.first_seq.is_none())
    }

    fn chain_digests(&mut self, made: &mut [QueuedDelivery]) -> Result<(), Error> {
        let mut last = HashMap::new();
        for QueuedDelivery { delivery, .. } in &*made {
            if let Some(row) = self.queue(delivery.stream)? {
                last.insert(delivery.stream, row.queue.last_digest);
            }
        }
        chain_digests(made, &mut last);
        for (stream, digest) in last {
            if let Some(row) = self.queue(stream)? {
                row.queue.last_digest = digest;
            }
        }
        Ok(())
    }

    /// With its body, which is packed.
    pub fn put_delivery(&mut self, delivery: &Delivery, packed: Vec<u8>) {
        let (t, key) = (self.view.tables.clone(), keys::delivery(delivery.stream, delivery.seq));
        self.put(&t.deliveries, &key, pack_delivery(delivery));
        self.put(&t.delivery_bodies, &key, packed);
    }

    /// `seqs` are the numbers of the commit's deliveries.
    fn change_matches(
        &mut self,
        chain: ChainId,
        keep: Vec<NewMatch>,
        remove: Vec<(u64, StreamId)>,
        seqs: &[Option<u64>],
    ) -> Result<(), Error> {
        let kept = keep.into_iter().map(|new| ((new.stream, new.number), Some(new)));
        let removed = remove.into_iter().map(|(number, stream)| ((stream, number), None));
        let changes: BTreeMap<MatchPlace, Option<NewMatch>> = removed.chain(kept).collect();
        let t = self.view.tables.clone();
        for ((stream, number), new) in changes {
            let key = keys::a_match(stream, chain, number);
            let by_block = keys::match_by_block(chain, number, stream);
            let Some(new) = new else {
                self.remove(&t.stream_matches, &key);
                self.remove(&t.stream_matches_by_block, &by_block);
                continue;
            };
            if self.queue(stream)?.is_none() {
                continue;
            }
            let NewMatch { hash, traces_missing, first_delivery, parts, first_seq, .. } = new;
            let now = first_delivery.and_then(|at| seqs.get(at).copied().flatten());
            let first_seq = first_seq.or(now);
            let row = MatchRow { hash, traces_missing, first_seq, parts };
            let packed = row.pack(&mut self.bodies);
            self.put(&t.stream_matches, &key, packed);
            self.put(&t.stream_matches_by_block, &by_block, Vec::new());
        }
        Ok(())
    }
}
