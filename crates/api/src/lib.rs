//! The only HTTP server: data host, node RPC host, admin surface, health, status, metrics.
//!
//! In: requests. Out: answers in the shapes of the interface, in two wire profiles of one model.
//! An endpoint is one file and one line in `router`. Must not know: how blocks get into the store.

mod admin;
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
mod serve;
mod throttle;
mod tokens;
mod verified;
mod wire;

pub use admin::{KeyCreated, KeyInfo, KeyRequest, RedecodeControl, RedecodeRequest, RoleName};
pub use app::{App, Parts, ServedChain, StatusFn};
pub use config::{Config, PriceConfig, StatusAccess};
pub use error::ApiError;
pub use labels::Labels;
pub use operator_file::FileError;
pub use router::{Hosts, router};
pub use serve::{serve, serve_local};
pub use tokens::{TokenListError, TokenLists};
pub use verified::VerifiedCollections;
