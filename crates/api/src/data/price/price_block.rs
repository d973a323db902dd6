//! The block of a price, and looks at the store for which it is still the same.

use std::sync::Arc;

use store::{BlockSummary, Coverage, Version, View};

use super::params::PriceParams;
use crate::app::App;
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

/// A view of the store, and what nearly every question to it needs.
pub struct StoreLook {
    pub view: View,
    pub version: Version,
    pub coverage: Coverage,
}

impl PriceBlock {
    pub async fn find(
        app: &App,
        served: &ServedChain,
        params: &PriceParams,
    ) -> Result<Self, ApiError> {
        let StoreLook { view, version, coverage } = StoreLook::new(app, served).await?;
        let number = params.block(served, &coverage)?;
        let summary = view.block_summary(served.chain.id, number).await?;
        Ok(PriceBlock { number, summary, coverage: Arc::new(coverage), version })
    }

    /// A new look at the store; none where the block was replaced meanwhile.
    pub async fn look(
        &self,
        app: &App,
        served: &ServedChain,
    ) -> Result<Option<StoreLook>, ApiError> {
        let look = StoreLook::new(app, served).await?;
        let now = look.view.block_summary(served.chain.id, self.number).await?;
        let is_same = now.map(|it| it.hash) == self.summary.map(|it| it.hash);
        Ok(is_same.then_some(look))
    }
}

impl StoreLook {
    pub async fn new(app: &App, served: &ServedChain) -> Result<Self, ApiError> {
        let (view, chain) = (app.parts.store.view().await?, served.chain.id);
        let version = view.version(chain).await?;
        let coverage = view.coverage(chain).await?;
        Ok(StoreLook { view, version, coverage })
    }
}
