//! Each pool's own answer in dollars, with its weight; and why pools have none.

use alloy_primitives::{Address, U256, U512};

use super::dropped::Dropped;
use super::money::{Money, MoneyKind, PricingTable, ReferencePrices};
use super::question::{Question, Settings};
use super::ratio::Ratio;
use super::reading::{self, PoolAt};
use super::square_root::square_root;
use crate::facts::PoolId;

#[derive(Clone, Debug)]
pub struct Quote {
    pub id: PoolId,
    pub factory: Address,
    pub block: u64,
    pub partner: Money,
    /// Of one whole token.
    pub usd: Ratio,
    /// In whole native coins, where that is what the pool trades against.
    pub native: Option<Ratio>,
    /// In millionths of a dollar.
    pub token_side: u128,
    pub other_side: u128,
    pub depth: u128,
    pub one_percent: u128,
    /// The root of both depths' product. A swap moves one depth up and the other down and leaves this
    /// as it is, so that pushing a pool gives it no more weight; only liquidity does.
    pub weight: U256,
    /// Counts only where there is no other.
    pub last_resort: bool,
    pub hooked: bool,
    pub curve_unknown: bool,
    /// Far from where it was some blocks before.
    pub just_moved: bool,
}

#[derive(Default)]
pub struct Quotes {
    pub usable: Vec<Quote>,
    pub dropped: Vec<Dropped>,
    /// Some pool would have an answer if the native coin had one.
    pub waits_for_native: bool,
}

impl Quotes {
    pub fn add(&mut self, other: Quotes) {
        let known = |id: PoolId| self.usable.iter().any(|mine| mine.id == id);
        let new: Vec<Quote> = other.usable.into_iter().filter(|it| !known(it.id)).collect();
        self.usable.extend(new);
        let new: Vec<Dropped> =
            other.dropped.into_iter().filter(|it| !self.dropped.contains(it)).collect();
        self.dropped.extend(new);
    }
}

pub fn quotes(
    table: &PricingTable,
    question: &Question,
    references: &ReferencePrices,
    settings: &Settings,
) -> Quotes {
    let mut quotes = Quotes::default();
    for pool in question.pools {
        let Some(partner) = reading::partner(&pool.pool, question.token, table.wrapped) else {
            continue;
        };
        if partner == table.wrapped && references.native.is_none() {
            quotes.waits_for_native = true;
        }
        match quote(table, question, references, (pool, partner)) {
            Err(why) => quotes.dropped.push(why),
            Ok(quote) if quote.token_side.min(quote.other_side) < settings.min_side_micro_usd => {
                quotes.dropped.push(Dropped::TooThin(quote.id));
            }
            Ok(mut quote) => {
                quote.just_moved = has_just_moved(pool, question, &quote, (table, settings));
                quotes.usable.push(quote);
            }
        }
    }
    quotes
}

fn quote(
    table: &PricingTable,
    question: &Question,
    references: &ReferencePrices,
    (at, partner): (&PoolAt, Address),
) -> Result<Quote, Dropped> {
    let pool = &at.pool;
    if !table.factories.contains(&pool.factory) {
        return Err(Dropped::UnknownFactory(pool.id));
    }
    if question.exchange.is_some_and(|asked| asked != pool.factory) {
        return Err(Dropped::OtherExchange(pool.id));
    }
    let via = question.via.iter().filter(|it| it.token != question.token);
    let money = references.native.iter().chain(&references.stables).chain(via);
    let partner =
        money.into_iter().find(|it| it.token == partner).ok_or(Dropped::UnknownPartner(pool.id))?;
    let decimals = (question.decimals, partner.decimals);
    let name = reading::own_name(pool, question.token, table.wrapped);
    let reading = reading::read(pool, &at.state, name, decimals).ok_or(Dropped::Empty(pool.id))?;
    let in_partner = whole_price(reading.price, decimals);
    let usd = in_partner.times(partner.usd);
    let is_native = matches!(partner.kind, MoneyKind::Native { .. });
    if usd.decimal(1).is_none() {
        return Err(Dropped::Empty(pool.id));
    }
    // Millionths of a dollar in one smallest unit.
    let micro = |usd: Ratio, decimals: u8| usd.times(Ratio::power_of_ten(6 - i32::from(decimals)));
    let worth_of = |amount, unit: Ratio| {
        Ratio::new(amount, U256::ONE).map_or(0, |it| it.times(unit).floor_u128())
    };
    let hooked = reading::is_hooked(pool);
    let other = micro(partner.usd, partner.decimals);
    let depth = worth_of(reading.other_depth, other);
    Ok(Quote {
        id: pool.id,
        factory: pool.factory,
        block: at.block,
        usd,
        native: is_native.then_some(in_partner),
        token_side: worth_of(reading.token_side, micro(usd, question.decimals)),
        other_side: worth_of(reading.other_side, other),
        depth,
        one_percent: worth_of(reading.one_percent, other),
        weight: square_root(reading.token_depth.wrapping_mul(U512::from(depth)))
            .saturating_to::<U256>(),
        last_resort: hooked || partner.kind == MoneyKind::Stable { pegged: false },
        hooked,
        curve_unknown: reading::curve_is_unknown(pool),
        just_moved: false,
        partner: partner.clone(),
    })
}

/// From smallest units to whole tokens on both sides.
fn whole_price(price: Ratio, (token, other): reading::Decimals) -> Ratio {
    price.times(Ratio::power_of_ten(i32::from(token) - i32::from(other)))
}

fn has_just_moved(
    at: &PoolAt,
    question: &Question,
    quote: &Quote,
    (table, settings): (&PricingTable, &Settings),
) -> bool {
    let decimals = (question.decimals, quote.partner.decimals);
    let name = reading::own_name(&at.pool, question.token, table.wrapped);
    let read = |state| reading::read(&at.pool, state, name, decimals).map(|it| it.price);
    match (at.before.as_ref().and_then(read), read(&at.state)) {
        (Some(before), Some(now)) => !now.is_within(settings.outlier_bps, before),
        _ => false,
    }
}
