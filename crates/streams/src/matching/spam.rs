//! Contracts that an operator holds for spam. Nothing is spam where no list is given.

use std::collections::HashSet;

use alloy_primitives::Address;
use model::chain::ChainId;

#[derive(Clone, Debug, Default)]
pub struct SpamList {
    contracts: HashSet<(ChainId, Address)>,
}

impl SpamList {
    pub fn new(contracts: impl IntoIterator<Item = (ChainId, Address)>) -> Self {
        Self { contracts: contracts.into_iter().collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.contracts.is_empty()
    }

    pub fn contains(&self, chain: ChainId, address: Address) -> bool {
        !self.is_empty() && self.contracts.contains(&(chain, address))
    }
}
