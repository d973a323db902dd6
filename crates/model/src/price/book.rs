//! What counts as money on a chain, and what it is worth in dollars.
//!
//! Nothing on a chain says what a dollar is. Each stable claims to be one; where they contradict each
//! other by the native coin's price, the middle claim is believed, one voice per stable, so that the
//! depth of a single one that lost its peg does not decide. Where no middle is clear, the answer is
//! marked as doubtful.

use alloy_primitives::{Address, U256};

use super::quote::{Quote, quotes};
use super::rank::{choose, weighted_median};
use super::{PoolAt, Question, Ratio, Settings};
use crate::chain::Chain;

/// The chain's table as pricing needs it.
#[derive(Clone, Debug)]
pub struct Book {
    pub wrapped: Address,
    pub native_decimals: u8,
    /// Stables that may stand for a dollar at the asked time, with their decimals.
    pub stables: Vec<(Address, u8)>,
    /// Factories whose pools may be believed.
    pub factories: Vec<Address>,
}

/// A token of known worth.
#[derive(Clone, Debug)]
pub struct Money {
    pub token: Address,
    pub decimals: u8,
    /// Of one whole token.
    pub usd: Ratio,
    pub kind: MoneyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoneyKind {
    Native {
        doubtful: bool,
    },
    Stable {
        pegged: bool,
    },
    /// Priced itself, over its own pools.
    Via,
}

/// What the chain's money is worth.
pub struct Worth {
    pub native: Option<Money>,
    pub stables: Vec<Money>,
    /// The stables contradict each other, and it is not clear which are right.
    pub undecided: bool,
}

/// A stable with less than this part of the deepest one's weight has no voice.
const VOICE_PART: u64 = 50;

impl Book {
    /// `None` where the chain has no wrapped native coin.
    pub fn of(chain: &Chain, timestamp: u64) -> Option<Book> {
        let backed = chain.stables.iter().filter(|it| it.is_backed_at(timestamp));
        Some(Book {
            wrapped: chain.wrapped.as_ref()?.address,
            native_decimals: chain.native.decimals,
            stables: backed.map(|it| (it.address, it.decimals)).collect(),
            factories: chain.exchanges.iter().map(|it| it.factory).collect(),
        })
    }

    /// Of all money but the asked token, which must not vouch for itself.
    pub(super) fn worth(&self, pools: &[PoolAt], asked: Address, settings: &Settings) -> Worth {
        // A caller may want only very liquid pools of the token; what money is worth does not follow that.
        let floor = Settings::default().min_side_micro_usd.min(settings.min_side_micro_usd);
        let settings = &Settings { min_side_micro_usd: floor, ..settings.clone() };
        let claims: Vec<Money> = self
            .stables
            .iter()
            .filter(|(token, _)| *token != asked)
            .map(|(token, decimals)| dollar(*token, *decimals))
            .collect();
        let question = Question {
            token: self.wrapped,
            decimals: self.native_decimals,
            exchange: None,
            pools,
            native_pools: &[],
            via: &[],
        };
        let claimed = Worth { native: None, stables: claims, undecided: false };
        let said = quotes(self, &question, &claimed, settings).usable;
        let (stables, undecided) = judge(claimed.stables, &said, settings);
        let worth = Worth { native: None, stables, undecided };
        let mut pegged = quotes(self, &question, &worth, settings).usable;
        pegged.retain(|it| it.partner.kind == MoneyKind::Stable { pegged: true });
        let native = choose(pegged, settings).map(|choice| Money {
            token: self.wrapped,
            decimals: self.native_decimals,
            usd: choice.mean,
            kind: MoneyKind::Native { doubtful: choice.is_contested() || choice.best.hooked },
        });
        Worth { native, ..worth }
    }
}

fn dollar(token: Address, decimals: u8) -> Money {
    Money { token, decimals, usd: Ratio::ONE, kind: MoneyKind::Stable { pegged: true } }
}

/// Finds the stables that lost their peg, and whether it is unclear which those are. `quotes` are of
/// the native coin, as if each stable were a dollar.
fn judge(claims: Vec<Money>, quotes: &[Quote], settings: &Settings) -> (Vec<Money>, bool) {
    let mut voices: Vec<(Address, Ratio, U256)> = Vec::new();
    for claim in &claims {
        let own: Vec<&Quote> =
            quotes.iter().filter(|it| it.partner.token == claim.token && !it.last_resort).collect();
        let weight = own.iter().fold(U256::ZERO, |sum, it| sum.saturating_add(it.weight));
        if let Some(median) = weighted_median(own.iter().map(|it| (it.usd, it.weight))) {
            voices.push((claim.token, median, weight));
        }
    }
    let deepest = voices.iter().map(|it| it.2).max().unwrap_or_default();
    let heard: Vec<_> =
        voices.iter().filter(|it| it.2 >= deepest / U256::from(VOICE_PART)).copied().collect();
    let Some(middle) = middle(heard.clone()) else { return (claims, false) };
    let holds = |native: Ratio| middle.over(native).is_within(settings.peg_bps, Ratio::ONE);
    let off = heard.iter().filter(|it| !holds(it.1)).count();
    let judged = claims.into_iter().map(|claim| {
        match voices.iter().find(|it| it.0 == claim.token) {
            Some((_, native, _)) if !holds(*native) => Money {
                // The native coin costs more of it than of the others by as much as it is worth less.
                usd: middle.over(*native),
                kind: MoneyKind::Stable { pegged: false },
                ..claim
            },
            _ => claim,
        }
    });
    (judged.collect(), off * 2 >= heard.len() && off > 0)
}

/// The middle one by price; of two middle ones the deeper.
fn middle(mut voices: Vec<(Address, Ratio, U256)>) -> Option<Ratio> {
    voices.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(&b.0)));
    let upper = voices.get(voices.len() / 2)?;
    let lower = voices.get(voices.len().checked_sub(1)? / 2)?;
    Some(if lower.2 > upper.2 { lower.1 } else { upper.1 })
}
