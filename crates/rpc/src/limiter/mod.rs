//! How much one upstream may be asked at once.
//!
//! `aimd` and a token bucket say how much, `turns` whose turn it is, given the time; `gate` makes requests
//! wait accordingly.

mod aimd;
mod gate;
mod retry_after;
mod turns;
mod verdict;

pub use gate::{Gate, Permit};
pub use retry_after::parse as parse_retry_after;
pub use verdict::{GateOptions, Verdict};
