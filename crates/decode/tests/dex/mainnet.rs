//! Real blocks of Ethereum: every swap, every pool and every state, as an independent decoder and the
//! addresses themselves have them.

use std::collections::BTreeMap;

use decode::dex::Dex;
use model::facts::{Change, PoolId, PoolState};
use serde_json::{Value, json};

use crate::encode::chain;
use crate::files;

#[test]
fn every_listed_pool_is_given_to_its_exchange_and_no_look_alike_is() {
    let Some(fixtures) = files::fixtures("pools of mainnet") else { return };
    let listed = files::json(&fixtures.join("dex/pools-mainnet.json"));
    let eth = chain("eth");
    let dex = Dex::new(&eth);
    let mut found = BTreeMap::new();
    for block in files::mainnet_blocks(&fixtures) {
        let facts = dex.pools(&block);
        assert_eq!(Dex::new(&eth).pools(&block), facts, "what was read before must not matter");
        for pool in facts.seen {
            let earlier = found.insert(pool.id, pool.clone());
            assert!(earlier.is_none_or(|earlier| earlier == pool), "{pool:?}");
        }
    }
    let mut wrong = Vec::new();
    for row in listed["pools"].as_array().unwrap() {
        let id = PoolId::Contract(files::address(&row["pool"]));
        let fits = found.get(&id).is_some_and(|pool| {
            let exchange = eth.exchange_at(pool.factory).unwrap();
            [exchange.factory, exchange.pool_creator()].contains(&files::address(&row["factory"]))
                && pool.token0 == files::address(&row["token0"])
                && pool.token1 == files::address(&row["token1"])
                && json!(pool.fee) == row["fee"]
        });
        if !fits {
            wrong.push((row.to_string(), found.get(&id).cloned()));
        }
    }
    let listed_count = listed["pools"].as_array().unwrap().len();
    println!("{} of {listed_count} pools as listed", listed_count - wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    for row in listed["unattributed"].as_array().unwrap() {
        assert_eq!(found.get(&PoolId::Contract(files::address(row))), None, "{row}");
    }
}

#[test]
fn every_swap_has_the_amounts_tokens_and_state_of_the_fixture() {
    let Some(fixtures) = files::fixtures("swaps of mainnet") else { return };
    let dex = Dex::new(&chain("eth"));
    let mut found = BTreeMap::new();
    for block in files::mainnet_blocks(&fixtures) {
        for swap in dex.swaps(&block) {
            found.insert((block.number, u64::from(swap.log_index)), swap);
        }
    }
    let rows = files::lines(&fixtures.join("dex/swaps-from-blocks.jsonl.gz"));
    let mut wrong = Vec::new();
    for row in &rows {
        let place = (row["block"].as_u64().unwrap(), row["logIndex"].as_u64().unwrap());
        let Some(swap) = found.get(&place) else {
            wrong.push(format!("missing: {row}"));
            continue;
        };
        let flow = &swap.flow;
        let mut told = json!({
            "pool": match swap.pool { PoolId::Contract(it) => format!("{it:#x}"), PoolId::V4(it) => format!("{it:#x}") },
            "sender": format!("{:#x}", flow.sender),
        });
        let to = if row.get("recipient").is_some() { "recipient" } else { "to" };
        told[to] = json!(format!("{:#x}", flow.to.unwrap()));
        let pool = swap.known.as_ref();
        told["token0"] = json!(pool.map(|it| format!("{:#x}", it.token0)));
        told["token1"] = json!(pool.map(|it| format!("{:#x}", it.token1)));
        match &flow.state {
            Some(PoolState::Reserves { reserve0, reserve1 }) => {
                told["reserve0"] = json!(reserve0.to_string());
                told["reserve1"] = json!(reserve1.to_string());
                told["amount0In"] = json!(flow.amount0_in.to_string());
                told["amount1In"] = json!(flow.amount1_in.to_string());
                told["amount0Out"] = json!(flow.amount0_out.to_string());
                told["amount1Out"] = json!(flow.amount1_out.to_string());
            }
            Some(PoolState::Ranged { sqrt_price, liquidity, tick }) => {
                told["sqrtPriceX96"] = json!(sqrt_price.to_string());
                told["liquidity"] = json!(liquidity.to_string());
                told["tick"] = json!(tick);
                told["amount0"] = signed(flow.amount0_in.to_string(), flow.amount0_out.to_string());
                told["amount1"] = signed(flow.amount1_in.to_string(), flow.amount1_out.to_string());
            }
            None => {}
        }
        let differs = |(key, value): (&String, &Value)| row[key] != *value;
        let odd: Vec<_> = told.as_object().unwrap().iter().filter(|it| differs(*it)).collect();
        if !odd.is_empty() {
            wrong.push(format!("{odd:?} in {row}"));
        }
    }
    println!(
        "{} of {} swaps as listed, {} found",
        rows.len() - wrong.len(),
        rows.len(),
        found.len()
    );
    assert!(wrong.is_empty(), "{} wrong, first {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
}

fn signed(received: String, given: String) -> Value {
    json!(if given == "0" { received } else { format!("-{given}") })
}

#[test]
fn every_pool_ends_the_block_in_the_state_of_the_fixture() {
    let Some(fixtures) = files::fixtures("states of mainnet pools") else { return };
    let dex = Dex::new(&chain("eth"));
    let mut found = BTreeMap::new();
    for block in files::mainnet_blocks(&fixtures) {
        for change in dex.pools(&block).changes {
            found.insert((block.number, change.id), change);
        }
    }
    let (mut right, mut wrong, mut later) = (0, Vec::new(), 0);
    for row in files::lines(&fixtures.join("dex/end-of-block-pool-state.jsonl.gz")) {
        let block = row["block"].as_u64().unwrap();
        for (pool, state) in row["pools"].as_object().unwrap() {
            let id = PoolId::Contract(pool.parse().unwrap());
            let Some(change) = found.get(&(block, id)) else {
                wrong.push(format!("{block} {pool}: missing"));
                continue;
            };
            let log_index = state["logIndex"].as_u64().unwrap();
            let fits = match &change.change {
                Change::State(PoolState::Reserves { reserve0, reserve1 }) => {
                    state["reserve0"] == reserve0.to_string()
                        && state["reserve1"] == reserve1.to_string()
                }
                Change::State(PoolState::Ranged { sqrt_price, liquidity, tick }) => {
                    // The fixture has the last swap; liquidity may have come and gone after it.
                    let same = state["liquidity"] == liquidity.to_string();
                    let moved_on = u64::from(change.log_index) > log_index;
                    later += usize::from(moved_on);
                    state["sqrtPriceX96"] == sqrt_price.to_string()
                        && state["tick"] == *tick
                        && (same || moved_on)
                }
                Change::Liquidity(_) => false,
            };
            let ranged = state.get("tick").is_some();
            match fits && (ranged || u64::from(change.log_index) == log_index) {
                true => right += 1,
                false => wrong.push(format!("{block} {pool}: {state} but {change:?}")),
            }
        }
    }
    println!(
        "{right} states as listed, {later} of them with liquidity added or taken after the swap"
    );
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}
