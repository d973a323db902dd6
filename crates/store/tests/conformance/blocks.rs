//! What a node said comes out of the store as it went in.

use model::raw::{BlockTraces, TraceForm};
use serde_json::Value;

use crate::chain::*;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;

on_every_engine!(
    blocks_come_out_as_they_went_in,
    receipts_come_out_with_logs_and_blooms,
    frames_come_out_without_their_roots,
    traces_are_written_as_the_node_wrote_them_in_either_dialect,
    single_transactions_and_hashes_are_found,
    a_block_is_given_only_under_the_hash_that_was_meant,
    dates_are_blocks,
);

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

async fn blocks_come_out_as_they_went_in(engine: Engine) {
    let chain = chain(11, 12);
    let home = Home::indexed(engine, &chain).await;
    let view = home.view().await;
    for number in 0..=12 {
        let block = view.block(CHAIN, number).await.unwrap().unwrap();
        for whole in [true, false] {
            let mut out = Vec::new();
            block.write_json(whole, &mut out);
            assert_eq!(json(&out), json(&chain.block_json(number, whole).unwrap()), "{number}");
        }
    }
    assert!(view.block(CHAIN, 13).await.unwrap().is_none());
    // What waits to be written knows what it holds.
    let empty = home.store().prepare(CHAIN, empty_block(1, 0));
    assert!(home.at(&chain, 1).bytes() > empty.bytes());
}

async fn receipts_come_out_with_logs_and_blooms(engine: Engine) {
    let chain = chain(12, 12);
    let home = Home::indexed(engine, &chain).await;
    let view = home.view().await;
    let mut logs = 0;
    for number in 0..=12 {
        let (block, proof) = view.whole_block(CHAIN, number).await.unwrap().unwrap();
        assert_eq!(proof, proven());
        let mut list = Vec::new();
        for receipt in block.receipts.iter().flatten() {
            let mut out = Vec::new();
            receipt.write_json(&mut out);
            logs += receipt.logs.as_ref().map_or(0, Vec::len);
            list.push(json(&out));
        }
        assert_eq!(Value::Array(list), json(&chain.receipts_json(number).unwrap()), "{number}");
    }
    assert!(logs > 20);
}

async fn traces_are_written_as_the_node_wrote_them_in_either_dialect(engine: Engine) {
    let chain = chain(14, 12);
    for is_geth in [true, false] {
        let (home, mut exact) = (Home::new(engine).await, 0);
        for number in 0..=12 {
            let hash = chain.block(number).unwrap().hash;
            let mut block = verified(&chain, hash);
            let txs = block.block.txs.clone();
            let traces = if is_geth {
                let text = chain.traces_geth_json(number).unwrap();
                BlockTraces::read_call_tracer(std::str::from_utf8(&text).unwrap(), &txs)
            } else {
                let text = chain.traces_parity_json(number).unwrap();
                BlockTraces::read_trace_block(std::str::from_utf8(&text).unwrap(), &txs)
            };
            block.block.set_traces(Some(traces.unwrap()));
            block.proof.add(block.block.trace_form.map(TraceForm::proof).unwrap_or_default());
            home.apply(vec![home.store().prepare(CHAIN, block)]).await.unwrap();
        }
        let view = home.view().await;
        for number in 0..=12 {
            let (block, proof) = view.whole_block(CHAIN, number).await.unwrap().unwrap();
            let below = block.traces.iter().flatten().flatten();
            assert!(below.clone().all(|frame| !frame.path.is_empty()), "{number}");
            let Some(written) = block.write_traces() else { continue };
            let expected = if is_geth {
                chain.traces_geth_json(number)
            } else {
                chain.traces_parity_json(number)
            };
            assert_eq!(json(written.as_bytes()), json(&expected.unwrap()), "{number}");
            exact += usize::from(!block.txs.is_empty());
            // Read and written once more, as a copy does, nothing is lost.
            let facts = view.facts(CHAIN, number).await.unwrap();
            let other = Home::new(engine).await;
            let again = store::VerifiedBlock { block: block.clone(), proof, facts };
            other.apply(vec![other.store().prepare(CHAIN, again)]).await.unwrap();
            let there = other.view().await.whole_block(CHAIN, number).await.unwrap();
            assert_eq!(there, Some((block, proof)));
        }
        // The simulation leaves out the results of failed rows, which erigon says to be null.
        assert!(exact > 2, "{exact} in the dialect of geth: {is_geth}");
        assert!(home.store().check(|_| ()).await.unwrap().holds());
        if is_geth {
            // Whether roots are kept counts for nothing.
            assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
        }
    }
}

async fn frames_come_out_without_their_roots(engine: Engine) {
    let chain = chain(13, 8);
    let home = Home::indexed(engine, &chain).await;
    let (view, mut frames) = (home.view().await, 0);
    for number in 0..=8 {
        let (stored, _) = view.whole_block(CHAIN, number).await.unwrap().unwrap();
        let stored = stored.traces.unwrap();
        let expected = block(&chain, chain.block(number).unwrap().hash).traces.unwrap();
        assert_eq!(stored.len(), expected.len());
        for (stored, expected) in stored.iter().zip(&expected) {
            assert_eq!(stored, &expected[1..]);
            frames += stored.len();
        }
    }
    assert!(frames > 20);
}

async fn single_transactions_and_hashes_are_found(engine: Engine) {
    let chain = chain(14, 6);
    let home = Home::indexed(engine, &chain).await;
    let view = home.view().await;
    for sim in chain.blocks() {
        let number = sim.number();
        let summary = view.block_summary(CHAIN, number).await.unwrap().unwrap();
        assert_eq!((summary.hash, summary.timestamp), (sim.hash, sim.header.timestamp));
        assert_eq!((summary.tx_count as usize, summary.has_traces), (sim.txs.len(), true));
        assert_eq!((summary.number, summary.proof), (number, proven()));
        assert_eq!(view.number_of(CHAIN, sim.hash).await.unwrap(), Some(number));
        let parent = view.parent_hash(CHAIN, number).await.unwrap();
        assert_eq!(parent, Some(sim.header.parent_hash));
        for (i, tx) in sim.txs.iter().enumerate() {
            let stored = view.transaction(CHAIN, number, i as u32).await.unwrap().unwrap();
            assert_eq!((stored.block, stored.index), (summary.block_ref(), i as u32));
            assert_eq!(stored.tx.hash, Some(tx.hash));
            let receipt = stored.receipt.unwrap();
            assert_eq!(receipt.transaction_hash, Some(tx.hash));
            assert_eq!((receipt.logs.map_or(0, |l| l.len()), stored.frames), (0, None));
        }
        let beyond = view.transaction(CHAIN, number, sim.txs.len() as u32).await.unwrap();
        assert!(beyond.is_none());
    }
    assert_eq!(view.number_of(CHAIN, [7; 32].into()).await.unwrap(), None);
    assert_eq!(view.block_summary(CHAIN, 7).await.unwrap(), None);
    assert_eq!(view.parent_hash(CHAIN, 7).await.unwrap(), None);
    assert!(view.transaction(CHAIN, 7, 0).await.unwrap().is_none());
}

async fn a_block_is_given_only_under_the_hash_that_was_meant(engine: Engine) {
    let chain = chain(17, 4);
    let home = Home::indexed(engine, &chain).await;
    let view = home.view().await;
    let hash = |number| chain.block(number).unwrap().hash;
    let found = view.block_if(CHAIN, 3, hash(3)).await.unwrap().unwrap();
    assert_eq!(found, view.whole_block(CHAIN, 3).await.unwrap().unwrap());
    assert!(view.block_if(CHAIN, 3, hash(2)).await.unwrap().is_none());
    assert!(view.block_if(CHAIN, 5, hash(4)).await.unwrap().is_none());
}

async fn dates_are_blocks(engine: Engine) {
    let chain = chain(15, 9);
    let home = Home::indexed(engine, &chain).await;
    let view = home.view().await;
    let time = |number: u64| chain.block(number).unwrap().header.timestamp;
    for t in time(0) - 30..time(9) + 30 {
        let first = chain.blocks().iter().find(|b| b.header.timestamp >= t).map(|b| b.number());
        let last = chain.blocks().iter().rfind(|b| b.header.timestamp <= t).map(|b| b.number());
        assert_eq!(view.first_block_from(CHAIN, t).await.unwrap(), first, "from {t}");
        assert_eq!(view.last_block_until(CHAIN, t).await.unwrap(), last, "until {t}");
    }
    for (t, first, last) in [(0, Some(0), None), (u64::MAX, None, Some(9))] {
        assert_eq!(view.first_block_from(CHAIN, t).await.unwrap(), first);
        assert_eq!(view.last_block_until(CHAIN, t).await.unwrap(), last);
    }
}
