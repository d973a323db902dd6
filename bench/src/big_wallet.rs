//! A store with wallets of chosen sizes, made without a node.

use std::path::Path;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use anyhow::Result;
use model::chain::ChainId;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header, Receipt, Tx};
use store::{Change, Options, Origin, Store, VerifiedBlock};

pub const CHAIN: ChainId = ChainId(1);
const TXS_PER_BLOCK: u64 = 500;

pub fn wallet(n: u64) -> Address {
    let mut word = [0u8; 32];
    word[20..28].copy_from_slice(&(n + 1).to_be_bytes());
    Address::from_word(word.into())
}

/// `sizes[i]` transactions for `wallet(i)`, dealt out evenly over the blocks.
pub async fn build(folder: &Path, sizes: &[u64]) -> Result<()> {
    build_in(Options::new(folder), sizes).await
}

/// The same in any store.
pub async fn build_in(options: Options, sizes: &[u64]) -> Result<()> {
    let store = Store::open(&Options { durable: false, ..options }, |_| {}).await?;
    let total: u64 = sizes.iter().sum();
    let blocks = total.div_ceil(TXS_PER_BLOCK);
    let mut left = sizes.to_vec();
    let mut parent = B256::ZERO;
    let mut group = Vec::new();
    for number in 0..blocks {
        let block = block(number, parent, &mut left, blocks - number);
        parent = block.hash;
        let (proof, facts) = (Proof::default(), Facts::default());
        group.push(store.prepare(CHAIN, VerifiedBlock { block, proof, facts }));
        if group.len() == 64 || number + 1 == blocks {
            let apply = std::mem::take(&mut group);
            store.commit(CHAIN, Change::apply(Origin::Import, apply)).await?;
        }
    }
    Ok(store.flush().await?)
}

/// A block without transactions.
pub fn empty_block(number: u64, parent: B256) -> Block {
    let hash = keccak256(number.to_be_bytes());
    let timestamp = 1_600_000_000 + number * 12;
    let header = Header {
        number: Some(number),
        hash: Some(hash),
        parent_hash: Some(parent),
        timestamp: Some(timestamp),
        ..Header::default()
    };
    Block { number, hash, parent_hash: parent, timestamp, header, ..Block::default() }
}

fn block(number: u64, parent: B256, left: &mut [u64], blocks_left: u64) -> Block {
    let mut block = empty_block(number, parent);
    for (i, left) in left.iter_mut().enumerate() {
        let share = left.div_ceil(blocks_left);
        *left -= share;
        for _ in 0..share {
            let index = block.txs.len() as u64;
            block.txs.push(tx(&block, wallet(i as u64), index));
            block.receipts.push(Some(receipt(index)));
        }
    }
    block
}

pub fn tx(block: &Block, from: Address, index: u64) -> Tx {
    let seed = keccak256([block.number.to_be_bytes(), index.to_be_bytes()].concat());
    Tx {
        block_hash: Some(block.hash),
        block_number: Some(block.number),
        transaction_index: Some(index),
        from: Some(from),
        to: Some(Address::from_word(seed)),
        hash: Some(seed),
        nonce: Some(block.number),
        gas: Some(90_000),
        gas_price: Some(U256::from(20_000_000_000u64)),
        value: Some(U256::from(index) << 60),
        input: Some(Bytes::from([seed.as_slice(); 2].concat())),
        kind: Some(0),
        v: Some(U256::from(37)),
        r: Some(seed.into()),
        s: Some(seed.into()),
        ..Tx::default()
    }
}

pub fn receipt(index: u64) -> Receipt {
    Receipt {
        cumulative_gas_used: Some(50_000 * (index + 1)),
        gas_used: Some(50_000),
        status: Some(1),
        ..Receipt::default()
    }
}
