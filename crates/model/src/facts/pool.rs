//! Pools whose exchange a block proves, and what a block changes in pools.
//!
//! What a pool *is* never changes, so the same fact from many blocks is one row. What a pool *holds*
//! is one row per pool and block, in [`PoolChange`].

use alloy_primitives::Address;

use super::PoolChange;
use super::pool_id::PoolId;
use crate::exchange_families::{Exchange, ExchangeKind, PoolTerms};
use crate::raw::wire::{Wire, put_varint, take_bytes, take_varint};

/// Everything that one block says about pools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolFacts {
    /// Pools that this block proves to belong to an exchange; sorted by id, each once.
    pub seen: Vec<Pool>,
    /// What each pool has become by the end of the block; sorted by id, each once. Also of pools that
    /// this block does not prove: another block or a node may tell whose they are.
    pub changes: Vec<PoolChange>,
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

impl Pool {
    /// A pool that an exchange was found to have made. `tokens` in their order.
    pub fn new(id: PoolId, exchange: &Exchange, tokens: [Address; 2], terms: PoolTerms) -> Pool {
        let [token0, token1] = tokens;
        let PoolTerms { fee, tick_spacing, hooks, stable } = terms;
        let (factory, kind) = (exchange.factory, exchange.kind);
        Pool { id, factory, kind, token0, token1, fee, tick_spacing, hooks, stable }
    }

    /// What it is beside its tokens.
    pub fn terms(&self) -> PoolTerms {
        let Pool { fee, tick_spacing, hooks, stable, .. } = *self;
        PoolTerms { fee, tick_spacing, hooks, stable }
    }

    pub fn set_terms(&mut self, terms: PoolTerms) {
        let PoolTerms { fee, tick_spacing, hooks, stable } = terms;
        (self.fee, self.tick_spacing, self.hooks, self.stable) = (fee, tick_spacing, hooks, stable);
    }
}

const HAS_FEE: u8 = 1;
const HAS_SPACING: u8 = 2;
const HAS_HOOKS: u8 = 4;
const TELLS_CURVE: u8 = 8;
const IS_STABLE: u8 = 16;

impl Pool {
    /// Without the id, which is in the row's key.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let mut flags = 0;
        for (bit, set) in [
            (HAS_FEE, self.fee.is_some()),
            (HAS_SPACING, self.tick_spacing.is_some()),
            (HAS_HOOKS, !self.hooks.is_zero()),
            (TELLS_CURVE, self.stable.is_some()),
            (IS_STABLE, self.stable == Some(true)),
        ] {
            flags |= if set { bit } else { 0 };
        }
        out.extend_from_slice(&[self.kind.code, flags]);
        for address in [&self.factory, &self.token0, &self.token1] {
            out.extend_from_slice(address.as_slice());
        }
        if let Some(fee) = self.fee {
            put_varint(out, u64::from(fee));
        }
        if let Some(spacing) = self.tick_spacing {
            put_varint(out, zigzag(spacing.into()));
        }
        if !self.hooks.is_zero() {
            out.extend_from_slice(self.hooks.as_slice());
        }
    }

    /// `None` means the bytes are not what `pack` wrote.
    pub fn unpack(id: PoolId, input: &mut &[u8]) -> Option<Pool> {
        let [kind, flags] = take_bytes(input, 2)? else { return None };
        let (kind, flags) = (ExchangeKind::from_code(*kind)?, *flags);
        let has = |bit| flags & bit != 0;
        Some(Pool {
            id,
            kind,
            factory: Address::unpack(input)?,
            token0: Address::unpack(input)?,
            token1: Address::unpack(input)?,
            fee: match has(HAS_FEE) {
                true => Some(u32::try_from(take_varint(input)?).ok()?),
                false => None,
            },
            tick_spacing: match has(HAS_SPACING) {
                true => Some(i32::try_from(unzigzag(take_varint(input)?)).ok()?),
                false => None,
            },
            hooks: match has(HAS_HOOKS) {
                true => Address::unpack(input)?,
                false => Address::ZERO,
            },
            stable: has(TELLS_CURVE).then_some(has(IS_STABLE)),
        })
    }
}

/// Small numbers of either sign stay small.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_packed_pool_comes_back_as_it_was(
            kind in 0..ExchangeKind::all().count(),
            bytes in proptest::array::uniform32(any::<u8>()),
            fee in proptest::option::of(any::<u32>()),
            tick_spacing in proptest::option::of(any::<i32>()),
            hooked in any::<bool>(),
            stable in proptest::option::of(any::<bool>()),
        ) {
            let pool = Pool {
                id: PoolId::V4(bytes.into()),
                factory: Address::from_slice(&bytes[..20]),
                kind: ExchangeKind::all().nth(kind).unwrap(),
                token0: Address::from_slice(&bytes[3..23]),
                token1: Address::from_slice(&bytes[12..]),
                fee,
                tick_spacing,
                hooks: if hooked { Address::from_slice(&bytes[7..27]) } else { Address::ZERO },
                stable,
            };
            let mut packed = Vec::new();
            pool.pack(&mut packed);
            let input = &mut packed.as_slice();
            prop_assert_eq!(Pool::unpack(pool.id, input), Some(pool));
            prop_assert!(input.is_empty());
        }

        #[test]
        fn bytes_that_are_no_pool_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = Pool::unpack(PoolId::V4(B256::ZERO), &mut bytes.as_slice());
        }
    }
}
