//! The words of an event, counted: one with more or fewer of them is another event.

use alloy_primitives::{B256, b256};

use super::WORD;
use crate::raw::Log;

/// `Transfer(address,address,uint256)`, of coins and of NFTs alike.
pub const TRANSFER: B256 =
    b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// The nth topic, the event's own name being the 0th; only if there are exactly `count` of them.
pub fn topic(log: &Log, count: usize, n: usize) -> Option<B256> {
    let topics = log.topics.as_deref().filter(|topics| topics.len() == count)?;
    topics.get(n).copied()
}

/// All words of the data; only if there are exactly `N` of them.
pub fn words<const N: usize>(log: &Log) -> Option<[B256; N]> {
    let (found, rest) = log.data.as_deref()?.as_chunks::<WORD>();
    let found: &[[u8; WORD]; N] = found.try_into().ok().filter(|_| rest.is_empty())?;
    Some(found.map(B256::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_goes_by_the_hash_of_its_signature() {
        assert_eq!(TRANSFER, alloy_primitives::keccak256("Transfer(address,address,uint256)"));
    }
}
