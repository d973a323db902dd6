//! One view of the store, with what nearly every response says of its chain.

use std::sync::Arc;

use model::chain::Chain;
use store::{Coverage, Store, Version, View};

use crate::error::ApiError;

/// Everything in a response is read in one of these.
pub struct ChainView {
    pub view: View,
    pub version: Version,
    pub coverage: Arc<Coverage>,
}

impl ChainView {
    /// Refused while the chain has no block: nothing can be said of it, not even that there is nothing.
    pub async fn open(store: &Store, chain: &Chain) -> Result<Self, ApiError> {
        let view = store.view().await?;
        let version = view.version(chain.id).await?;
        let coverage = Arc::new(view.coverage(chain.id).await?);
        if coverage.is_empty() {
            return Err(no_block(chain));
        }
        Ok(ChainView { view, version, coverage })
    }
}

pub fn no_block(chain: &Chain) -> ApiError {
    ApiError::Unavailable(format!("no block of {} is indexed yet; ask again later", chain.slug))
}
