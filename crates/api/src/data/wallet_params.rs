//! The parameters of the wallet operation.

use alloy_primitives::Address;
use model::chain::ChainId;

use super::carried::{Carried, settle};
use crate::cursor::{PageQuestion, Rows};
use crate::error::ApiError;
use crate::params::{self, BlockRange, Query};

/// All of a request but its chain, page and profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WalletParams {
    pub address: Address,
    pub with_internal: bool,
    pub oldest_first: bool,
    pub range: BlockRange,
}

impl WalletParams {
    pub fn read(address: &str, query: &Query, carried: &Carried) -> Result<Self, ApiError> {
        let rows = carried.rows(|rows| match rows {
            Rows::WalletTransactions { with_internal, oldest_first } => {
                Some((with_internal, oldest_first))
            }
            Rows::NftTrades { .. } => None,
        })?;
        let given = params::include(query, "internal_transactions")?.then_some(true);
        let include = [given, rows.map(|it| it.0)];
        let order = [params::order(query)?, rows.map(|it| it.1)];
        Ok(WalletParams {
            address: carried.address(params::address("address", address)?, address)?,
            with_internal: settle(query, "include", include, false)?,
            oldest_first: settle(query, "order", order, false)?,
            range: carried.range(query)?,
        })
    }

    /// What a cursor of this request carries.
    pub fn question(&self, chain: ChainId) -> PageQuestion {
        let WalletParams { address, with_internal, oldest_first, range } = *self;
        let rows = Rows::WalletTransactions { with_internal, oldest_first };
        PageQuestion { chain, address, range, rows }
    }
}
