//! A pool, without its id: that is in the row's key.

use alloy_primitives::Address;
use model::exchange_families::ExchangeKind;
use model::facts::{Pool, PoolId};

use super::bytes::take_bytes;
use super::value::Packed;
use super::varint::{put_signed, put_varint, take_signed, take_varint};

const HAS_FEE: u8 = 1;
const HAS_SPACING: u8 = 2;
const HAS_HOOKS: u8 = 4;
const TELLS_CURVE: u8 = 8;
const IS_STABLE: u8 = 16;

pub fn pack(pool: &Pool, out: &mut Vec<u8>) {
    let mut flags = 0;
    for (bit, set) in [
        (HAS_FEE, pool.fee.is_some()),
        (HAS_SPACING, pool.tick_spacing.is_some()),
        (HAS_HOOKS, !pool.hooks.is_zero()),
        (TELLS_CURVE, pool.stable.is_some()),
        (IS_STABLE, pool.stable == Some(true)),
    ] {
        flags |= if set { bit } else { 0 };
    }
    out.extend_from_slice(&[pool.kind.code, flags]);
    for address in [&pool.factory, &pool.token0, &pool.token1] {
        out.extend_from_slice(address.as_slice());
    }
    if let Some(fee) = pool.fee {
        put_varint(out, u64::from(fee));
    }
    if let Some(spacing) = pool.tick_spacing {
        put_signed(out, spacing.into());
    }
    if !pool.hooks.is_zero() {
        out.extend_from_slice(pool.hooks.as_slice());
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
        fee: if has(HAS_FEE) { Some(u32::try_from(take_varint(input)?).ok()?) } else { None },
        tick_spacing: if has(HAS_SPACING) {
            Some(i32::try_from(take_signed(input)?).ok()?)
        } else {
            None
        },
        hooks: if has(HAS_HOOKS) { Address::unpack(input)? } else { Address::ZERO },
        stable: has(TELLS_CURVE).then_some(has(IS_STABLE)),
    })
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
            pack(&pool, &mut packed);
            let input = &mut packed.as_slice();
            prop_assert_eq!(unpack(pool.id, input), Some(pool));
            prop_assert!(input.is_empty());
        }

        #[test]
        fn bytes_that_are_no_pool_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = unpack(PoolId::V4(B256::ZERO), &mut bytes.as_slice());
        }
    }
}
