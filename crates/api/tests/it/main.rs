//! The HTTP server from outside, in one process: what no bytes may do to it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that is surprised has to fail, and says where"
)]

mod any_bytes;
mod house;
mod refusals;
