//! What tokens call themselves.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::token::Token;

use super::{EngineView, View};
use crate::Error;

impl View {
    pub async fn token(&self, chain: ChainId, address: Address) -> Result<Option<Token>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.token(chain, address),
            EngineView::Postgres(view) => view.token(chain, address).await,
        }
    }
}
