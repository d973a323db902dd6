//! Where blocks come from: nodes and files.

mod answers;
pub mod files;
mod link;
mod node;
mod question;
mod record;

pub(crate) use link::Child;
pub use node::{Ask, NodeSource, Sourced};
pub use record::read_record;
