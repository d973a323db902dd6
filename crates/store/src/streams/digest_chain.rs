//! Digests of the deliveries of one commit. In a stream each follows from the one before; those of different streams
//! are made side by side.

use std::collections::HashMap;

use alloy_primitives::B256;
use model::hash_lanes::{has_sha256_instructions, sha256_all};
use ring::digest::{Context, SHA256};

use super::{Delivery, QueuedDelivery, StreamId, delivery_digest};

/// Larger ones are hashed alone: they would go on long after the others, with nobody beside them.
const BODY_BYTES_MAX: usize = 1 << 20;

/// `last` is the newest digest of each stream, before and after.
pub(crate) fn chain_digests(made: &mut [QueuedDelivery], last: &mut HashMap<StreamId, B256>) {
    // A processor with instructions for it gains nothing from several.
    let side_by_side_max = if has_sha256_instructions() { 0 } else { BODY_BYTES_MAX };
    chain(made, last, side_by_side_max);
}

fn chain(made: &mut [QueuedDelivery], last: &mut HashMap<StreamId, B256>, bytes_max: usize) {
    for mut round in rounds(made) {
        for QueuedDelivery { delivery, .. } in round.iter_mut().map(|queued| &mut **queued) {
            delivery.previous_digest = last.get(&delivery.stream).copied().unwrap_or_default();
        }
        let is_large = |queued: &&mut QueuedDelivery| queued.body.len() > bytes_max;
        let (large, mut others): (Vec<_>, Vec<_>) = round.into_iter().partition(is_large);
        for QueuedDelivery { delivery, body, .. } in large {
            delivery.digest = delivery_digest(delivery.previous_digest, delivery.seq, body);
            last.insert(delivery.stream, delivery.digest);
        }
        make(&mut others, last);
    }
}

/// The first of each stream, then the second of each.
fn rounds(made: &mut [QueuedDelivery]) -> Vec<Vec<&mut QueuedDelivery>> {
    let mut rounds: Vec<Vec<_>> = Vec::new();
    let mut known: HashMap<StreamId, usize> = HashMap::new();
    for queued in made {
        let count = known.entry(queued.delivery.stream).or_default();
        match rounds.get_mut(*count) {
            Some(round) => round.push(queued),
            None => rounds.push(vec![queued]),
        }
        *count += 1;
    }
    rounds
}

/// No two are of one stream.
fn make(deliveries: &mut [&mut QueuedDelivery], last: &mut HashMap<StreamId, B256>) {
    let head = |queued: &&mut QueuedDelivery| {
        let Delivery { previous_digest, seq, .. } = &queued.delivery;
        [previous_digest.as_slice(), &seq.to_be_bytes()].concat()
    };
    let heads: Vec<Vec<u8>> = deliveries.iter().map(head).collect();
    let bodies = deliveries.iter().map(|queued| &queued.body[..]);
    let messages: Vec<_> = heads.iter().map(Vec::as_slice).zip(bodies).collect();
    let digests = sha256_all(&messages, sha256);
    for (queued, digest) in deliveries.iter_mut().zip(digests) {
        queued.delivery.digest = digest;
        last.insert(queued.delivery.stream, digest);
    }
}

fn sha256(head: &[u8], body: &[u8]) -> B256 {
    let mut hasher = Context::new(&SHA256);
    hasher.update(head);
    hasher.update(body);
    B256::from_slice(hasher.finish().as_ref())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::chain::ChainId;

    use super::*;
    use crate::streams::{DeliveryKind, DeliveryMeta, DeliveryState, RecordCounts};

    fn queued(stream: u8, seq: u64, bytes: usize) -> QueuedDelivery {
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
        let body = Bytes::from(vec![stream ^ seq as u8; bytes]);
        QueuedDelivery { delivery, body, waiting: 1, waiting_bytes: bytes as u64 }
    }

    #[test]
    fn each_stream_has_the_chain_that_it_has_alone() {
        // Streams of different lengths, mixed, some with bodies that are hashed where they lie.
        let mut made = Vec::new();
        for seq in 5..12 {
            for stream in 0..40 {
                if stream % 7 < seq as u8 {
                    let bytes = if (stream, seq) == (3, 8) {
                        BODY_BYTES_MAX + 1
                    } else {
                        40 * stream as usize
                    };
                    made.push(queued(stream, seq, bytes));
                }
            }
        }
        let before = |stream: StreamId| B256::repeat_byte(stream[0].wrapping_add(1));
        let streams: Vec<StreamId> = made.iter().map(|queued| queued.delivery.stream).collect();
        let start: HashMap<_, _> = streams.iter().map(|it| (*it, before(*it))).collect();
        let mut last = start.clone();
        chain_digests(&mut made, &mut last);
        let mut expected: HashMap<StreamId, B256> = HashMap::new();
        for QueuedDelivery { delivery, body, .. } in &made {
            let previous = expected.entry(delivery.stream).or_insert(before(delivery.stream));
            assert_eq!(delivery.previous_digest, *previous);
            *previous = delivery_digest(*previous, delivery.seq, body);
            assert_eq!(delivery.digest, *previous);
        }
        assert_eq!(last, expected);
        for bytes_max in [0, BODY_BYTES_MAX] {
            let mut last = start.clone();
            chain(&mut made, &mut last, bytes_max);
            assert_eq!(last, expected);
        }
    }
}
