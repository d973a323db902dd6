//! OpenSea: Wyvern until 2022, Seaport since.

mod seaport;
mod wyvern;

use super::market::Market;
use super::marketplace::Marketplace;

pub static MARKETPLACE: Marketplace =
    Marketplace { market: Market::OPENSEA, protocols: &[seaport::PROTOCOL, wyvern::PROTOCOL] };

impl Market {
    pub const OPENSEA: Market = Market::new(0, "opensea");
}
