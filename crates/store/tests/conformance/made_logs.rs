//! Blocks with many logs, made up quickly: words of every degree of rarity, in every place.

use alloy_primitives::{Address, B256, Bytes, keccak256};
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header, Log, Receipt, Tx};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::VerifiedBlock;

pub const LOGS_PER_TX: u64 = 5;

/// Low ones are in nearly every block, high ones in hardly any.
fn rarity(rng: &mut StdRng) -> u64 {
    let bits = rng.random_range(1..24);
    rng.random_range(0..1u64 << bits)
}

pub fn address(value: u64) -> Address {
    Address::from_slice(&keccak256(value.to_be_bytes())[..20])
}

pub fn topic(value: u64) -> B256 {
    keccak256((value + 1_000_000_007).to_be_bytes())
}

fn log(rng: &mut StdRng, tx: &Tx, log_index: u64) -> Log {
    let topics = rng.random_range(0..=4);
    Log {
        address: Some(address(rarity(rng))),
        topics: Some((0..topics).map(|_| topic(rarity(rng))).collect()),
        data: Some(Bytes::from(vec![7; rng.random_range(0..64)])),
        block_number: tx.block_number,
        block_hash: tx.block_hash,
        transaction_hash: tx.hash,
        transaction_index: tx.transaction_index,
        log_index: Some(log_index),
        removed: Some(false),
        ..Log::default()
    }
}

pub fn block_with_logs(number: u64, txs: u64) -> VerifiedBlock {
    let rng = &mut StdRng::seed_from_u64(number);
    let hash_of = |number: u64| keccak256([&number.to_be_bytes()[..], b"logs"].concat());
    let (hash, parent_hash) = (hash_of(number), hash_of(number.wrapping_sub(1)));
    let header = Header { parent_hash: Some(parent_hash), ..Header::default() };
    let mut block =
        Block { number, hash, parent_hash, timestamp: number, header, ..Block::default() };
    for index in 0..txs {
        let tx = Tx {
            hash: Some(keccak256([hash.as_slice(), &index.to_be_bytes()].concat())),
            block_hash: Some(hash),
            block_number: Some(number),
            transaction_index: Some(index),
            ..Tx::default()
        };
        let logs = (0..LOGS_PER_TX).map(|i| log(rng, &tx, index * LOGS_PER_TX + i)).collect();
        block.receipts.push(Some(Receipt { logs: Some(logs), ..Receipt::default() }));
        block.txs.push(tx);
    }
    VerifiedBlock { block, proof: Proof::HEADER, facts: Facts::default() }
}
