//! Applying, reverting and amending blocks: one transaction with the chain's row locked from beginning to end.
//!
//! What goes is deleted by block numbers, what comes is copied in, table by table. Nobody else can write the chain
//! meanwhile: the row is locked, and its epoch must be this process's.

mod chain_write;
mod commit;
mod copy_rows;
mod counting;
mod facts;
mod generation;
mod journal;
mod pools;
mod prune;
mod remove;

pub use chain_write::ChainWrite;
pub use copy_rows::Copy;
