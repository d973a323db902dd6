//! JSON-RPC to a chain's nodes, answered from the store where it can be answered exactly.
//!
//! In: the bytes of a request, which are read first so that they can be weighed. Out: the bytes of
//! the answer, or nothing for notifications. Must not know: HTTP, keys. A method that is answered from the
//! store is one file in `local`, a line there and a row in `methods::METHODS`.

mod answer;
mod chain_head;
mod config;
mod feed;
mod forward;
mod gateway;
mod head_account;
mod local;
mod methods;
mod params;
mod plain_request;
mod request;

#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use config::Config;
pub use feed::{Session, TooSlow};
pub use forward::{Forwarder, MethodCounts, RequestScope, Source};
pub use gateway::{ChainNode, Gateway};
pub use head_account::keep_head_account;
pub use methods::{BlockParam, Finality, Forwarding, METHODS, Method, Place};
pub use request::Requests;
