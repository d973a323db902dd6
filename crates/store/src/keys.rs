//! Key bytes. Numbers are big-endian, inverted where the newest comes first, so that one question
//! is one forward scan.

use alloy_primitives::{Address, B256};
use model::chain::ChainId;

/// Parts joined to one key.
macro_rules! join {
    ($($part:expr),+) => {{
        let mut key = Vec::with_capacity(48);
        $(key.extend_from_slice($part.as_ref());)+
        key
    }};
}

/// Chain, block number.
pub fn block(chain: ChainId, number: u64) -> Vec<u8> {
    join!(chain.0.to_be_bytes(), number.to_be_bytes())
}

/// Chain, block number, index in the block.
pub fn in_block(chain: ChainId, number: u64, index: u32) -> Vec<u8> {
    join!(chain.0.to_be_bytes(), number.to_be_bytes(), index.to_be_bytes())
}

pub fn by_hash(chain: ChainId, hash: B256) -> Vec<u8> {
    join!(chain.0.to_be_bytes(), hash)
}

/// Several blocks may share a second, so the number is part of the key.
pub fn by_time(chain: ChainId, timestamp: u64, number: u64) -> Vec<u8> {
    join!(chain.0.to_be_bytes(), timestamp.to_be_bytes(), number.to_be_bytes())
}

pub fn chain(chain: ChainId) -> Vec<u8> {
    join!(chain.0.to_be_bytes())
}


/// Newest first: inverted block number and index.
pub fn wallet(chain: ChainId, address: Address, number: u64, index: u32) -> Vec<u8> {
    join!(chain.0.to_be_bytes(), address, (!number).to_be_bytes(), (!index).to_be_bytes())
}

/// The block and index at the end of a `wallet` key.
pub fn place_of_wallet_key(key: &[u8]) -> Option<(u64, u32)> {
    let (rest, index) = key.split_last_chunk::<4>()?;
    let (_, number) = rest.split_last_chunk::<8>()?;
    Some((!u64::from_be_bytes(*number), !u32::from_be_bytes(*index)))
}

pub fn count(chain: ChainId, address: Address, level: u8, bucket: u64) -> Vec<u8> {
    join!(chain.0.to_be_bytes(), address, [level], bucket.to_be_bytes())
}

/// The last eight bytes as a number: sequence, bucket or block number.
pub fn last_number(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))
}
