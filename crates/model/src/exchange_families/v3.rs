//! Uniswap v3 and its copies: liquidity in ranges of prices, one pool per two tokens and fee.

use alloy_primitives::{Address, B256, U256, b256, keccak256};

use super::event::{Created, Event, EventReader, Flow, PoolEvent};
use super::family::{
    Exchange, ExchangeKind, Family, FindPool, Function, NodeAnswer, NodeCalls, PoolGuess,
};
use super::pool_terms::PoolTerms;
use crate::abi::{Words, address, int24, int256, joined, topic, uint, uint24, uint128, words};
use crate::facts::{PoolState, RangeDelta};
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 1,
    name: "v3",
    is_ranged: true,
    is_singleton: false,
    has_stable_curve: false,
    events: &[INITIALIZE, SWAP, SWAP_PANCAKE, MINT, BURN, POOL_CREATED],
    prove,
    node_calls: Some(NODE_CALLS),
};

impl ExchangeKind {
    pub const V3: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const INITIALIZE: EventReader = EventReader {
    topic: b256!("98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95"),
    signature: "Initialize(uint160,int24)",
    read: initialize,
};
pub const SWAP: EventReader = EventReader {
    topic: b256!("c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"),
    signature: "Swap(address,address,int256,int256,uint160,uint128,int24)",
    read: swap,
};
/// PancakeSwap adds what the protocol took of each token.
pub const SWAP_PANCAKE: EventReader = EventReader {
    topic: b256!("19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83"),
    signature: "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
    read: swap_pancake,
};
pub const MINT: EventReader = EventReader {
    topic: b256!("7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde"),
    signature: "Mint(address,address,int24,int24,uint128,uint256,uint256)",
    read: mint,
};
pub const BURN: EventReader = EventReader {
    topic: b256!("0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c"),
    signature: "Burn(address,int24,int24,uint128,uint256,uint256)",
    read: burn,
};
pub const POOL_CREATED: EventReader = EventReader {
    topic: b256!("783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118"),
    signature: "PoolCreated(address,address,uint24,int24,address)",
    read: pool_created,
};

/// Prices outside of these ticks cannot be held; the same bound in all that is made after v3.
const TICK_MAX: i32 = 887_272;

/// How far apart v3 lets liquidity begin, by fee. The first three are of the first day, the others
/// were added by vote, by PancakeSwap or by BaseSwap.
const SPACINGS: [(u32, i32); 8] =
    [(500, 10), (3000, 60), (10_000, 200), (100, 1), (2500, 50), (80, 1), (350, 10), (450, 10)];

fn initialize(log: &Log) -> Option<PoolEvent> {
    topic(log, 1, 0)?;
    let [sqrt_price, tick] = words(log)?;
    // Nothing can be added before the first price is set, so nothing is in range.
    PoolEvent::of_emitter(log, Event::State(ranged(sqrt_price, 0, tick)?))
}

fn swap(log: &Log) -> Option<PoolEvent> {
    let [amount0, amount1, sqrt_price, liquidity, tick] = words(log)?;
    swapped(log, [amount0, amount1], ranged(sqrt_price, uint128(liquidity)?, tick)?)
}

fn swap_pancake(log: &Log) -> Option<PoolEvent> {
    let [amount0, amount1, sqrt_price, liquidity, tick, _, _] = words(log)?;
    swapped(log, [amount0, amount1], ranged(sqrt_price, uint128(liquidity)?, tick)?)
}

fn swapped(log: &Log, amounts: [B256; 2], state: PoolState) -> Option<PoolEvent> {
    let [amount0, amount1] = amounts.map(int256);
    let mut flow = Flow::of_pool(amount0, amount1, address(topic(log, 3, 1)?)?);
    flow.to = Some(address(topic(log, 3, 2)?)?);
    flow.state = Some(state);
    PoolEvent::of_emitter(log, Event::Swap(flow))
}

fn mint(log: &Log) -> Option<PoolEvent> {
    let [_sender, amount, _, _] = words(log)?;
    liquidity(log, i128::try_from(uint128(amount)?).ok()?)
}

fn burn(log: &Log) -> Option<PoolEvent> {
    let [amount, _, _] = words(log)?;
    liquidity(log, i128::try_from(uint128(amount)?).ok()?.checked_neg()?)
}

fn liquidity(log: &Log, delta: i128) -> Option<PoolEvent> {
    let range =
        RangeDelta { lower: int24(topic(log, 4, 2)?)?, upper: int24(topic(log, 4, 3)?)?, delta };
    PoolEvent::of_emitter(log, Event::Liquidity(range))
}

fn pool_created(log: &Log) -> Option<PoolEvent> {
    let [spacing, pool] = words(log)?;
    let tokens = [address(topic(log, 4, 1)?)?, address(topic(log, 4, 2)?)?];
    let terms = PoolTerms {
        fee: Some(uint24(topic(log, 4, 3)?)?),
        tick_spacing: Some(int24(spacing)?),
        ..PoolTerms::default()
    };
    Some(PoolEvent::created(address(pool)?, Created { tokens, terms, state: None }))
}

/// What v3, v4 and Algebra hold, if such a price can be.
pub fn ranged(sqrt_price: B256, liquidity: u128, tick: B256) -> Option<PoolState> {
    let sqrt_price = uint(sqrt_price, 160).filter(|root| *root != U256::ZERO)?;
    let tick = int24(tick).filter(|tick| tick.abs() <= TICK_MAX)?;
    Some(PoolState::Ranged { sqrt_price, liquidity, tick })
}

fn prove(exchange: &Exchange, guess: &PoolGuess) -> Option<PoolTerms> {
    let made = |fee: &&u32| exchange.has_made(guess.id, salt(guess.tokens, **fee));
    let fee = *exchange.fees.iter().find(made)?;
    let tick_spacing = SPACINGS.iter().find(|it| it.0 == fee).map(|it| it.1);
    Some(PoolTerms { fee: Some(fee), tick_spacing, ..PoolTerms::default() })
}

/// `tier` is what tells pools of the same tokens apart: here the fee.
pub fn salt([token0, token1]: [Address; 2], tier: u32) -> B256 {
    keccak256(joined(&[token0.into_word(), token1.into_word(), U256::from(tier).into()]))
}

const NODE_CALLS: NodeCalls = NodeCalls {
    find_pool: Function {
        selector: [0x16, 0x98, 0xee, 0x82],
        signature: "getPool(address,address,uint24)",
    },
    arguments: |exchange, [token0, token1]| {
        let one = |fee: &u32| {
            let arguments = vec![token0.into_word(), token1.into_word(), U256::from(*fee).into()];
            FindPool { arguments, terms: PoolTerms { fee: Some(*fee), ..PoolTerms::default() } }
        };
        exchange.fees.iter().map(one).collect()
    },
    state: &[
        Function { selector: [0x38, 0x50, 0xc7, 0xbd], signature: "slot0()" },
        Function { selector: [0x1a, 0x68, 0x65, 0x02], signature: "liquidity()" },
        Function { selector: [0xd0, 0xc9, 0x3a, 0x7c], signature: "tickSpacing()" },
    ],
    read_state: state_at_node,
};

fn state_at_node(answers: &[NodeAnswer], terms: &mut PoolTerms) -> Option<PoolState> {
    let answer = |n: usize| answers.get(n).and_then(Option::as_deref).map(Words);
    let slot0 = answer(0)?;
    let liquidity = answer(1)?.uint(0)?;
    let spacing = answer(2).and_then(|it| it.uint(0));
    terms.tick_spacing = spacing.and_then(|it| i32::try_from(it).ok());
    Some(PoolState::Ranged {
        sqrt_price: uint(slot0.hash(0)?, 160)?,
        liquidity: u128::try_from(liquidity).ok()?,
        // The lowest 24 bits with their sign; prices do not need it.
        tick: (slot0.uint(1)?.as_limbs().first().copied()? as i32) << 8 >> 8,
    })
}
