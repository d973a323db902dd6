//! Pools of a token, and what pools held at a block.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::Pool;

use super::{EngineView, View};
use crate::Error;
use crate::query::{PoolStatesQuery, StateAt};

impl View {
    /// Every known pool of a token, in no meaningful order. A coin that everything trades against has
    /// very many: ask for those with one other token instead.
    pub async fn pools_of(&self, chain: ChainId, token: Address) -> Result<Vec<Pool>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.pools_of(chain, token),
            EngineView::Postgres(view) => view.pools_of(chain, token).await,
        }
    }

    /// Every known pool of these pairs of tokens; pair by pair, otherwise in no meaningful order.
    pub async fn pools_between(
        &self,
        chain: ChainId,
        pairs: &[(Address, Address)],
    ) -> Result<Vec<Pool>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.pools_between(chain, pairs),
            EngineView::Postgres(view) => view.pools_between(chain, pairs).await,
        }
    }

    /// One for each pool asked for; none where no block of the range tells a whole state.
    pub async fn pool_states(
        &self,
        q: &PoolStatesQuery<'_>,
    ) -> Result<Vec<Option<StateAt>>, Error> {
        match self.of(q.chain).await? {
            EngineView::Embedded(view) => view.pool_states(q),
            EngineView::Postgres(view) => view.pool_states(q).await,
        }
    }
}
