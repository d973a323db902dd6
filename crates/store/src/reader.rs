//! A reader of the journal: it follows one chain, block by block, and never misses one.
//!
//! `next` gives one step after the other; `commit` writes the reader's own rows and how far it came in
//! one atomic write. So a crash repeats what was not committed, and loses nothing. The journal is kept
//! for a reader until it has passed, however long it is away.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::Block;
use tokio::sync::watch;

use crate::journal::{Event, EventKind, ReaderCommit, ReaderCursor, ReaderRow, Step, next_step};
use crate::store::Store;
use crate::streams::{QueuedDelivery, StreamChange, StreamCommit};
use crate::{Error, View};

/// Journal entries looked at in one go.
const ENTRIES_AT_ONCE: usize = 1024;
/// A reader that has nothing to do still says how far it came this often, so that the journal behind
/// it can be pruned.
const IDLE_ENTRIES_MAX: u64 = 4096;

/// Where a new reader begins. One that is known goes on where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the first block after those that are stored; with the newest one where it is the first.
    Head,
    /// With this block, as soon as it is stored.
    Block(u64),
    /// Exactly where another reader of the chain stands, which must not move meanwhile.
    At(ReaderCursor),
}

pub struct Reader {
    store: Store,
    name: String,
    chain: ChainId,
    /// Where `next` goes on; none while the chain has no block at all.
    cursor: Option<ReaderCursor>,
    /// What the store knows.
    committed: Option<ReaderCursor>,
    /// The last step that was given, while it is not committed.
    open_step: Option<ReaderCursor>,
    written: watch::Receiver<u64>,
}

impl Reader {
    pub async fn open(
        store: &Store,
        name: &str,
        chain: ChainId,
        start: Start,
    ) -> Result<Self, Error> {
        let written = store.subscribe(chain);
        let view = store.view().await?;
        let committed = view.reader_cursor(chain, name).await?;
        let mut reader = Reader {
            store: store.clone(),
            name: name.to_owned(),
            chain,
            cursor: committed,
            committed,
            open_step: None,
            written,
        };
        if committed.is_none() {
            reader.begin(&view, start).await?;
        }
        Ok(reader)
    }

    /// The store must know of a reader before anything behind it may be pruned.
    async fn begin(&mut self, view: &View, start: Start) -> Result<(), Error> {
        if let Start::At(cursor) = start {
            self.cursor = Some(cursor);
            return self.commit(cursor, Vec::new()).await;
        }
        let seq = view.version(self.chain).await?.seq;
        let newest = view.coverage(self.chain).await?.newest();
        let first = match (start, newest) {
            (Start::Block(number), _) => number,
            (Start::At(cursor), _) => cursor.next,
            (Start::Head, Some(newest)) => newest.saturating_add(1),
            (Start::Head, None) => return Ok(()),
        };
        let cursor = ReaderCursor { seq, start: first, next: first };
        self.cursor = Some(cursor);
        self.commit(cursor, Vec::new()).await
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn chain(&self) -> ChainId {
        self.chain
    }

    /// Where `next` goes on; none while the chain has no block at all.
    pub fn cursor(&self) -> Option<ReaderCursor> {
        self.cursor
    }

    /// How far the store knows this reader to be.
    pub fn committed(&self) -> Option<ReaderCursor> {
        self.committed
    }

    /// The next step; none where there is nothing new yet. Steps that were not committed are given again
    /// by a reader that is opened anew.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        self.written.borrow_and_update();
        let view = self.store.view().await?;
        if self.cursor.is_none() {
            self.begin_with_first_block(&view).await?;
        }
        let Some(mut cursor) = self.cursor else { return Ok(None) };
        loop {
            let entries = view.journal_after(self.chain, cursor.seq, ENTRIES_AT_ONCE).await?;
            if entries.is_empty() {
                self.check_journal(&view, cursor.seq).await?;
            }
            match next_step(cursor, &entries) {
                Step::Event(event) => return Ok(Some(self.take(event))),
                Step::Passed(passed) => cursor = passed,
            }
            if entries.len() < ENTRIES_AT_ONCE {
                break;
            }
        }
        // Everything that was written up to this view is taken into account: what is stored now stands on
        // what the reader saw.
        match view.block_summary(self.chain, cursor.next).await? {
            Some(block) => {
                cursor.next = cursor.next.saturating_add(1);
                let (number, hash) = (block.number, block.hash);
                Ok(Some(self.take(Event { kind: EventKind::Apply, number, hash, cursor })))
            }
            None => self.pass(cursor).await.map(|()| None),
        }
    }

    /// A chain's own database that was set back to an earlier moment has a journal that the reader cannot go on by.
    async fn check_journal(&self, view: &View, seq: u64) -> Result<(), Error> {
        let newest = view.version(self.chain).await?.seq;
        if newest < seq {
            return Err(Error::ReaderAhead { name: self.name.clone(), seq, newest });
        }
        Ok(())
    }

    async fn begin_with_first_block(&mut self, view: &View) -> Result<(), Error> {
        match view.coverage(self.chain).await?.newest() {
            Some(newest) => self.begin(view, Start::Block(newest)).await,
            None => Ok(()),
        }
    }

    fn take(&mut self, event: Event) -> Event {
        self.cursor = Some(event.cursor);
        self.open_step = Some(event.cursor);
        event
    }

    /// Nothing concerned the reader. The store is told where that changes nothing else.
    async fn pass(&mut self, cursor: ReaderCursor) -> Result<(), Error> {
        self.cursor = Some(cursor);
        let known = self.committed.map_or(0, |committed| committed.seq);
        if self.open_step.is_none() && cursor.seq.saturating_sub(known) >= IDLE_ENTRIES_MAX {
            self.commit(cursor, Vec::new()).await?;
        }
        Ok(())
    }

    /// Returns when something was written of the chain since the last `next`.
    pub async fn wait(&mut self) {
        if self.written.changed().await.is_err() {
            // The store is gone; so is whoever waits, soon.
            std::future::pending::<()>().await;
        }
    }

    /// The block that an event spoke of, with all that is known of it; none where it is gone by now,
    /// which a later event will say.
    pub async fn block_if(&self, number: u64, hash: B256) -> Result<Option<(Block, Proof)>, Error> {
        self.store.view().await?.block_if(self.chain, number, hash).await
    }

    /// Writes rows and remembers that everything up to `cursor` is done, in one atomic write. Of rows with
    /// the same key the last one counts.
    pub async fn commit(
        &mut self,
        cursor: ReaderCursor,
        rows: Vec<ReaderRow>,
    ) -> Result<(), Error> {
        let commit = ReaderCommit {
            chain: self.chain,
            name: self.name.clone(),
            expected: self.committed,
            cursor,
            rows,
        };
        self.store.commit_reader(commit).await?;
        self.moved(cursor);
        Ok(())
    }

    /// The same with what streams matched, which gets its numbers and digests here: the deliveries in the
    /// order in which they were given, without those of streams that are gone.
    pub async fn commit_streams(
        &mut self,
        cursor: ReaderCursor,
        change: StreamChange,
    ) -> Result<Vec<QueuedDelivery>, Error> {
        let commit = StreamCommit {
            chain: self.chain,
            reader: self.name.clone(),
            expected: self.committed,
            cursor,
            change,
        };
        let deliveries = self.store.commit_streams(commit).await?;
        self.moved(cursor);
        Ok(deliveries)
    }

    fn moved(&mut self, cursor: ReaderCursor) {
        self.committed = Some(cursor);
        self.open_step = self.open_step.filter(|step| *step != cursor);
    }

    /// Rows that this reader wrote, by the beginning of their keys.
    pub async fn rows(&self, prefix: &[u8], limit: usize) -> Result<Vec<ReaderRow>, Error> {
        let view = self.store.view().await?;
        view.reader_rows(self.chain, &self.name, prefix, limit).await
    }
}
