//! The block of a price, and views of the store for which it is still the same.

use std::sync::Arc;

use store::{BlockSummary, Coverage, Version};

use super::params::PriceParams;
use crate::app::App;
use crate::data::chain_view::{self, ChainView};
use crate::error::ApiError;
use crate::served_chain::ServedChain;

/// As the store knew it when the request came.
pub struct PriceBlock {
    pub number: u64,
    /// None where it is not stored.
    pub summary: Option<BlockSummary>,
    pub coverage: Arc<Coverage>,
    pub version: Version,
}

impl PriceBlock {
    pub async fn find(
        app: &App,
        served: &ServedChain,
        params: &PriceParams,
    ) -> Result<Self, ApiError> {
        let ChainView { view, version, coverage } =
            ChainView::open(&app.parts.store, &served.chain).await?;
        let newest = coverage.newest().ok_or_else(|| chain_view::no_block(&served.chain))?;
        let number = params.block(newest);
        let summary = view.block_summary(served.chain.id, number).await?;
        Ok(PriceBlock { number, summary, coverage, version })
    }

    /// A new view of the store; none where the block was replaced meanwhile.
    pub async fn view_again(
        &self,
        app: &App,
        served: &ServedChain,
    ) -> Result<Option<ChainView>, ApiError> {
        let found = ChainView::open(&app.parts.store, &served.chain).await?;
        let now = found.view.block_summary(served.chain.id, self.number).await?;
        let is_same = now.map(|it| it.hash) == self.summary.map(|it| it.hash);
        Ok(is_same.then_some(found))
    }
}
