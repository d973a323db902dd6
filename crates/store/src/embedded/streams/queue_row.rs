//! A stream's queue and sums in one row: whatever adds to them reads and writes this one.

use alloy_primitives::B256;

use crate::embedded::codec::{Packed, put_counted, put_varint, take_byte, take_text, take_varint};
use crate::streams::{
    Delivery, DeliveryState, NewDelivery, QueueState, QueuedDelivery, StreamTotals,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    pub tenant: String,
    /// The stream is gone, and what hangs on it is on its way.
    pub is_removed: bool,
    pub queue: QueueState,
    pub totals: StreamTotals,
    pub addresses: u64,
}

impl QueueRow {
    /// Gives a delivery its number and counts it. Its digests are made with those of the whole commit (`chain_digests`).
    pub fn add(&mut self, new: NewDelivery, is_news: bool) -> QueuedDelivery {
        let NewDelivery { stream, meta, body } = new;
        let (seq, body_bytes) = (self.queue.last_seq + 1, body.len() as u64);
        let (digest, previous_digest) = (B256::ZERO, B256::ZERO);
        self.queue.last_seq = seq;
        self.queue.waiting += 1;
        self.queue.waiting_bytes += body_bytes;
        let (waiting, waiting_bytes) = (self.queue.waiting, self.queue.waiting_bytes);
        if is_news {
            self.totals.txs += u64::from(meta.counts.txs);
            self.totals.logs += u64::from(meta.counts.logs);
            self.totals.internal_txs += u64::from(meta.counts.internal_txs);
        }
        let state = DeliveryState::default();
        let delivery = Delivery { stream, seq, meta, body_bytes, digest, previous_digest, state };
        QueuedDelivery { delivery, body, waiting, waiting_bytes }
    }

    pub fn new(tenant: &str) -> Self {
        QueueRow {
            tenant: tenant.to_owned(),
            is_removed: false,
            queue: QueueState::default(),
            totals: StreamTotals::default(),
            addresses: 0,
        }
    }

    pub fn pack(&self) -> Vec<u8> {
        let QueueRow { tenant, is_removed, queue, totals, addresses } = self;
        let mut out = vec![u8::from(*is_removed)];
        put_counted(&mut out, tenant.as_bytes());
        queue.last_digest.pack(&mut out);
        let sums = [queue.last_seq, queue.tried_seq, queue.waiting_bytes, queue.waiting];
        let webhooks = [totals.webhooks_delivered, totals.webhooks_failed];
        let records = [totals.txs, totals.logs, totals.internal_txs, *addresses];
        for number in [sums.as_slice(), &webhooks, &records].concat() {
            put_varint(&mut out, number);
        }
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let is_removed = match take_byte(input)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let tenant = take_text(input)?.to_owned();
        let last_digest = B256::unpack(input)?;
        let queue = QueueState {
            last_seq: take_varint(input)?,
            last_digest,
            tried_seq: take_varint(input)?,
            waiting_bytes: take_varint(input)?,
            waiting: take_varint(input)?,
        };
        let totals = StreamTotals {
            webhooks_delivered: take_varint(input)?,
            webhooks_failed: take_varint(input)?,
            txs: take_varint(input)?,
            logs: take_varint(input)?,
            internal_txs: take_varint(input)?,
        };
        let addresses = take_varint(input)?;
        input.is_empty().then_some(QueueRow { tenant, is_removed, queue, totals, addresses })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (tenant, is_removed, digest) in (".{0,8}", any::<bool>(), any::<[u8; 32]>()),
            n in any::<[u64; 10]>(),
            bytes in prop::collection::vec(any::<u8>(), 0..90),
        ) {
            let queue = QueueState {
                last_seq: n[0],
                last_digest: digest.into(),
                tried_seq: n[1],
                waiting_bytes: n[2],
                waiting: n[3],
            };
            let totals = StreamTotals {
                webhooks_delivered: n[4],
                webhooks_failed: n[5],
                txs: n[6],
                logs: n[7],
                internal_txs: n[8],
            };
            let row = QueueRow { tenant, is_removed, queue, totals, addresses: n[9] };
            let packed = row.pack();
            prop_assert_eq!(QueueRow::unpack(&packed), Some(row));
            prop_assert_eq!(QueueRow::unpack(&packed[..packed.len() - 1]), None);
            let _ = QueueRow::unpack(&bytes);
        }
    }
}
