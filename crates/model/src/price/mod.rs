//! What a token was worth, from what pools held. Pure: the caller reads the pools at or before the
//! asked block, so an older block is priced by giving older states.
//!
//! In: a [`Question`] with the token's pools and those of the native coin, a [`PricingTable`] of what
//! counts as money on the chain, [`Settings`]. Out: a [`Price`] with all that explains it, or why there is none.
//!
//! The way: what each stable is worth follows from the native coin's pools, one vote per stable; the
//! native coin is then the mean of its pools with stables that hold their peg, and a stable that of its pools with
//! the coin and other stables; any other token is priced against the native coin and stables, and through a token
//! that has a price itself, by the deepest of its pools that does not stand apart from the depth-weighted median. Numbers are exact quotients; a float appears only in `usd_price`.

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

use money::ReferencePrices;
use quote::{Quotes, quotes};
use reference_prices::reference_prices;

pub fn price(
    table: &PricingTable,
    question: &Question,
    settings: &Settings,
) -> Result<Price, NoPrice> {
    let native_pools = question.native_pools;
    // Money must not vouch for itself.
    let others = reference_prices(table, native_pools, Some(question.token), settings);
    let mut heard = own_quotes(table, question, &others, settings);
    if let Some(choice) = rank::choose(std::mem::take(&mut heard.usable), settings) {
        let coin_usd = others.native.as_ref().map(|coin| coin.usd);
        // The asked token is money, and the coin trades against nothing else: it still has a price in it.
        let all = || reference_prices(table, native_pools, None, settings).native;
        let coin_usd = coin_usd.or_else(|| all().map(|coin| coin.usd));
        let references = explain::Basis { coin_usd, undecided: others.undecided };
        return Ok(explain::explain(table, question, references, choice, heard.dropped, settings));
    }
    let is_stable = table.stables.iter().any(|(stable, _)| *stable == question.token);
    if is_stable && let Some(price) = by_its_own_word(table, question, settings) {
        return Ok(price);
    }
    Err(if others.native.is_none() && heard.waits_for_native {
        NoPrice::NoNativeUsd(heard.dropped)
    } else {
        NoPrice::NotEnoughLiquidity(heard.dropped)
    })
}

/// A stable by the same reference price that the coin has: where nothing else says what the coin is worth, the stable's
/// own claim to be a dollar does, and then stands behind the stable's price, too. Said, and not believed.
fn by_its_own_word(
    table: &PricingTable,
    question: &Question,
    settings: &Settings,
) -> Option<Price> {
    let references = reference_prices(table, question.native_pools, None, settings);
    let heard = own_quotes(table, question, &references, settings);
    let choice = rank::choose(heard.usable, settings)?;
    let coin_usd = references.native.map(|coin| coin.usd);
    let basis = explain::Basis { coin_usd, undecided: true };
    Some(explain::explain(table, question, basis, choice, heard.dropped, settings))
}

fn own_quotes(
    table: &PricingTable,
    question: &Question,
    references: &ReferencePrices,
    settings: &Settings,
) -> Quotes {
    let mut heard = quotes(table, question, references, settings);
    if question.token == table.wrapped {
        // Its own pools are the same kind of witness as those that were given for the native coin.
        let own = Question { pools: question.native_pools, ..*question };
        heard.add(quotes(table, &own, references, settings));
    }
    heard
}

/// The pools that weigh most, best first, for callers that cannot read all of them again and again.
/// Thin ones count, too: what is thin for one caller is not for another.
pub fn deepest(
    table: &PricingTable,
    question: &Question,
    settings: &Settings,
    most: usize,
) -> Vec<PoolId> {
    let asked = Some(question.token);
    let references = reference_prices(table, question.native_pools, asked, settings);
    let all = Settings { min_side_micro_usd: 0, ..settings.clone() };
    let mut quotes = quotes(table, question, &references, &all).usable;
    quotes.sort_by(|a, b| {
        a.last_resort.cmp(&b.last_resort).then(b.weight.cmp(&a.weight)).then(a.id.cmp(&b.id))
    });
    quotes.iter().take(most).map(|it| it.id).collect()
}
