//! The chain table: which chains there are, what they are called, what may be asked of them.
//!
//! In: the files of `chains/`, compiled in, and the operator's own chains. Out: one [`Chain`] for a
//! name or an id as a request spells it. Knows neither network nor configuration files.
//! New chain: one file in `chains/`. Nothing else.

mod builtin;
mod definition;
mod id;
mod name;
mod operation;
mod private;
mod table;
#[cfg(test)]
mod tests;

pub use crate::exchange_families::{Exchange, ExchangeKind};
pub use definition::{
    Chain, Coin, MarketplaceContract, MarketplaceSection, NativePool, Stable, Verification, Wrapped,
};
pub use id::ChainId;
pub use operation::Operation;
pub use private::PrivateChain;
pub use table::{ChainTable, Error};
