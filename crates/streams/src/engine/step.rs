//! One step of a matcher: events of the journal become deliveries and matches that wait for confirmation, written
//! with the reader's cursor at once.
//!
//! Deliveries of a block are made when the block is seen, again when it is confirmed. What was matched is kept
//! until then, so that a later change of the stream does not change what the block said.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use model::chain::ChainId;
use model::raw::Block;
use store::{Error, Event, EventKind, Reader, ReaderCursor, StreamChange, StreamId};

use super::context::Context;
use crate::matching::{BlockMatch, MatchQuery, Parts, match_block};
use crate::registry::{Class, Mode};
use crate::uuid::uuid_text;

/// Written at once at most; a block is never split over two writes.
const EVENTS_AT_ONCE: usize = 64;
const BYTES_AT_ONCE: usize = 8 << 20;
/// Which streams a matcher is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    Class(Class),
    One(StreamId),
}

impl Members {
    pub fn reader_name(self) -> String {
        match self {
            Members::Class(class) => class.reader_name().to_owned(),
            Members::One(id) => own_reader_name(id),
        }
    }
}

pub fn own_reader_name(id: StreamId) -> String {
    format!("stream/{}", uuid_text(&id))
}

/// A journal reader and what it has not finished.
pub struct MatcherState {
    pub reader: Reader,
    /// A block without traces whose turn it is.
    waiting: Option<Event>,
    patience: Option<Patience>,
    /// After the last event that was dealt with; the store is told when there is nothing else to do.
    done: Option<ReaderCursor>,
    /// Matches of blocks below this one are confirmed: those that still wait, wait for traces.
    pub(super) confirmed_below: u64,
    /// A step is under way, or did not come to its end: then nothing here is where the store is.
    pub(super) is_stepping: bool,
}

/// How long blocks wait for their traces. Those that were there when the wait began share its end, so that many without
/// traces take no longer than one.
#[derive(Clone, Copy)]
struct Patience {
    up_to: u64,
    until: Instant,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// Something was written; there may be more.
    Moved,
    /// Nothing is new.
    Idle,
    /// For the traces of a block.
    Waits(Duration),
}

impl MatcherState {
    pub fn new(reader: Reader) -> Self {
        MatcherState {
            reader,
            waiting: None,
            patience: None,
            done: None,
            confirmed_below: 0,
            is_stepping: false,
        }
    }

    /// The first block that has not been matched.
    pub fn next_block(&self) -> Option<u64> {
        let waiting = self.waiting.map(|event| event.number);
        waiting.or_else(|| self.reader.cursor().map(|cursor| cursor.next))
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Makes the store know of all that was dealt with: what changes now is in force after it, also when the
    /// server is killed the moment after.
    pub async fn settle(&mut self) -> Result<(), Error> {
        if let Some(cursor) = self.done.take() {
            self.reader.commit(cursor, Vec::new()).await?;
        }
        Ok(())
    }
}

/// What came of a step.
pub struct Stepped {
    pub progress: Progress,
    /// Of streams that got deliveries.
    pub queue_bytes: HashMap<StreamId, u64>,
}

pub struct Step<'a> {
    pub context: &'a Context,
    pub chain: ChainId,
    pub members: Members,
    pub state: &'a mut MatcherState,
    pub(super) change: StreamChange,
    pub(super) last: Option<ReaderCursor>,
    /// The lowest block whose matches this step changed and has not written.
    touched_from: Option<u64>,
    pub(super) bytes: usize,
    queue_bytes: HashMap<StreamId, u64>,
}

impl<'a> Step<'a> {
    pub fn new(
        context: &'a Context,
        chain: ChainId,
        members: Members,
        state: &'a mut MatcherState,
    ) -> Self {
        let change = StreamChange::default();
        Step {
            context,
            chain,
            members,
            state,
            change,
            last: None,
            touched_from: None,
            bytes: 0,
            queue_bytes: HashMap::new(),
        }
    }

    pub async fn run(mut self) -> Result<Stepped, Error> {
        let progress = self.go().await?;
        Ok(Stepped { progress, queue_bytes: self.queue_bytes })
    }

    async fn go(&mut self) -> Result<Progress, Error> {
        let mut events = 0;
        for _ in 0..EVENTS_AT_ONCE {
            let Some(event) = self.next_event().await? else { break };
            if let Some(wait) = self.wait_for_traces(&event).await? {
                self.flush().await?;
                return Ok(if events > 0 { Progress::Moved } else { Progress::Waits(wait) });
            }
            if self.must_flush_before(&event) {
                self.flush().await?;
            }
            self.handle(&event).await?;
            self.last = Some(event.cursor);
            events += 1;
            if self.bytes >= BYTES_AT_ONCE {
                break;
            }
        }
        self.flush().await?;
        // Nothing new, or much of it: the store learns how far this is, and may drop what lies behind.
        if events == 0 || events == EVENTS_AT_ONCE {
            self.state.settle().await?;
        }
        Ok(if events > 0 { Progress::Moved } else { Progress::Idle })
    }

    async fn next_event(&mut self) -> Result<Option<Event>, Error> {
        match self.state.waiting {
            Some(event) => Ok(Some(event)),
            None => self.state.reader.next().await,
        }
    }

    /// How much longer, where this block's traces may still come in time.
    async fn wait_for_traces(&mut self, event: &Event) -> Result<Option<Duration>, Error> {
        if event.kind != EventKind::Apply || !self.wants_traces() {
            return Ok(None);
        }
        let view = self.context.store.view().await?;
        let summary = view.block_summary(self.chain, event.number).await?;
        let is_untraced =
            summary.is_some_and(|it| it.hash == event.hash && !it.has_traces && it.tx_count > 0);
        let chain = self.context.chains.get(&self.chain);
        if !is_untraced || !chain.is_some_and(|chain| chain.may_trace()) {
            self.state.waiting = None;
            return Ok(None);
        }
        let patience = match self.state.patience.filter(|it| event.number <= it.up_to) {
            Some(patience) => patience,
            None => {
                let newest = view.coverage(self.chain).await?.newest();
                let wait = Duration::from_millis(self.context.config.traces_wait_ms);
                let up_to = newest.unwrap_or_default().max(event.number);
                *self.state.patience.insert(Patience { up_to, until: Instant::now() + wait })
            }
        };
        let left = patience.until.saturating_duration_since(Instant::now());
        self.state.waiting = (!left.is_zero()).then_some(*event);
        Ok((!left.is_zero()).then_some(left))
    }

    pub(super) fn wants_traces(&self) -> bool {
        match self.members {
            Members::Class(class) => class == Class::Traces,
            Members::One(id) => {
                let registry = self.context.registry.read();
                registry.get(id).is_some_and(|it| it.record.definition.include_internal_txs)
            }
        }
    }

    /// What is kept is asked of the store: what this step made must be there before.
    fn must_flush_before(&self, event: &Event) -> bool {
        let Some(first) = self.touched_from else { return false };
        let confirms = event.number.saturating_sub(self.context.confirmations(self.chain));
        event.kind != EventKind::Apply || confirms >= first
    }

    pub(super) fn touch(&mut self, number: u64) {
        self.touched_from = Some(self.touched_from.map_or(number, |from| from.min(number)));
    }

    async fn handle(&mut self, event: &Event) -> Result<(), Error> {
        match event.kind {
            EventKind::Apply => {
                self.apply(event).await?;
                self.confirm(event.number).await
            }
            EventKind::Revert => self.revert(event).await,
            EventKind::Amend => self.amend(event).await,
        }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        let Some(cursor) = self.last.take() else { return Ok(()) };
        let change = std::mem::take(&mut self.change);
        let is_empty =
            change.deliveries.is_empty() && change.keep.is_empty() && change.remove.is_empty();
        if is_empty {
            self.state.done = Some(cursor);
            return Ok(());
        }
        self.state.done = None;
        (self.touched_from, self.bytes) = (None, 0);
        let queued = self.state.reader.commit_streams(cursor, change).await?;
        let lengths = queued.iter().map(|it| (it.delivery.stream, it.waiting_bytes));
        self.queue_bytes.extend(lengths);
        if let Some(deliverer) = self.context.deliverer.get() {
            deliverer.hand_over(queued);
        }
        Ok(())
    }

    pub(super) fn is_member(&self, id: StreamId) -> bool {
        let registry = self.context.registry.read();
        let Some(entry) = registry.get(id) else { return false };
        match (self.members, entry.modes.get(&self.chain)) {
            (Members::Class(class), Some(Mode::Shared(shared))) => class == *shared,
            (Members::One(one), Some(Mode::Own)) => one == id,
            _ => false,
        }
    }

    pub(super) fn has_members(&self) -> bool {
        match self.members {
            Members::Class(class) => self.context.registry.read().has_members(self.chain, class),
            Members::One(_) => true,
        }
    }

    /// Of members that are matched at all.
    pub(super) fn matches(&self, block: &Block, parts: Parts) -> Vec<BlockMatch> {
        let registry = self.context.registry.read();
        let only = |slot| {
            let Some(entry) = registry.at(slot) else { return false };
            let mode = entry.modes.get(&self.chain);
            let is_mine = match self.members {
                Members::Class(class) => mode == Some(&Mode::Shared(class)),
                Members::One(id) => mode == Some(&Mode::Own) && entry.id == id,
            };
            is_mine && entry.record.status.is_matched()
        };
        match_block(MatchQuery {
            index: &registry.index,
            chain: self.chain,
            block,
            spam: &self.context.spam,
            only: &only,
            parts,
        })
    }
}
