//! One view of the store, with what nearly every response says of its chain.

use std::sync::Arc;

use model::chain::ChainId;
use store::{Coverage, Store, Version, View};

use crate::error::ApiError;

/// Everything in a response is read in one of these.
pub struct ChainView {
    pub view: View,
    pub version: Version,
    pub coverage: Arc<Coverage>,
}

impl ChainView {
    pub async fn open(store: &Store, chain: ChainId) -> Result<Self, ApiError> {
        let view = store.view().await?;
        let version = view.version(chain).await?;
        let coverage = Arc::new(view.coverage(chain).await?);
        Ok(ChainView { view, version, coverage })
    }
}
