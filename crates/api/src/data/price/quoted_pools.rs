//! The pools behind a price with what each held, as JSON: enough to work the price out again.

use alloy_primitives::U256;
use model::chain::Chain;
use model::facts::{PoolId, PoolState};
use model::price::{PoolAt, PoolQuote, Price};

use super::amounts::{dollars, pool};
use crate::data::row::Row;
use crate::profile::Profile;

/// At most so many are shown; how many there were is told apart.
const SHOWN_MAX: usize = 10;

/// Where the pools' states are looked up.
pub struct QuotedPools<'a> {
    pub chain: &'a Chain,
    /// The token's own pools.
    pub own: &'a [PoolAt],
    /// The coin's, which are its own pools if the coin was asked for.
    pub native: &'a [PoolAt],
}

impl QuotedPools<'_> {
    /// `told`: whether it is known when a pool last changed, which a node does not say.
    pub fn write(&self, out: &mut Vec<u8>, price: &Price, profile: Profile, told: bool) {
        out.push(b'[');
        for (n, quote) in price.pool_quotes(SHOWN_MAX).iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            let mut row = Row::begin(out, profile);
            self.pool(&mut row, quote, told);
            match self.state_of(quote.pool) {
                Some(held) => state(row.name("state"), profile, held),
                None => row.null("state"),
            }
            row.end();
        }
        out.push(b']');
    }

    fn pool(&self, row: &mut Row, quote: &PoolQuote, told: bool) {
        pool(row, "pool", quote.pool);
        row.address("exchangeAddress", Some(quote.factory));
        let exchange = self.chain.exchange_at(quote.factory);
        row.text("exchangeName", exchange.map(|it| it.name.as_str()));
        row.address("partner", Some(quote.partner));
        row.text("nativeValue", quote.native_value.map(|it| it.to_string()).as_deref());
        row.text("usdPriceFormatted", quote.usd.decimal(18).as_deref());
        row.text("tokenSideLiquidityUsd", Some(&dollars(quote.token_side_micro_usd)));
        row.text("partnerSideLiquidityUsd", Some(&dollars(quote.partner_side_micro_usd)));
        row.number("changedAtBlock", told.then_some(quote.block));
    }

    fn state_of(&self, id: PoolId) -> Option<&PoolState> {
        self.own.iter().chain(self.native).find(|it| it.pool.id == id).map(|it| &it.state)
    }
}

/// Numbers that no float holds stand in quotes in both profiles; a tick is small.
fn state(out: &mut Vec<u8>, profile: Profile, state: &PoolState) {
    let mut held = Row::begin(out, profile);
    match state {
        PoolState::Reserves { reserve0, reserve1 } => {
            held.digits("reserve0", *reserve0);
            held.digits("reserve1", *reserve1);
        }
        PoolState::Ranged { sqrt_price, liquidity, tick } => {
            held.digits("sqrtPriceX96", *sqrt_price);
            held.name("tick").extend_from_slice(tick.to_string().as_bytes());
            held.digits("liquidity", U256::from(*liquidity));
        }
    }
    held.end();
}
