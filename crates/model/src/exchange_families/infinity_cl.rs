//! PancakeSwap Infinity, concentrated liquidity: like Uniswap v4 all pools live in one contract and go by
//! the hash of what they are. The tokens lie in a vault apart from it.

use alloy_primitives::{B256, b256};

use super::event::{Created, Event, EventReader, Flow, PoolEvent};
use super::family::{ExchangeKind, Family};
use super::pool_terms::PoolTerms;
use super::v3::ranged;
use super::v4;
use crate::abi::{address, topic, uint24, uint128, words};
use crate::facts::PoolId;
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 7,
    name: "infinity_cl",
    is_ranged: true,
    is_singleton: true,
    has_stable_curve: false,
    events: &[INITIALIZE, SWAP, v4::MODIFY_LIQUIDITY],
    // The hash is over the hooks' permissions, too, and tokens do not move through the contract that
    // speaks: pools are known by their creation.
    prove: |_, _| None,
    node_calls: None,
};

impl ExchangeKind {
    pub const INFINITY_CL: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const INITIALIZE: EventReader = EventReader {
    topic: b256!("426cc62fe6a33a40ba2788c2c87a9c34ee4582b95bc9fa5a7bb7ae70b750b99c"),
    signature: "Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)",
    read: initialize,
};
pub const SWAP: EventReader = EventReader {
    topic: b256!("04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237"),
    signature: "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)",
    read: swap,
};

fn initialize(log: &Log) -> Option<PoolEvent> {
    let [hooks, fee, parameters, sqrt_price, tick] = words(log)?;
    let created = Created {
        tokens: [address(topic(log, 4, 2)?)?, address(topic(log, 4, 3)?)?],
        terms: PoolTerms {
            fee: Some(uint24(fee)?),
            tick_spacing: Some(tick_spacing(parameters)?),
            hooks: address(hooks)?,
            stable: None,
        },
        state: Some(ranged(sqrt_price, 0, tick)?),
    };
    let id = PoolId::V4(topic(log, 4, 1)?);
    Some(PoolEvent { id, event: Event::Created(created), actor: None })
}

/// The lowest 16 bits say what hooks may do, the 24 above them are the spacing, the rest is zero.
fn tick_spacing(parameters: B256) -> Option<i32> {
    let [unused @ .., high, middle, low, _, _] = parameters.0;
    let spacing = i32::from_be_bytes([0, high, middle, low]);
    let may_be = unused == [0; 27] && (1..=i32::from(i16::MAX)).contains(&spacing);
    may_be.then_some(spacing)
}

fn swap(log: &Log) -> Option<PoolEvent> {
    let [amount0, amount1, sqrt_price, liquidity, tick, fee, _protocol_fee] = words(log)?;
    let sender = address(topic(log, 3, 2)?)?;
    let mut flow = Flow::of_pool(v4::received(amount0)?, v4::received(amount1)?, sender);
    flow.state = Some(ranged(sqrt_price, uint128(liquidity)?, tick)?);
    flow.fee = Some(uint24(fee)?);
    let id = PoolId::V4(topic(log, 3, 1)?);
    Some(PoolEvent { id, event: Event::Swap(flow), actor: Some(sender) })
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address, I256, U256};

    use super::*;
    use crate::facts::PoolState;

    const ID: B256 = B256::repeat_byte(7);

    fn log(topics: &[B256], data: &[B256]) -> Log {
        let data: Vec<u8> = data.iter().flat_map(|word| word.0).collect();
        Log { topics: Some(topics.to_vec()), data: Some(data.into()), ..Log::default() }
    }

    fn word(value: u128) -> B256 {
        U256::from(value).into()
    }

    fn signed(value: i64) -> B256 {
        I256::try_from(value).unwrap().into_raw().into()
    }

    #[test]
    fn a_new_pool_has_its_spacing_above_the_permissions_of_its_hooks() {
        let [token0, token1, hooks] = [1, 2, 3].map(Address::repeat_byte);
        let topics = [INITIALIZE.topic, ID, token0.into_word(), token1.into_word()];
        let data = |parameters| {
            [hooks.into_word(), word(3000), word(parameters), word(1 << 96), signed(-1)]
        };
        let read = |parameters| initialize(&log(&topics, &data(parameters)));
        let Some(PoolEvent { id, event: Event::Created(created), .. }) = read(60 << 16 | 0xffff)
        else {
            panic!("a new pool")
        };
        assert_eq!((id, created.tokens), (PoolId::V4(ID), [token0, token1]));
        let terms = PoolTerms { fee: Some(3000), tick_spacing: Some(60), hooks, stable: None };
        assert_eq!(created.terms, terms);
        let sqrt_price = U256::from(1u128 << 96);
        assert_eq!(created.state, Some(PoolState::Ranged { sqrt_price, liquidity: 0, tick: -1 }));
        for parameters in [0, 0xffff, 0x8000 << 16, 1 << 40 | 60 << 16] {
            assert!(read(parameters).is_none(), "{parameters:#x}");
        }
    }

    #[test]
    fn a_swap_is_told_from_the_swappers_side() {
        let sender = Address::repeat_byte(9);
        let state = [word(1 << 96), word(50), signed(3), word(500), word(12)];
        let data = [&[signed(-5), signed(6)], &state[..]].concat();
        let read = swap(&log(&[SWAP.topic, ID, sender.into_word()], &data)).unwrap();
        let Event::Swap(flow) = read.event else { panic!("a swap") };
        assert_eq!((flow.amount0_in, flow.amount1_out), (U256::from(5), U256::from(6)));
        assert_eq!((flow.sender, read.actor, flow.fee), (sender, Some(sender), Some(500)));
        let sqrt_price = U256::from(1u128 << 96);
        assert_eq!(flow.state, Some(PoolState::Ranged { sqrt_price, liquidity: 50, tick: 3 }));
    }
}
