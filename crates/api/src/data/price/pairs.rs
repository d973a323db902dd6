//! What a token is priced against.

use alloy_primitives::Address;
use model::price::PricingTable;

/// The native coin's token and the stables, without the token itself.
pub fn partners(table: &PricingTable, token: Address) -> Vec<Address> {
    let stables = table.stables.iter().map(|(stable, _)| *stable);
    std::iter::once(table.wrapped).chain(stables).filter(|it| *it != token).collect()
}
