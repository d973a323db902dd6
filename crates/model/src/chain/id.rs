//! The number a chain goes by.
//!
//! Must not know which chains there are.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The EIP-155 id. Written in decimal; hosts that speak hex use [`ChainId::hex`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ChainId(pub u64);

impl ChainId {
    /// Lower case, with `0x`, without leading zeros: `0x89`.
    pub fn hex(self) -> String {
        format!("{:#x}", self.0)
    }
}

impl From<u64> for ChainId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
