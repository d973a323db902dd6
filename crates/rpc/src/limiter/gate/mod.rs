//! The door to one upstream: requests wait here for their turn (`turns`).

use super::turns::{EndedRequest, Ticket, Turns};
use super::verdict::{GateOptions, Verdict};
use crate::lane::Lane;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub struct Gate {
    turns: Mutex<Turns>,
}

/// Held while a request is under way. Dropped without a verdict, it only makes room.
#[derive(Debug)]
pub struct Permit<'a> {
    gate: &'a Gate,
    ended: EndedRequest,
}

impl Gate {
    pub fn new(options: GateOptions) -> Self {
        Self { turns: Mutex::new(Turns::new(options, Instant::now())) }
    }

    /// For a request of so many calls that need not wait; none where it has to.
    pub fn enter_now(&self, lane: Lane, calls: usize) -> Option<Permit<'_>> {
        let now = Instant::now();
        self.lock().enter_now(lane, calls, now).then(|| self.permit(lane, now))
    }

    /// Waits for the turn of a request of so many calls. May be dropped at any moment.
    pub async fn enter(&self, lane: Lane, calls: usize) -> Permit<'_> {
        if let Some(permit) = self.enter_now(lane, calls) {
            return permit;
        }
        let ticket = Arc::new(Ticket::default());
        let mut waiter = Waiter { gate: self, lane, ticket: Some(ticket.clone()) };
        let mut now = Instant::now();
        let mut wakes_at = self.lock().queue(lane, calls, &ticket, now);
        while !ticket.is_granted() {
            let woken = ticket.wake.notified();
            match wakes_at {
                None => woken.await,
                Some(at) => tokio::select! {
                    () = woken => {}
                    () = sleep_until(at) => {}
                },
            }
            now = Instant::now();
            if !ticket.is_granted() {
                wakes_at = self.lock().look_again(lane, &ticket, now);
            }
        }
        waiter.ticket = None;
        self.permit(lane, now)
    }

    fn permit(&self, lane: Lane, started: Instant) -> Permit<'_> {
        Permit { gate: self, ended: EndedRequest { lane, started, verdict: Verdict::Unrelated } }
    }

    pub fn limit(&self) -> usize {
        self.lock().limit()
    }

    pub fn in_flight(&self) -> usize {
        self.lock().in_flight()
    }

    pub fn waiting(&self) -> usize {
        self.lock().waiting()
    }

    pub fn paused_until(&self, lane: Lane) -> Option<Instant> {
        // Nearly always there is none, and the clock is not asked.
        self.lock().pause_end(lane).filter(|until| *until > Instant::now())
    }

    /// How busy it is: requests under way and waiting, per allowed request.
    pub fn load(&self) -> f64 {
        let turns = self.lock();
        (turns.in_flight() + turns.waiting()) as f64 / turns.limit().max(1) as f64
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// When it was let in.
    pub fn started(&self) -> Instant {
        self.ended.started
    }

    pub fn finish(mut self, verdict: Verdict) {
        self.ended.verdict = verdict;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.gate.lock().ended(&self.ended, Instant::now());
    }
}

/// Leaves the queue, also when it is cancelled.
struct Waiter<'a> {
    gate: &'a Gate,
    lane: Lane,
    /// None once it is let in and somebody else answers for the place.
    ticket: Option<Arc<Ticket>>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.gate.lock().gave_up(self.lane, &ticket, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests;
