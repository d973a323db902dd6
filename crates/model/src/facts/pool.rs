//! Pools whose exchange a block proves, and what a block changes in pools.
//!
//! What a pool *is* never changes, so the same fact from many blocks is one row. What a pool *holds*
//! is one row per pool and block, in [`PoolChange`].

use alloy_primitives::{Address, B256};

use super::PoolChange;
use crate::chain::ExchangeKind;

/// Everything that one block says about pools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolFacts {
    /// Pools that this block proves to belong to an exchange; sorted by id, each once.
    pub seen: Vec<Pool>,
    /// What each pool has become by the end of the block; sorted by id, each once. Also of pools that
    /// this block does not prove: another block or a node may tell whose they are.
    pub changes: Vec<PoolChange>,
}

/// A pool's own contract, or its number inside the one contract that holds all v4 pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PoolId {
    Contract(Address),
    V4(B256),
}

impl PoolId {
    /// 20 or 32 bytes, for keys.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            PoolId::Contract(address) => address.as_slice(),
            PoolId::V4(id) => id.as_slice(),
        }
    }

    pub fn from_slice(bytes: &[u8]) -> Option<PoolId> {
        match bytes.len() {
            20 => Some(PoolId::Contract(Address::from_slice(bytes))),
            32 => Some(PoolId::V4(B256::from_slice(bytes))),
            _ => None,
        }
    }
}

/// A pool that belongs to an exchange, because the exchange's factory says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    pub id: PoolId,
    /// As the chain table names it; for v4 the one contract.
    pub factory: Address,
    pub kind: ExchangeKind,
    /// Zero is the native coin, in v4 only.
    pub token0: Address,
    pub token1: Address,
    /// In millionths, where the fee is part of what the pool is; v4 has one value that means "varies".
    pub fee: Option<u32>,
    /// How many ticks lie between two places where liquidity can begin or end, if told.
    pub tick_spacing: Option<i32>,
    /// v4: a contract that may change every swap. Zero is none.
    pub hooks: Address,
    /// Whether reserves follow the curve for tokens of like worth; told by Solidly pools only.
    pub stable: Option<bool>,
}

impl ExchangeKind {
    /// Codes are in stores: never give one a new meaning.
    pub fn code(self) -> u8 {
        match self {
            ExchangeKind::V2 => 0,
            ExchangeKind::V3 => 1,
            ExchangeKind::V4 => 2,
            ExchangeKind::Camelot => 3,
            ExchangeKind::Solidly => 4,
            ExchangeKind::Algebra => 5,
            ExchangeKind::Slipstream => 6,
        }
    }

    pub fn from_code(code: u8) -> Option<ExchangeKind> {
        Some(match code {
            0 => ExchangeKind::V2,
            1 => ExchangeKind::V3,
            2 => ExchangeKind::V4,
            3 => ExchangeKind::Camelot,
            4 => ExchangeKind::Solidly,
            5 => ExchangeKind::Algebra,
            6 => ExchangeKind::Slipstream,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_comes_back_from_its_code() {
        for code in 0..7 {
            assert_eq!(ExchangeKind::from_code(code).map(ExchangeKind::code), Some(code));
        }
        assert_eq!(ExchangeKind::from_code(7), None);
    }

    proptest! {
        #[test]
        fn bytes_that_are_no_id_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = PoolId::from_slice(&bytes);
        }

        #[test]
        fn an_id_comes_back_from_its_bytes(bytes in proptest::array::uniform32(any::<u8>())) {
            for id in [PoolId::V4(bytes.into()), PoolId::Contract(Address::from_slice(&bytes[..20]))] {
                prop_assert_eq!(PoolId::from_slice(id.as_slice()), Some(id));
            }
        }
    }
}
