//! The transactions of a wallet, a page at a time.

use super::{EngineView, View};
use crate::Error;
use crate::query::{WalletPage, WalletQuery};

impl View {
    pub async fn wallet_page(&self, q: &WalletQuery) -> Result<WalletPage, Error> {
        match self.of(q.chain).await? {
            EngineView::Embedded(view) => view.wallet_page(q),
            EngineView::Postgres(view) => view.wallet_page(q).await,
        }
    }
}
