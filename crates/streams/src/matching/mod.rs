//! What of a block concerns which stream.
//!
//! In: streams with their addresses (`StreamIndex`) and a block. Out: for each stream that is concerned the
//! items of its webhook (`Items`), with what a node still has to be asked for them (`Needs`). Pure: no clock, no
//! network, no store. The cost follows the block and what matches, not the number of streams.

mod address_map;
mod index;
pub mod items;
mod mentions;
mod plan;
mod slot_lists;
mod spam;
mod walk;

pub use index::StreamIndex;
pub use items::{BalanceNeed, Items, Needs, TriggerNeed, TriggerPlace};
pub use plan::{Slot, StreamPlan};
pub use spam::SpamList;
pub use walk::{BlockMatch, MatchQuery, Parts, match_block};

#[cfg(test)]
pub(crate) mod tests;
