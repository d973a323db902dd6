//! LooksRare: two exchanges whose events have the same names and other fields.

mod v1;
mod v2;

use super::market::Market;
use super::marketplace::Marketplace;

pub static MARKETPLACE: Marketplace =
    Marketplace { market: Market::LOOKSRARE, protocols: &[v1::PROTOCOL, v2::PROTOCOL] };

impl Market {
    pub const LOOKSRARE: Market = Market::new(2, "looksrare");
}
