//! Where blocks come from: nodes and files.

pub mod files;
mod node;
mod record;

pub use node::NodeSource;
pub use record::{read_receipts, read_record};
