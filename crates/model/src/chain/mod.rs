//! The chain table: which chains there are, what they are called, what may be asked of them.
//!
//! In: the files of `chains/`, compiled in, and the operator's own chains. Out: one [`Chain`] for a
//! name or an id as a request spells it. Knows neither network nor configuration files.
//! New chain: one file in `chains/`, one line in `builtin.rs`. Nothing else.

use std::fmt;

use serde::{Deserialize, Serialize};

mod builtin;
mod definition;
mod hex_text;
mod name;
mod private;
mod table;
#[cfg(test)]
mod tests;

pub use definition::{
    Chain, Coin, Exchange, ExchangeKind, Marketplace, MarketplaceContract, NativePool, Stable,
    Verification, Wrapped,
};
pub use private::PrivateChain;
pub use table::{ChainTable, Error};

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

/// What a request asks of a chain; not every chain offers each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    WalletTransactions,
    NftTrades,
    NftLowestPrice,
    TokenPrice,
    Streams,
    Rpc,
}

impl Operation {
    pub const ALL: [Self; 6] = [
        Self::WalletTransactions,
        Self::NftTrades,
        Self::NftLowestPrice,
        Self::TokenPrice,
        Self::Streams,
        Self::Rpc,
    ];
}

impl fmt::Display for Operation {
    /// For messages to people: "token price".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WalletTransactions => "wallet transactions",
            Self::NftTrades => "NFT trades",
            Self::NftLowestPrice => "NFT lowest price",
            Self::TokenPrice => "token price",
            Self::Streams => "streams",
            Self::Rpc => "RPC",
        })
    }
}
