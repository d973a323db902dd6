//! Read replicas: copies of the database that follow it, from which views may be taken.
//!
//! One that is behind what this process knows to be written is passed over, so nobody sees the journal go back. One
//! that cannot be reached is left alone for a while.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connection::Pool;
use super::gate::Gate;
use super::server::Server;
use crate::Error;
use crate::options::Options;

const LEFT_ALONE: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct Replicas {
    all: Vec<Replica>,
    turn: AtomicUsize,
}

pub struct Replica {
    pub pool: Pool,
    failed_at: Mutex<Option<Instant>>,
}

impl Replicas {
    pub fn new(options: &Options) -> Result<Self, Error> {
        let replica = |url: &String| {
            let server = Arc::new(Server::new(url, options.durable)?);
            let pool = Pool::new(server, Gate::passed(), options.connections_max);
            Ok(Replica { pool, failed_at: Mutex::default() })
        };
        let all = options.read_urls.iter().map(replica).collect::<Result<Vec<_>, Error>>()?;
        Ok(Replicas { all, turn: AtomicUsize::default() })
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whose turn it is, if it can be asked; none where there is none.
    pub fn next(&self) -> Option<&Replica> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let replica = self.all.get(turn.checked_rem(self.all.len())?)?;
        replica.may_be_asked().then_some(replica)
    }
}

impl Replica {
    fn may_be_asked(&self) -> bool {
        let failed_at = self.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
        failed_at.is_none_or(|at| at.elapsed() > LEFT_ALONE)
    }

    pub fn failed(&self, error: &Error) {
        tracing::warn!(%error, "a read replica is left alone for a while");
        *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}
