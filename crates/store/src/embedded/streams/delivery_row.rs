//! All of a delivery that never changes: what it tells of, its size and its place in the chain of digests.

use alloy_primitives::B256;
use model::chain::ChainId;

use crate::embedded::codec::{Packed, put_varint, take_byte, take_varint};
use crate::streams::{Delivery, DeliveryKind, DeliveryMeta, DeliveryState, RecordCounts, StreamId};

const TRACES_MISSING: u8 = 1;
const AMENDS: u8 = 2;

pub fn pack_counts(counts: &RecordCounts, out: &mut Vec<u8>) {
    for count in [counts.txs, counts.logs, counts.internal_txs] {
        put_varint(out, u64::from(count));
    }
}

pub fn unpack_counts(input: &mut &[u8]) -> Option<RecordCounts> {
    let mut count = || u32::try_from(take_varint(input)?).ok();
    Some(RecordCounts { txs: count()?, logs: count()?, internal_txs: count()? })
}

/// Without the state, which has a row of its own.
pub fn pack_delivery(delivery: &Delivery) -> Vec<u8> {
    let Delivery { meta, body_bytes, digest, previous_digest, .. } = delivery;
    let mut out = Vec::with_capacity(128);
    out.push(code(meta.kind));
    let amends = if meta.amends.is_some() { AMENDS } else { 0 };
    out.push(amends | if meta.traces_missing { TRACES_MISSING } else { 0 });
    for hash in [&meta.hash, digest, previous_digest] {
        hash.pack(&mut out);
    }
    let part = [u64::from(meta.part.0), u64::from(meta.part.1)];
    for number in [meta.chain.0, meta.number, part[0], part[1], meta.created_ms, *body_bytes] {
        put_varint(&mut out, number);
    }
    pack_counts(&meta.counts, &mut out);
    if let Some(amends) = meta.amends {
        put_varint(&mut out, amends);
    }
    out
}

pub fn unpack_delivery((stream, seq): (StreamId, u64), mut input: &[u8]) -> Option<Delivery> {
    let input = &mut input;
    let kind = from_code(take_byte(input)?)?;
    let flags = take_byte(input).filter(|flags| *flags <= TRACES_MISSING | AMENDS)?;
    let [hash, digest, previous_digest] =
        [B256::unpack(input)?, B256::unpack(input)?, B256::unpack(input)?];
    let (chain, number) = (ChainId(take_varint(input)?), take_varint(input)?);
    let mut small = || u32::try_from(take_varint(input)?).ok();
    let part = (small()?, small()?);
    let (created_ms, body_bytes) = (take_varint(input)?, take_varint(input)?);
    let counts = unpack_counts(input)?;
    let amends = if flags & AMENDS != 0 { Some(take_varint(input)?) } else { None };
    let traces_missing = flags & TRACES_MISSING != 0;
    let meta = DeliveryMeta {
        chain,
        number,
        hash,
        kind,
        part,
        traces_missing,
        amends,
        counts,
        created_ms,
    };
    let state = DeliveryState::default();
    let delivery = Delivery { stream, seq, meta, body_bytes, digest, previous_digest, state };
    input.is_empty().then_some(delivery)
}

/// Codes are in stores: never give one a new meaning.
fn code(kind: DeliveryKind) -> u8 {
    match kind {
        DeliveryKind::Unconfirmed => 0,
        DeliveryKind::Confirmed => 1,
        DeliveryKind::Retracted => 2,
    }
}

fn from_code(code: u8) -> Option<DeliveryKind> {
    match code {
        0 => Some(DeliveryKind::Unconfirmed),
        1 => Some(DeliveryKind::Confirmed),
        2 => Some(DeliveryKind::Retracted),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (stream, seq, number, created_ms) in any::<([u8; 16], u64, u64, u64)>(),
            (hash, digest, previous) in any::<([u8; 32], [u8; 32], [u8; 32])>(),
            (kind, part, traces_missing) in (0..3u8, any::<(u32, u32)>(), any::<bool>()),
            amends in any::<Option<u64>>(),
            (txs, logs, internal_txs) in any::<(u32, u32, u32)>(),
            bytes in prop::collection::vec(any::<u8>(), 0..150),
        ) {
            let meta = DeliveryMeta {
                chain: ChainId(number / 3),
                number,
                hash: hash.into(),
                kind: from_code(kind).unwrap(),
                part,
                traces_missing,
                amends,
                counts: RecordCounts { txs, logs, internal_txs },
                created_ms,
            };
            let delivery = Delivery {
                stream: stream.into(),
                seq,
                meta,
                body_bytes: created_ms / 7,
                digest: digest.into(),
                previous_digest: previous.into(),
                state: DeliveryState::default(),
            };
            let (packed, place) = (pack_delivery(&delivery), (delivery.stream, seq));
            prop_assert_eq!(unpack_delivery(place, &packed), Some(delivery));
            prop_assert_eq!(unpack_delivery(place, &packed[..packed.len() - 1]), None);
            let _ = unpack_delivery(place, &bytes);
        }
    }
}
