//! Deliveries for tests of what happens to them.

use alloy_primitives::B256;
use bytes::Bytes;
use model::chain::ChainId;
use store::{
    Delivery, DeliveryKind, DeliveryMeta, DeliveryState, QueuedDelivery, RecordCounts, StreamId,
};

pub fn queued(stream: u8, seq: u64, bytes: usize) -> QueuedDelivery {
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
        stream: StreamId::repeat_byte(stream),
        seq,
        meta,
        body_bytes: bytes as u64,
        digest: B256::ZERO,
        previous_digest: B256::ZERO,
        state: DeliveryState::default(),
    };
    let body = Bytes::from(vec![b'0' + stream; bytes]);
    QueuedDelivery { delivery, body, waiting: 1, waiting_bytes: bytes as u64 }
}
