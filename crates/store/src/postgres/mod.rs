//! The postgres engine: tables of a PostgreSQL database, for installations of several processes.
//!
//! What people may want to ask in SQL has typed columns; beside them stands each object as it came, packed by the
//! same codec that the embedded engine uses. Nothing of it is seen outside of the crate.

mod announce;
mod api_keys;
mod chain_row;
mod check;
mod citus;
mod connection;
mod digest;
mod erased;
mod gate;
mod inner;
mod lease;
mod marks;
mod migrate;
mod numbers;
mod places;
mod prepare;
mod read;
mod readers;
mod replicas;
mod server;
mod store;
mod streams;
mod tls;
mod write;

pub use erased::{Store, View};
pub use gate::{AdmitFn, DatabaseId};
pub use lease::Term;
pub use numbers::text;
pub use prepare::{PgBlock, prepare};
pub use read::BlockParts;
pub use store::not_offered;
