//! How many transactions a wallet has.

use alloy_primitives::Address;
use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;
use crate::query::{WalletQuery, WalletSummary};

impl View {
    /// How many rows the query has in all, whatever the page. The cost does not grow with the wallet.
    pub async fn wallet_total(&self, q: &WalletQuery) -> Result<u64, Error> {
        match &self.engine {
            EngineView::Embedded(view) => view.wallet_total(q),
        }
    }

    pub async fn wallet_summary(
        &self,
        chain: ChainId,
        address: Address,
    ) -> Result<WalletSummary, Error> {
        match &self.engine {
            EngineView::Embedded(view) => view.wallet_summary(chain, address),
        }
    }
}
