//! Random streams over many blocks: the matcher finds what the plain implementation finds.

use std::collections::BTreeSet;
use std::io::Read;

use alloy_primitives::Address;
use model::raw::{Block, BlockTraces, read_parity_traces, read_receipts};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::value::RawValue;
use testkit::{SimBlock, SimChain, SimConfig};

use super::naive::{NaiveStream, naive_match, told};
use super::plans::{CHAIN, events, of_all, plan, with_txs};
use crate::definition::Definition;
use crate::matching::{MatchQuery, Parts, Slot, SpamList, StreamIndex, match_block};

fn sim_block(block: &SimBlock) -> Block {
    let mut read = Block::read(&block.block_json(true)).unwrap().unwrap();
    read.set_receipts(read_receipts(&block.receipts_json()).unwrap()).unwrap();
    let traces = block.traces_geth_json();
    let text = std::str::from_utf8(&traces).unwrap();
    read.traces = Some(BlockTraces::read_call_tracer(text, &read.txs).unwrap().frames);
    read
}

/// All that acts in these blocks, often seen first.
fn actors(blocks: &[Block]) -> Vec<Address> {
    let mut found = Vec::new();
    for block in blocks {
        for (place, tx) in block.txs.iter().enumerate() {
            found.extend(tx.from);
            found.extend(tx.to);
            for log in block.receipts[place].iter().flat_map(|it| it.logs.iter().flatten()) {
                found.extend(log.address);
                let topics = log.topics.iter().flatten();
                found.extend(topics.filter_map(|topic| model::abi::address(*topic)));
            }
            for frame in block.traces.iter().flat_map(|traces| &traces[place]) {
                found.push(frame.from);
                found.extend(frame.to);
            }
        }
    }
    found
}

fn random_definition(rng: &mut StdRng) -> Definition {
    let name = if rng.random_bool(0.7) { "Transfer" } else { "Approval" };
    let mut definition = match rng.random_range(0..4) {
        0 => events(name, rng.random_range(2..=3)),
        1 => of_all(events(name, rng.random_range(2..=3))),
        _ => Definition { chain_ids: vec![CHAIN.hex()], ..Definition::default() },
    };
    if definition.topic0.is_some() && rng.random_bool(0.4) {
        definition = with_txs(definition);
    }
    definition.include_native_txs = rng.random_bool(0.5);
    definition.include_contract_logs |= rng.random_bool(0.5);
    definition.include_internal_txs = rng.random_bool(0.5);
    // What can be configured: at least one of the three, and all logs only with one of two.
    let has_two = definition.include_native_txs || definition.include_contract_logs;
    definition.include_contract_logs |= !has_two && !definition.include_internal_txs;
    definition.include_all_tx_logs = has_two && rng.random_bool(0.3);
    definition.filter_possible_spam_addresses = rng.random_bool(0.3);
    definition
}

fn random_streams(rng: &mut StdRng, actors: &[Address], count: Slot) -> Vec<NaiveStream> {
    let one = |slot: Slot| {
        let watched = if rng.random_bool(0.1) { 0 } else { rng.random_range(1..6) };
        let addresses = (0..watched).map(|_| match rng.random_range(0..10) {
            0 => Address::from(rng.random::<[u8; 20]>()),
            1 => Address::ZERO,
            _ => actors[rng.random_range(0..actors.len())],
        });
        let addresses: BTreeSet<Address> = addresses.collect();
        NaiveStream { slot, plan: plan(random_definition(rng)), addresses }
    };
    (0..count).map(one).collect()
}

/// Says how many items were found.
fn compare(blocks: &[Block], seed: u64, streams: Slot) -> usize {
    let mut rng = StdRng::seed_from_u64(seed);
    let actors = actors(blocks);
    let streams = random_streams(&mut rng, &actors, streams);
    let spam: BTreeSet<Address> =
        (0..3).map(|_| actors[rng.random_range(0..actors.len())]).collect();
    let list = SpamList::new(spam.iter().map(|address| (CHAIN, *address)));
    let mut index = StreamIndex::new();
    for stream in &streams {
        index.put(stream.slot, stream.plan.clone());
        index.add_addresses(stream.slot, stream.addresses.iter().copied());
    }
    let told_of = |block: &Block, parts: Parts| {
        let (index, spam, only) = (&index, &list, &|_| true);
        told(&match_block(MatchQuery { index, chain: CHAIN, block, spam, only, parts }))
    };
    let mut items = 0;
    for block in blocks {
        let found = told_of(block, Parts::ALL);
        let expected = naive_match(&streams, block, &spam);
        for stream in &streams {
            assert_eq!(
                found.get(&stream.slot),
                expected.get(&stream.slot),
                "seed {seed}, block {}, {:?} {:?}",
                block.number,
                stream.plan.definition,
                stream.addresses
            );
        }
        // Told in two deliveries, before the traces came and after, it is the same.
        let mut first = told_of(block, Parts::WITHOUT_INTERNALS);
        for (slot, more) in told_of(block, Parts::INTERNALS_ONLY) {
            first.entry(slot).or_default().append(more);
        }
        assert_eq!(first, found, "block {}", block.number);
        items += found
            .values()
            .map(|it| it.txs.len() + it.logs.len() + it.internals.len())
            .sum::<usize>();
    }
    items
}

#[test]
fn on_the_simulated_chain_both_find_the_same() {
    let mut items = 0;
    for seed in 0..4 {
        let config = SimConfig {
            chain_id: CHAIN.0,
            txs_per_block: 12,
            wallets: 20,
            nft_sales_per_block: 1,
            ..SimConfig::seeded(seed)
        };
        let mut chain = SimChain::new(config);
        chain.extend(100);
        let blocks: Vec<Block> = chain.blocks().iter().map(|block| sim_block(block)).collect();
        items += compare(&blocks, seed, 60);
    }
    assert!(items > 10_000, "{items}");
}

#[test]
fn on_mainnet_blocks_both_find_the_same() {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        return testkit::fixtures::skip("matching on mainnet blocks");
    };
    let mut blocks = Vec::new();
    for folder in ["contig-14000000-14000012", "contig-17686110-17686121", "single"] {
        let entries = std::fs::read_dir(fixtures.join("blocks-mainnet").join(folder)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        blocks.extend(paths.iter().take(15).map(|path| recorded(path)));
    }
    assert!(blocks.len() > 30, "{}", blocks.len());
    let items = compare(&blocks, 9, 100);
    assert!(items > 10_000, "{items}");
}

#[derive(serde::Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    block: &'a RawValue,
    #[serde(borrow)]
    receipts: &'a RawValue,
    #[serde(borrow)]
    traces: Option<&'a RawValue>,
}

fn recorded(path: &std::path::Path) -> Block {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let record: Record<'_> = serde_json::from_str(&text).unwrap();
    let mut block = Block::read(record.block.get().as_bytes()).unwrap().unwrap();
    let receipts = read_receipts(record.receipts.get().as_bytes()).unwrap();
    block.set_receipts(receipts).unwrap();
    if let Some(traces) = record.traces {
        block.traces = Some(read_parity_traces(traces.get(), &block.txs).unwrap());
    }
    block
}
