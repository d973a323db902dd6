//! Blocks of a simulated chain in the model's form.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, BlockTraces, Receipt};
use store::VerifiedBlock;
use testkit::SimChain;

pub const CHAIN: ChainId = ChainId(1337);

/// The block of that hash, on the chain or dropped from it.
pub fn block(chain: &SimChain, hash: B256) -> Block {
    let mut block = Block::read(&chain.block_json(hash, true).unwrap()).unwrap().unwrap();
    let receipts: Vec<Receipt> =
        serde_json::from_slice(&chain.receipts_json(hash).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    let traces = chain.traces_geth_json(hash).unwrap();
    let text = std::str::from_utf8(&traces).unwrap();
    block.traces = Some(BlockTraces::read_call_tracer(text, &block.txs).unwrap().frames);
    block
}

/// Everything about a simulated block holds.
pub fn proven() -> Proof {
    Proof::from_bits(0b11_1111)
}

pub fn verified(chain: &SimChain, hash: B256) -> VerifiedBlock {
    let block = block(chain, hash);
    let facts = crate::made_facts::facts(hash, block.txs.len());
    VerifiedBlock { block, proof: proven(), facts }
}
