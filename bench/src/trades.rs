//! (g) A page of trades and the lowest price of an NFT contract with very many trades, against one with
//! a hundred: what is asked for must cost the same.

use std::path::Path;
use std::time::Instant;

use alloy_primitives::{Address, B256, U256, keccak256};
use anyhow::Result;
use model::facts::{Facts, Market, Trade};
use model::proof::Proof;
use store::{Change, Options, Origin, Store, VerifiedBlock};

use crate::big_wallet::{CHAIN, empty_block, receipt, tx, wallet};
use crate::pages::median;
use crate::process::serve;
use crate::say;

const PER_BLOCK: u64 = 20;
const SMALL: u64 = 100;
const HUGE_CONTRACT: u64 = 1_000;
const SMALL_CONTRACT: u64 = 1_001;

pub async fn run(headwater: &Path, huge: u64) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    build(folder.path(), huge).await?;
    say(&format!(
        "made a store with a contract of {huge} trades in {:.0} s",
        start.elapsed().as_secs_f64()
    ))?;
    say("(g) NFT contract, one request at a time, median, nothing cached")?;
    let uncached = [("HEADWATER__API__ANSWER_CACHE_BYTES", "0")];
    let server = serve(headwater, folder.path(), &[], &uncached).await?;
    for (name, path) in [
        ("page of 100 trades", "trades?limit=100"),
        ("page of 25, one market", "trades?limit=25&marketplace=blur"),
        ("lowest price, 7 days", "lowestprice?days=7"),
        ("lowest price, 1 day", "lowestprice?days=1"),
        ("lowest price, a year", "lowestprice?days=365&marketplace=opensea"),
    ] {
        let mut medians = Vec::new();
        for contract in [HUGE_CONTRACT, SMALL_CONTRACT] {
            let url = format!("{}/api/v2.2/nft/{:#x}/{path}", server.url, wallet(contract));
            medians.push(median(&url).await?);
        }
        let [big, small] = medians.as_slice() else { continue };
        say(&format!(
            "  {name:23} {huge} trades: {big:6.0} us   {SMALL} trades: {small:6.0} us   {:4.2} x",
            big / small
        ))?;
    }
    server.process.stop()
}

/// Both contracts sell so many a block; the small one in the newest blocks only, so that their pages
/// lie equally close together.
async fn build(folder: &Path, huge: u64) -> Result<()> {
    let mut options = Options::new(folder);
    options.durable = false;
    let store = Store::open(&options, |_| {}).await?;
    let blocks = huge.div_ceil(PER_BLOCK);
    let mut parent = B256::ZERO;
    let mut group = Vec::new();
    for number in 0..blocks {
        let mut block = empty_block(number, parent);
        parent = block.hash;
        let mut facts = Facts::default();
        let is_new = number + SMALL / PER_BLOCK >= blocks;
        let contracts =
            if is_new { &[HUGE_CONTRACT, SMALL_CONTRACT][..] } else { &[HUGE_CONTRACT] };
        for contract in contracts {
            for _ in 0..PER_BLOCK {
                let index = block.txs.len() as u64;
                facts.trades.push(trade(number, index, wallet(*contract)));
                block.txs.push(tx(&block, wallet(index), index));
                block.receipts.push(Some(receipt(index)));
            }
        }
        let proof = Proof::default();
        group.push(store.prepare(CHAIN, VerifiedBlock { block, proof, facts }));
        if group.len() == 256 || number + 1 == blocks {
            let apply = std::mem::take(&mut group);
            store.commit(CHAIN, Change::apply(Origin::Import, apply)).await?;
        }
    }
    Ok(store.flush().await?)
}

fn trade(number: u64, index: u64, contract: Address) -> Trade {
    let seed = keccak256([number.to_be_bytes(), index.to_be_bytes()].concat());
    let market = if index.is_multiple_of(2) { Market::OPENSEA } else { Market::BLUR };
    Trade {
        tx_index: index as u32,
        log_index: index as u32 * 3,
        market,
        marketplace: wallet(2_000 + index % 2),
        contract,
        tokens: vec![(U256::from(index), U256::ONE)],
        seller: Address::from_word(seed),
        buyer: wallet(index),
        currency: Address::ZERO,
        price: U256::from_be_bytes(seed.0) >> 190,
        mixed: false,
        in_native: true,
        reconciled: true,
    }
}
