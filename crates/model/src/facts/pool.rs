//! Pools that were created and what pools hold after a block.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolFacts {}
