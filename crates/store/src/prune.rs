//! Dropping the oldest blocks, so that a chain takes no more room than it is given.

use model::chain::ChainId;

use crate::Error;
use crate::coverage::Coverage;
use crate::store::{Engine, Store};

/// What one step of pruning did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub blocks: u64,
    pub coverage: Coverage,
    /// Who still needs a block that would have gone otherwise.
    pub held_by: Option<HeldBy>,
}

/// A journal reader that has not come as far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBy {
    pub reader: String,
    /// The block it waits for: that and all above stay.
    pub next_block: u64,
}

impl Store {
    /// Removes the oldest stored blocks below `below`, at most `limit` of them, with all that hangs on them;
    /// what is left answers as if nothing else had ever been stored. One atomic commit; nothing is told to
    /// readers of the journal, and no block goes that one of them has not passed. What pools held is
    /// carried over, so that prices of what is left stay right.
    pub async fn prune_oldest(
        &self,
        chain: ChainId,
        below: u64,
        limit: usize,
    ) -> Result<Pruned, Error> {
        match self.of(chain) {
            Engine::Embedded(store) => {
                store.run(move |store| store.prune_oldest(chain, below, limit)).await
            }
            Engine::Postgres(store) => {
                let mut pruned = store.prune_oldest(chain, below, limit).await?;
                if let Some(held) = &mut pruned.held_by {
                    held.reader = self.reader_of(std::mem::take(&mut held.reader));
                }
                Ok(pruned)
            }
        }
    }

    /// Gives the room of rows that were removed back to the disk, table by table, where there are enough
    /// of them to be worth it. Takes a while; readers and writers go on. For that time the disk must hold
    /// the largest table twice.
    pub async fn reclaim(&self) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(|store| store.reclaim()).await,
            // The server's own autovacuum does that, all the time.
            Engine::Postgres(_) => Ok(()),
        }
    }
}
