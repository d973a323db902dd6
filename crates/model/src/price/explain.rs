//! The answer with all that explains it, and how far to trust it.

use alloy_primitives::{Address, U512};

use super::dropped::Dropped;
use super::money::{Money, MoneyKind, PricingTable};
use super::question::{Question, Settings};
use super::quote::Quote;
use super::rank::Choice;
use super::ratio::Ratio;
use crate::facts::PoolId;

#[derive(Clone, Debug)]
pub struct Price {
    /// Of one whole token: what the pool says; of money the mean of all pools that agree.
    pub usd: Ratio,
    /// Whether it is money, whose price is no single pool's.
    pub is_reference: bool,
    /// In whole native coins; `None` where nothing says what the coin is worth.
    pub native: Option<Ratio>,
    pub native_decimals: u8,
    pub pool: PoolId,
    /// The exchange's factory.
    pub factory: Address,
    /// The block of the pool's last change.
    pub block: u64,
    /// What the token trades against there.
    pub partner: Address,
    /// In millionths of a dollar: what can be traded on either side.
    pub token_side_micro_usd: u128,
    pub partner_side_micro_usd: u128,
    /// What it takes to push the pool's price up by 1 %, if liquidity is as deep there as at the price.
    pub one_percent_micro_usd: u128,
    pub pools_considered: usize,
    /// Of those considered, the ones that say about the same, this one included.
    pub pools_agreeing: usize,
    pub confidence: Confidence,
    /// Why not higher.
    pub doubts: Vec<Doubt>,
    pub dropped: Vec<Dropped>,
    /// All that were considered, in no order: see `Price::pool_quotes`.
    pub(super) quotes: Vec<Quote>,
    /// What the coin is worth by its own pools.
    pub(super) coin_usd: Option<Ratio>,
    pub(super) is_coin: bool,
    token: Address,
    decimals: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    Low,
    Medium,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Little surely lies within reach of the price.
    Thin,
    /// No second pool says the same.
    SingleSource,
    /// Pools of some weight say something else altogether.
    Contested,
    /// A contract may change what the pool does.
    Hooked,
    /// The pool may follow a curve that its reserves do not tell.
    CurveUnknown,
    /// The pool was far from here a few blocks ago.
    JustMoved,
    /// It trades against a stable that lost its peg.
    OffPeg,
    /// It is unclear what the native coin or the stables are worth.
    MoneyDoubtful,
    /// It trades against a token that had to be priced itself.
    TwoHops,
}

impl Doubt {
    /// How much can be trusted at most.
    fn at_most(self) -> Confidence {
        match self {
            Doubt::Thin | Doubt::SingleSource | Doubt::CurveUnknown | Doubt::TwoHops => {
                Confidence::Medium
            }
            _ => Confidence::Low,
        }
    }
}

/// What a price was measured by.
pub(super) struct Basis {
    /// What the coin is worth by its own pools.
    pub coin_usd: Option<Ratio>,
    /// It is not clear what money is worth.
    pub undecided: bool,
}

pub(super) fn explain(
    table: &PricingTable,
    question: &Question,
    Basis { coin_usd, undecided }: Basis,
    choice: Choice,
    dropped: Vec<Dropped>,
    settings: &Settings,
) -> Price {
    let best = &choice.best;
    let doubts = doubts(&choice, undecided, settings);
    let thin_and_alone = [Doubt::Thin, Doubt::SingleSource].iter().all(|it| doubts.contains(it));
    let lowest = doubts.iter().map(|it| it.at_most()).min().unwrap_or(Confidence::High);
    let is_coin = question.token == table.wrapped;
    let is_stable = table.stables.iter().any(|(stable, _)| *stable == question.token);
    let in_coins = |usd: Ratio| coin_usd.map(|coin| usd.over(coin));
    // Everything else is measured by money, so one pool's lag must not be in it.
    let (usd, native) = if is_coin {
        (choice.mean, Some(Ratio::ONE))
    } else if is_stable {
        // In coins it is worth what its pool gives for it, as every token.
        (choice.mean, best.native.or_else(|| in_coins(choice.mean)))
    } else {
        (best.usd, best.native.or_else(|| in_coins(best.usd)))
    };
    Price {
        usd,
        is_reference: is_coin || is_stable,
        native,
        native_decimals: table.native_decimals,
        pool: best.id,
        factory: best.factory,
        block: best.block,
        partner: best.partner.token,
        token_side_micro_usd: best.token_side,
        partner_side_micro_usd: best.other_side,
        one_percent_micro_usd: best.one_percent,
        pools_considered: choice.considered.len(),
        pools_agreeing: choice.agreeing,
        confidence: if thin_and_alone { Confidence::Low } else { lowest },
        doubts,
        dropped,
        quotes: choice.considered,
        coin_usd,
        is_coin,
        token: question.token,
        decimals: question.decimals,
    }
}

fn doubts(choice: &Choice, undecided: bool, settings: &Settings) -> Vec<Doubt> {
    let best = &choice.best;
    let kind = best.partner.kind;
    [
        (Doubt::Thin, best.depth < settings.thin_micro_usd),
        (Doubt::SingleSource, choice.agreeing < 2),
        (Doubt::Contested, choice.is_contested()),
        (Doubt::Hooked, best.hooked),
        (Doubt::CurveUnknown, best.curve_unknown),
        (Doubt::JustMoved, best.just_moved),
        (Doubt::OffPeg, kind == MoneyKind::Stable { pegged: false }),
        (Doubt::MoneyDoubtful, undecided || kind == MoneyKind::Native { doubtful: true }),
        (Doubt::TwoHops, kind == MoneyKind::Via),
    ]
    .into_iter()
    .filter_map(|(doubt, holds)| holds.then_some(doubt))
    .collect()
}

impl Price {
    pub fn usd_price(&self) -> f64 {
        self.usd.to_f64()
    }

    /// Plain decimals, at least 18 of them that count.
    pub fn usd_price_formatted(&self) -> String {
        self.usd.decimal(18).unwrap_or_default()
    }

    /// Smallest units of the native coin for one whole token, as an integer.
    pub fn native_value(&self) -> Option<U512> {
        smallest_units(self.native?, self.native_decimals)
    }

    /// Both sides, in millionths of a dollar.
    pub fn total_liquidity_micro_usd(&self) -> u128 {
        self.token_side_micro_usd.saturating_add(self.partner_side_micro_usd)
    }

    /// This price as a step to that of another token. Nothing that is doubtful is built upon.
    pub fn money(&self) -> Option<Money> {
        (self.confidence > Confidence::Low).then_some(Money {
            token: self.token,
            decimals: self.decimals,
            usd: self.usd,
            kind: MoneyKind::Via,
        })
    }
}

pub(super) fn smallest_units(whole: Ratio, decimals: u8) -> Option<U512> {
    whole.times(Ratio::power_of_ten(decimals.into())).floor()
}

/// By how many hundredths the price has changed, as signed plain decimals.
pub fn percent_change(now: Ratio, then: Ratio) -> Option<String> {
    // In 10^-12 of a percent, which an f64 would not hold for long prices.
    let hundred = now.over(then).times(Ratio::power_of_ten(14)).floor()?;
    let base = U512::from(100_000_000_000_000u64);
    let (sign, size) = if hundred < base { ("-", base - hundred) } else { ("", hundred - base) };
    let digits = format!("{size:0>13}", size = size.to_string());
    let (whole, part) = digits.split_at_checked(digits.len().checked_sub(12)?)?;
    let part = part.trim_end_matches('0');
    Some(match (part.is_empty(), whole) {
        (true, "0") => "0".to_owned(),
        (true, _) => format!("{sign}{whole}"),
        (false, _) => format!("{sign}{whole}.{part}"),
    })
}
