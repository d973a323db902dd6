//! Streams end to end: a chain, a server, webhooks, and receivers that can prove what they got.

mod bad_input;
mod engines;
mod late_traces;
mod moved;
mod nothing_lost;
pub mod owner;
pub mod receiver;
mod retractions;
pub mod truth;
