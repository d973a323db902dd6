//! How many bytes of answers may be in memory at once.
//!
//! A body is counted while it is read, after unpacking, and until the last view into it is dropped: whoever
//! holds an answer holds its share. What does not fit is an error for that one call; nobody waits for bytes
//! while holding others, so nothing can be stuck. The first few KiB of every body are free: they are bounded
//! by how many requests may be under way, and a small question must not be refused because others ask much.

use crate::bound::Bound;
use crate::config::PoolConfig;
use crate::error::Error;
use crate::lane::Lane;
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Of every body, not counted.
pub const FREE_BYTES: usize = 16 << 10;

/// So many bytes, and who else must have room for them, too.
#[derive(Debug)]
pub struct ByteBudget {
    bound: Bound,
    bytes_max: usize,
    used: AtomicUsize,
    refused: AtomicBool,
    parent: Option<Arc<ByteBudget>>,
}

/// What did not fit, and into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    pub bound: Bound,
    pub bytes_max: usize,
}

impl ByteBudget {
    pub fn new(bound: Bound, bytes_max: usize) -> Arc<Self> {
        Self::make(bound, bytes_max, None)
    }

    /// A part of another: what is counted here is counted there, too.
    pub fn within(parent: &Arc<Self>, bound: Bound, bytes_max: usize) -> Arc<Self> {
        Self::make(bound, bytes_max, Some(parent.clone()))
    }

    fn make(bound: Bound, bytes_max: usize, parent: Option<Arc<Self>>) -> Arc<Self> {
        let (used, refused) = (AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Self { bound, bytes_max, used, refused, parent })
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Says whether something did not fit into this very budget before.
    pub fn spent(&self) -> Option<OverBudget> {
        self.refused.load(Ordering::Relaxed).then(|| self.over())
    }

    /// Counts a whole body; the bytes given back are counted until their last view is dropped.
    pub fn hold(self: &Arc<Self>, body: Bytes) -> Result<Bytes, OverBudget> {
        let mut held = Held::of([Some(self.clone()), None]);
        held.grow_to(body.len())?;
        Ok(held.wrap(body))
    }

    fn take(&self, bytes: usize) -> Result<(), OverBudget> {
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.bytes_max);
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            self.refused.store(true, Ordering::Relaxed);
            return Err(self.over());
        }
        let above = self.parent.as_ref().map_or(Ok(()), |parent| parent.take(bytes));
        if above.is_err() {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        above
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.give_back(bytes);
        }
    }

    fn over(&self) -> OverBudget {
        OverBudget { bound: self.bound, bytes_max: self.bytes_max }
    }
}

impl OverBudget {
    pub(crate) fn error(self, upstream: &str) -> Error {
        let OverBudget { bound, bytes_max } = self;
        Error::TooLarge { upstream: upstream.to_owned(), bytes_max, bound }
    }
}

/// What one body has taken of its budgets; given back when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budgets: [Option<Arc<ByteBudget>>; 2],
    counted: usize,
}

impl Held {
    fn of(budgets: [Option<Arc<ByteBudget>>; 2]) -> Self {
        Self { budgets, counted: 0 }
    }

    /// Makes it at least so many bytes.
    pub fn grow_to(&mut self, body_bytes: usize) -> Result<(), OverBudget> {
        let more = body_bytes.saturating_sub(FREE_BYTES).saturating_sub(self.counted);
        if more == 0 {
            return Ok(());
        }
        let [first, second] = &self.budgets;
        first.as_ref().map_or(Ok(()), |budget| budget.take(more))?;
        if let Err(over) = second.as_ref().map_or(Ok(()), |budget| budget.take(more)) {
            first.iter().for_each(|budget| budget.give_back(more));
            return Err(over);
        }
        self.counted += more;
        Ok(())
    }

    /// The body, counted until its last view is dropped.
    pub fn wrap(self, body: Bytes) -> Bytes {
        if self.counted == 0 {
            return body;
        }
        let held = OnceLock::new();
        let _ = held.set(self);
        Bytes::from_owner(Counted { body, _held: Arc::new(held) })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.budgets.iter().flatten().for_each(|budget| budget.give_back(self.counted));
        }
    }
}

/// For a body that is there before it is known whose it is: what counts it is put in later.
pub(crate) type HeldSlot = Arc<OnceLock<Held>>;

pub(crate) fn with_slot(body: Bytes) -> (Bytes, HeldSlot) {
    let held = HeldSlot::default();
    (Bytes::from_owner(Counted { body, _held: held.clone() }), held)
}

struct Counted {
    body: Bytes,
    /// Kept for its drop.
    _held: HeldSlot,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// What the lanes of one pool may hold.
#[derive(Debug)]
pub(crate) struct PoolBudgets {
    pub ingest: Arc<ByteBudget>,
    /// A part of ingest's, so that the head has room for one large block whatever history holds.
    history: Arc<ByteBudget>,
    pub clients: Arc<ByteBudget>,
    ingest_answer_bytes_max: usize,
    client_answer_bytes_max: usize,
}

impl PoolBudgets {
    pub fn new(config: &PoolConfig) -> Self {
        let all = config.ingest_bytes_in_flight_max;
        let kept_for_head = config.response_bytes_max.min(all / 2);
        let ingest = ByteBudget::new(Bound::InFlight, all);
        Self {
            history: ByteBudget::within(&ingest, Bound::InFlight, all - kept_for_head),
            ingest,
            clients: ByteBudget::new(Bound::InFlight, config.client_bytes_in_flight_max),
            ingest_answer_bytes_max: config.response_bytes_max,
            client_answer_bytes_max: config.client_response_bytes_max,
        }
    }

    /// The largest body that is read in this lane.
    pub fn answer_bytes_max(&self, lane: Lane) -> usize {
        if lane.is_ingest() { self.ingest_answer_bytes_max } else { self.client_answer_bytes_max }
    }

    /// For one body of this lane; `batch` is what it belongs to, if it is a part of something.
    pub fn hold(&self, lane: Lane, batch: Option<&Arc<ByteBudget>>) -> Held {
        let own = match lane {
            Lane::Head => &self.ingest,
            Lane::History => &self.history,
            Lane::Interactive | Lane::Stream => &self.clients,
        };
        Held::of([batch.cloned(), Some(own.clone())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    fn body(bytes: usize) -> Bytes {
        Bytes::from(vec![b'x'; bytes])
    }

    #[test]
    fn bytes_are_counted_until_the_last_view_is_dropped() {
        let budget = ByteBudget::new(Bound::InFlight, 100 * KIB);
        let held = budget.hold(body(FREE_BYTES + 60 * KIB)).unwrap();
        let view = held.slice(5..9);
        drop(held);
        assert_eq!((view.as_ref(), budget.used()), (&b"xxxx"[..], 60 * KIB));
        let over = OverBudget { bound: Bound::InFlight, bytes_max: 100 * KIB };
        assert_eq!(budget.hold(body(FREE_BYTES + 60 * KIB)), Err(over));
        assert_eq!(budget.hold(body(FREE_BYTES)).unwrap().len(), FREE_BYTES, "small ones are free");
        drop(view);
        assert_eq!(budget.used(), 0);
        assert!(budget.hold(body(FREE_BYTES + 60 * KIB)).is_ok());
    }

    #[test]
    fn what_does_not_fit_above_is_not_counted_below() {
        let all = ByteBudget::new(Bound::InFlight, 10 * KIB);
        let batch = ByteBudget::within(&all, Bound::Batch, 100 * KIB);
        let refused = batch.hold(body(FREE_BYTES + 11 * KIB)).unwrap_err();
        assert_eq!((refused.bound, batch.used(), all.used()), (Bound::InFlight, 0, 0));
        assert_eq!(batch.spent(), None);
        let small = ByteBudget::within(&all, Bound::Batch, KIB);
        assert_eq!(small.hold(body(FREE_BYTES + 2 * KIB)).unwrap_err().bound, Bound::Batch);
        assert!(small.spent().is_some());
    }

    #[test]
    fn the_head_has_room_when_history_has_used_its_own() {
        let config = PoolConfig {
            response_bytes_max: 40 * KIB,
            ingest_bytes_in_flight_max: 100 * KIB,
            ..PoolConfig::default()
        };
        let budgets = PoolBudgets::new(&config);
        let mut history = budgets.hold(Lane::History, None);
        history.grow_to(FREE_BYTES + 60 * KIB).unwrap();
        assert!(budgets.hold(Lane::History, None).grow_to(FREE_BYTES + KIB).is_err());
        let mut head = budgets.hold(Lane::Head, None);
        head.grow_to(FREE_BYTES + 40 * KIB).unwrap();
        drop((history, head));
        assert_eq!(budgets.ingest.used(), 0);
    }
}
