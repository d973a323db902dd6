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
/// Of them one stream's: a receiver that does not answer must not take the room of all others.
const KIB_OF_STREAM_MAX: usize = KIB_MAX / 4;

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
        let kib = u32::try_from(kib_of(body)).ok()?;
        self.kib.clone().try_acquire_many_owned(kib).ok()
    }
}

impl HandedOver {
    pub fn new(delivery: Delivery, body: Bytes, waiting: u64, room: BodyRoom) -> Self {
        HandedOver { delivery, body, waiting, signed: None, _room: room }
    }

    fn kib(&self) -> usize {
        kib_of(&self.body)
    }
}

fn kib_of(body: &Bytes) -> usize {
    body.len().div_ceil(1024).max(1)
}

/// Of one stream, in the order of their numbers.
#[derive(Default)]
pub(super) struct Waiting {
    handed: VecDeque<HandedOver>,
    kib: usize,
}

impl Waiting {
    /// A single one always has, however large it is.
    pub fn has_room_for(&self, handed: &HandedOver) -> bool {
        self.handed.is_empty() || self.kib + handed.kib() <= KIB_OF_STREAM_MAX
    }

    pub fn push(&mut self, handed: HandedOver) {
        self.kib += handed.kib();
        self.handed.push_back(handed);
    }

    pub fn clear(&mut self) {
        *self = Waiting::default();
    }

    /// The one whose turn it is. Those before it were sent, and those after a hole are read from the store.
    pub fn next_of(&mut self, next_seq: u64) -> Option<HandedOver> {
        while self.handed.front().is_some_and(|first| first.delivery.seq < next_seq) {
            self.pop();
        }
        let is_next = self.handed.front().is_some_and(|first| first.delivery.seq == next_seq);
        is_next.then(|| self.pop()).flatten()
    }

    fn pop(&mut self) -> Option<HandedOver> {
        let first = self.handed.pop_front()?;
        self.kib -= first.kib();
        Some(first)
    }
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
        let mut waiting = Waiting::default();
        [3, 4, 6].into_iter().filter_map(|seq| take(&all, seq, 10)).for_each(|it| waiting.push(it));
        let seq_of = |next: Option<HandedOver>| next.map(|it| it.delivery.seq);
        assert_eq!(seq_of(waiting.next_of(2)), None, "the second is in the store");
        assert_eq!(seq_of(waiting.next_of(4)), Some(4));
        assert_eq!(seq_of(waiting.next_of(5)), None);
        assert_eq!(seq_of(waiting.next_of(7)), None);
        assert!(waiting.handed.is_empty() && waiting.kib == 0);
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
    #[test]
    fn one_stream_gets_its_share_and_a_large_body_goes_alone() {
        let all = HandOver::default();
        let mut waiting = Waiting::default();
        let large = take(&all, 1, (KIB_OF_STREAM_MAX + 1) << 10).unwrap();
        assert!(waiting.has_room_for(&large));
        waiting.push(large);
        let small = take(&all, 2, 1).unwrap();
        assert!(!waiting.has_room_for(&small));
        assert!(waiting.next_of(1).is_some() && waiting.has_room_for(&small));
        let half = || take(&all, 3, KIB_OF_STREAM_MAX << 9).unwrap();
        waiting.push(half());
        assert!(waiting.has_room_for(&half()) && waiting.has_room_for(&small));
        waiting.push(half());
        assert!(!waiting.has_room_for(&small));
        waiting.clear();
        assert!(waiting.has_room_for(&half()));
    }
}
