//! What happens on a chain as it happens, from the journal: for subscriptions and filters.

mod chain_feed;
mod filter_id;
mod filters;
mod session;

pub use chain_feed::{ChainFeed, Happening};
pub use filter_id::FilterKind;
pub use filters::Filters;
pub use session::{Session, TooSlow};
