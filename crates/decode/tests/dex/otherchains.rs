//! Real receipts of other chains: whose pools those are.

use std::collections::{BTreeMap, BTreeSet};

use decode::dex::Dex;
use model::chain::{ChainId, ChainTable, ExchangeKind};
use model::facts::PoolId;
use model::raw::Block;
use serde_json::json;

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
