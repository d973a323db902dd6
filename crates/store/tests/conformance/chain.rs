//! Chains to fill stores with: simulated ones, and blocks without anything in them.

use alloy_primitives::{B256, keccak256};
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header};
use store::VerifiedBlock;
use testkit::{SimChain, SimConfig};

pub use crate::sim_block::{CHAIN, block, proven, verified};

pub fn chain(seed: u64, blocks: usize) -> SimChain {
    made(SimConfig { txs_per_block: 8, ..SimConfig::seeded(seed) }, blocks)
}

pub fn made(config: SimConfig, blocks: usize) -> SimChain {
    let mut chain = SimChain::new(config);
    chain.extend(blocks);
    chain
}

/// For tests that make many.
pub fn small_chain(seed: u64, blocks: usize) -> SimChain {
    made(SimConfig { txs_per_block: 3, wallets: 12, ..SimConfig::seeded(seed) }, blocks)
}

/// A block without transactions; those of one branch stand on each other.
pub fn empty_block(number: u64, branch: u8) -> VerifiedBlock {
    let hash = |number: u64| keccak256([&number.to_be_bytes()[..], &[branch]].concat());
    empty_block_on(hash(number - 1), number, hash(number))
}

pub fn empty_block_on(parent_hash: B256, number: u64, hash: B256) -> VerifiedBlock {
    let header = Header { parent_hash: Some(parent_hash), ..Header::default() };
    let (timestamp, proof) = (number * 12, Proof::HEADER);
    let block = Block { number, hash, parent_hash, timestamp, header, ..Block::default() };
    VerifiedBlock { block, proof, facts: Facts::default() }
}
