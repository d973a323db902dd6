//! How many rows a wallet has.

use super::varint::{put_varint, take_varint};
use crate::embedded::counts::Count;

impl Count {
    pub(crate) fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8);
        put_varint(&mut out, self.direct);
        put_varint(&mut out, self.internal);
        // Builds before format 6 kept here when the count last changed.
        put_varint(&mut out, 0);
        out
    }

    pub(crate) fn unpack(mut input: &[u8]) -> Option<Self> {
        Some(Count { direct: take_varint(&mut input)?, internal: take_varint(&mut input)? })
    }
}
