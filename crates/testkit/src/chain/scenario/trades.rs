//! Trades in the market's pools. The first ones open the pools, in their order.
//!
//! Whoever pays or receives the wrapped coin pays or receives the coin itself: the router wraps it.

use super::{
    Plan, ScenarioContext,
    tokens::{DEPOSIT, erc20_transfer, word},
};
use crate::chain::{
    frame::Frame,
    market::{MarketPool, WRAPPED},
    state::Move,
};
use alloy_primitives::{Address, B256, Log, b256};
use rand::Rng;

const WITHDRAWAL: B256 = b256!("7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65");
const MAKE_POOL: u64 = 210_000;
const SWAP: u64 = 38_000;
const MOVE: u64 = 24_000;

pub fn trade(context: &mut ScenarioContext) -> Plan {
    let pools = &context.actors.market.pools;
    if let Some(pool) = pools.get(context.state.pools.len()) {
        return open(context, pool);
    }
    let place = context.rng.random_range(0..pools.len().max(1));
    match pools.get(place) {
        Some(pool) => swap(context, place, pool),
        None => super::plain::transfer(context),
    }
}

/// Every wallet can pay for it: pools are opened in the first blocks, when all have what they began with.
fn open(context: &mut ScenarioContext, pool: &MarketPool) -> Plan {
    let router = context.actors.contracts.router;
    let amounts = pool.opening();
    let held = pool.opened(amounts);
    let tokens = pool.tokens.each_ref().map(|token| token.address);
    let sides = tokens.into_iter().zip(amounts);
    let value = sides.clone().filter(|side| side.0 == WRAPPED).map(|side| side.1).sum();
    let make = Frame::call(router, pool.address, 0).input(context.call_data(4)).gas(MAKE_POOL);
    let root = Frame::call(context.sender, router, value).input(context.call_data(6)).gas(MOVE);
    let mut plan = Plan::call(root);
    for (token, amount) in sides {
        plan = pay_in(context, plan, pool.address, (token, amount));
    }
    plan.root = plan.root.child(make);
    context.state.pools.push(held);
    plan.logs(pool.opening_logs(router, &held))
}

/// What is much too cheap is bought, else one or the other: prices go where they should, but not straight.
fn swap(context: &mut ScenarioContext, place: usize, pool: &MarketPool) -> Plan {
    let Some(held) = context.state.pools.get(place).copied() else {
        return super::plain::transfer(context);
    };
    let router = context.actors.contracts.router;
    let (cheap, is_far) = pool.cheap_side(&held, context.time);
    let bought = if is_far || context.rng.random_bool(0.5) { cheap } else { cheap.other() };
    let side = bought.other();
    let [paid_token, token] = side.order(pool.tokens.each_ref().map(|token| token.address));
    let [in_pool, _] = side.order(held.reserves());
    let paid = in_pool * context.rng.random_range(20..450u128) / 100_000;
    let swap = pool.swap(&held, side, paid);
    let is_unwrapped = token == WRAPPED;
    let receiver = if is_unwrapped { router } else { context.sender };

    let value = if paid_token == WRAPPED { paid } else { 0 };
    let root = Frame::call(context.sender, router, value).input(context.call_data(6)).gas(MOVE);
    let mut plan = pay_in(context, Plan::call(root), pool.address, (paid_token, paid));
    let give = Frame::call(pool.address, token, 0).input(context.call_data(2)).gas(MOVE);
    let call = Frame::call(router, pool.address, 0).input(context.call_data(4)).gas(SWAP);
    plan.root = plan.root.child(call.child(give));
    plan = plan
        .log(erc20_transfer(token, pool.address, receiver, swap.received))
        .logs(pool.swap_logs([router, receiver], (side, paid), &swap));
    if let Some(held) = context.state.pools.get_mut(place) {
        *held = swap.after;
    }
    if is_unwrapped { pay_out(context, plan, swap.received) } else { plan }
}

/// From the sender to a pool; coins by way of the router, which wraps them.
fn pay_in(
    context: &mut ScenarioContext,
    mut plan: Plan,
    pool: Address,
    (token, amount): (Address, u128),
) -> Plan {
    let router = context.actors.contracts.router;
    if token != WRAPPED {
        let pull = Frame::call(router, token, 0).input(context.call_data(3)).gas(MOVE);
        plan.root = plan.root.child(pull);
        return plan.log(erc20_transfer(token, context.sender, pool, amount));
    }
    let wrap = Frame::call(router, WRAPPED, amount).input(vec![0xd0, 0xe3, 0x0d, 0xb0]).gas(MOVE);
    let pass = Frame::call(router, WRAPPED, 0).input(context.call_data(2)).gas(MOVE);
    plan.root = plan.root.child(wrap).child(pass);
    plan.moves([Move { from: router, to: WRAPPED, value: amount }])
        .log(Log::new_unchecked(WRAPPED, vec![DEPOSIT, router.into_word()], word(amount)))
        .log(erc20_transfer(WRAPPED, router, pool, amount))
}

/// Unwraps what the router received and passes it on.
fn pay_out(context: &mut ScenarioContext, mut plan: Plan, amount: u128) -> Plan {
    let (router, sender) = (context.actors.contracts.router, context.sender);
    let pay = Frame::call(WRAPPED, router, amount).gas(2_300);
    let unwrap = Frame::call(router, WRAPPED, 0).input(context.call_data(1)).gas(9_000);
    let pass = Frame::call(router, sender, amount).gas(6_700);
    plan.root = plan.root.child(unwrap.child(pay)).child(pass);
    plan.moves([
        Move { from: WRAPPED, to: router, value: amount },
        Move { from: router, to: sender, value: amount },
    ])
    .log(Log::new_unchecked(WRAPPED, vec![WITHDRAWAL, router.into_word()], word(amount)))
}
