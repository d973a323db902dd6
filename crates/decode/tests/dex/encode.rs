//! Writes logs and blocks as contracts and nodes would, knowing nothing of how they are read.

use alloy_primitives::{Address, B256, I256, U256, keccak256};
use model::chain::{Chain, ChainTable};
use model::raw::{Block, Log, Receipt};

pub fn chain(name: &str) -> Chain {
    ChainTable::builtin().unwrap().find(name).expect("a chain of the table").clone()
}

/// An address that no other number gives.
pub fn addr(n: u64) -> Address {
    Address::from_word(keccak256(n.to_be_bytes()))
}

pub fn word(value: impl TryInto<U256>) -> B256 {
    value.try_into().ok().expect("fits a word").into()
}

pub fn signed(value: i128) -> B256 {
    I256::try_from(value).unwrap().into_raw().into()
}

pub fn log(address: Address, signature: &str, topics: &[B256], data: &[B256]) -> Log {
    let mut all = vec![keccak256(signature)];
    all.extend_from_slice(topics);
    Log {
        address: Some(address),
        topics: Some(all),
        data: Some(data.iter().flat_map(|it| it.0).collect::<Vec<u8>>().into()),
        ..Log::default()
    }
}

/// A block with these logs, one list per transaction, counted through as a node does.
pub fn block(txs: Vec<Vec<Log>>) -> Block {
    let mut index = 0;
    let receipts = txs.into_iter().map(|mut logs| {
        for log in &mut logs {
            log.log_index = Some(index);
            index += 1;
        }
        Some(Receipt { logs: Some(logs), ..Receipt::default() })
    });
    Block { number: 1, receipts: receipts.collect(), ..Block::default() }
}

pub fn transfer(token: Address, from: Address, to: Address) -> Log {
    let ends = [from.into_word(), to.into_word()];
    log(token, "Transfer(address,address,uint256)", &ends, &[word(5)])
}

pub fn sync(pool: Address, reserve0: u128, reserve1: u128) -> Log {
    log(pool, "Sync(uint112,uint112)", &[], &[word(reserve0), word(reserve1)])
}

pub fn swap_v2(pool: Address, amounts: [u128; 4]) -> Log {
    let ends = [addr(901).into_word(), addr(902).into_word()];
    let signature = "Swap(address,uint256,uint256,uint256,uint256,address)";
    log(pool, signature, &ends, &amounts.map(word))
}

/// Amounts as the pool counts them, then root of the price, liquidity, tick.
pub fn swap_v3(pool: Address, amounts: [i128; 2], state: (U256, u128, i32)) -> Log {
    let ends = [addr(901).into_word(), addr(902).into_word()];
    let signature = "Swap(address,address,int256,int256,uint160,uint128,int24)";
    let [amount0, amount1] = amounts.map(signed);
    let data = [amount0, amount1, state.0.into(), word(state.1), signed(state.2.into())];
    log(pool, signature, &ends, &data)
}

pub fn initialize_v3(pool: Address, sqrt_price: U256, tick: i32) -> Log {
    log(pool, "Initialize(uint160,int24)", &[], &[sqrt_price.into(), signed(tick.into())])
}

pub fn mint_v3(pool: Address, lower: i32, upper: i32, amount: u128) -> Log {
    let topics = [addr(901).into_word(), signed(lower.into()), signed(upper.into())];
    let signature = "Mint(address,address,int24,int24,uint128,uint256,uint256)";
    log(pool, signature, &topics, &[addr(902).into_word(), word(amount), word(1), word(1)])
}

pub fn burn_v3(pool: Address, lower: i32, upper: i32, amount: u128) -> Log {
    let topics = [addr(901).into_word(), signed(lower.into()), signed(upper.into())];
    let signature = "Burn(address,int24,int24,uint128,uint256,uint256)";
    log(pool, signature, &topics, &[word(amount), word(1), word(1)])
}
