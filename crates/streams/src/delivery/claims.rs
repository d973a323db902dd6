//! Several senders on one store: which streams' first attempts are this one's.
//!
//! Streams that have something to send and whom nobody is at are claimed, a few at a time; a claim is renewed while the
//! stream is being sent from, and otherwise runs out. Where there is one sender, everything is its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{CLAIM, Error, Shared as Changed, StreamId};

use super::first_attempts;
use super::shared::{Lane, Shared, lock};

const CLAIMING: &str = "claiming of streams to send from";
const RENEWING: &str = "renewing of claims";
/// Few, so that others get some.
const AT_ONCE: usize = 8;
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// Shorter than the claim is: whoever acts by it ends before another begins.
const BELIEVED: Duration = Duration::from_secs(6);
const _: () = assert!(BELIEVED.as_secs() + 2 < CLAIM.as_secs());

pub(super) fn start(shared: &Arc<Shared>) {
    if !shared.store.is_shared() {
        return;
    }
    let claiming = shared.clone();
    tokio::spawn(async move {
        let tasks = &claiming.tasks;
        let kept = tasks.keep_running(CLAIMING, || claiming.is_stopping(), || claim(&claiming));
        claiming.unless_stopping(kept).await;
    });
    let renewing = shared.clone();
    tokio::spawn(async move {
        let tasks = &renewing.tasks;
        let kept = tasks.keep_running(RENEWING, || renewing.is_stopping(), || renew(&renewing));
        renewing.unless_stopping(kept).await;
    });
}

async fn claim(shared: &Arc<Shared>) -> Result<(), Error> {
    let Some(mut written) = shared.store.watch_shared(Changed::Deliveries) else { return Ok(()) };
    loop {
        written.mark_unchanged();
        let asked = Instant::now();
        let free = shared.store.claim_queues(&shared.sender, AT_ONCE).await?;
        shared.tasks.recovered(CLAIMING);
        shared.directory.prepare(&free).await?;
        for stream in &free {
            lock(&shared.lanes).entry(*stream).or_default().begin(asked);
            first_attempts::wake(shared, *stream);
        }
        // Streams of this sender got something, too.
        let own: Vec<StreamId> = {
            let lanes = lock(&shared.lanes);
            lanes.iter().filter(|(_, lane)| lane.is_ours()).map(|(id, _)| *id).collect()
        };
        own.into_iter().for_each(|stream| first_attempts::wake(shared, stream));
        if free.len() < AT_ONCE {
            let _ = tokio::time::timeout(LOOK_EVERY, written.changed()).await;
        }
    }
}

async fn renew(shared: &Arc<Shared>) -> Result<(), Error> {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        let running: Vec<StreamId> = {
            let lanes = lock(&shared.lanes);
            let busy =
                lanes.iter().filter(|(_, lane)| lane.is_running && lane.ours_until.is_some());
            busy.map(|(id, _)| *id).collect()
        };
        if running.is_empty() {
            continue;
        }
        let asked = Instant::now();
        let renewed = shared.store.renew_claims(&shared.sender, running).await?;
        shared.tasks.recovered(RENEWING);
        let mut lanes = lock(&shared.lanes);
        for stream in renewed {
            if let Some(lane) = lanes.get_mut(&stream) {
                lane.ours_until = Some(asked + BELIEVED);
            }
        }
    }
}

impl Lane {
    pub fn is_ours(&self) -> bool {
        self.ours_until.is_some_and(|until| Instant::now() < until)
    }

    /// Somebody else may have sent from it since: the store knows how far it is.
    fn begin(&mut self, asked: Instant) {
        self.ours_until = Some(asked + BELIEVED);
        (self.next_seq, self.last_seq) = (None, None);
        self.handed_over.clear();
    }
}

impl Shared {
    /// Whether the stream's first attempts are this sender's to make.
    pub async fn is_ours(&self, stream: StreamId) -> Result<bool, Error> {
        if !self.store.is_shared() || lock(&self.lanes).get(&stream).is_some_and(Lane::is_ours) {
            return Ok(true);
        }
        let asked = Instant::now();
        let claimed = self.store.claim_queue(&self.sender, stream).await?;
        let mut lanes = lock(&self.lanes);
        let Some(lane) = lanes.get_mut(&stream) else { return Ok(false) };
        match claimed {
            Some(true) if lane.ours_until.is_some() => lane.ours_until = Some(asked + BELIEVED),
            Some(_) => lane.begin(asked),
            None => lane.ours_until = None,
        }
        Ok(claimed.is_some())
    }
}
