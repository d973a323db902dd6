//! What a token is priced against.

use alloy_primitives::Address;
use model::price::PricingTable;

/// The native coin's token and the stables, without the token itself.
pub fn partners(book: &PricingTable, token: Address) -> Vec<Address> {
    let stables = book.stables.iter().map(|(stable, _)| *stable);
    std::iter::once(book.wrapped).chain(stables).filter(|it| *it != token).collect()
}
