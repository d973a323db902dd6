//! What may be asked of a chain.
//!
//! In: nothing. Out: [`Operation`], its name for people, and which chains offer it if their file does not
//! say otherwise. New operation: one line in the list; no chain file.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an operation is offered unless a chain's file says otherwise.
enum OfferedOn {
    EveryChain,
    /// Test coins are worth nothing: the interface has no prices there.
    Mainnets,
}

macro_rules! operations {
    ($($operation:ident, $name:literal, $offered_on:ident;)+) => {
        /// What a request asks of a chain; not every chain offers each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Operation { $($operation,)+ }

        impl Operation {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$operation),+];

            fn name(self) -> &'static str {
                match self { $(Self::$operation => $name,)+ }
            }

            fn offered_on(self) -> OfferedOn {
                match self { $(Self::$operation => OfferedOn::$offered_on,)+ }
            }
        }
    };
}

operations! {
    WalletTransactions, "wallet transactions", EveryChain;
    DateToBlock, "date to block", EveryChain;
    NftTrades, "NFT trades", EveryChain;
    NftLowestPrice, "NFT lowest price", EveryChain;
    TokenPrice, "token price", Mainnets;
    Streams, "streams", EveryChain;
    Rpc, "RPC", EveryChain;
}

impl Operation {
    /// Whether a chain offers it whose file says nothing about it.
    pub(super) fn is_offered_by_default(self, testnet: bool) -> bool {
        match self.offered_on() {
            OfferedOn::EveryChain => true,
            OfferedOn::Mainnets => !testnet,
        }
    }
}

impl fmt::Display for Operation {
    /// For messages to people: "token price".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
