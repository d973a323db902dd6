//! Sending: what the store holds for streams goes to their receivers, first attempts in order, then retries by a
//! schedule, until it was taken or given up.
//!
//! In: the store's queue, woken by whoever wrote to it. Out: POSTs, and how they ended, in the store.
//! Must not know: how blocks become payloads, and who keeps streams (`Directory` is all it asks).

mod attempt;
mod claims;
mod config;
mod deliverer;
mod directory;
mod error;
mod first_attempts;
mod handed_over;
mod headers;
mod id;
mod in_flight;
mod limits;
mod plain_post;
mod post;
mod queue_metrics;
mod read_ahead;
mod retries;
mod running;
mod schedule;
mod shared;
mod signed;
mod success_rate;
#[cfg(test)]
mod test_delivery;
mod to_lanes;
mod writer;

pub use config::DeliveryConfig;
pub use deliverer::Deliverer;
pub use directory::{Directory, StatusChange, TargetInfo};
pub use error::DeliveryError;
pub use id::{delivery_id, seq_of};
