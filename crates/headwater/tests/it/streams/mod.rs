//! Streams end to end: a chain, a server, webhooks, and receivers that can prove what they got.

mod bad_input;
mod nothing_lost;
mod receiver;
mod truth;
