//! Blocks of a simulated chain in the model's form.

use alloy_primitives::{B256, keccak256};
use model::chain::ChainId;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header, Receipt, read_geth_traces};
use store::VerifiedBlock;
use testkit::{SimChain, SimConfig};

pub const CHAIN: ChainId = ChainId(1337);

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

/// The block of that hash, on the chain or dropped from it.
pub fn block(chain: &SimChain, hash: B256) -> Block {
    let mut block = Block::read(&chain.block_json(hash, true).unwrap()).unwrap().unwrap();
    let receipts: Vec<Receipt> =
        serde_json::from_slice(&chain.receipts_json(hash).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    let traces = chain.traces_geth_json(hash).unwrap();
    let traces = read_geth_traces(std::str::from_utf8(&traces).unwrap(), block.txs.len()).unwrap();
    block.traces = Some(traces);
    block
}

/// Everything about a simulated block holds.
pub fn proven() -> Proof {
    Proof::from_bits(0b11_1111)
}

pub fn verified(chain: &SimChain, hash: B256) -> VerifiedBlock {
    let facts = crate::made_facts::facts(hash);
    VerifiedBlock { block: block(chain, hash), proof: proven(), facts }
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
