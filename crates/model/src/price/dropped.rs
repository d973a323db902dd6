//! Why a pool was left out of a price.

use crate::facts::PoolId;

/// Why a pool was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    UnknownFactory(PoolId),
    OtherExchange(PoolId),
    /// The other token is no money that we know of.
    UnknownPartner(PoolId),
    Empty(PoolId),
    TooThin(PoolId),
}
