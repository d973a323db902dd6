//! Where webhooks may go: what users name as targets must not reach into the network this server stands in.
//!
//! In: a URL as a user gave it. Out: a connection to an address that was checked, or a reason. The address is
//! checked where the connection is made, so that a name cannot say one thing when it is checked and another later.

mod address;
mod client;
mod guard;
mod lookup;
mod network;
mod resolver;

pub use client::{IDLE, USER_AGENT, client};
pub use guard::Guard;
pub use lookup::{Lookup, SystemLookup};
pub use network::Network;
