//! What a chain's money is worth in dollars.
//!
//! Nothing on a chain says what a dollar is. Each stable claims to be one; where they contradict each
//! other by the native coin's price, the middle claim is believed, one vote per stable, so that the
//! depth of a single one that lost its peg does not decide. Where no middle is clear, the answer is
//! marked as doubtful.

use alloy_primitives::{Address, U256};

use super::money::{Money, MoneyKind, PricingTable, ReferencePrices};
use super::question::{Question, Settings};
use super::quote::{Quote, quotes};
use super::rank::{choose, weighted_median};
use super::ratio::Ratio;
use super::reading::PoolAt;

/// A stable with less than this part of the deepest one's weight has no vote.
const VOTE_PART: u64 = 50;

/// Of all money but the one left out. `pools` are the native coin's.
pub fn reference_prices(
    table: &PricingTable,
    pools: &[PoolAt],
    left_out: Option<Address>,
    settings: &Settings,
) -> ReferencePrices {
    // A caller may want only very liquid pools of the token; what money is worth does not follow that.
    let floor = Settings::default().min_side_micro_usd.min(settings.min_side_micro_usd);
    let settings = &Settings { min_side_micro_usd: floor, ..settings.clone() };
    let claims: Vec<Money> = table
        .stables
        .iter()
        .filter(|(token, _)| Some(*token) != left_out)
        .map(|(token, decimals)| dollar(*token, *decimals))
        .collect();
    let question = Question {
        token: table.wrapped,
        decimals: table.native_decimals,
        exchange: None,
        pools,
        native_pools: &[],
        via: &[],
    };
    let claimed = ReferencePrices { native: None, stables: claims, undecided: false };
    let claimed_quotes = quotes(table, &question, &claimed, settings).usable;
    let (stables, undecided) = judge(claimed.stables, &claimed_quotes, settings);
    let references = ReferencePrices { native: None, stables, undecided };
    let mut pegged = quotes(table, &question, &references, settings).usable;
    pegged.retain(|it| it.partner.kind == MoneyKind::Stable { pegged: true });
    let native = choose(pegged, settings).map(|choice| Money {
        token: table.wrapped,
        decimals: table.native_decimals,
        usd: choice.mean,
        kind: MoneyKind::Native { doubtful: choice.is_contested() || choice.best.hooked },
    });
    ReferencePrices { native, ..references }
}

fn dollar(token: Address, decimals: u8) -> Money {
    Money { token, decimals, usd: Ratio::ONE, kind: MoneyKind::Stable { pegged: true } }
}

/// Finds the stables that lost their peg, and whether it is unclear which those are. `quotes` are of
/// the native coin, as if each stable were a dollar.
fn judge(claims: Vec<Money>, quotes: &[Quote], settings: &Settings) -> (Vec<Money>, bool) {
    let mut votes: Vec<(Address, Ratio, U256)> = Vec::new();
    for claim in &claims {
        let own: Vec<&Quote> =
            quotes.iter().filter(|it| it.partner.token == claim.token && !it.last_resort).collect();
        let weight = own.iter().fold(U256::ZERO, |sum, it| sum.saturating_add(it.weight));
        if let Some(median) = weighted_median(own.iter().map(|it| (it.usd, it.weight))) {
            votes.push((claim.token, median, weight));
        }
    }
    let deepest = votes.iter().map(|it| it.2).max().unwrap_or_default();
    let counted: Vec<_> =
        votes.iter().filter(|it| it.2 >= deepest / U256::from(VOTE_PART)).copied().collect();
    let Some(middle) = middle(counted.clone()) else { return (claims, false) };
    let holds = |native: Ratio| middle.over(native).is_within(settings.peg_bps, Ratio::ONE);
    let off = counted.iter().filter(|it| !holds(it.1)).count();
    let judged = claims.into_iter().map(|claim| {
        match votes.iter().find(|it| it.0 == claim.token) {
            Some((_, native, _)) if !holds(*native) => Money {
                // The native coin costs more of it than of the others by as much as it is worth less.
                usd: middle.over(*native),
                kind: MoneyKind::Stable { pegged: false },
                ..claim
            },
            _ => claim,
        }
    });
    (judged.collect(), off * 2 >= counted.len() && off > 0)
}

/// The middle one by price; of two middle ones the deeper.
fn middle(mut votes: Vec<(Address, Ratio, U256)>) -> Option<Ratio> {
    votes.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(&b.0)));
    let upper = votes.get(votes.len() / 2)?;
    let lower = votes.get(votes.len().checked_sub(1)? / 2)?;
    Some(if lower.2 > upper.2 { lower.1 } else { upper.1 })
}
