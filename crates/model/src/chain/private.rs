//! A chain of the operator's own, or the operator's settings for a built-in one.
//!
//! In: an id, a name and whatever else the operator cares to say. Out: a [`Chain`], the rest filled
//! in from the chain it changes or from the defaults below.

use alloy_primitives::B256;
use serde::Deserialize;

use super::definition::{
    Chain, Coin, MarketplaceSection, NativePool, Stable, Verification, Wrapped,
};
use super::id::ChainId;
use super::name;
use super::operation::Operation;
use crate::exchange_families::Exchange;
use crate::hex_text;
use crate::proof::Proof;

/// `id` and `name` suffice. What is left out of a new chain: 18-decimals ETH, 12 confirmations, a
/// block every 2 s, every operation, and no guesses about its forms.
///
/// With the id and a name of a built-in chain it changes that one: what is given replaces, `names`
/// are added, the rest stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateChain {
    pub id: ChainId,
    pub name: String,
    #[serde(default)]
    pub names: Vec<String>,
    pub testnet: Option<bool>,
    pub verification: Option<Verification>,
    pub proof: Option<Proof>,
    #[serde(default, deserialize_with = "hex_text::optional_hash")]
    pub genesis: Option<B256>,
    pub confirmations: Option<u64>,
    pub block_time_ms: Option<u64>,
    pub operations: Option<Vec<Operation>>,
    pub native: Option<Coin>,
    pub wrapped: Option<Wrapped>,
    pub stables: Option<Vec<Stable>>,
    pub exchanges: Option<Vec<Exchange>>,
    pub marketplaces: Option<Vec<MarketplaceSection>>,
    pub native_pools: Option<Vec<NativePool>>,
}

impl PrivateChain {
    pub fn new(id: ChainId, name: impl Into<String>) -> Self {
        Self { id, name: name.into(), ..Self::default() }
    }

    /// Lays what is given here over `base`; `base` keeps its id, name and slug.
    pub(super) fn over(self, base: Chain) -> Chain {
        // Settled before `testnet` may change: what a chain offered, it goes on offering.
        let operations = self.operations.unwrap_or_else(|| base.offered());
        let mut names = base.names;
        names.extend(self.names);
        Chain {
            id: base.id,
            name: base.name,
            slug: base.slug,
            names,
            testnet: self.testnet.unwrap_or(base.testnet),
            verification: self.verification.unwrap_or(base.verification),
            proof: self.proof.unwrap_or(base.proof),
            genesis: self.genesis.or(base.genesis),
            confirmations: self.confirmations.unwrap_or(base.confirmations),
            block_time_ms: self.block_time_ms.unwrap_or(base.block_time_ms),
            operations: Some(operations),
            also_offers: Vec::new(),
            native: self.native.unwrap_or(base.native),
            wrapped: self.wrapped.or(base.wrapped),
            stables: self.stables.unwrap_or(base.stables),
            exchanges: self.exchanges.unwrap_or(base.exchanges),
            marketplaces: self.marketplaces.unwrap_or(base.marketplaces),
            native_pools: self.native_pools.unwrap_or(base.native_pools),
        }
    }

    /// A new chain under this id and name, everything else as most private chains have it.
    pub(super) fn defaults(&self) -> Chain {
        Chain {
            id: self.id,
            name: self.name.clone(),
            slug: name::normal(&self.name),
            names: Vec::new(),
            testnet: false,
            // Nobody told us of its transaction types, so what we do not know must not stop it.
            verification: Verification::Lenient,
            proof: Proof::default(),
            genesis: None,
            confirmations: 12,
            block_time_ms: 2_000,
            operations: Some(Operation::ALL.to_vec()),
            also_offers: Vec::new(),
            native: Coin { name: "Ether".into(), symbol: "ETH".into(), decimals: 18 },
            wrapped: None,
            stables: Vec::new(),
            exchanges: Vec::new(),
            marketplaces: Vec::new(),
            native_pools: Vec::new(),
        }
    }
}
