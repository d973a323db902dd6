//! Whether a factory could have made a pool: the pool's address is the hash of the factory, the pool's
//! tokens and the pool's code, so nobody else can have made it.

use alloy_primitives::{Address, B256};
use model::chain::{Exchange, ExchangeKind};
use model::facts::{Pool, PoolId};

use super::{algebra, slipstream, solidly, v2, v3};

/// How far apart v3 lets liquidity begin, by fee. The first three are of the first day, the others
/// were added by vote, by PancakeSwap or by BaseSwap.
const SPACINGS: [(u32, i32); 8] =
    [(500, 10), (3000, 60), (10_000, 200), (100, 1), (2500, 50), (80, 1), (350, 10), (450, 10)];

/// What the pool is, if this exchange made it for these tokens. `token0 < token1`.
pub fn prove(exchange: &Exchange, pool: Address, token0: Address, token1: Address) -> Option<Pool> {
    let code = exchange.init_code_hash?;
    let fits = |salt: B256| exchange.pool_creator().create2(salt, code) == pool;
    let mut found = Pool {
        id: PoolId::Contract(pool),
        factory: exchange.factory,
        kind: exchange.kind,
        token0,
        token1,
        fee: None,
        tick_spacing: None,
        hooks: Address::ZERO,
        stable: None,
    };
    match exchange.kind {
        ExchangeKind::V2 | ExchangeKind::Camelot => fits(v2::salt(token0, token1)).then_some(found),
        ExchangeKind::V3 => {
            let made = |fee: &&u32| fits(v3::salt(token0, token1, **fee));
            let fee = *exchange.fees.iter().find(made)?;
            found.fee = Some(fee);
            found.tick_spacing = SPACINGS.iter().find(|it| it.0 == fee).map(|it| it.1);
            Some(found)
        }
        ExchangeKind::Solidly => {
            let made = |stable: &bool| fits(solidly::salt(token0, token1, *stable));
            found.stable = Some([false, true].into_iter().find(made)?);
            Some(found)
        }
        ExchangeKind::Algebra => fits(algebra::salt(token0, token1)).then_some(found),
        ExchangeKind::Slipstream => {
            let made = |spacing: &&u32| fits(slipstream::salt(token0, token1, **spacing));
            let spacing = *exchange.tick_spacings.iter().find(made)?;
            found.tick_spacing = i32::try_from(spacing).ok();
            Some(found)
        }
        ExchangeKind::V4 => None,
    }
}

/// Words one after the other, as they are hashed.
pub fn joined(words: &[B256]) -> Vec<u8> {
    words.iter().flat_map(|word| word.0).collect()
}
