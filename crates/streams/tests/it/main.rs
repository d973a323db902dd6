//! Streams with real sockets and a real store.
//!
//! `receiver` is who gets webhooks, `world` has streams and what they have to send. Every other file is one set of
//! promises.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod receiver;
mod world;

mod definition;
mod failures;
mod fairness;
mod guard;
mod order;
mod panics;
mod replay;
mod restart;
