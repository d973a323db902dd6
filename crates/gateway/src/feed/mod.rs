//! What happens on a chain as it happens, from the journal, or from nodes where nothing is stored: for subscriptions
//! and filters.

mod chain_feed;
mod filter_id;
mod filters;
mod node_feed;
mod pending_feed;
mod session;

pub use chain_feed::{ChainEvent, ChainFeed};
pub use filter_id::FilterKind;
pub use filters::Filters;
pub use pending_feed::PendingFeed;
pub use session::{Session, TooSlow};
