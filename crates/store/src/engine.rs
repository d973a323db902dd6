//! The closed list of engines that a store is one of.

use tokio::sync::watch;

use crate::read::EngineView;
use crate::write_state::WriteState;
use crate::{Error, embedded, postgres};

/// Cheap to clone.
#[derive(Clone)]
pub(crate) enum Engine {
    Embedded(embedded::Store),
    Postgres(postgres::Store),
}

impl Engine {
    pub async fn view(&self) -> Result<EngineView, Error> {
        match self {
            Engine::Embedded(store) => Ok(EngineView::Embedded(store.view_soon().await?)),
            Engine::Postgres(store) => Ok(EngineView::Postgres(store.view().await?)),
        }
    }

    pub fn watch_write_state(&self) -> watch::Receiver<WriteState> {
        match self {
            Engine::Embedded(store) => store.watch_write_state(),
            Engine::Postgres(store) => store.watch_write_state(),
        }
    }
}
