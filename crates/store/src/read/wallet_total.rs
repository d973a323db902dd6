//! How many transactions a wallet has.

use alloy_primitives::Address;
use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;
use crate::query::WalletQuery;

impl View {
    /// How many rows the query has in all, whatever the page. The cost hardly grows with the wallet.
    pub async fn wallet_total(&self, q: &WalletQuery) -> Result<u64, Error> {
        match self.of(q.chain).await? {
            EngineView::Embedded(view) => view.wallet_total(q),
            EngineView::Postgres(view) => view.wallet_total(q).await,
        }
    }

    /// Journal sequence since which no transaction of the wallet came, went or changed. May be later than the last
    /// change, never earlier.
    pub async fn wallet_changed_seq(&self, chain: ChainId, address: Address) -> Result<u64, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.wallet_changed_seq(chain, address),
            EngineView::Postgres(view) => Ok(view.version(chain).seq),
        }
    }
}
