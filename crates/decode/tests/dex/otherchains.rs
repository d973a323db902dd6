//! Real receipts of other chains: whose pools those are, and that swaps moved what wallets saw move.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, U256, keccak256};
use decode::dex::{Dex, Swap};
use model::chain::{ChainId, ChainTable, ExchangeKind};
use model::facts::PoolId;
use model::raw::Block;
use serde_json::{Value, json};

use crate::attribution::event_of;
use crate::encode::{addr, block, transfer};
use crate::files;

#[test]
fn every_listed_pool_of_other_chains_is_given_to_its_exchange() {
    let Some(fixtures) = files::fixtures("pools of other chains") else { return };
    let listed = files::json(&fixtures.join("dex/pools-multichain.json"));
    let table = ChainTable::builtin().unwrap();
    let real = real_blocks(&fixtures);
    let (mut right, mut seen_in_life, mut wrong) = (0, 0, Vec::new());
    for (id, rows) in listed["byChainId"].as_object().unwrap() {
        let id = ChainId(id.parse().unwrap());
        let chain = table.get(id).unwrap();
        let dex = Dex::new(chain);
        let in_life: BTreeSet<PoolId> = real
            .get(&id.0)
            .into_iter()
            .flatten()
            .flat_map(|block| dex.pools(block).seen)
            .map(|pool| pool.id)
            .collect();
        for row in rows.as_array().unwrap() {
            let pool = files::address(&row["pool"]);
            let (token0, token1) = (files::address(&row["token0"]), files::address(&row["token1"]));
            let kind = if row["fee"].is_null() { ExchangeKind::V2 } else { ExchangeKind::V3 };
            let logs = vec![
                transfer(token0, addr(9), pool),
                transfer(token1, pool, addr(9)),
                event_of(kind, pool),
            ];
            let found = dex.pools(&block(vec![logs])).seen;
            let fits = found.first().is_some_and(|it| {
                let exchange = chain.exchange_at(it.factory).unwrap();
                [exchange.factory, exchange.pool_creator()]
                    .contains(&files::address(&row["factory"]))
                    && (it.token0, it.token1) == (token0, token1)
                    && json!(it.fee) == row["fee"]
            });
            seen_in_life += usize::from(in_life.contains(&PoolId::Contract(pool)));
            match fits {
                true => right += 1,
                false => wrong.push(format!("{} {row}", id.0)),
            }
        }
    }
    println!(
        "{right} pools of other chains as listed, {seen_in_life} of them also in stored receipts"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// By chain, whatever receipts the fixtures have of it.
fn real_blocks(fixtures: &std::path::Path) -> BTreeMap<u64, Vec<Block>> {
    let mut blocks: BTreeMap<u64, Vec<Block>> = BTreeMap::new();
    for row in files::lines(&fixtures.join("dex/multichain-swap-txs.jsonl.gz")) {
        let chain = row["chainId"].as_u64().unwrap();
        blocks.entry(chain).or_default().push(files::block_of(&row["receipt"]));
    }
    for entry in std::fs::read_dir(fixtures.join("blocks-multichain")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "gz") {
            let record = files::json(&path);
            let chain = record["meta"]["chainId"].as_u64().unwrap();
            for receipt in record["someReceipts"].as_array().unwrap() {
                blocks.entry(chain).or_default().push(files::block_of(receipt));
            }
        }
    }
    blocks
}

/// What a wallet gave or got is asserted by others; it is "seen" if a swap moved exactly that much, or
/// if several swaps together did.
#[test]
fn swaps_of_other_chains_move_what_their_wallets_saw() {
    let Some(fixtures) = files::fixtures("swaps of other chains") else { return };
    let table = ChainTable::builtin().unwrap();
    let (mut swaps, mut known, mut seen, mut open) = (0, 0, 0, Vec::new());
    for row in files::lines(&fixtures.join("dex/multichain-swap-txs.jsonl.gz")) {
        let Some(chain) = table.get(ChainId(row["chainId"].as_u64().unwrap())) else { continue };
        let found = Dex::new(chain).swaps(&files::block_of(&row["receipt"]));
        if found.is_empty() {
            continue;
        }
        swaps += found.len();
        known += found.iter().filter(|it| it.known.is_some()).count();
        let mut amounts: Vec<U256> = Vec::new();
        let mut sums: BTreeMap<Address, [U256; 2]> = BTreeMap::new();
        for swap in &found {
            let flow = &swap.flow;
            amounts.extend([flow.amount0_in, flow.amount1_in, flow.amount0_out, flow.amount1_out]);
            if let Some(pool) = &swap.known {
                let of0 = sums.entry(pool.token0).or_default();
                *of0 = [of0[0] + flow.amount0_in, of0[1] + flow.amount0_out];
                let of1 = sums.entry(pool.token1).or_default();
                *of1 = [of1[0] + flow.amount1_in, of1[1] + flow.amount1_out];
            }
        }
        amounts.extend(sums.into_values().flatten());
        for expected in row["expectedSwaps"].as_array().unwrap() {
            if expected["side"] == "FEE" {
                continue;
            }
            let digits = digits(&expected["amount"]);
            let told = |amounts: &[U256]| digits.as_ref().is_some_and(|it| has(amounts, it));
            match told(&amounts) {
                true => seen += 1,
                // What went through no pool of ours, no pool can tell.
                false => {
                    let line = format!("{} {} {expected}", row["chainId"], row["txHash"]);
                    assert!(!told(&through(&found, &row["receipt"])), "{line}");
                    open.push(line);
                }
            }
        }
    }
    println!("{swaps} swaps, {known} with known tokens; {seen} amounts seen, not seen: {open:#?}");
    assert!(seen >= 97 && open.len() <= 32, "{seen} seen, {} not", open.len());
}

/// What was transferred to or from the contracts of these swaps.
fn through(swaps: &[Swap], receipt: &Value) -> Vec<U256> {
    let name = format!("{:#x}", keccak256("Transfer(address,address,uint256)"));
    let pools: Vec<String> = swaps
        .iter()
        .filter_map(|swap| match swap.pool {
            PoolId::Contract(pool) => Some(format!("{:#x}", pool.into_word())),
            PoolId::V4(_) => None,
        })
        .collect();
    let mut flows: BTreeMap<(String, String, usize), Vec<U256>> = BTreeMap::new();
    for log in receipt["logs"].as_array().unwrap().iter().filter(|it| it["topics"][0] == name) {
        for end in [1, 2] {
            let pool = log["topics"][end].as_str().unwrap().to_owned();
            if pools.contains(&pool) {
                let flow = flows.entry((log["address"].to_string(), pool, end)).or_default();
                flow.push(log["data"].as_str().unwrap().parse().unwrap());
            }
        }
    }
    // In several parts: a token that takes its own fee of every transfer. The swap tells the sum.
    flows.into_values().filter(|parts| parts.len() == 1).flatten().collect()
}

/// The digits that count, whatever the token's decimals are.
fn digits(amount: &Value) -> Option<String> {
    let text = amount.as_str()?.replace('.', "");
    let text = text.trim_start_matches('0').trim_end_matches('0');
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.to_owned())
}

fn has(amounts: &[U256], digits: &str) -> bool {
    amounts.iter().any(|it| it.to_string().trim_end_matches('0') == digits)
}
