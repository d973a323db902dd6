//! How much one upstream may be asked at once.
//!
//! `aimd` and a token bucket decide, given the time; `gate` makes callers wait accordingly.

mod aimd;
mod gate;
mod retry_after;

pub use gate::{Gate, GateOptions, Permit, Verdict};
pub use retry_after::parse as parse_retry_after;
