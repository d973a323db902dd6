//! Pools of the simulated chain, asked back through a server that read them from a node: followed, reorganised, and
//! asked for at older blocks. Every state is what the chain holds, and every price its quotient.

use serde_json::{Value, json};
use testkit::{Holdings, SimConfig, read, write};

use crate::world::{CHAIN, Live};

fn config() -> SimConfig {
    let (txs_per_block, pool_trades_per_block) = (10, 5);
    SimConfig { txs_per_block, pool_trades_per_block, wallets: 30, ..SimConfig::seeded(34) }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pool_is_as_the_chain_holds_it_through_reorgs() {
    let live = Live::start(config(), 40, |serve| {
        serve.set(&format!("chains.{CHAIN}.contracts_of"), "\"eth\"")
    })
    .await;
    assert!(compare(&live, &[10, 25, 40]).await >= 3 * 7);
    for (depth, added) in [(1, 2), (3, 4), (5, 5)] {
        write(&live.chain).reorg(depth, added);
        live.until_indexed().await;
        let head = read(&live.chain).head_number();
        assert!(compare(&live, &[head, head - 2, 30]).await >= 3 * 7);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wallets_have_what_trades_moved_inside() {
    let live = Live::start(config(), 40, |serve| {
        serve.set(&format!("chains.{CHAIN}.contracts_of"), "\"eth\"")
    })
    .await;
    let expected = read(&live.chain).expected_wallets();
    let coin = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
    let rows = expected[&coin.parse::<alloy_primitives::Address>().unwrap()].all().len();
    let path = format!("/api/v2.2/{coin}?chain={CHAIN}&include=internal_transactions&limit=1");
    let told = live.client.get(&path).await.json();
    assert_eq!(told["total"], json!(rows.to_string()));
    assert!(rows > 30, "{rows} rows are too few to prove anything");
}

/// How many states were compared.
async fn compare(live: &Live, blocks: &[u64]) -> usize {
    let mut compared = 0;
    for block in blocks {
        let market = read(&live.chain).actors().market.clone();
        for token in &market.tokens {
            let path = format!(
                "/api/v2.2/erc20/{:#x}/price?chain={CHAIN}&to_block={block}&explain=true",
                token.address
            );
            let answer = live.client.get(&path).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            let price = answer.json();
            assert_eq!(price["tokenSymbol"], token.symbol);
            for pool in price["explain"]["pools"].as_array().unwrap() {
                assert_eq!(pool["state"], held(live, *block, &pool["pool"]), "{price}");
                compared += 1;
            }
        }
    }
    compared
}

fn held(live: &Live, block: u64, pool: &Value) -> Value {
    let pools = read(&live.chain).pools_at(block);
    let found = pools.into_iter().find(|(address, _)| *pool == format!("{address:#x}"));
    match found.expect("a pool of the chain").1 {
        Holdings::Pair { reserve0, reserve1 } => {
            json!({ "reserve0": reserve0.to_string(), "reserve1": reserve1.to_string() })
        }
        Holdings::Ranged { sqrt_price, liquidity } => {
            let root = f64::from(sqrt_price) / 2f64.powi(96);
            let tick = (root.ln() * 2.0 / 1.0001f64.ln()).floor() as i64;
            json!({ "sqrtPriceX96": sqrt_price.to_string(), "tick": tick, "liquidity": liquidity.to_string() })
        }
    }
}
