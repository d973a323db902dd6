//! Which database is asked.

use model::chain::ChainId;

use crate::engine::Engine;
use crate::postgres::Store as Database;
use crate::read::LateViews;
use crate::store::Store;
use crate::{Error, View};

impl Store {
    /// Where a chain's rows are.
    pub(crate) fn of(&self, chain: ChainId) -> &Engine {
        let placed = self.placed.as_ref().and_then(|placed| placed.by_chain.get(&chain));
        placed.unwrap_or(&self.engine)
    }

    pub(crate) fn is_placed(&self, chain: ChainId) -> bool {
        self.placed.as_ref().is_some_and(|placed| placed.by_chain.contains_key(&chain))
    }

    /// A consistent look at everything as it is now; of chains with databases of their own, as each is when first asked about.
    pub async fn view(&self) -> Result<View, Error> {
        match &self.placed {
            None => Ok(View::now(self.engine.view().await?)),
            Some(placed) => {
                let engines = placed.by_chain.iter().map(|(chain, it)| (*chain, it.clone()));
                Ok(View::late(LateViews::new(&self.engine, engines)))
            }
        }
    }

    /// An error where a database of a chain cannot be used now.
    pub async fn all_ready(&self) -> Result<(), Error> {
        for database in self.databases() {
            database.ready().await?;
        }
        Ok(())
    }

    /// Those of chains.
    pub(super) fn databases(&self) -> impl Iterator<Item = &Database> {
        self.placed.iter().flat_map(|placed| &placed.databases)
    }
}
