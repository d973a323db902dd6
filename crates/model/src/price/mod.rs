//! What a token was worth, from what pools held. Pure: the caller reads the pools at or before the
//! asked block, so an older block is priced by giving older states.
//!
//! In: a [`Question`] with the token's pools and those of the native coin, a [`PricingTable`] of what
//! counts as money on the chain, [`Settings`]. Out: a [`Price`] with all that explains it, or why there is none.
//!
//! The way: what each stable is worth follows from the native coin's pools, one vote per stable; the
//! native coin is then the mean of its pools with stables that hold their peg; any other token is priced
//! against the native coin and stables, by the deepest of its pools that does not stand apart from the
//! depth-weighted median. Numbers are exact quotients; a float appears only in `usd_price`.

mod dropped;
mod explain;
mod money;
mod pool_quote;
mod question;
mod quote;
mod rank;
mod ratio;
mod reading;
mod reference_prices;
mod square_root;

#[cfg(test)]
mod tests;

use crate::facts::PoolId;

pub use dropped::Dropped;
pub use explain::{Confidence, Doubt, Price, percent_change};
pub use money::{Money, MoneyKind, PricingTable};
pub use pool_quote::PoolQuote;
pub use question::{NoPrice, Question, Settings};
pub use ratio::Ratio;
pub use reading::PoolAt;

use quote::quotes;
use reference_prices::reference_prices;

pub fn price(
    table: &PricingTable,
    question: &Question,
    settings: &Settings,
) -> Result<Price, NoPrice> {
    let references = reference_prices(table, question.native_pools, question.token, settings);
    let mut quotes = quotes(table, question, &references, settings);
    if question.token == table.wrapped {
        // Its own pools are the same kind of witness as those that were given for the native coin.
        let own = Question { pools: question.native_pools, ..*question };
        let more = self::quotes(table, &own, &references, settings);
        quotes.add(more);
    }
    let Some(choice) = rank::choose(quotes.usable, settings) else {
        let waits = references.native.is_none() && quotes.waits_for_native;
        return Err(if waits {
            NoPrice::NoNativeUsd(quotes.dropped)
        } else {
            NoPrice::NotEnoughLiquidity(quotes.dropped)
        });
    };
    Ok(explain::explain(table, question, &references, choice, quotes.dropped, settings))
}

/// The pools that weigh most, best first, for callers that cannot read all of them again and again.
/// Thin ones count, too: what is thin for one caller is not for another.
pub fn deepest(
    table: &PricingTable,
    question: &Question,
    settings: &Settings,
    most: usize,
) -> Vec<PoolId> {
    let references = reference_prices(table, question.native_pools, question.token, settings);
    let all = Settings { min_side_micro_usd: 0, ..settings.clone() };
    let mut quotes = quotes(table, question, &references, &all).usable;
    quotes.sort_by(|a, b| {
        a.last_resort.cmp(&b.last_resort).then(b.weight.cmp(&a.weight)).then(a.id.cmp(&b.id))
    });
    quotes.iter().take(most).map(|it| it.id).collect()
}
