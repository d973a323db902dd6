//! What a token was worth, from what pools held. Pure: the caller reads the pools at or before the
//! asked block, so an older block is priced by giving older states.
//!
//! In: a [`Question`] with the token's pools and those of the native coin, a [`Book`] of what counts as
//! money on the chain, [`Settings`]. Out: a [`Price`] with all that explains it, or why there is none.
//!
//! The way: what each stable is worth follows from the native coin's pools, one voice per stable; the
//! native coin is then the mean of its pools with stables that hold their peg; any other token is priced
//! against the native coin and stables, by the deepest of its pools that does not stand apart from the
//! depth-weighted median. Numbers are exact quotients; a float appears only in `usd_price`.

mod book;
mod explain;
mod heard;
mod quote;
mod rank;
mod ratio;
mod reading;
mod square_root;

#[cfg(test)]
mod tests;

use alloy_primitives::Address;

use crate::facts::PoolId;

pub use book::{Book, Money, MoneyKind};
pub use explain::{Confidence, Doubt, Dropped, Price, percent_change};
pub use heard::Heard;
pub use ratio::Ratio;
pub use reading::PoolAt;

use quote::quotes;

pub struct Question<'a> {
    pub token: Address,
    pub decimals: u8,
    /// Only pools of this factory may give the price; all may say what the native coin is worth.
    pub exchange: Option<Address>,
    /// The token's pools; others are ignored.
    pub pools: &'a [PoolAt],
    /// Pools of the native coin with stables.
    pub native_pools: &'a [PoolAt],
    /// Further tokens of known worth, for tokens that trade against nothing better: see [`Price::money`].
    pub via: &'a [Money],
}

/// Amounts in millionths of a dollar, deviations in ten-thousandths.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Either side of a pool has to be worth this much to be heard.
    pub min_side_micro_usd: u128,
    /// Pools this close to the answer bear it out.
    pub agree_bps: u32,
    /// Pools further than this from the median are not believed.
    pub outlier_bps: u32,
    /// A stable further than this from a dollar has lost its peg.
    pub peg_bps: u32,
    /// Less than this surely within reach of the price is thin.
    pub thin_micro_usd: u128,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            min_side_micro_usd: 50_000_000,
            agree_bps: 200,
            outlier_bps: 1000,
            peg_bps: 200,
            thin_micro_usd: 100_000_000,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPrice {
    /// Why each pool was left out; empty where there was none.
    NotEnoughLiquidity(Vec<Dropped>),
    /// There are pools with the native coin, but nothing says what that is worth.
    NoNativeUsd(Vec<Dropped>),
}

pub fn price(book: &Book, question: &Question, settings: &Settings) -> Result<Price, NoPrice> {
    let worth = book.worth(question.native_pools, question.token, settings);
    let mut quotes = quotes(book, question, &worth, settings);
    if question.token == book.wrapped {
        // Its own pools are the same kind of witness as those that were given for the native coin.
        let own = Question { pools: question.native_pools, ..*question };
        let more = self::quotes(book, &own, &worth, settings);
        quotes.add(more);
    }
    let Some(choice) = rank::choose(quotes.usable, settings) else {
        let waits = worth.native.is_none() && quotes.waits_for_native;
        return Err(match waits {
            true => NoPrice::NoNativeUsd(quotes.dropped),
            false => NoPrice::NotEnoughLiquidity(quotes.dropped),
        });
    };
    Ok(explain::explain(book, question, &worth, choice, quotes.dropped, settings))
}

/// The pools that weigh most, best first, for callers that cannot read all of them again and again.
/// Thin ones count, too: what is thin for one caller is not for another.
pub fn deepest(book: &Book, question: &Question, settings: &Settings, most: usize) -> Vec<PoolId> {
    let worth = book.worth(question.native_pools, question.token, settings);
    let all = Settings { min_side_micro_usd: 0, ..settings.clone() };
    let mut quotes = quotes(book, question, &worth, &all).usable;
    quotes.sort_by(|a, b| {
        a.last_resort.cmp(&b.last_resort).then(b.weight.cmp(&a.weight)).then(a.id.cmp(&b.id))
    });
    quotes.iter().take(most).map(|it| it.id).collect()
}
