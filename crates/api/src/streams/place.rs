//! Where pages of lists end, as the bytes that a cursor carries.

use alloy_primitives::Address;
use store::{ListAnchor, StreamId};
use streams::StreamAnchor;

pub trait Place: Sized {
    fn to_bytes(&self) -> Vec<u8>;
    /// None for what no place is written as.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Place for StreamAnchor {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.created_ms.to_be_bytes().to_vec();
        bytes.extend(self.id);
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let created_ms = number(&mut bytes)?;
        Some(StreamAnchor { created_ms, id: StreamId::try_from(bytes).ok()? })
    }
}

impl Place for Address {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Address::try_from(bytes).ok()
    }
}

impl Place for ListAnchor {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.at_ms.to_be_bytes().to_vec();
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(u64::from(self.retries).to_be_bytes());
        bytes.extend(self.stream);
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let (at_ms, seq) = (number(&mut bytes)?, number(&mut bytes)?);
        let retries = u32::try_from(number(&mut bytes)?).ok()?;
        Some(ListAnchor { at_ms, seq, retries, stream: StreamId::try_from(bytes).ok()? })
    }
}

/// A delivery's number.
impl Place for u64 {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_be_bytes().to_vec()
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        number(&mut bytes).filter(|_| bytes.is_empty())
    }
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_be_bytes(*head))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<P: Place + PartialEq + std::fmt::Debug>(place: P) {
        let bytes = place.to_bytes();
        assert!(bytes.len() <= 64, "{place:?}");
        assert_eq!(P::from_bytes(&bytes).as_ref(), Some(&place));
        assert_eq!(P::from_bytes(&bytes[1..]), None, "{place:?}");
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(P::from_bytes(&longer), None, "{place:?}");
    }

    #[test]
    fn every_place_survives_being_written() {
        let id = StreamId::repeat_byte(7);
        round(StreamAnchor { created_ms: 1_700_000_000_123, id });
        round(Address::repeat_byte(9));
        round(ListAnchor { at_ms: u64::MAX, stream: id, seq: 3, retries: u32::MAX });
        round(17u64);
    }
}
