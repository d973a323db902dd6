//! Which deliveries somebody is at, from before they are sent until the result is stored: none is sent twice at
//! the same time, and a retry that is due is not taken up again before its result is known.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::StreamId;

/// Retries of one stream at once. A stream that is sent again after a while has many overdue: they go one after the
/// other, so that its receiver is not flooded.
const RETRIES_PER_STREAM: usize = 8;

#[derive(Default)]
pub(super) struct InFlight {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    deliveries: BTreeSet<(StreamId, u64)>,
    /// Retries alone, by stream.
    retries: HashMap<StreamId, usize>,
}

/// Holds a delivery until it is dropped.
pub(super) struct Ticket {
    all: Arc<InFlight>,
    stream: StreamId,
    seq: u64,
    pub is_retry: bool,
}

impl InFlight {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None where somebody is at it already.
    pub fn enter(self: &Arc<Self>, stream: StreamId, seq: u64) -> Option<Ticket> {
        let is_new = self.lock().deliveries.insert((stream, seq));
        is_new.then(|| Ticket { all: self.clone(), stream, seq, is_retry: false })
    }

    /// None also where its stream has enough of them under way.
    pub fn enter_retry(self: &Arc<Self>, stream: StreamId, seq: u64) -> Option<Ticket> {
        let mut inner = self.lock();
        let under_way = inner.retries.get(&stream).copied().unwrap_or(0);
        if under_way >= RETRIES_PER_STREAM || !inner.deliveries.insert((stream, seq)) {
            return None;
        }
        inner.retries.insert(stream, under_way + 1);
        Some(Ticket { all: self.clone(), stream, seq, is_retry: true })
    }

    pub fn retries(&self) -> usize {
        self.lock().retries.values().sum()
    }

    /// Streams that can take up no more retries now.
    pub fn busy(&self) -> Vec<StreamId> {
        let inner = self.lock();
        let busy = inner.retries.iter().filter(|(_, under_way)| **under_way >= RETRIES_PER_STREAM);
        busy.map(|(stream, _)| *stream).collect()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut inner = self.all.lock();
        inner.deliveries.remove(&(self.stream, self.seq));
        if self.is_retry
            && let Some(under_way) = inner.retries.get_mut(&self.stream)
        {
            *under_way -= 1;
            if *under_way == 0 {
                inner.retries.remove(&self.stream);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_at_the_same_delivery_twice_and_a_stream_has_few_retries_at_once() {
        let all = Arc::new(InFlight::default());
        let (one, other) = (StreamId::repeat_byte(1), StreamId::repeat_byte(2));
        let first = all.enter(one, 1).unwrap();
        assert!(all.enter(one, 1).is_none() && all.enter_retry(one, 1).is_none());
        let retries: Vec<_> =
            (2..2 + RETRIES_PER_STREAM as u64).map(|seq| all.enter_retry(one, seq)).collect();
        assert!(retries.iter().all(Option::is_some));
        assert!(all.enter_retry(one, 99).is_none());
        assert!(all.enter(one, 100).is_some(), "first attempts are not held up");
        assert!(all.enter_retry(other, 1).is_some());
        assert_eq!(all.busy(), [one]);
        drop(retries);
        assert!(all.busy().is_empty() && all.retries() == 0);
        drop(first);
        assert!(all.enter_retry(one, 1).is_some());
    }
}
