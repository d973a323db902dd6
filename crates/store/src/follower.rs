//! Follows a chain by the journal as a reader does, without leaving a trace: nothing is kept for it, so it must keep up.

use model::chain::ChainId;
use tokio::sync::watch;

use crate::journal::{Event, EventKind, ReaderCursor, Step, next_step};
use crate::store::Store;
use crate::{Error, View};

/// Journal entries looked at in one go.
const ENTRIES_AT_ONCE: usize = 1024;

pub struct Follower {
    store: Store,
    chain: ChainId,
    cursor: ReaderCursor,
    written: watch::Receiver<u64>,
}

impl Follower {
    /// Begins with the first block after those that are stored; none where there are none yet.
    pub async fn from_head(store: &Store, chain: ChainId) -> Result<Option<Self>, Error> {
        let written = store.subscribe(chain);
        let view = store.view().await?;
        let Some(newest) = view.coverage(chain).await?.newest() else { return Ok(None) };
        let next = newest.saturating_add(1);
        let cursor = ReaderCursor { seq: view.version(chain).await?.seq, start: 0, next };
        Ok(Some(Follower { store: store.clone(), chain, cursor, written }))
    }

    /// Goes on where another one stood, in this process or another.
    pub fn at(store: &Store, chain: ChainId, cursor: ReaderCursor) -> Self {
        Follower { store: store.clone(), chain, cursor, written: store.subscribe(chain) }
    }

    pub fn cursor(&self) -> ReaderCursor {
        self.cursor
    }

    /// The next step; none where there is nothing new yet. What the journal no longer has is passed over: the follower
    /// then goes on with the blocks above its last one.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        self.written.borrow_and_update();
        let view = self.store.view().await?;
        loop {
            let entries = view.journal_after(self.chain, self.cursor.seq, ENTRIES_AT_ONCE).await?;
            match next_step(self.cursor, &entries) {
                Step::Event(event) => {
                    self.cursor = event.cursor;
                    return Ok(Some(event));
                }
                Step::Passed(passed) => self.cursor = passed,
            }
            if entries.len() < ENTRIES_AT_ONCE {
                return self.next_block(&view).await;
            }
        }
    }

    async fn next_block(&mut self, view: &View) -> Result<Option<Event>, Error> {
        let Some(block) = view.block_summary(self.chain, self.cursor.next).await? else {
            return Ok(None);
        };
        self.cursor.next = self.cursor.next.saturating_add(1);
        let (kind, cursor) = (EventKind::Apply, self.cursor);
        Ok(Some(Event { kind, number: block.number, hash: block.hash, cursor }))
    }

    /// Returns when something was written of the chain since the last `next`.
    pub async fn wait(&mut self) {
        if self.written.changed().await.is_err() {
            // The store is gone; so is whoever waits, soon.
            std::future::pending::<()>().await;
        }
    }
}
