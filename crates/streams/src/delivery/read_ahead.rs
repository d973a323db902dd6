//! A page of a stream's queue, with bodies and signatures: a few are read by one look at the store and signed side by side,
//! which takes a third of the time. A receiver that was away for a while has thousands to catch up on.

use std::ops::RangeInclusive;

use store::{Delivery, StreamId};

use super::handed_over::HandedOver;
use super::shared::Shared;
use super::signed::sign;
use crate::clock::now_ms;

/// Deliveries read at once. Few: as many streams may wait for their receivers.
pub(super) const PAGE: usize = 16;
/// Of their bodies. Larger ones are read when their turn comes.
const BODY_BYTES_MAX: u64 = 1 << 20;

/// A delivery of the page.
pub(super) enum ToSend {
    Ready(HandedOver),
    /// Its body is not at hand. With how many wait in its stream, this one included.
    Stored(Delivery, u64),
}

/// What follows `next_seq` and was not tried yet.
pub(super) async fn read_page(
    shared: &Shared,
    stream: StreamId,
    next_seq: u64,
) -> Result<Vec<ToSend>, store::Error> {
    let queue = shared.store.stream_queue(stream).await?;
    let from_seq = next_seq.max(queue.tried_seq + 1);
    if from_seq > queue.last_seq {
        return Ok(Vec::new());
    }
    let deliveries = shared.store.deliveries(stream, from_seq, PAGE).await?;
    let bodies = match of_which_bodies(&deliveries) {
        // One that cannot be read says so when its turn comes.
        Some(seqs) => shared.store.delivery_bodies(stream, seqs).await.unwrap_or_default(),
        None => Vec::new(),
    };
    let mut bodies = bodies.into_iter().peekable();
    let mut page = Vec::with_capacity(deliveries.len());
    for (sent, delivery) in (0..).zip(deliveries) {
        let waiting = queue.waiting.saturating_sub(sent);
        while bodies.next_if(|(seq, _)| *seq < delivery.seq).is_some() {}
        let body = bodies.next_if(|(seq, _)| *seq == delivery.seq).map(|(_, body)| body);
        let ready = body.and_then(|body| Some((shared.read_ahead.room_for(&body)?, body)));
        page.push(match ready {
            Some((room, body)) => ToSend::Ready(HandedOver::new(delivery, body, waiting, room)),
            None => ToSend::Stored(delivery, waiting),
        });
    }
    let ready = page.iter_mut().filter_map(|it| match it {
        ToSend::Ready(handed) => Some(handed),
        ToSend::Stored(..) => None,
    });
    sign(&mut ready.collect::<Vec<_>>(), &*shared.directory, now_ms());
    Ok(page)
}

/// The first ones, as long as their bodies are not too large together. None where there is nothing to sign side by side.
fn of_which_bodies(deliveries: &[Delivery]) -> Option<RangeInclusive<u64>> {
    let mut bytes = 0;
    let fits = |delivery: &&Delivery| {
        bytes += delivery.body_bytes;
        bytes <= BODY_BYTES_MAX
    };
    let mut fitting = deliveries.iter().take_while(fits).map(|delivery| delivery.seq);
    let first = fitting.next()?;
    fitting.last().map(|last| first..=last)
}
