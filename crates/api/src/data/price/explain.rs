//! Where a price comes from and how far to trust it, as JSON.

use model::facts::PoolId;
use model::price::{Confidence, Doubt, Dropped, Price};

use super::amounts::{dollars, pool};
use super::quoted_pools::QuotedPools;
use super::second_hop::Hop;
use crate::data::row::Row;
use crate::profile::Profile;

/// Pools that were left out, of which at most so many are named.
const DROPPED_MAX: usize = 32;

/// Beside the price itself.
pub struct Explained<'a> {
    pub price: &'a Price,
    pub pools: QuotedPools<'a>,
    /// `store` or `node`.
    pub source: &'static str,
    /// Of the pool's last change, where the block is stored.
    pub changed_at: Option<(u64, u64)>,
    pub hop: Option<&'a Hop>,
    pub profile: Profile,
}

impl Explained<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        let price = self.price;
        let mut row = Row::begin(out, self.profile);
        pool(&mut row, "pool", price.pool);
        row.address("partner", Some(price.partner));
        row.text("basis", Some(if price.is_reference { "reference" } else { "pool" }));
        row.text("source", Some(self.source));
        if let Some(hop) = self.hop {
            let mut via = Row::begin(row.name("via"), self.profile);
            via.address("token", Some(hop.token));
            via.text("usdPriceFormatted", Some(&hop.price.usd_price_formatted()));
            pool(&mut via, "pool", hop.price.pool);
            via.address("partner", Some(hop.price.partner));
            via.text("confidence", Some(confidence(hop.price.confidence)));
            via.end();
        }
        row.number("changedAtBlock", self.changed_at.map(|it| it.0));
        match self.changed_at {
            Some((_, time)) => row.time("changedAt", time),
            None => row.null("changedAt"),
        }
        row.text("tokenSideLiquidityUsd", Some(&dollars(price.token_side_micro_usd)));
        row.text("partnerSideLiquidityUsd", Some(&dollars(price.partner_side_micro_usd)));
        row.text("onePercentMoveUsd", Some(&dollars(price.one_percent_micro_usd)));
        row.integer("poolsConsidered", price.pools_considered as u64);
        row.integer("poolsAgreeing", price.pools_agreeing as u64);
        row.text("confidence", Some(confidence(price.confidence)));
        let doubts: Vec<&str> = price.doubts.iter().copied().map(doubt).collect();
        row.name("doubts").extend_from_slice(serde_json::json!(doubts).to_string().as_bytes());
        self.pools.write(row.name("pools"), price, self.profile, self.source == "store");
        let out = row.name("dropped");
        out.push(b'[');
        for (n, dropped) in price.dropped.iter().take(DROPPED_MAX).enumerate() {
            if n > 0 {
                out.push(b',');
            }
            let (id, why) = reason(*dropped);
            let mut one = Row::begin(out, self.profile);
            pool(&mut one, "pool", id);
            one.text("why", Some(why));
            one.end();
        }
        out.push(b']');
        row.end();
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::Thin => "thin",
        Doubt::SingleSource => "singleSource",
        Doubt::Contested => "contested",
        Doubt::Hooked => "hooked",
        Doubt::CurveUnknown => "curveUnknown",
        Doubt::JustMoved => "justMoved",
        Doubt::OffPeg => "offPeg",
        Doubt::MoneyDoubtful => "moneyDoubtful",
        Doubt::TwoHops => "twoHops",
    }
}

fn reason(dropped: Dropped) -> (PoolId, &'static str) {
    match dropped {
        Dropped::UnknownFactory(id) => (id, "unknownFactory"),
        Dropped::OtherExchange(id) => (id, "otherExchange"),
        Dropped::UnknownPartner(id) => (id, "unknownPartner"),
        Dropped::Empty(id) => (id, "empty"),
        Dropped::TooThin(id) => (id, "tooThin"),
    }
}
