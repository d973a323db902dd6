//! Where blocks come from: nodes and files.

mod answers;
mod blocks;
pub mod files;
mod link;
mod node;
mod question;
mod record;

pub(crate) use blocks::{BlockRequest, FetchedBlock};
pub(crate) use link::Child;
pub(crate) use node::NodeSource;
pub use record::read_record;
