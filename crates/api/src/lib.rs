//! The only HTTP server: data host, node RPC host, health, status, metrics.
//!
//! In: requests. Out: answers in the shapes of the interface, in two wire profiles of one model.
//! An endpoint is one file and one line in `router`. Must not know: how blocks get into the store.

mod answers;
mod app;
pub mod clock;
mod config;
mod contracts;
mod cors;
pub mod cursor;
mod data;
pub mod date;
mod error;
mod guard;
mod hosts;
mod kept;
pub mod keys;
mod labels;
mod meters;
mod operator_file;
mod params;
mod repeats;
mod request_id;
mod router;
mod throttle;
mod tokens;
mod verified;
mod wire;

pub use app::{App, Parts, ServedChain, Tell};
pub use config::{Config, PriceConfig};
pub use error::ApiError;
pub use labels::Labels;
pub use operator_file::FileError;
pub use router::{Hosts, router};
pub use tokens::{TokenListError, TokenLists};
pub use verified::VerifiedCollections;
