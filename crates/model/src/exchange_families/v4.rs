//! Uniswap v4: all pools live in one contract and go by the hash of what they are.
//!
//! That hash proves a pool's tokens without any factory: whoever guesses them can check the guess.

use alloy_primitives::{Address, B256, I256, U256, b256, keccak256};

use super::event::{Created, Event, EventReader, Flow, PoolEvent};
use super::family::{Exchange, ExchangeKind, Family, PoolGuess};
use super::pool_terms::PoolTerms;
use super::v3::ranged;
use crate::abi::{address, int24, int128, joined, topic, uint24, uint128, words};
use crate::facts::{PoolId, RangeDelta};
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 2,
    name: "v4",
    is_ranged: true,
    is_singleton: true,
    has_stable_curve: false,
    events: &[INITIALIZE, SWAP, MODIFY_LIQUIDITY],
    prove,
    // Its pools are no contracts, and their fee and hooks would have to be known.
    node_calls: None,
};

impl ExchangeKind {
    pub const V4: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const INITIALIZE: EventReader = EventReader {
    topic: b256!("dd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"),
    signature: "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
    read: initialize,
};
pub const SWAP: EventReader = EventReader {
    topic: b256!("40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"),
    signature: "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
    read: swap,
};
pub const MODIFY_LIQUIDITY: EventReader = EventReader {
    topic: b256!("f208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec"),
    signature: "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)",
    read: modify_liquidity,
};

/// Fee and tick spacing that most pools without hooks are made with.
const USUAL: [(u32, i32); 4] = [(100, 1), (500, 10), (3000, 60), (10_000, 200)];
/// The spacing that launchpads with hooks of their own choose, whatever the fee is.
const HOOKED_SPACING: i32 = 200;

fn initialize(log: &Log) -> Option<PoolEvent> {
    let [fee, spacing, hooks, sqrt_price, tick] = words(log)?;
    let created = Created {
        tokens: [address(topic(log, 4, 2)?)?, address(topic(log, 4, 3)?)?],
        terms: PoolTerms {
            fee: Some(uint24(fee)?),
            tick_spacing: Some(int24(spacing)?),
            hooks: address(hooks)?,
            stable: None,
        },
        state: Some(ranged(sqrt_price, 0, tick)?),
    };
    let id = PoolId::V4(topic(log, 4, 1)?);
    Some(PoolEvent { id, event: Event::Created(created), actor: None })
}

fn swap(log: &Log) -> Option<PoolEvent> {
    let [amount0, amount1, sqrt_price, liquidity, tick, fee] = words(log)?;
    let sender = address(topic(log, 3, 2)?)?;
    let mut flow = Flow::of_pool(received(amount0)?, received(amount1)?, sender);
    flow.state = Some(ranged(sqrt_price, uint128(liquidity)?, tick)?);
    flow.fee = Some(uint24(fee)?);
    let id = PoolId::V4(topic(log, 3, 1)?);
    Some(PoolEvent { id, event: Event::Swap(flow), actor: Some(sender) })
}

/// Amounts are told from the swapper's side, unlike in v3: what is negative went into the pool.
pub fn received(amount: B256) -> Option<I256> {
    I256::try_from(int128(amount)?.checked_neg()?).ok()
}

fn modify_liquidity(log: &Log) -> Option<PoolEvent> {
    let [lower, upper, delta, _salt] = words(log)?;
    let range = RangeDelta { lower: int24(lower)?, upper: int24(upper)?, delta: int128(delta)? };
    let id = PoolId::V4(topic(log, 3, 1)?);
    // A hook that trades in its own pool names itself here.
    let actor = topic(log, 3, 2).and_then(address);
    Some(PoolEvent { id, event: Event::Liquidity(range), actor })
}

/// Fee, tick spacing and hooks under which a pool of these tokens has this id. What a swap paid is the
/// pool's own fee, if the protocol takes none. Hooks cannot be guessed, so they are none or whoever acted
/// on the pool.
fn prove(_: &Exchange, guess: &PoolGuess) -> Option<PoolTerms> {
    let PoolId::V4(id) = guess.id else { return None };
    let [token0, token1] = guess.tokens.map(|token| token.into_word());
    let own = guess.paid.map(|fee| (fee, i32::try_from(fee / 50).unwrap_or(0).max(1)));
    let plain = USUAL.into_iter().chain(own.filter(|own| !USUAL.contains(own)));
    let wide = guess.paid.map(|fee| (fee, HOOKED_SPACING)).filter(|it| !USUAL.contains(it));
    let hooked = plain.clone().chain(wide);
    let all = plain.map(|(fee, spacing)| (fee, spacing, Address::ZERO));
    let of_actor = guess.actor.map(|actor| hooked.map(move |(fee, spacing)| (fee, spacing, actor)));
    let mut guesses = all.chain(of_actor.into_iter().flatten());
    let (fee, spacing, hooks) = guesses.find(|(fee, spacing, hooks)| {
        let fee = U256::from(*fee).into();
        let spacing = U256::from(spacing.unsigned_abs()).into();
        keccak256(joined(&[token0, token1, fee, spacing, hooks.into_word()])) == id
    })?;
    Some(PoolTerms { fee: Some(fee), tick_spacing: Some(spacing), hooks, stable: None })
}
