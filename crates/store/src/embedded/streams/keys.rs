//! Keys of streams' rows.

use alloy_primitives::Address;
use model::chain::ChainId;

use crate::embedded::keys::join;
use crate::streams::{ListAnchor, StreamId};

/// Stream, number of a delivery.
pub fn delivery(stream: StreamId, seq: u64) -> [u8; 24] {
    join!(24: stream, seq.to_be_bytes())
}

pub fn stream_and_seq(key: &[u8]) -> Option<(StreamId, u64)> {
    let (stream, seq) = key.split_first_chunk::<16>()?;
    Some((StreamId::from(*stream), number(seq)?))
}

pub fn address(stream: StreamId, address: Address) -> [u8; 36] {
    join!(36: stream, address)
}

pub fn address_of(key: &[u8]) -> Option<Address> {
    let address: [u8; 20] = key.get(16..)?.try_into().ok()?;
    Some(Address::from(address))
}

pub fn a_match(stream: StreamId, chain: ChainId, number: u64) -> [u8; 32] {
    join!(32: stream, chain.0.to_be_bytes(), number.to_be_bytes())
}

/// Stream, chain, number of a `a_match` key.
pub fn parts_of_match(key: &[u8]) -> Option<(StreamId, ChainId, u64)> {
    let (stream, rest) = key.split_first_chunk::<16>()?;
    let (chain, rest) = rest.split_first_chunk::<8>()?;
    Some((StreamId::from(*stream), ChainId(u64::from_be_bytes(*chain)), number(rest)?))
}

pub fn match_by_block(chain: ChainId, number: u64, stream: StreamId) -> [u8; 32] {
    join!(32: chain.0.to_be_bytes(), number.to_be_bytes(), stream)
}

/// Number and stream of a `match_by_block` key.
pub fn number_and_stream(key: &[u8]) -> Option<(u64, StreamId)> {
    let (at, stream) = key.split_last_chunk::<16>()?;
    Some((number(at.get(8..)?)?, StreamId::from(*stream)))
}

/// The most overdue of a stream first.
pub fn due(stream: StreamId, due_ms: u64, seq: u64) -> [u8; 32] {
    join!(32: stream, due_ms.to_be_bytes(), seq.to_be_bytes())
}

/// Due and number of a `due` key.
pub fn parts_of_due(key: &[u8]) -> Option<(StreamId, u64, u64)> {
    let (stream, rest) = key.split_first_chunk::<16>()?;
    let (due_ms, seq) = rest.split_first_chunk::<8>()?;
    Some((StreamId::from(*stream), u64::from_be_bytes(*due_ms), number(seq)?))
}

/// Oldest first.
pub fn end(ended_ms: u64, stream: StreamId, seq: u64) -> [u8; 32] {
    join!(32: ended_ms.to_be_bytes(), stream, seq.to_be_bytes())
}

/// When, stream and number of an `end` key.
pub fn parts_of_end(key: &[u8]) -> Option<(u64, StreamId, u64)> {
    let (ended_ms, rest) = key.split_first_chunk::<8>()?;
    let (stream, seq) = stream_and_seq(rest)?;
    Some((u64::from_be_bytes(*ended_ms), stream, seq))
}

/// A tenant with its length in front: no name is the beginning of another, and no key is empty.
pub fn tenant(tenant: &str) -> Vec<u8> {
    [(tenant.len() as u64).to_be_bytes().as_slice(), tenant.as_bytes()].concat()
}

/// The tenant's part of a longer key.
pub fn tenant_part(key: &[u8]) -> Option<&[u8]> {
    let (length, _) = key.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
    key.get(..length.checked_add(8)?)
}

/// `tenant` is as the function of that name gives it. Newest first.
pub fn attempt(tenant: &[u8], at: &ListAnchor) -> Vec<u8> {
    let (at_ms, seq) = ((!at.at_ms).to_be_bytes(), (!at.seq).to_be_bytes());
    [tenant, &at_ms, at.stream.as_slice(), &seq, &(!at.retries).to_be_bytes()].concat()
}

/// In front of all attempts of that millisecond or an earlier one.
pub fn attempts_until(tenant: &[u8], at_ms: u64) -> Vec<u8> {
    [tenant, &(!at_ms).to_be_bytes()].concat()
}

/// What stands behind the tenant.
pub fn anchor(rest: &[u8]) -> Option<ListAnchor> {
    let (at_ms, rest) = rest.split_first_chunk::<8>()?;
    let (stream, rest) = rest.split_first_chunk::<16>()?;
    let (seq, retries) = rest.split_first_chunk::<8>()?;
    Some(ListAnchor {
        at_ms: !u64::from_be_bytes(*at_ms),
        stream: StreamId::from(*stream),
        seq: !u64::from_be_bytes(*seq),
        retries: !u32::from_be_bytes(retries.try_into().ok()?),
    })
}

/// The first key that does not begin so; none where there is no such key.
pub fn after_all_of(prefix: &[u8]) -> Option<Vec<u8>> {
    let (at, last) = prefix.iter().enumerate().rfind(|(_, byte)| **byte != u8::MAX)?;
    let mut key = prefix.get(..at)?.to_vec();
    key.push(*last + 1);
    Some(key)
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_come_apart_and_bytes_of_any_kind_do_no_harm(
            (stream, of) in (any::<[u8; 16]>(), any::<[u8; 20]>()),
            (number, seq, at_ms, retries) in any::<(u64, u64, u64, u32)>(),
            name in ".{0,9}",
            bytes in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let (stream, of, chain) = (StreamId::from(stream), Address::from(of), ChainId(seq));
            prop_assert_eq!(stream_and_seq(&delivery(stream, seq)), Some((stream, seq)));
            prop_assert_eq!(address_of(&address(stream, of)), Some(of));
            prop_assert_eq!(
                parts_of_match(&a_match(stream, chain, number)),
                Some((stream, chain, number))
            );
            let by_block = match_by_block(chain, number, stream);
            prop_assert_eq!(number_and_stream(&by_block), Some((number, stream)));
            prop_assert_eq!(parts_of_due(&due(stream, at_ms, seq)), Some((stream, at_ms, seq)));
            prop_assert_eq!(parts_of_end(&end(at_ms, stream, seq)), Some((at_ms, stream, seq)));
            let (owner, at) = (tenant(&name), ListAnchor { at_ms, stream, seq, retries });
            let key = attempt(&owner, &at);
            prop_assert_eq!(tenant_part(&key), Some(owner.as_slice()));
            prop_assert_eq!(anchor(key.strip_prefix(owner.as_slice()).unwrap()), Some(at));
            prop_assert!(attempts_until(&owner, at_ms) < key);
            prop_assert!(at_ms == 0 || key < attempts_until(&owner, at_ms - 1));
            prop_assert!(after_all_of(&bytes).is_none_or(|after| after > bytes));
            prop_assert!(after_all_of(&owner).unwrap() > key);
            let _ = (stream_and_seq(&bytes), address_of(&bytes), parts_of_match(&bytes));
            let _ = (number_and_stream(&bytes), parts_of_due(&bytes), parts_of_end(&bytes));
            let _ = (tenant_part(&bytes), anchor(&bytes));
        }
    }
}
