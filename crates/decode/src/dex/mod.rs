//! Pools of decentralised exchanges: which there are, and what a block made of them.
//!
//! In: the logs of one block. Out: `PoolFacts`, or the [`Swap`]s one by one. A pool belongs to an
//! exchange only if the exchange's factory says so: by an event of its own, or because the pool's
//! address can be derived from it. Whatever else emits the same events belongs to nobody.
//! How the families speak and how their pools are proven is in `model::exchange_families`.

mod logs;
mod pools;
mod prove;
mod swap;
mod tokens_moved;

pub use model::exchange_families::Flow;
pub use pools::{Dex, UNPROVEN_MAX};
pub use swap::Swap;
