//! The families of exchanges: how their pools are made, what they say, how a node is asked about them.
//!
//! In: logs, guesses, answers of nodes. Out: what they mean for pools, by the family's own file. Pure.
//! New family: a file here that fills in [`Family`], and its line in [`FAMILIES`]. The lookup by topic
//! follows from that list when the crate is built. Forks of a known family are chain files' entries.

mod algebra;
mod camelot;
mod event;
mod family;
mod infinity_cl;
mod lookup;
mod pool_terms;
mod slipstream;
mod solidly;
mod v2;
mod v3;
mod v4;

pub use event::{Created, Event, EventReader, Flow, PoolEvent};
pub use family::{
    Exchange, ExchangeKind, Family, FindPool, Function, NodeAnswer, NodeCalls, PoolGuess,
};
pub use lookup::event_reader;
pub use pool_terms::PoolTerms;

/// All there are; in no order.
pub static FAMILIES: &[&Family] = &[
    &v2::FAMILY,
    &v3::FAMILY,
    &v4::FAMILY,
    &camelot::FAMILY,
    &solidly::FAMILY,
    &algebra::FAMILY,
    &slipstream::FAMILY,
    &infinity_cl::FAMILY,
];
