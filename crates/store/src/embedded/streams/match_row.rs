//! A match that waits for its block to be confirmed; stream and block are in its key.

use alloy_primitives::B256;
use bytes::Bytes;

use super::delivery_row::{pack_counts, unpack_counts};
use super::packed_body::{BodyPacker, unpack_body};
use crate::embedded::codec::{
    Packed, put_counted, put_varint, take_byte, take_counted, take_varint, unpack_list,
};
use crate::streams::{KeptMatch, RecordCounts, StreamId};

const TRACES_MISSING: u8 = 1;
const SENT: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchRow {
    pub hash: B256,
    pub traces_missing: bool,
    pub first_seq: Option<u64>,
    pub parts: Vec<(RecordCounts, Bytes)>,
}

impl MatchRow {
    /// Without stream and block.
    pub fn of(kept: KeptMatch) -> Self {
        let KeptMatch { stream: _, number: _, hash, traces_missing, first_seq, parts } = kept;
        MatchRow { hash, traces_missing, first_seq, parts }
    }

    pub fn into_kept(self, stream: StreamId, number: u64) -> KeptMatch {
        let MatchRow { hash, traces_missing, first_seq, parts } = self;
        KeptMatch { stream, number, hash, traces_missing, first_seq, parts }
    }

    pub fn pack(&self, bodies: &mut BodyPacker) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        let sent = if self.first_seq.is_some() { SENT } else { 0 };
        out.push(sent | if self.traces_missing { TRACES_MISSING } else { 0 });
        self.hash.pack(&mut out);
        if let Some(seq) = self.first_seq {
            put_varint(&mut out, seq);
        }
        put_varint(&mut out, self.parts.len() as u64);
        for (counts, body) in &self.parts {
            pack_counts(counts, &mut out);
            put_counted(&mut out, &bodies.pack(body));
        }
        out
    }

    /// Hash and number of the first delivery stand in front: they can be read without the bodies.
    pub fn unpack_head(input: &mut &[u8]) -> Option<Self> {
        let flags = take_byte(input).filter(|flags| *flags <= TRACES_MISSING | SENT)?;
        let hash = B256::unpack(input)?;
        let first_seq = if flags & SENT != 0 { Some(take_varint(input)?) } else { None };
        let traces_missing = flags & TRACES_MISSING != 0;
        Some(MatchRow { hash, traces_missing, first_seq, parts: Vec::new() })
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let head = MatchRow::unpack_head(input)?;
        let parts = unpack_list(input, |input| {
            Some((unpack_counts(input)?, unpack_body(take_counted(input)?)?))
        })?;
        input.is_empty().then_some(MatchRow { parts, ..head })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (hash, traces_missing, first_seq) in any::<([u8; 32], bool, Option<u64>)>(),
            parts in any::<Vec<((u32, u32, u32), Vec<u8>)>>(),
            bytes in prop::collection::vec(any::<u8>(), 0..90),
        ) {
            let part = |((txs, logs, internal_txs), body)| {
                (RecordCounts { txs, logs, internal_txs }, Bytes::from(body))
            };
            let parts = parts.into_iter().map(part).collect();
            let row = MatchRow { hash: hash.into(), traces_missing, first_seq, parts };
            let packed = row.pack(&mut BodyPacker::default());
            let head = MatchRow::unpack_head(&mut packed.as_slice()).unwrap();
            prop_assert_eq!((head.hash, head.first_seq), (row.hash, row.first_seq));
            prop_assert_eq!(MatchRow::unpack(&packed), Some(row));
            prop_assert_eq!(MatchRow::unpack(&packed[..packed.len() - 1]), None);
            let _ = MatchRow::unpack(&bytes);
        }
    }
}
