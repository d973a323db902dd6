//! First attempts of a stream: in the order of its numbers, one after the other. A failure holds nothing up: its
//! retry is somebody else's work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::StreamId;

use super::attempt::{Attempt, Reason};
use super::handed_over::HandedOver;
use super::in_flight::Ticket;
use super::read_ahead::{PAGE, ToSend, read_page};
use super::running::RunningTask;
use super::shared::{Shared, lock};

const TASK: &str = "first attempts of webhooks";
const TICKET_PAUSE: Duration = Duration::from_millis(10);

/// Sees to it that what the stream has to send is being sent.
pub(super) fn wake(shared: &Arc<Shared>, stream: StreamId) {
    if shared.is_stopping() {
        return;
    }
    if lock(&shared.held).contains(&stream) {
        shared.retry_wake.notify_one();
    }
    {
        let mut lanes = lock(&shared.lanes);
        let lane = lanes.entry(stream).or_default();
        if lane.is_running {
            lane.look_again = true;
            return;
        }
        lane.is_running = true;
        lane.look_again = false;
    }
    let running = shared.running.begin();
    let run = LaneRun {
        shared: shared.clone(),
        stream,
        has_ended: AtomicBool::new(false),
        _running: running,
    };
    tokio::spawn(async move {
        let tasks = &run.shared.tasks;
        tasks.keep_running(TASK, || run.shared.is_stopping(), || run.run()).await;
    });
}

/// However it ends, the lane can be started again after it.
struct LaneRun {
    shared: Arc<Shared>,
    stream: StreamId,
    /// The lane may be another's since then.
    has_ended: AtomicBool,
    _running: RunningTask,
}

impl Drop for LaneRun {
    fn drop(&mut self) {
        if !self.has_ended.load(Ordering::Relaxed)
            && let Some(lane) = lock(&self.shared.lanes).get_mut(&self.stream)
        {
            lane.is_running = false;
        }
    }
}

enum Next {
    /// There may be more.
    Read,
    /// There is no more, or it is not to be sent now.
    Wait,
}

impl LaneRun {
    async fn run(&self) -> Result<(), store::Error> {
        while matches!(self.page().await?, Next::Read) || self.was_woken() {}
        // Deleted: nobody will ask for its place.
        if self.shared.directory.target(self.stream).is_none() {
            lock(&self.shared.lanes).remove(&self.stream);
        }
        Ok(())
    }

    /// Else it has ended. Both under one lock: who wakes it afterwards starts it anew.
    fn was_woken(&self) -> bool {
        let mut lanes = lock(&self.shared.lanes);
        let woken = lanes.get_mut(&self.stream).is_some_and(|lane| {
            lane.is_running = std::mem::take(&mut lane.look_again);
            lane.is_running
        });
        self.has_ended.store(!woken, Ordering::Relaxed);
        woken
    }

    fn is_sending(&self) -> bool {
        self.shared.directory.is_sending(self.stream) && !self.shared.is_stopping()
    }

    /// Whether the next one may be sent.
    async fn may_send(&self) -> Result<bool, store::Error> {
        Ok(self.is_sending() && self.shared.is_ours(self.stream).await?)
    }

    async fn page(&self) -> Result<Next, store::Error> {
        if self.is_sending() && !self.is_all_sent() && !self.shared.is_ours(self.stream).await? {
            return Ok(Next::Wait);
        }
        while let Some(handed) = self.handed_over() {
            if !self.send(ToSend::Ready(handed)).await? {
                return Ok(Next::Wait);
            }
        }
        if !self.is_sending() || self.is_all_sent() {
            return Ok(Next::Wait);
        }
        let known = lock(&self.shared.lanes).get(&self.stream).and_then(|lane| lane.next_seq);
        let page = read_page(&self.shared, self.stream, known.unwrap_or(0)).await?;
        let next = if page.len() < PAGE { Next::Wait } else { Next::Read };
        for delivery in page {
            if !self.send(delivery).await? {
                return Ok(Next::Wait);
            }
        }
        Ok(next)
    }

    /// As far as is known without asking the store.
    fn is_all_sent(&self) -> bool {
        let lanes = lock(&self.shared.lanes);
        let lane = lanes.get(&self.stream);
        let known = lane.and_then(|lane| Some((lane.next_seq?, lane.last_seq?)));
        known.is_some_and(|(next, last)| next > last)
    }

    fn handed_over(&self) -> Option<HandedOver> {
        let mut lanes = lock(&self.shared.lanes);
        let lane = lanes.get_mut(&self.stream)?;
        // The first delivery of all has no other before it.
        lane.handed_over.next_of(lane.next_seq.unwrap_or(1))
    }

    /// Somebody who asked for it lets go at once: it was not tried yet. None when it is time to stop.
    async fn ticket(&self, seq: u64) -> Option<Ticket> {
        loop {
            if let Some(ticket) = self.shared.in_flight.enter(self.stream, seq) {
                return Some(ticket);
            }
            self.shared.unless_stopping(tokio::time::sleep(TICKET_PAUSE)).await?;
        }
    }

    /// False where the next one is not to be sent now.
    async fn send(&self, delivery: ToSend) -> Result<bool, store::Error> {
        if !self.may_send().await? {
            return Ok(false);
        }
        match delivery {
            ToSend::Ready(handed) => {
                let attempt = Attempt {
                    body: Some(handed.body),
                    signed: handed.signed,
                    ..Attempt::new(&handed.delivery, handed.waiting, Reason::Due)
                };
                Ok(self.first_attempt(attempt).await)
            }
            ToSend::Stored(delivery, waiting) => {
                Ok(self.first_attempt(Attempt::new(&delivery, waiting, Reason::Due)).await)
            }
        }
    }

    /// False where it could not be made.
    async fn first_attempt(&self, attempt: Attempt<'_>) -> bool {
        let (shared, delivery) = (&self.shared, attempt.delivery);
        let is_first = delivery.state.attempts == 0 && !delivery.state.is_final();
        if is_first {
            let Some(ticket) = self.ticket(delivery.seq).await else {
                return false;
            };
            let Some(record) = shared.attempt(attempt).await else {
                return false;
            };
            shared.writer.put(record, ticket).await;
        }
        if let Some(lane) = lock(&shared.lanes).get_mut(&self.stream) {
            lane.next_seq = Some(delivery.seq + 1);
        }
        true
    }
}
