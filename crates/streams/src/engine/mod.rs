//! Matches the blocks of every chain against its streams, by readers of the journal.
//!
//! Streams that are where the chain is share a reader per chain and class. One that is elsewhere (it begins with past
//! blocks, or its queue is full) has a reader of its own, and joins the others when both are at the same place.

mod context;
mod enrich;
mod matcher;
mod own;
mod shared;
mod step;
mod tell;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::chain::ChainId;
use store::{Error, Start, StreamId};
use tokio::sync::OwnedMutexGuard;
use tokio::task::{AbortHandle, JoinSet};

pub use context::{Context, StreamChain, TokenNames};
pub use enrich::enrich;
pub use step::{MatcherState, own_reader_name};

use crate::record::OwnStart;
use crate::registry::{Class, Mode};
use matcher::Matcher;
use step::Members;

pub struct Engine {
    pub context: Arc<Context>,
    shared: BTreeMap<(ChainId, Class), Arc<Matcher>>,
    own: Mutex<HashMap<(ChainId, StreamId), OwnReader>>,
    tasks: Mutex<JoinSet<()>>,
}

struct OwnReader {
    matcher: Arc<Matcher>,
    task: AbortHandle,
}

/// A stream on one chain, with nothing happening to it meanwhile.
pub struct LockedChain {
    pub chain: ChainId,
    pub mode: Mode,
    pub state: OwnedMutexGuard<MatcherState>,
}

/// Where a stream is to begin, while the others of its class stand still.
pub struct Placed {
    /// None: with the others.
    pub own_start: Option<OwnStart>,
    _held: OwnedMutexGuard<MatcherState>,
}

impl Engine {
    /// Opens a reader for every chain and class; streams that are known must be in the registry.
    pub async fn start(context: Arc<Context>) -> Result<Arc<Self>, Error> {
        let mut shared = BTreeMap::new();
        for chain in context.chains.keys() {
            for class in Class::ALL {
                let members = Members::Class(class);
                let matcher = Matcher::open(&context, *chain, members, Start::Head).await?;
                shared.insert((*chain, class), Arc::new(matcher));
            }
        }
        let (own, tasks) = (Mutex::default(), Mutex::default());
        let engine = Arc::new(Engine { context, shared, own, tasks });
        for matcher in engine.shared.values() {
            let task = shared::keep(engine.clone(), matcher.clone());
            engine.tasks().spawn(task);
        }
        engine.resume_own_readers().await?;
        Ok(engine)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self) -> MutexGuard<'_, HashMap<(ChainId, StreamId), OwnReader>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn resume_own_readers(self: &Arc<Self>) -> Result<(), Error> {
        let mut wanted = Vec::new();
        for entry in self.context.registry.read().all() {
            wanted.extend(entry.record.own_readers.iter().map(|own| (*own, entry.id)));
        }
        for (own, id) in wanted {
            let start = own.start.map_or(Start::Head, Start::Block);
            self.start_own(ChainId(own.chain), id, start).await?;
        }
        Ok(())
    }

    /// A reader that is known goes on where it was, whatever `start` says.
    pub async fn start_own(
        self: &Arc<Self>,
        chain: ChainId,
        id: StreamId,
        start: Start,
    ) -> Result<(), Error> {
        let matcher = Matcher::open(&self.context, chain, Members::One(id), start).await?;
        let matcher = Arc::new(matcher);
        let task = own::keep(Arc::downgrade(self), matcher.clone(), id);
        let task = self.tasks().spawn(task);
        self.own().insert((chain, id), OwnReader { matcher, task });
        Ok(())
    }

    /// Ends the reader that a stream had for itself.
    pub async fn end_own(&self, chain: ChainId, id: StreamId) -> Result<(), Error> {
        let Some(OwnReader { matcher, task }) = self.own().remove(&(chain, id)) else {
            return Ok(());
        };
        // What it is in the middle of is either written as a whole or not at all.
        let _nothing_under_way = matcher.lock().await;
        task.abort();
        self.context.tasks.recovered(&matcher.task);
        self.context.store.remove_reader(chain, &own_reader_name(id)).await?;
        Ok(())
    }

    fn forget_own(&self, chain: ChainId, id: StreamId) {
        self.own().remove(&(chain, id));
    }

    pub fn shared(&self, chain: ChainId, class: Class) -> Option<&Arc<Matcher>> {
        self.shared.get(&(chain, class))
    }

    fn matcher_of(&self, chain: ChainId, id: StreamId, mode: Mode) -> Option<Arc<Matcher>> {
        match mode {
            Mode::Shared(class) => self.shared(chain, class).cloned(),
            Mode::Own => self.own().get(&(chain, id)).map(|own| own.matcher.clone()),
        }
    }

    fn mode_of(&self, chain: ChainId, id: StreamId) -> Option<Mode> {
        self.context.registry.read().get(id)?.modes.get(&chain).copied()
    }

    /// Holds a stream where it is, on all its chains: lowest first, so that nobody waits for each other.
    pub async fn hold(&self, id: StreamId) -> Result<Vec<LockedChain>, Error> {
        let chains: Vec<ChainId> = {
            let registry = self.context.registry.read();
            registry.get(id).map(|it| it.modes.keys().copied().collect()).unwrap_or_default()
        };
        let mut held = Vec::with_capacity(chains.len());
        for chain in chains {
            if let Some(locked) = self.hold_on(chain, id).await? {
                held.push(locked);
            }
        }
        Ok(held)
    }

    async fn hold_on(&self, chain: ChainId, id: StreamId) -> Result<Option<LockedChain>, Error> {
        loop {
            let Some(mode) = self.mode_of(chain, id) else { return Ok(None) };
            let Some(matcher) = self.matcher_of(chain, id, mode) else { return Ok(None) };
            let mut state = matcher.lock().await?;
            // It may have changed readers while we waited.
            if self.mode_of(chain, id) == Some(mode) {
                state.settle().await?;
                return Ok(Some(LockedChain { chain, mode, state }));
            }
        }
    }

    /// Where a stream may begin on a chain: with the block after those that are stored, or with a given one. The
    /// others stay where they are until the answer is dropped. None where the chain is not served.
    pub async fn place(
        &self,
        chain: ChainId,
        class: Class,
        from_block: Option<u64>,
    ) -> Result<Option<Placed>, Error> {
        let Some(matcher) = self.shared(chain, class) else { return Ok(None) };
        let mut state = matcher.lock().await?;
        state.settle().await?;
        let newest = self.context.store.view().await?.coverage(chain).await?.newest();
        let wanted = from_block.or(newest.map(|newest| newest.saturating_add(1)));
        let is_there = !state.is_waiting() && state.next_block() == wanted;
        let own_start = wanted.filter(|_| !is_there).map(OwnStart::Block);
        Ok(Some(Placed { own_start, _held: state }))
    }

    /// A reader of its own for a stream that is held with others, exactly where they are. What it is noted
    /// as comes after it: until then the others are at its place.
    pub async fn detach(self: &Arc<Self>, locked: &LockedChain, id: StreamId) -> Result<(), Error> {
        let Some(cursor) = locked.state.reader.committed() else { return Ok(()) };
        let start = OwnStart::At(cursor);
        let row = {
            let mut registry = self.context.registry.write();
            let Some(entry) = registry.get_mut(id) else { return Ok(()) };
            entry.record.set_own_reader(locked.chain, Some(start));
            let row = entry.record.row(id, &entry.tenant);
            registry.set_mode(id, locked.chain, Some(Mode::Own));
            row
        };
        self.start_own(locked.chain, id, start.into()).await?;
        self.context.store.put_stream(row).await
    }

    /// Nothing is matched any more when this returns.
    pub async fn stop(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        // A step that is under way is written as a whole or not at all.
        tasks.shutdown().await;
    }
}
