//! Signs deliveries that were stored a moment ago, and puts them into the lanes of their streams: apart from whoever
//! stored them, who has the next blocks to match.

use std::convert::Infallible;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

use super::first_attempts;
use super::handed_over::{HandedOver, Stored};
use super::shared::{Shared, lock};
use super::signed::{SIDE_BY_SIDE, sign};
use crate::clock::now_ms;

pub(super) struct ToLanes {
    /// Without a bound: what takes memory is bounded where it is handed over.
    stored: mpsc::UnboundedSender<Stored>,
}

impl ToLanes {
    pub fn start(shared: Arc<Shared>) -> Self {
        let (stored, waiting) = mpsc::unbounded_channel();
        // What waits outlives whoever works on it.
        let waiting = Mutex::new(waiting);
        tokio::spawn(async move {
            let start = || async {
                put_into_lanes(&shared, &mut *waiting.lock().await).await;
                Ok::<_, Infallible>(())
            };
            shared.tasks.keep_running("handing over of webhooks", || false, start).await;
        });
        ToLanes { stored }
    }

    /// In the order of their numbers.
    pub fn put(&self, all: impl Iterator<Item = Stored>) {
        for stored in all {
            // It ends only after its sender did.
            let _ = self.stored.send(stored);
        }
    }
}

/// Ends with the last who has any.
async fn put_into_lanes(shared: &Arc<Shared>, waiting: &mut mpsc::UnboundedReceiver<Stored>) {
    let mut some = Vec::with_capacity(SIDE_BY_SIDE);
    // The first of many are sent while others are signed.
    while waiting.recv_many(&mut some, SIDE_BY_SIDE).await > 0 {
        leave_out_what_has_no_room(shared, &mut some);
        let mut handed: Vec<_> = some.iter_mut().filter_map(|it| it.handed_over.as_mut()).collect();
        sign(&mut handed, &*shared.directory, now_ms());
        let mut streams: Vec<_> = some.iter().map(|stored| stored.stream).collect();
        for Stored { stream, seq, handed_over } in some.drain(..) {
            let mut lanes = lock(&shared.lanes);
            let lane = lanes.entry(stream).or_default();
            lane.last_seq = lane.last_seq.max(Some(seq));
            if let Some(handed) = handed_over.filter(|it| lane.handed_over.has_room_for(it)) {
                lane.handed_over.push(handed);
            }
        }
        streams.sort_unstable();
        streams.dedup();
        streams.into_iter().for_each(|stream| first_attempts::wake(shared, stream));
    }
}

/// It would be signed in vain.
fn leave_out_what_has_no_room(shared: &Shared, some: &mut [Stored]) {
    let lanes = lock(&shared.lanes);
    for stored in some {
        let lane = lanes.get(&stored.stream);
        let has_room =
            |it: &mut HandedOver| lane.is_none_or(|lane| lane.handed_over.has_room_for(it));
        stored.handed_over.take_if(|it| !has_room(it));
    }
}
