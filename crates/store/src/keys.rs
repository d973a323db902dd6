//! Key bytes. Numbers are big-endian, inverted where the newest comes first, so that one question
//! is one forward scan.

use alloy_primitives::{Address, B256};
use model::chain::ChainId;

/// Parts joined to one key of known length.
macro_rules! join {
    ($length:literal: $($part:expr),+) => {{
        use std::io::Write;
        let mut key = [0u8; $length];
        let mut rest = key.as_mut_slice();
        // The parts fill the key exactly, which the tests see to; writing cannot fail otherwise.
        $(let _ = rest.write_all($part.as_ref());)+
        debug_assert!(rest.is_empty());
        key
    }};
}

/// Chain, block number.
pub fn block(chain: ChainId, number: u64) -> [u8; 16] {
    join!(16: chain.0.to_be_bytes(), number.to_be_bytes())
}

/// Chain, block number, index in the block.
pub fn in_block(chain: ChainId, number: u64, index: u32) -> [u8; 20] {
    join!(20: chain.0.to_be_bytes(), number.to_be_bytes(), index.to_be_bytes())
}

pub fn by_hash(chain: ChainId, hash: B256) -> [u8; 40] {
    join!(40: chain.0.to_be_bytes(), hash)
}

/// Several blocks may share a second, so the number is part of the key.
pub fn by_time(chain: ChainId, timestamp: u64, number: u64) -> [u8; 24] {
    join!(24: chain.0.to_be_bytes(), timestamp.to_be_bytes(), number.to_be_bytes())
}

pub fn chain(chain: ChainId) -> [u8; 8] {
    chain.0.to_be_bytes()
}
/// All rows of a wallet, as a prefix.
pub fn of_wallet(chain: ChainId, address: Address) -> [u8; 28] {
    join!(28: chain.0.to_be_bytes(), address)
}

/// Newest first: inverted block number and index.
pub fn wallet(chain: ChainId, address: Address, number: u64, index: u32) -> [u8; 40] {
    join!(40: chain.0.to_be_bytes(), address, (!number).to_be_bytes(), (!index).to_be_bytes())
}

/// The block and index at the end of a `wallet` key.
pub fn place_of_wallet_key(key: &[u8]) -> Option<(u64, u32)> {
    let (rest, index) = key.split_last_chunk::<4>()?;
    let (_, number) = rest.split_last_chunk::<8>()?;
    Some((!u64::from_be_bytes(*number), !u32::from_be_bytes(*index)))
}

pub fn count(chain: ChainId, address: Address, level: u8, bucket: u64) -> [u8; 37] {
    join!(37: chain.0.to_be_bytes(), address, [level], bucket.to_be_bytes())
}

/// The last eight bytes as a number: sequence, bucket or block number.
pub fn last_number(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn key_bytes_sort_like_keys(
            (c1, c2) in (0u64..3, 0u64..3),
            (a1, a2) in (any::<[u8; 20]>(), any::<[u8; 20]>()),
            (n1, n2) in (any::<u64>(), any::<u64>()),
            (i1, i2) in (any::<u32>(), any::<u32>()),
            same in any::<bool>(),
        ) {
            let (c1, c2) = (ChainId(c1), ChainId(c2));
            let (a1, a2) = (Address::from(a1), Address::from(if same { a1 } else { a2 }));
            let n2 = if same && i1 % 2 == 0 { n1 } else { n2 };
            prop_assert_eq!(block(c1, n1).cmp(&block(c2, n2)), (c1, n1).cmp(&(c2, n2)));
            prop_assert_eq!(
                in_block(c1, n1, i1).cmp(&in_block(c2, n2, i2)),
                (c1, n1, i1).cmp(&(c2, n2, i2))
            );
            prop_assert_eq!(
                by_time(c1, n1, u64::from(i1)).cmp(&by_time(c2, n2, u64::from(i2))),
                (c1, n1, i1).cmp(&(c2, n2, i2))
            );
            // Newest first within a wallet.
            prop_assert_eq!(
                wallet(c1, a1, n1, i1).cmp(&wallet(c2, a2, n2, i2)),
                (c1, a1).cmp(&(c2, a2)).then((n2, i2).cmp(&(n1, i1)))
            );
            let (l1, l2) = ((i1 % 3) as u8, (i2 % 3) as u8);
            prop_assert_eq!(
                count(c1, a1, l1, n1).cmp(&count(c2, a2, l2, n2)),
                (c1, a1, l1, n1).cmp(&(c2, a2, l2, n2))
            );
            prop_assert_eq!(place_of_wallet_key(&wallet(c1, a1, n1, i1)), Some((n1, i1)));
            prop_assert_eq!(last_number(&block(c1, n1)), Some(n1));
        }
    }
}
