//! Rows of streams: what the face in `crate::streams` is asked is answered here.
//!
//! Whoever reads, changes and writes such rows holds `Store::one_stream_write`. Blocks are written under
//! another lock, so that a tenant's hundred thousand addresses do not hold up the head.

mod addresses;
mod attempt_row;
mod attempts;
mod batch;
mod commit;
mod copied;
mod definitions;
mod deliveries;
mod delivery_row;
mod due;
mod hex_runs;
pub mod keys;
mod lists;
mod match_row;
mod matches;
mod packed_body;
mod prune;
mod queue_row;
mod remove;
mod state_row;

#[cfg(test)]
mod damaged;
#[cfg(test)]
mod pinned;

pub use attempt_row::AttemptRow;
pub use definitions::{pack_stream, unpack_stream};
pub use delivery_row::unpack_delivery;
pub use match_row::MatchRow;
pub use packed_body::{BodyPacker, unpack_body};
pub use queue_row::QueueRow;
pub use state_row::waits;

use std::sync::{MutexGuard, PoisonError};

use super::open::Store;
use crate::Error;

pub const BROKEN_STREAM: Error = Error::Broken { what: "stream" };
pub const BROKEN_QUEUE: Error = Error::Broken { what: "queue of a stream" };
pub const BROKEN_MATCH: Error = Error::Broken { what: "match of a stream" };
pub const BROKEN_DELIVERY: Error = Error::Broken { what: "delivery" };
pub const BROKEN_BODY: Error = Error::Broken { what: "body of a delivery" };
pub const BROKEN_STATE: Error = Error::Broken { what: "state of a delivery" };
pub const BROKEN_ATTEMPT: Error = Error::Broken { what: "attempt of a delivery" };

impl Store {
    /// Queues are read, changed and written.
    pub fn one_stream_write(&self) -> MutexGuard<'_, ()> {
        self.inner.stream_writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
