//! Blur: two exchanges, the first with whole orders in its events, the second with packed ones.

mod v1;
mod v2;

use super::market::Market;
use super::marketplace::Marketplace;

pub static MARKETPLACE: Marketplace =
    Marketplace { market: Market::BLUR, protocols: &[v1::PROTOCOL, v2::PROTOCOL] };

impl Market {
    pub const BLUR: Market = Market::new(1, "blur");
}
