//! What a block changed in a pool, without the pool's id: that is in the row's key.

use alloy_primitives::U256;
use model::facts::{Change, PoolChange, PoolId, PoolState, RangeDelta};

use super::bytes::take_byte;
use super::value::{Packed, unpack_list};
use super::varint::{put_signed, put_varint, take_signed, take_varint};

const RESERVES: u8 = 0;
const RANGED: u8 = 1;
const LIQUIDITY: u8 = 2;

pub fn pack(change: &PoolChange, out: &mut Vec<u8>) {
    put_varint(out, u64::from(change.log_index));
    match &change.change {
        Change::State(PoolState::Reserves { reserve0, reserve1 }) => {
            out.push(RESERVES);
            reserve0.pack(out);
            reserve1.pack(out);
        }
        Change::State(PoolState::Ranged { sqrt_price, liquidity, tick }) => {
            out.push(RANGED);
            sqrt_price.pack(out);
            U256::from(*liquidity).pack(out);
            put_signed(out, (*tick).into());
        }
        Change::Liquidity(ranges) => {
            out.push(LIQUIDITY);
            let ranges = ranges.iter().filter(|it| it.delta != 0);
            put_varint(out, ranges.clone().count() as u64);
            for range in ranges {
                put_signed(out, range.lower.into());
                put_signed(out, range.upper.into());
                out.push(u8::from(range.delta < 0));
                U256::from(range.delta.unsigned_abs()).pack(out);
            }
        }
    }
}

/// `None` means the bytes are not what `pack` wrote.
pub fn unpack(id: PoolId, input: &mut &[u8]) -> Option<PoolChange> {
    let log_index = u32::try_from(take_varint(input)?).ok()?;
    let change = match take_byte(input)? {
        RESERVES => Change::State(PoolState::Reserves {
            reserve0: U256::unpack(input)?,
            reserve1: U256::unpack(input)?,
        }),
        RANGED => Change::State(PoolState::Ranged {
            sqrt_price: U256::unpack(input)?,
            liquidity: u128::try_from(U256::unpack(input)?).ok()?,
            tick: take_tick(input)?,
        }),
        LIQUIDITY => Change::Liquidity(unpack_list(input, take_range)?),
        _ => return None,
    };
    Some(PoolChange { id, log_index, change })
}

fn take_tick(input: &mut &[u8]) -> Option<i32> {
    i32::try_from(take_signed(input)?).ok()
}

fn take_range(input: &mut &[u8]) -> Option<RangeDelta> {
    let (lower, upper) = (take_tick(input)?, take_tick(input)?);
    let taken = take_byte(input)? != 0;
    let size = u128::try_from(U256::unpack(input)?).ok()?;
    let delta =
        if taken { 0i128.checked_sub_unsigned(size)? } else { i128::try_from(size).ok()? };
    Some(RangeDelta { lower, upper, delta })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any numbers at all: the codec does not know which of them make sense.
    fn changes() -> impl Strategy<Value = Change> {
        let number = || any::<[u8; 32]>().prop_map(U256::from_be_bytes);
        let state = (number(), number(), any::<(bool, u128, i32)>());
        let state = state.prop_map(|(one, other, (in_ranges, liquidity, tick))| {
            Change::State(if in_ranges {
                PoolState::Ranged { sqrt_price: one, liquidity, tick }
            } else {
                PoolState::Reserves { reserve0: one, reserve1: other }
            })
        });
        let deltas = any::<Vec<(i32, i32, i128)>>().prop_map(|deltas| {
            let delta = |(lower, upper, delta)| RangeDelta { lower, upper, delta };
            Change::Liquidity(deltas.into_iter().map(delta).collect())
        });
        prop_oneof![state, deltas]
    }

    proptest! {
        #[test]
        fn a_packed_change_comes_back_as_it_was(log_index in any::<u32>(), mut change in changes()) {
            if let Change::Liquidity(ranges) = &mut change {
                ranges.retain(|it| it.delta != 0);
            }
            let change = PoolChange { id: PoolId::V4(Default::default()), log_index, change };
            let mut packed = Vec::new();
            pack(&change, &mut packed);
            let input = &mut packed.as_slice();
            prop_assert_eq!(unpack(change.id, input), Some(change));
            prop_assert!(input.is_empty());
        }

        #[test]
        fn bytes_that_are_no_change_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
            let _ = unpack(PoolId::V4(Default::default()), &mut bytes.as_slice());
        }
    }
}
