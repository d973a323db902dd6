//! Deliveries that were stored a moment ago, on their way to their stream's lane without being read again. They are
//! few: what finds no room is read from the store when its turn comes.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use store::{Delivery, QueuedDelivery, StreamId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::signed::Signed;

/// Bodies of all streams that wait here.
const KIB_MAX: usize = 16 << 10;

pub(super) struct HandOver {
    kib: Arc<Semaphore>,
}

/// Of a body in memory; given back with it.
pub(super) type BodyRoom = OwnedSemaphorePermit;

pub(super) struct HandedOver {
    pub delivery: Delivery,
    pub body: Bytes,
    /// Deliveries of its stream that wait, this one included.
    pub waiting: u64,
    pub signed: Option<Signed>,
    _room: BodyRoom,
}

/// A delivery that was stored a moment ago.
pub(super) struct Stored {
    pub stream: StreamId,
    pub seq: u64,
    /// None where there was no room.
    pub handed_over: Option<HandedOver>,
}

impl Default for HandOver {
    fn default() -> Self {
        HandOver { kib: Arc::new(Semaphore::new(KIB_MAX)) }
    }
}

impl HandOver {
    pub fn take(&self, queued: QueuedDelivery) -> Stored {
        let QueuedDelivery { delivery, body, waiting, .. } = queued;
        let (stream, seq) = (delivery.stream, delivery.seq);
        let room = self.room_for(&body);
        let handed_over = room.map(|room| HandedOver::new(delivery, body, waiting, room));
        Stored { stream, seq, handed_over }
    }

    /// None where there is no more.
    pub fn room_for(&self, body: &Bytes) -> Option<BodyRoom> {
        let kib = u32::try_from(body.len().div_ceil(1024)).ok()?.max(1);
        self.kib.clone().try_acquire_many_owned(kib).ok()
    }
}

impl HandedOver {
    pub fn new(delivery: Delivery, body: Bytes, waiting: u64, room: BodyRoom) -> Self {
        HandedOver { delivery, body, waiting, signed: None, _room: room }
    }
}

/// The one whose turn it is. Those before it were sent, and those after a hole are read from the store.
pub(super) fn next_of(waiting: &mut VecDeque<HandedOver>, next_seq: u64) -> Option<HandedOver> {
    while waiting.front().is_some_and(|first| first.delivery.seq < next_seq) {
        waiting.pop_front();
    }
    waiting.pop_front_if(|first| first.delivery.seq == next_seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::test_delivery::queued;

    fn take(all: &HandOver, seq: u64, bytes: usize) -> Option<HandedOver> {
        all.take(queued(1, seq, bytes)).handed_over
    }

    #[test]
    fn what_was_sent_is_passed_over_and_nothing_is_sent_before_its_turn() {
        let all = HandOver::default();
        let mut waiting: VecDeque<_> =
            [3, 4, 6].into_iter().filter_map(|seq| take(&all, seq, 10)).collect();
        let seq_of = |next: Option<HandedOver>| next.map(|it| it.delivery.seq);
        assert_eq!(seq_of(next_of(&mut waiting, 2)), None, "the second is in the store");
        assert_eq!(seq_of(next_of(&mut waiting, 4)), Some(4));
        assert_eq!(seq_of(next_of(&mut waiting, 5)), None);
        assert_eq!(seq_of(next_of(&mut waiting, 7)), None);
        assert!(waiting.is_empty());
    }

    #[test]
    fn there_is_room_for_so_many_bytes_and_again_when_they_are_gone() {
        let all = HandOver::default();
        let most = take(&all, 1, (KIB_MAX - 1) << 10).unwrap();
        let last = take(&all, 2, 1).unwrap();
        assert!(take(&all, 3, 1).is_none());
        drop(last);
        assert!(take(&all, 3, 1).is_some());
        assert!(take(&all, 4, 2048).is_none());
        drop(most);
        assert!(take(&all, 4, 2048).is_some());
    }
}
