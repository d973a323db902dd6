//! How many transactions a wallet has.

use alloy_primitives::Address;
use model::chain::ChainId;

use super::{Snapshot, View, WalletQuery};
use crate::Error;

/// All that is known of a wallet without looking at its transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalletSummary {
    /// Transactions it sent, received, or was created by.
    pub direct: u64,
    /// Transactions in which it takes part only inside.
    pub internal: u64,
    /// Journal sequence of the last commit that changed any of them.
    pub changed_seq: u64,
}

impl View {
    /// How many rows the query has in all, whatever the page. The cost does not grow with the wallet.
    pub async fn wallet_total(&self, q: &WalletQuery) -> Result<u64, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.wallet_total(q),
        }
    }

    pub async fn wallet_summary(
        &self,
        chain: ChainId,
        address: Address,
    ) -> Result<WalletSummary, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.wallet_summary(chain, address),
        }
    }
}
