//! Which of several answers to believe.

use alloy_primitives::{U256, U512};

use super::question::Settings;
use super::quote::Quote;
use super::ratio::Ratio;

pub struct Choice {
    pub best: Quote,
    /// The mean of all that agree with it, each by its weight.
    pub mean: Ratio,
    /// All that were considered, the best one included, in no order.
    pub considered: Vec<Quote>,
    /// Those that say about the same, the best one included.
    pub agreeing: usize,
    /// Those that say something else altogether and have some weight.
    pub against: usize,
}

impl Choice {
    pub fn is_contested(&self) -> bool {
        self.against > 0
    }
}

/// The weightiest pool that does not stand apart from the median. Pools with hooks can say anything,
/// and stables without peg mean little, so they count only where there is no other.
pub fn choose(quotes: Vec<Quote>, settings: &Settings) -> Option<Choice> {
    let any = quotes.iter().any(|it| !it.last_resort);
    let considered: Vec<Quote> = quotes.into_iter().filter(|it| !any || !it.last_resort).collect();
    let cap = cap(&considered);
    let median = weighted_median(considered.iter().map(|it| (it.usd, it.weight.min(cap))))?;
    let (near, far): (Vec<&Quote>, Vec<&Quote>) =
        considered.iter().partition(|it| it.usd.is_within(settings.outlier_bps, median));
    let best = near.iter().copied().max_by(|a, b| a.weight.cmp(&b.weight).then(b.id.cmp(&a.id)))?;
    let agreeing: Vec<&Quote> =
        near.iter().copied().filter(|it| it.usd.is_within(settings.agree_bps, best.usd)).collect();
    let against = far.iter().filter(|it| it.weight >= best.weight / U256::from(10)).count();
    let (agree, mean, best) = (agreeing.len(), mean(best.usd, &agreeing), best.clone());
    Some(Choice { best, mean, considered, agreeing: agree, against })
}

/// To 30 digits, as parts of the best one's answer, which all are close to.
fn mean(best: Ratio, agreeing: &[&Quote]) -> Ratio {
    let (mut sum, mut weights) = (U512::ZERO, U512::ZERO);
    for quote in agreeing {
        // Twice as much, so that half a digit can be rounded.
        let twice = quote.usd.over(best).times(Ratio::power_of_ten(30)).times(Ratio::TWO).floor();
        let part = (twice.unwrap_or_default() + U512::ONE) >> 1usize;
        let weight = U512::from(quote.weight.max(U256::ONE));
        sum = sum.saturating_add(part.saturating_mul(weight));
        weights = weights.saturating_add(weight);
    }
    let whole = sum.checked_div(weights).and_then(|it| Ratio::wide(it, U512::ONE));
    whole.map_or(best, |parts| best.times(parts).times(Ratio::power_of_ten(-30)))
}

/// Two pools of some weight together outvote a third one, however deep: pushing one pool is cheap to do
/// within a block, pushing all is what the market does.
fn cap(considered: &[Quote]) -> U256 {
    let most = considered.iter().map(|it| it.weight).max().unwrap_or_default();
    let mut serious: Vec<U256> =
        considered.iter().map(|it| it.weight).filter(|it| *it >= most / U256::from(10)).collect();
    serious.sort_unstable();
    serious.pop();
    match serious.len() {
        0 | 1 => U256::MAX,
        _ => serious
            .iter()
            .fold(U256::ZERO, |sum, it| sum.saturating_add(*it / U256::from(4) * U256::from(3))),
    }
}

/// The answer that has no more than half of the weight below it and above it.
pub fn weighted_median(answers: impl Iterator<Item = (Ratio, U256)>) -> Option<Ratio> {
    let mut answers: Vec<(Ratio, U256)> =
        answers.map(|(usd, weight)| (usd, weight.max(U256::ONE))).collect();
    answers.sort_unstable_by_key(|it| it.0);
    let total = answers.iter().fold(U256::ZERO, |sum, it| sum.saturating_add(it.1));
    let mut below = U256::ZERO;
    for (usd, weight) in &answers {
        below = below.saturating_add(*weight);
        if below >= total - (total >> 1usize) {
            return Some(*usd);
        }
    }
    None
}
