//! The NFT marketplaces: their names, and how their contracts tell of sales.
//!
//! In: one transaction's events and transfers. Out: sales as the events tell them; `decode` holds them
//! against the transfers. Pure.
//! New marketplace: a file here that fills in [`Marketplace`], and its line in [`MARKETPLACES`]. Where its
//! contracts stand is in the chain files.

mod blur;
mod looksrare;
mod lookup;
mod market;
mod marketplace;
mod opensea;
mod sale;
mod transfers;
mod tx_context;
mod x2y2;
mod zerox;

pub use lookup::{find_protocol, protocols};
pub use market::Market;
pub use marketplace::{Marketplace, Protocol};
pub use sale::Sale;
pub use transfers::{SoldToken, TokenForm, Transfers};
pub use tx_context::{SaleEvent, TxContext};

/// All there are. A transfer that two protocols could claim goes to the one listed first.
pub static MARKETPLACES: &[&Marketplace] = &[
    &opensea::MARKETPLACE,
    &blur::MARKETPLACE,
    &looksrare::MARKETPLACE,
    &x2y2::MARKETPLACE,
    &zerox::MARKETPLACE,
];
