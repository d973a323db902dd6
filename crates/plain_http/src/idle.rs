//! Connections to one server that wait for the next request.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::connection::Connection;

pub struct IdleConnections {
    /// Servers close idle connections themselves, at a moment of their own.
    idle_max: Duration,
    /// The one that was used last is last.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

impl IdleConnections {
    pub fn new(idle_max: Duration) -> Self {
        IdleConnections { idle_max, idle: Mutex::default() }
    }

    pub fn take(&self, now: Instant) -> Option<Connection> {
        // One that another runtime watches would have to be waited for by way of that one.
        let here = Handle::current().id();
        let mut idle = self.lock();
        let last = idle.iter().rposition(|it| it.connection.runtime == here)?;
        let last = idle.remove(last);
        (now.saturating_duration_since(last.since) < self.idle_max).then_some(last.connection)
    }

    /// Where it can be used again.
    pub fn keep(&self, connection: Connection, since: Instant) {
        if !connection.is_reusable() {
            return;
        }
        let mut idle = self.lock();
        // Those that nobody needed for long are first.
        let is_old = |it: &&Idle| since.saturating_duration_since(it.since) >= self.idle_max;
        let old = idle.iter().take_while(is_old).count();
        idle.drain(..old);
        idle.push(Idle { connection, since });
    }

    /// Closes those that nobody needed for long, and says how many are left.
    pub fn close_old(&self, now: Instant) -> usize {
        let mut idle = self.lock();
        idle.retain(|it| now.saturating_duration_since(it.since) < self.idle_max);
        idle.len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
