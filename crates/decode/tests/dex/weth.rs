//! What the wrapped coin was worth by the pools of each real block, by our own arithmetic.

use decode::dex::Dex;
use model::facts::PoolId;
use model::price::{PoolAt, PricingTable, Question, Settings, price};

use crate::encode::chain;
use crate::files;

#[test]
fn the_wrapped_coin_is_worth_what_the_fixture_says_in_every_block() {
    let Some(fixtures) = files::fixtures("price of the wrapped coin") else { return };
    let eth = chain("eth");
    let dex = Dex::new(&eth);
    let listed = files::json(&fixtures.join("dex/weth-usd-by-block.json"));
    let blocks = files::mainnet_blocks(&fixtures);
    let (mut checked, mut worst, mut wrong) = (0, 0f64, Vec::new());
    for row in listed["rows"].as_array().unwrap() {
        let number = row["block"].as_u64().unwrap();
        let block = blocks.iter().find(|it| it.number == number).unwrap();
        let facts = dex.pools(block);
        let pools: Vec<PoolAt> = facts
            .seen
            .into_iter()
            .filter_map(|pool| {
                let row = facts.changes.iter().find(|it| it.id == pool.id)?;
                Some(PoolAt { state: row.change.fold(None)?, pool, before: None, block: number })
            })
            .collect();
        let book = PricingTable::of(&eth, block.timestamp).unwrap();
        let question = Question {
            token: book.wrapped,
            decimals: 18,
            exchange: None,
            pools: &[],
            native_pools: &pools,
            via: &[],
        };
        let Ok(found) = price(&book, &question, &Settings::default()) else {
            wrong.push(format!("{number}: no price"));
            continue;
        };
        let usd = found.usd_price();
        for (name, listed) in row["wethUsd"].as_object().unwrap() {
            let listed: f64 = listed.as_str().unwrap().parse().unwrap();
            let off = (usd / listed - 1.0).abs();
            worst = worst.max(off);
            checked += 1;
            if off > 0.005 {
                let PoolId::Contract(pool) = found.pool else { panic!("no v4 here") };
                wrong.push(format!("{number}: {usd} from {pool}, {listed} by {name}"));
            }
        }
    }
    println!("{checked} prices, the worst off by {:.3} %", worst * 100.0);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
