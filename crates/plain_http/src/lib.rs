//! HTTP/1.1 without TLS to servers near by, where what the client costs counts (docs/adr/0022, 0024).
//!
//! In: requests as bytes, and connections that somebody else made. Out: replies, each read to its end. A connection has no
//! task of its own: whoever asks does its work while waiting for the reply, and nobody has to wake anybody.
//! Must not know: who is asked, and whether that is allowed.

mod connection;
mod idle;
mod reply_head;
#[cfg(test)]
mod tests;

pub use connection::{Connection, Room, Unread, Written};
pub use idle::IdleConnections;
pub use reply_head::{Framing, ReplyHead};
