//! The parameters of the wallet operation.

use alloy_primitives::Address;
use model::chain::ChainId;

use crate::cursor::QuestionDigest;
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
    pub fn read(address: &str, query: &Query) -> Result<Self, ApiError> {
        Ok(WalletParams {
            address: params::address("address", address)?,
            with_internal: params::include(query, "internal_transactions")?,
            oldest_first: params::order(query)?,
            range: BlockRange::read(query)?,
        })
    }

    /// What a cursor of this request belongs to.
    pub fn digest(&self, chain: ChainId) -> QuestionDigest {
        let digest = QuestionDigest::builder()
            .field("operation", "getWalletTransactions")
            .number("chain", chain.0)
            .field("address", self.address)
            .field("order", [u8::from(self.oldest_first)])
            .field("include", [u8::from(self.with_internal)]);
        self.range.describe(digest).finish()
    }
}
