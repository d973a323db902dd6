//! What there is to say of a family of exchanges: contracts that speak and are built alike, whoever runs
//! them. Each family says it in a file of its own; this is the form.
//!
//! Must not know which families there are.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use alloy_primitives::{Address, B256};
use serde::Deserialize;

use super::event::EventReader;
use super::pool_terms::PoolTerms;
use crate::facts::{PoolId, PoolState};
use crate::hex_text;

pub struct Family {
    /// Stands with every pool in stores: never give one a new meaning.
    pub code: u8,
    /// The `kind` of its exchanges in chain files.
    pub name: &'static str,
    /// Whether pools hold ranges of liquidity, and not plain reserves.
    pub is_ranged: bool,
    /// One contract, given as the factory, holds all pools. They go by a hash of what they are.
    pub is_singleton: bool,
    /// Some pools follow the curve for tokens of like worth; their reserves do not tell which.
    pub has_stable_curve: bool,
    /// What factories and pools say, shared ones included: a pool that a factory tells of is believed
    /// if the event is in this list of the factory's family.
    pub events: &'static [EventReader],
    /// What the pool is, if this exchange and nobody else can have made it for these tokens.
    pub prove: fn(&Exchange, &PoolGuess) -> Option<PoolTerms>,
    /// How a node is asked; none where pools cannot be asked for by their tokens.
    pub node_calls: Option<NodeCalls>,
}

impl Family {
    pub fn has_event(&self, topic: B256) -> bool {
        self.events.iter().any(|event| event.topic == topic)
    }
}

/// A family by reference: small, and equal if the family is the same.
#[derive(Clone, Copy)]
pub struct ExchangeKind(pub(super) &'static Family);

impl Deref for ExchangeKind {
    type Target = Family;

    fn deref(&self) -> &Family {
        self.0
    }
}

impl PartialEq for ExchangeKind {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for ExchangeKind {}

impl Hash for ExchangeKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
    }
}

impl fmt::Debug for ExchangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An exchange as a chain file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// For people: "Uniswap v2".
    pub name: String,
    /// How a request spells it; without one, it goes by its factory address alone.
    #[serde(default)]
    pub names: Vec<String>,
    pub kind: ExchangeKind,
    #[serde(deserialize_with = "hex_text::address")]
    pub factory: Address,
    /// The contract that creates the pools, where it is not the factory.
    #[serde(default, deserialize_with = "hex_text::optional_address")]
    pub deployer: Option<Address>,
    /// Absent where a pool's address cannot be derived and must be indexed.
    #[serde(default, deserialize_with = "hex_text::optional_hash")]
    pub init_code_hash: Option<B256>,
    /// Fee tiers in millionths, for kinds that have one pool per tier. Empty: not known.
    #[serde(default)]
    pub fees: Vec<u32>,
    /// Tick spacings, for kinds that have one pool per spacing. Empty: not known.
    #[serde(default)]
    pub tick_spacings: Vec<u32>,
}

impl Exchange {
    /// The address that CREATE2 derives pools from.
    pub fn pool_creator(&self) -> Address {
        self.deployer.unwrap_or(self.factory)
    }

    /// Whether this exchange made the contract with this salt: the address is the hash of creator, salt
    /// and code, so nobody else can have made it.
    pub fn has_made(&self, id: PoolId, salt: B256) -> bool {
        let (PoolId::Contract(pool), Some(code)) = (id, self.init_code_hash) else { return false };
        self.pool_creator().create2(salt, code) == pool
    }
}

/// What is known of a pool before anyone can say whose it is.
pub struct PoolGuess {
    pub id: PoolId,
    /// In their order.
    pub tokens: [Address; 2],
    /// What a swap paid, in millionths, where the event says so.
    pub paid: Option<u32>,
    /// Who acted on the pool, where the event says so; may be its own hook.
    pub actor: Option<Address>,
}

/// How a node is asked for pools that are not stored.
pub struct NodeCalls {
    /// Asked of the factory; answers with a pool's address or zero.
    pub find_pool: Function,
    /// Each such call that two tokens need.
    pub arguments: fn(&Exchange, [Address; 2]) -> Vec<FindPool>,
    /// Asked of the pool, without arguments.
    pub state: &'static [Function],
    /// The state from the answers to these, in the same order; none for calls that failed. May add what
    /// the answers tell of the terms. None where the pool holds nothing or says what no pool can.
    pub read_state: fn(&[NodeAnswer], &mut PoolTerms) -> Option<PoolState>,
}

/// What a contract answered; none where it refused.
pub type NodeAnswer = Option<Vec<u8>>;

/// One call to a factory, and what the pool would be that it answers with.
pub struct FindPool {
    pub arguments: Vec<B256>,
    pub terms: PoolTerms,
}

/// A function of a contract.
pub struct Function {
    pub selector: [u8; 4],
    pub signature: &'static str,
}
