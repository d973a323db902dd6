//! Deliveries, their bodies and the queues they stand in.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::delivery_row::unpack_delivery;
use super::packed_body::unpack_body;
use super::state_row::StateRow;
use super::{BROKEN_BODY, BROKEN_DELIVERY, BROKEN_STATE, keys};
use crate::Error;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::streams::{Delivery, QueueState, StreamId, StreamTotals};

impl View {
    /// With its state as it was made.
    pub fn delivery_row(&self, stream: StreamId, seq: u64) -> Result<Option<Delivery>, Error> {
        match self.snapshot.get(&self.tables.deliveries, keys::delivery(stream, seq))? {
            Some(row) => unpack_delivery((stream, seq), &row).map(Some).ok_or(BROKEN_DELIVERY),
            None => Ok(None),
        }
    }

    /// None before the first attempt.
    pub fn state_row(&self, stream: StreamId, seq: u64) -> Result<Option<StateRow>, Error> {
        match self.snapshot.get(&self.tables.delivery_states, keys::delivery(stream, seq))? {
            Some(row) => StateRow::unpack(&row).map(Some).ok_or(BROKEN_STATE),
            None => Ok(None),
        }
    }

    /// Of deliveries in the order of their numbers.
    fn add_states(&self, stream: StreamId, deliveries: &mut [Delivery]) -> Result<(), Error> {
        let [Some(first), Some(last)] = [deliveries.first(), deliveries.last()] else {
            return Ok(());
        };
        let range = keys::delivery(stream, first.seq)..=keys::delivery(stream, last.seq);
        let mut deliveries = deliveries.iter_mut().peekable();
        for item in self.snapshot.range(&self.tables.delivery_states, range) {
            let (key, row) = item.into_inner()?;
            let (_, seq) = keys::stream_and_seq(&key).ok_or(BROKEN_STATE)?;
            while deliveries.next_if(|delivery| delivery.seq < seq).is_some() {}
            if let Some(delivery) = deliveries.next_if(|delivery| delivery.seq == seq) {
                delivery.state = StateRow::unpack(&row).ok_or(BROKEN_STATE)?.state;
            }
        }
        Ok(())
    }

    pub fn whole_delivery(&self, stream: StreamId, seq: u64) -> Result<Option<Delivery>, Error> {
        let Some(mut delivery) = self.delivery_row(stream, seq)? else { return Ok(None) };
        delivery.state = self.state_row(stream, seq)?.unwrap_or_default().state;
        Ok(Some(delivery))
    }
}

impl Store {
    pub fn delivery(&self, stream: StreamId, seq: u64) -> Result<Option<Delivery>, Error> {
        let view = self.view()?;
        if view.live_queue(stream)?.is_none() {
            return Ok(None);
        }
        view.whole_delivery(stream, seq)
    }

    pub fn deliveries(
        &self,
        stream: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        let view = self.view()?;
        let mut deliveries = Vec::new();
        if view.live_queue(stream)?.is_none() {
            return Ok(deliveries);
        }
        let range = keys::delivery(stream, from_seq)..=keys::delivery(stream, u64::MAX);
        for item in view.snapshot.range(&view.tables.deliveries, range).take(limit) {
            let (key, row) = item.into_inner()?;
            let place = keys::stream_and_seq(&key).ok_or(BROKEN_DELIVERY)?;
            deliveries.push(unpack_delivery(place, &row).ok_or(BROKEN_DELIVERY)?);
        }
        view.add_states(stream, &mut deliveries)?;
        Ok(deliveries)
    }

    pub fn delivery_body(&self, stream: StreamId, seq: u64) -> Result<Option<Bytes>, Error> {
        let view = self.view()?;
        if view.live_queue(stream)?.is_none() {
            return Ok(None);
        }
        let body = view.snapshot.get(&view.tables.delivery_bodies, keys::delivery(stream, seq))?;
        body.map(|body| unpack_body(&body).ok_or(BROKEN_BODY)).transpose()
    }

    pub fn delivery_bodies(
        &self,
        stream: StreamId,
        seqs: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Bytes)>, Error> {
        let view = self.view()?;
        let mut bodies = Vec::new();
        if view.live_queue(stream)?.is_none() {
            return Ok(bodies);
        }
        let [first, last] = [seqs.start(), seqs.end()].map(|seq| keys::delivery(stream, *seq));
        for item in view.snapshot.range(&view.tables.delivery_bodies, first..=last) {
            let (key, body) = item.into_inner()?;
            let (_, seq) = keys::stream_and_seq(&key).ok_or(BROKEN_BODY)?;
            bodies.push((seq, unpack_body(&body).ok_or(BROKEN_BODY)?));
        }
        Ok(bodies)
    }

    pub fn stream_queue(&self, stream: StreamId) -> Result<QueueState, Error> {
        Ok(self.view()?.live_queue(stream)?.map(|row| row.queue).unwrap_or_default())
    }

    pub fn stream_totals(&self, stream: StreamId) -> Result<StreamTotals, Error> {
        Ok(self.view()?.live_queue(stream)?.map(|row| row.totals).unwrap_or_default())
    }
}
