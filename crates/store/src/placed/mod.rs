//! Chains in databases of their own (docs/adr/0017): which database a chain is in, and how a journal reader whose cursor is in the
//! main database keeps a chain's journal from being pruned under it.
//!
//! What belongs to no chain is in the main database: keys, streams, deliveries. Journal readers' cursors are there, too,
//! because a reader's cursor is written with its rows.

mod databases;
mod everywhere;
mod marks;
mod routes;

pub(crate) use databases::{Placed, refuse_placed};
