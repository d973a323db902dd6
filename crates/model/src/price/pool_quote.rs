//! The pools behind a price, each with its own answer, so that a reader can check the choice.
//!
//! Nothing is worked out before somebody asks: most answers do without.

use alloy_primitives::{Address, U512};

use super::explain::{Price, smallest_units};
use super::quote::Quote;
use super::ratio::Ratio;
use crate::facts::PoolId;

/// What one pool says of the asked token.
#[derive(Clone, Debug)]
pub struct PoolQuote {
    pub pool: PoolId,
    /// The exchange's factory.
    pub factory: Address,
    /// What the token trades against there.
    pub partner: Address,
    /// The block of the pool's last change.
    pub block: u64,
    /// Of one whole token.
    pub usd: Ratio,
    /// In smallest units of the native coin; `None` where nothing says what the coin is worth.
    pub native_value: Option<U512>,
    /// In millionths of a dollar.
    pub token_side_micro_usd: u128,
    pub partner_side_micro_usd: u128,
}

impl Price {
    /// The pool that gave the price, then the others that were considered, those that weigh most first.
    pub fn pool_quotes(&self, most: usize) -> Vec<PoolQuote> {
        let mut quotes: Vec<&Quote> = self.quotes.iter().collect();
        quotes.sort_by(|a, b| {
            let chosen = |it: &Quote| it.id == self.pool;
            chosen(b).cmp(&chosen(a)).then(b.weight.cmp(&a.weight)).then(a.id.cmp(&b.id))
        });
        quotes.into_iter().take(most).map(|it| self.pool_quote(it)).collect()
    }

    fn pool_quote(&self, quote: &Quote) -> PoolQuote {
        let converted = || self.coin_usd.map(|coin| quote.usd.over(coin));
        // One coin is one coin, whatever a pool says it costs in dollars.
        let native = if self.is_coin { Some(Ratio::ONE) } else { quote.native.or_else(converted) };
        PoolQuote {
            pool: quote.id,
            factory: quote.factory,
            partner: quote.partner.token,
            block: quote.block,
            usd: quote.usd,
            native_value: native.and_then(|it| smallest_units(it, self.native_decimals)),
            token_side_micro_usd: quote.token_side,
            partner_side_micro_usd: quote.other_side,
        }
    }
}
