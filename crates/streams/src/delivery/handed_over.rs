//! Deliveries that were stored a moment ago, on their way to their stream's lane without being read again. They are
//! few: what finds no room is read from the store when its turn comes.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use store::{Delivery, QueuedDelivery};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies of all streams that wait here.
const KIB_MAX: usize = 16 << 10;

pub(super) struct HandOver {
    kib: Arc<Semaphore>,
}

pub(super) struct HandedOver {
    pub delivery: Delivery,
    pub body: Bytes,
    /// Deliveries of its stream that wait, this one included.
    pub waiting: u64,
    _room: OwnedSemaphorePermit,
}

impl Default for HandOver {
    fn default() -> Self {
        HandOver { kib: Arc::new(Semaphore::new(KIB_MAX)) }
    }
}

impl HandOver {
    /// None where there is no room.
    pub fn take(&self, queued: QueuedDelivery) -> Option<HandedOver> {
        let QueuedDelivery { delivery, body, waiting, .. } = queued;
        let kib = u32::try_from(body.len().div_ceil(1024)).ok()?.max(1);
        let room = self.kib.clone().try_acquire_many_owned(kib).ok()?;
        Some(HandedOver { delivery, body, waiting, _room: room })
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
    use alloy_primitives::B256;
    use model::chain::ChainId;
    use store::{DeliveryKind, DeliveryMeta, DeliveryState, RecordCounts, StreamId};

    use super::*;

    fn queued(seq: u64, bytes: usize) -> QueuedDelivery {
        let meta = DeliveryMeta {
            chain: ChainId(1),
            number: seq,
            hash: B256::ZERO,
            kind: DeliveryKind::Confirmed,
            part: (1, 1),
            traces_missing: false,
            amends: None,
            counts: RecordCounts::default(),
            created_ms: 0,
        };
        let delivery = Delivery {
            stream: StreamId::repeat_byte(1),
            seq,
            meta,
            body_bytes: bytes as u64,
            digest: B256::ZERO,
            previous_digest: B256::ZERO,
            state: DeliveryState::default(),
        };
        let body = vec![b' '; bytes].into();
        QueuedDelivery { delivery, body, waiting: 1, waiting_bytes: bytes as u64 }
    }

    #[test]
    fn what_was_sent_is_passed_over_and_nothing_is_sent_before_its_turn() {
        let all = HandOver::default();
        let mut waiting: VecDeque<_> =
            [3, 4, 6].into_iter().filter_map(|seq| all.take(queued(seq, 10))).collect();
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
        let most = all.take(queued(1, (KIB_MAX - 1) << 10)).unwrap();
        let last = all.take(queued(2, 1)).unwrap();
        assert!(all.take(queued(3, 1)).is_none());
        drop(last);
        assert!(all.take(queued(3, 1)).is_some());
        assert!(all.take(queued(4, 2048)).is_none());
        drop(most);
        assert!(all.take(queued(4, 2048)).is_some());
    }
}
