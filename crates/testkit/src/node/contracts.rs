//! What contracts answer: the market's tokens and pools. All others answer with nothing.

use super::{
    call::{Call, Reply},
    node_view::NodeView,
};
use crate::chain::{Holdings, MarketToken, SimBlock, tick_of};
use alloy_primitives::{Address, B256, I256, U256, hex};
use serde_json::{Value, json};

const DECIMALS: [u8; 4] = [0x31, 0x3c, 0xe5, 0x67];
const SYMBOL: [u8; 4] = [0x95, 0xd8, 0x9b, 0x41];
const NAME: [u8; 4] = [0x06, 0xfd, 0xde, 0x03];
const TOKEN0: [u8; 4] = [0x0d, 0xfe, 0x16, 0x81];
const TOKEN1: [u8; 4] = [0xd2, 0x12, 0x20, 0xa7];
const GET_RESERVES: [u8; 4] = [0x09, 0x02, 0xf1, 0xac];
const SLOT0: [u8; 4] = [0x38, 0x50, 0xc7, 0xbd];
const LIQUIDITY: [u8; 4] = [0x1a, 0x68, 0x65, 0x02];

pub(super) fn call(view: &NodeView, call: &Call) -> Reply {
    let latest = Value::from("latest");
    let Some(block) = view.resolve(call.param(1).unwrap_or(&latest)) else {
        return Reply::error(-32000, "header not found");
    };
    Reply::value(json!(hex::encode_prefixed(answer(view, call, &block).unwrap_or_default())))
}

fn answer(view: &NodeView, call: &Call, block: &SimBlock) -> Option<Vec<u8>> {
    let request = call.param(0)?;
    let to: Address = request.get("to")?.as_str()?.parse().ok()?;
    let data = request.get("input").or_else(|| request.get("data"))?.as_str()?;
    let data = hex::decode(data).ok()?;
    let selector: [u8; 4] = data.get(..4)?.try_into().ok()?;
    let market = &view.chain.actors().market;
    if view.chain.config().pool_trades_per_block == 0 {
        return None;
    }
    if let Some(token) = market.token(to) {
        return of_token(token, selector);
    }
    let (place, pool) = market.pool(to)?;
    let [token0, token1] = pool.tokens.each_ref().map(|token| token.address.into_word());
    match selector {
        TOKEN0 => Some(words([token0])),
        TOKEN1 => Some(words([token1])),
        selector => of_pool(block.pools.get(place)?, block, selector),
    }
}

fn of_token(token: &MarketToken, selector: [u8; 4]) -> Option<Vec<u8>> {
    match selector {
        DECIMALS => Some(words([uint(token.decimals)])),
        SYMBOL => Some(text(token.symbol)),
        NAME => Some(text(token.name)),
        _ => None,
    }
}

fn of_pool(held: &Holdings, block: &SimBlock, selector: [u8; 4]) -> Option<Vec<u8>> {
    match (*held, selector) {
        (Holdings::Pair { reserve0, reserve1 }, GET_RESERVES) => {
            // As pairs keep it: the low 32 bits of the block's time.
            let time = block.header.timestamp & u64::from(u32::MAX);
            Some(words([uint(reserve0), uint(reserve1), uint(time)]))
        }
        (Holdings::Ranged { sqrt_price, .. }, SLOT0) => {
            let tick = I256::unchecked_from(tick_of(sqrt_price)).into_raw();
            Some(words([
                sqrt_price.into(),
                tick.into(),
                uint(0),
                uint(1),
                uint(1),
                uint(0),
                uint(1),
            ]))
        }
        (Holdings::Ranged { liquidity, .. }, LIQUIDITY) => Some(words([uint(liquidity)])),
        _ => None,
    }
}

fn uint(value: impl TryInto<U256>) -> B256 {
    value.try_into().unwrap_or_default().into()
}

fn words(list: impl IntoIterator<Item = B256>) -> Vec<u8> {
    list.into_iter().flat_map(|word| word.0).collect()
}

/// A string of at most 32 bytes, as contracts return it.
fn text(text: &str) -> Vec<u8> {
    let mut out = words([uint(32), uint(text.len())]);
    out.extend(text.bytes().chain(std::iter::repeat(0)).take(32));
    out
}
