//! Calls that leave logs: ERC-20 and ERC-721 transfers, and a swap with logs of every topic count.

use super::{Plan, ScenarioContext};
use crate::chain::frame::Frame;
use alloy_primitives::{Address, B256, Bytes, Log, U256, b256};
use rand::Rng;

pub const TRANSFER: B256 =
    b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
const APPROVAL: B256 = b256!("8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925");
pub const DEPOSIT: B256 = b256!("e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c");

pub fn token_transfer(context: &mut ScenarioContext) -> Plan {
    let token = any_token(context);
    let (from, to) = (context.sender, context.receiver());
    let amount: u64 = context.rng.random();
    let mut input = vec![0xa9, 0x05, 0x9c, 0xbb];
    input.extend(to.into_word());
    input.extend(U256::from(amount).to_be_bytes::<32>());
    let root = Frame::call(from, token, 0).input(input).output(one()).gas(28_000);
    Plan::call(root).log(erc20_transfer(token, from, to, amount.into()))
}

pub fn nft_transfer(context: &mut ScenarioContext) -> Plan {
    let nft = context.actors.contracts.nft;
    let (from, to) = (context.sender, context.receiver());
    let id = U256::from(context.rng.random_range(0..10_000u32));
    let topics = vec![TRANSFER, from.into_word(), to.into_word(), id.into()];
    let root = Frame::call(from, nft, 0).input(context.call_data(3)).gas(33_000);
    Plan::call(root).log(Log::new_unchecked(nft, topics, Bytes::new()))
}

/// Native coins in, tokens out. The last log has no topic and odd-sized data, as some contracts do.
pub fn swap(context: &mut ScenarioContext) -> Plan {
    let router = context.actors.contracts.router;
    let [wrapped, ..] = context.actors.contracts.tokens;
    let token = any_token(context);
    let value = context.amount(context.sender);
    let amount: u64 = context.rng.random();
    let inner = Frame::call(router, token, 0).input(context.call_data(2)).output(one()).gas(24_000);
    let root = Frame::call(context.sender, router, value).input(context.call_data(5)).gas(41_000);
    let deposit = vec![DEPOSIT, router.into_word()];
    let approval = vec![APPROVAL, context.sender.into_word(), router.into_word()];
    Plan::call(root.child(inner))
        .log(Log::new_unchecked(wrapped, deposit, word(value)))
        .log(Log::new_unchecked(token, approval, word(u128::from(amount))))
        .log(erc20_transfer(token, router, context.sender, amount.into()))
        .log(Log::new_unchecked(router, vec![], context.call_data(1)))
}

pub fn erc20_transfer(token: Address, from: Address, to: Address, amount: u128) -> Log {
    let topics = vec![TRANSFER, from.into_word(), to.into_word()];
    Log::new_unchecked(token, topics, word(amount))
}

fn any_token(context: &mut ScenarioContext) -> Address {
    let [a, b, c] = context.actors.contracts.tokens;
    match context.rng.random_range(0..10) {
        0..6 => a,
        6..9 => b,
        _ => c,
    }
}

pub fn word(n: u128) -> Bytes {
    U256::from(n).to_be_bytes::<32>().into()
}

fn one() -> Bytes {
    word(1)
}
