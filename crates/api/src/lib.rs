//! The only HTTP server: data host, node RPC host, streams host, admin surface, console, health, status, metrics.
//!
//! In: requests. Out: answers in the shapes of the interface, in two wire profiles of one model.
//! An operation is one file and one line in `data::routes` or `streams::routes`. Must not know: how blocks get into the store.

mod admin;
mod answer_headers;
mod app;
mod audit_control;
mod backups;
mod client_address;
pub mod clock;
mod compression;
mod config;
mod console;
mod contract_list;
mod contracts;
mod cors;
pub mod cursor;
mod data;
pub mod date;
mod error;
mod guard;
mod hosts;
pub mod keys;
mod labels;
mod listen_config;
mod lock;
mod meters;
mod operator_file;
mod params;
mod problem;
mod profile;
mod readiness;
mod redecode_control;
mod request_head;
mod request_id;
mod request_key;
mod response_budget;
mod response_cache;
mod router;
mod serve;
mod served_chain;
mod shared_answers;
mod streams;
mod throttle;
mod tokens;
mod usage;

pub use admin::{BackupOrder, KeyCreated, KeyInfo, KeyRequest, RoleName};
pub use app::{App, Parts};
pub use audit_control::{AuditControl, AuditFuture};
pub use backups::{BackupState, BackupStatus};
pub use client_address::AddressRange;
pub use config::{Config, PriceConfig, StatusAccess};
pub use console::ConsoleConfig;
pub use contract_list::ContractList;
pub use error::ApiError;
pub use labels::Labels;
pub use listen_config::ListenConfig;
pub use operator_file::FileError;
pub use problem::{Problem, ProblemsFn};
pub use redecode_control::{RedecodeControl, RedecodeRequest};
pub use router::{Hosts, router};
pub use serve::{Connections, Limits, Stage, serve, serve_local};
pub use served_chain::{ServedChain, StatusFn};
pub use tokens::{TokenListError, TokenLists};
pub use usage::UsageCounts;
