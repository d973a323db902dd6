//! (a) What matching a block costs with more and more streams, and (b) what a million addresses take.

use std::sync::Arc;
use std::time::Instant;

use alloy_primitives::{Address, keccak256};
use anyhow::{Context, Result};
use model::chain::ChainId;
use model::raw::Block;
use store::StreamId;
use streams::definition::{Compiled, Definition};
use streams::matching::{MatchQuery, Parts, Slot, SpamList, StreamIndex, StreamPlan, match_block};
use testkit::{SimConfig, SimNode, read, shared, write};

use crate::process::resident_mib_of;
use crate::quantile::quantile;
use crate::raw_block::{fetch, parse};
use crate::say;

const CHAIN: ChainId = ChainId(1337);
const BLOCKS: u64 = 100;
const ADDRESSES_EACH: usize = 10;
/// The streams that every block concerns; all others watch addresses that are not in the blocks.
const CONCERNED: usize = 1;

pub async fn run() -> Result<()> {
    let chain = shared(SimConfig { txs_per_block: 150, wallets: 2_000, ..SimConfig::seeded(5) });
    write(&chain).extend(BLOCKS as usize);
    let node = SimNode::start(chain.clone()).await?;
    let raws = fetch(&node.url(), BLOCKS, true).await?;
    let blocks = raws.iter().map(parse).collect::<Result<Vec<Block>>>()?;
    let wallets = read(&chain).wallets();
    let counts = [1, 1_000, 100_000];
    let indexes: Vec<StreamIndex> =
        counts.iter().map(|count| index(*count, &wallets)).collect::<Result<_>>()?;
    let mut medians = vec![Vec::new(); counts.len()];
    // Alternated, so that whatever else the machine does falls on all alike.
    for _ in 0..7 {
        for (times, index) in medians.iter_mut().zip(&indexes) {
            times.push(per_block(index, &blocks)?);
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        quantile(times, 0.5)
    };
    let medians: Vec<f64> = medians.iter_mut().map(median).collect();
    let one = *medians.first().context("no times")?;
    say("streams (a) matching a block of 150 transactions with traces; one stream has matches")?;
    for (count, time) in counts.iter().zip(&medians) {
        say(&format!("  {count:7} streams {time:7.0} us/block  {:5.2} x", time / one))?;
    }
    million()
}

fn plan() -> Result<Arc<StreamPlan>> {
    let definition = Definition {
        webhook_url: "https://receiver.example/hook".to_owned(),
        chain_ids: vec![CHAIN.hex()],
        include_native_txs: true,
        include_contract_logs: true,
        include_internal_txs: true,
        ..Definition::default()
    };
    let compiled = Compiled::new(&definition).context("the definition")?;
    Ok(Arc::new(StreamPlan { id: StreamId::ZERO, definition, compiled, chains: vec![CHAIN] }))
}

fn elsewhere(n: u64) -> Address {
    Address::from_word(keccak256(n.to_be_bytes()))
}

fn index(count: usize, wallets: &[Address]) -> Result<StreamIndex> {
    let (mut index, plan) = (StreamIndex::new(), plan()?);
    for slot in 0..count {
        index.put(slot as Slot, plan.clone());
        if slot < CONCERNED {
            index.add_addresses(slot as Slot, wallets.iter().take(ADDRESSES_EACH).copied());
        } else {
            let from = slot * ADDRESSES_EACH;
            let addresses = (from..from + ADDRESSES_EACH).map(|n| elsewhere(n as u64));
            index.add_addresses(slot as Slot, addresses);
        }
    }
    Ok(index)
}

/// Microseconds.
fn per_block(index: &StreamIndex, blocks: &[Block]) -> Result<f64> {
    let spam = SpamList::default();
    let (began, mut found) = (Instant::now(), 0);
    for block in blocks {
        let query = MatchQuery {
            index,
            chain: CHAIN,
            block,
            spam: &spam,
            only: &|_| true,
            parts: Parts::ALL,
        };
        found += match_block(query).len();
    }
    let time = began.elapsed().as_secs_f64() * 1e6 / blocks.len() as f64;
    anyhow::ensure!(found > 0, "nothing matched");
    Ok(time)
}

fn million() -> Result<()> {
    const MANY: u64 = 1_000_000;
    let mut index = StreamIndex::new();
    index.put(0, plan()?);
    let before_mib = resident_mib_of("self");
    let began = Instant::now();
    index.add_addresses(0, (0..MANY).map(elsewhere));
    let seconds = began.elapsed().as_secs_f64();
    say(&format!(
        "streams (b) {MANY} addresses in one stream: {:.1} bytes each by their tables, {:.1} by the process; added in {seconds:.2} s",
        index.address_bytes() as f64 / MANY as f64,
        (resident_mib_of("self") - before_mib) * 1024.0 * 1024.0 / MANY as f64
    ))
}
