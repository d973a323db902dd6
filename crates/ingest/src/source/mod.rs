//! Where blocks come from: nodes and files.

mod answers;
mod blocks;
mod era1;
pub mod files;
mod link;
mod lowered;
mod no_traces;
mod node;
mod question;
mod record;
mod record_texts;
mod rlp;
mod trace_breaker;
mod traces;

pub(crate) use blocks::{BlockRequest, FetchedBlock};
pub(crate) use link::Child;
pub(crate) use no_traces::NoTraces;
pub(crate) use node::NodeSource;
pub use record::read_record;
pub(crate) use traces::TraceEffort;
