//! One chain as its file in `chains/` describes it, field for field.
//!
//! In: TOML. Out: [`Chain`] with exact addresses and hashes. An unknown field or a mistyped address
//! is an error, so a slip in a file is caught when the table is loaded, not when a price is wrong.

use alloy_primitives::{Address, B256};
use serde::{Deserialize, Serialize};

use super::id::ChainId;
use super::name;
use super::operation::Operation;
use crate::exchange_families::Exchange;
use crate::hex_text;
use crate::proof::Proof;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    pub id: ChainId,
    /// For people: "Polygon Amoy".
    pub name: String,
    /// For paths, metrics and logs: "polygon-amoy".
    pub slug: String,
    /// Further spellings a request may use.
    pub names: Vec<String>,
    pub testnet: bool,
    pub verification: Verification,
    /// What holds of its blocks as a rule: of which less holds is asked of another node.
    #[serde(default)]
    pub proof: Proof,
    /// The hash of block 0, where it is known: whoever has another one has another chain.
    #[serde(default, deserialize_with = "hex_text::optional_hash")]
    pub genesis: Option<B256>,
    /// Blocks on top of one before it counts as confirmed.
    pub confirmations: u64,
    /// Typical time between two blocks.
    pub block_time_ms: u64,
    /// What may be asked of the chain, all of it. Left out: what chains of its sort offer by default.
    pub operations: Option<Vec<Operation>>,
    /// What it offers beside the default.
    #[serde(default)]
    pub also_offers: Vec<Operation>,
    pub native: Coin,
    pub wrapped: Option<Wrapped>,
    #[serde(default)]
    pub stables: Vec<Stable>,
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
    #[serde(default)]
    pub marketplaces: Vec<MarketplaceSection>,
    #[serde(default)]
    pub native_pools: Vec<NativePool>,
}

impl Chain {
    pub fn offers(&self, operation: Operation) -> bool {
        match &self.operations {
            Some(all) => all.contains(&operation),
            None => {
                operation.is_offered_by_default(self.testnet)
                    || self.also_offers.contains(&operation)
            }
        }
    }

    /// All that may be asked of this chain.
    pub fn offered(&self) -> Vec<Operation> {
        Operation::ALL.into_iter().filter(|operation| self.offers(*operation)).collect()
    }

    /// The exchange a request names, by a spelling of its own or by the name that answers have for it: case,
    /// spaces, dashes and underscores do not matter.
    pub fn exchange_named(&self, wanted: &str) -> Option<&Exchange> {
        let wanted = name::squeezed(wanted);
        let is_wanted = |spelling: &String| name::squeezed(spelling) == wanted;
        let by_spelling = self.exchanges.iter().find(|it| it.names.iter().any(is_wanted));
        by_spelling.or_else(|| self.exchanges.iter().find(|it| is_wanted(&it.name)))
    }

    /// How a request may name each exchange.
    pub fn exchange_names(&self) -> impl Iterator<Item = String> {
        let own = |exchange: &Exchange| name::squeezed(&exchange.name);
        self.exchanges.iter().map(move |it| it.names.first().cloned().unwrap_or_else(|| own(it)))
    }

    pub fn exchange_at(&self, factory: Address) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| exchange.factory == factory)
    }

    /// Which marketplace a contract belongs to, and which contract of it this is.
    pub fn marketplace_at(
        &self,
        address: Address,
    ) -> Option<(&MarketplaceSection, &MarketplaceContract)> {
        self.marketplaces.iter().find_map(|marketplace| {
            let contract = marketplace.contracts.iter().find(|it| it.address == address)?;
            Some((marketplace, contract))
        })
    }

    pub(super) fn goes_by(&self, wanted: &str) -> bool {
        let wanted = name::normal(wanted);
        self.spellings().any(|spelling| name::normal(spelling) == wanted)
    }

    /// Every spelling that means this chain, ids aside.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str(), self.slug.as_str()]
            .into_iter()
            .chain(self.names.iter().map(String::as_str))
    }
}

/// How much of a block can be recomputed from the plain Ethereum rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// Every hash and root; a block that disagrees is refused.
    Full,
    /// As `Full`, for chains of the OP stack: deposits (type 0x7e) are among the types, and nobody signs
    /// them. Other types and unsigned transactions (before Bedrock) lower the proof.
    OpStack,
    /// The chain has transaction types or header fields of its own: what cannot be recomputed is
    /// kept as unverified.
    Lenient,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coin {
    pub name: String,
    pub symbol: String,
    pub decimals: u8,
}

/// The token that stands for the native coin at 1:1; it has the native coin's decimals.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapped {
    pub symbol: String,
    #[serde(deserialize_with = "hex_text::address")]
    pub address: Address,
}

/// A token meant to be worth one US dollar.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stable {
    /// As its contract has it, for answers where nobody can ask the contract.
    pub name: Option<String>,
    pub symbol: String,
    #[serde(deserialize_with = "hex_text::address")]
    pub address: Address,
    pub decimals: u8,
    pub note: Option<String>,
    /// Unix seconds since when the token is no longer backed.
    pub lost_peg_at: Option<u64>,
}

impl Stable {
    /// Whether it can stand for a dollar at that time (unix seconds).
    pub fn is_backed_at(&self, timestamp: u64) -> bool {
        self.lost_peg_at.is_none_or(|lost| timestamp < lost)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketplaceSection {
    pub name: String,
    pub contracts: Vec<MarketplaceContract>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketplaceContract {
    pub protocol: String,
    pub version: String,
    #[serde(deserialize_with = "hex_text::address")]
    pub address: Address,
}

/// A marketplace's deposit of the native coin, worth it at 1:1 but not the wrapped token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NativePool {
    pub name: String,
    #[serde(deserialize_with = "hex_text::address")]
    pub address: Address,
}
