//! The chain as one request sees it: perhaps without its last blocks, perhaps with a forged hash.

use super::{
    call::{Call, parse_quantity},
    tamper::rehashed,
};
use crate::chain::{SimBlock, SimChain};
use alloy_primitives::B256;
use serde_json::Value;
use std::sync::Arc;

/// Blocks behind the head that nodes of a proof-of-stake chain call safe and finalized.
const SAFE: u64 = 32;
const FINALIZED: u64 = 64;
/// How far back a forged hash is recognised.
const FORGED_MAX: usize = 256;

pub(super) struct NodeView<'a> {
    pub chain: &'a SimChain,
    /// The node has not seen so many of the last blocks.
    pub lag: u64,
    /// The node tells forged block hashes, so it must know them when they come back.
    pub forges: bool,
}

impl NodeView<'_> {
    pub fn head(&self) -> u64 {
        self.chain.head_number().saturating_sub(self.lag)
    }

    pub fn block(&self, number: u64) -> Option<Arc<SimBlock>> {
        self.chain.block(number).filter(|_| number <= self.head())
    }

    pub fn block_by_hash(&self, hash: B256) -> Option<Arc<SimBlock>> {
        let known = self.chain.block_by_hash(hash).filter(|block| block.number() <= self.head());
        if known.is_none() && self.forges {
            let recent = self.chain.blocks().iter().rev().take(FORGED_MAX);
            return recent.into_iter().find(|block| rehashed(block) == hash).cloned();
        }
        known
    }

    pub fn transaction(&self, hash: B256) -> Option<(Arc<SimBlock>, usize)> {
        self.chain.transaction(hash).filter(|(block, _)| block.number() <= self.head())
    }

    /// A number, a tag, a hash, or an object with one of them (EIP-1898).
    pub fn resolve(&self, value: &Value) -> Option<Arc<SimBlock>> {
        match value {
            Value::String(text) if text.len() == 66 => self.block_by_hash(text.parse().ok()?),
            Value::String(text) => self.block(self.number(text)?),
            Value::Object(fields) => {
                let inner = fields.get("blockHash").or_else(|| fields.get("blockNumber"))?;
                inner.is_string().then(|| self.resolve(inner)).flatten()
            }
            _ => None,
        }
    }

    pub fn number(&self, text: &str) -> Option<u64> {
        match text {
            "latest" | "pending" => Some(self.head()),
            "earliest" => Some(0),
            "safe" => Some(self.head().saturating_sub(SAFE)),
            "finalized" => Some(self.head().saturating_sub(FINALIZED)),
            number => parse_quantity(number),
        }
    }

    /// The block a call is about, if it is about one that this node knows.
    pub fn subject(&self, call: &Call) -> Option<Arc<SimBlock>> {
        match call.method.as_str() {
            "eth_getTransactionReceipt" | "eth_getTransactionByHash" => {
                self.transaction(call.hash(0)?).map(|(block, _)| block)
            }
            "eth_getBalance" | "eth_getTransactionCount" | "eth_call" => {
                self.resolve(call.param(1)?)
            }
            "eth_getProof" => self.resolve(call.param(2)?),
            _ => self.resolve(call.param(0)?),
        }
    }
}
