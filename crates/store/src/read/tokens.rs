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

    /// All of them, in no meaningful order.
    pub async fn tokens(&self, chain: ChainId) -> Result<Vec<(Address, Token)>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.tokens(chain),
            EngineView::Postgres(view) => view.tokens(chain).await,
        }
    }
}
