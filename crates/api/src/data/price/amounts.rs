//! Pools and dollars as they stand in the record.

use model::facts::PoolId;

use crate::data::row::Row;

/// A pool's contract, or its number among the v4 pools.
pub fn pool(row: &mut Row, name: &str, id: PoolId) {
    match id {
        PoolId::Contract(address) => row.address(name, Some(address)),
        PoolId::V4(number) => row.hash(name, Some(number)),
    }
}

/// With cents, as money is written.
pub fn dollars(micro: u128) -> String {
    format!("{}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000)
}
