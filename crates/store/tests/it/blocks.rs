//! What a node said comes out of the store as it went in.

use serde_json::Value;

use crate::setup::*;

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn blocks_come_out_as_they_went_in() {
    let chain = chain(11, 12);
    let home = indexed(&chain);
    let view = home.store().view();
    for number in 0..=12 {
        let block = view.block(CHAIN, number).unwrap().unwrap();
        for whole in [true, false] {
            let mut out = Vec::new();
            block.write_json(whole, &mut out);
            assert_eq!(json(&out), json(&chain.block_json(number, whole).unwrap()), "{number}");
        }
    }
    assert!(view.block(CHAIN, 13).unwrap().is_none());
}

#[test]
fn receipts_come_out_with_logs_and_blooms() {
    let chain = chain(12, 12);
    let home = indexed(&chain);
    let view = home.store().view();
    let mut logs = 0;
    for number in 0..=12 {
        let (block, proof) = view.whole_block(CHAIN, number).unwrap().unwrap();
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

#[test]
fn frames_come_out_without_their_roots() {
    let chain = chain(13, 8);
    let home = indexed(&chain);
    let (view, mut frames) = (home.store().view(), 0);
    for number in 0..=8 {
        let whole = block(&chain, chain.block(number).unwrap().hash);
        for (i, expected) in whole.traces.unwrap().iter().enumerate() {
            let stored = view.frames(CHAIN, number, i as u32).unwrap();
            assert_eq!(stored, expected[1..]);
            frames += stored.len();
        }
    }
    assert!(frames > 20);
}

#[test]
fn single_transactions_and_hashes_are_found() {
    let chain = chain(14, 6);
    let home = indexed(&chain);
    let view = home.store().view();
    for sim in chain.blocks() {
        let stamp = view.stamp(CHAIN, sim.number()).unwrap().unwrap();
        assert_eq!((stamp.hash, stamp.timestamp), (sim.hash, sim.header.timestamp));
        assert_eq!(stamp.tx_count as usize, sim.txs.len());
        assert_eq!(view.number_of(CHAIN, sim.hash).unwrap(), Some(sim.number()));
        assert_eq!(view.parent_hash(CHAIN, sim.number()).unwrap(), Some(sim.header.parent_hash));
        for (i, tx) in sim.txs.iter().enumerate() {
            let (anchor, row) = view.transaction(CHAIN, sim.number(), i as u32).unwrap().unwrap();
            assert_eq!(anchor, stamp.anchor());
            assert_eq!(row.tx.hash, Some(tx.hash));
            assert_eq!(row.receipt.unwrap().transaction_hash, Some(tx.hash));
        }
        assert!(view.transaction(CHAIN, sim.number(), sim.txs.len() as u32).unwrap().is_none());
    }
    assert_eq!(view.number_of(CHAIN, [7; 32].into()).unwrap(), None);
}

#[test]
fn dates_are_blocks() {
    let chain = chain(15, 9);
    let home = indexed(&chain);
    let view = home.store().view();
    let time = |number: u64| chain.block(number).unwrap().header.timestamp;
    for t in time(0) - 30..time(9) + 30 {
        let first = chain.blocks().iter().find(|b| b.header.timestamp >= t).map(|b| b.number());
        let last = chain.blocks().iter().rfind(|b| b.header.timestamp <= t).map(|b| b.number());
        assert_eq!(view.first_block_from(CHAIN, t).unwrap(), first, "from {t}");
        assert_eq!(view.last_block_until(CHAIN, t).unwrap(), last, "until {t}");
    }
    let edges = [0, u64::MAX].map(|t| {
        (view.first_block_from(CHAIN, t).unwrap(), view.last_block_until(CHAIN, t).unwrap())
    });
    assert_eq!(edges, [(Some(0), None), (None, Some(9))]);
}
