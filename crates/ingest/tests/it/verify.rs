//! Verification of simulated blocks: right ones are proven whole, wrong ones are told by what is
//! wrong with them, foreign forms are taken for what they are.

use ingest::verify::{Senders, verify};
use model::chain::Verification;
use model::proof::{Level, Proof};
use model::raw::{Block, BlockTraces};
use rpc::{Call, Fetch, Lane, Needs, Pool};
use serde_json::{Value, json};
use testkit::{SimChain, Tamper, read};

use crate::setup::*;

#[test]
fn every_simulated_block_is_proven_whole_in_both_dialects() {
    let chain = busy_sim(170, 40);
    let chain = read(&chain);
    for number in 0..=40 {
        for dialect in [Dialect::Geth, Dialect::Parity] {
            let block = block(&chain, number, dialect);
            let proof = verify(&block, &rules(Verification::Full)).unwrap();
            assert_eq!(proof.level(), Level::Verified);
            assert_eq!(
                proof.names().count(),
                6,
                "{number}: {:?}",
                proof.names().collect::<Vec<_>>()
            );
        }
        let untraced = block(&chain, number, Dialect::None);
        let proof = verify(&untraced, &rules(Verification::Full)).unwrap();
        assert!(proof.has(Proof::RECEIPTS));
        // Where nothing happened, there is nothing to trace.
        assert_eq!(proof.has(Proof::TRACES), untraced.txs.is_empty());
    }
}

#[test]
fn both_dialects_tell_the_same_story() {
    let chain = busy_sim(171, 30);
    let chain = read(&chain);
    for number in 1..=30 {
        let [geth, parity] =
            [Dialect::Geth, Dialect::Parity].map(|d| block(&chain, number, d).traces.unwrap());
        for (geth, parity) in geth.iter().flatten().zip(parity.iter().flatten()) {
            assert_eq!(
                (&geth.path, geth.kind, geth.undone),
                (&parity.path, parity.kind, parity.undone)
            );
            assert_eq!((geth.from, geth.to, geth.value), (parity.from, parity.to, parity.value));
            assert_eq!(geth.error.is_some(), parity.error.is_some());
            assert_eq!(geth.moves_value(), parity.moves_value());
        }
        assert!(geth.iter().map(Vec::len).eq(parity.iter().map(Vec::len)));
    }
}

#[test]
fn a_sample_of_senders_does_not_prove_all() {
    let chain = busy_sim(172, 5);
    let block = block(&read(&chain), 3, Dialect::Geth);
    let mut sample = rules(Verification::Full);
    sample.senders = Senders::Sample;
    assert!(!verify(&block, &sample).unwrap().has(Proof::SENDERS));
    // Half of them wrong, and receipts that keep silent: only signatures tell.
    let mut wrong = block.clone();
    let calls = wrong.txs.iter_mut().filter(|tx| tx.to.is_some());
    calls.skip(1).step_by(2).for_each(|tx| tx.from = Some([5; 20].into()));
    wrong.receipts.iter_mut().flatten().for_each(|receipt| receipt.from = None);
    wrong.traces = None;
    assert_eq!(verify(&wrong, &rules(Verification::Full)).unwrap_err().check, "sender");
    // The sample is one transaction; it leads to all others when it does not fit.
    let caught = (0..=255u8).filter(|last| {
        let mut hash = wrong.hash;
        hash.0[31] = *last;
        let mut moved = wrong.clone();
        moved.hash = hash;
        moved.header.hash = Some(hash);
        moved.txs.iter_mut().for_each(|tx| tx.block_hash = Some(hash));
        moved.receipts.iter_mut().for_each(|receipt| *receipt = None);
        moved.header.nonce = None;
        let mut lenient = rules(Verification::Lenient);
        lenient.senders = Senders::Sample;
        verify(&moved, &lenient).is_err_and(|lie| lie.check == "sender")
    });
    assert!(caught.count() > 50);
}

/// What a node says of one block, put together as far as it fits together.
async fn told(pool: &Pool, number: u64) -> Block {
    let calls = vec![
        Call::block_by_number(number, true),
        Call::block_receipts(number),
        Call::debug_trace_block(number),
    ];
    let fetch = Fetch { calls, not: &[], needs: Needs::default(), lane: Lane::History };
    let answers = pool.fetch(fetch).await.unwrap().answers;
    let text = |i: usize| answers[i].as_ref().unwrap().json();
    let mut block = Block::read(text(0)).unwrap().unwrap();
    // A list that does not fit leaves the block without it; its roots still tell.
    let receipts = serde_json::from_slice(text(1)).unwrap();
    if block.set_receipts(receipts).is_err() {
        block.receipts = vec![None; block.txs.len()];
    }
    let traces = BlockTraces::read_call_tracer(std::str::from_utf8(text(2)).unwrap(), &block.txs);
    block.traces = traces.ok().map(|traces| traces.frames);
    block
}

#[tokio::test]
async fn every_lie_is_told_by_the_right_check() {
    let chain = busy_sim(173, 10);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for (tamper, check) in [
        (Tamper::ChangedValue, "transaction hash"),
        (Tamper::ChangedFrom, "receipt's transaction"),
        (Tamper::ChangedTimestamp, "header hash"),
        (Tamper::DroppedTransaction, "transactions root"),
        (Tamper::OtherBlocksBody, "transactions root"),
        (Tamper::WrongParent, "header hash"),
        (Tamper::DroppedLog, "log place"),
        (Tamper::ChangedLogData, "receipts root"),
        (Tamper::SwappedReceipts, "gas used"),
    ] {
        let rule = node.faults.add(tamper);
        let block = told(&ingest.pool, 7).await;
        for verification in [Verification::Full, Verification::Lenient] {
            let lie = verify(&block, &rules(verification)).unwrap_err();
            // Prices of another block's transactions do not fit this one's base fee, either.
            let by_price =
                tamper == Tamper::OtherBlocksBody && lie.check == "transaction gas price";
            assert!(lie.check == check || by_price, "{tamper:?}: {lie}");
            assert_eq!(lie.block, 7, "{tamper:?}");
            assert!(lie.expected != lie.got && !lie.expected.is_empty(), "{lie}");
        }
        node.faults.remove(rule);
    }
    // Nothing in the block covers these; links and other nodes do, or nobody.
    for tamper in [Tamper::WrongParentRehashed, Tamper::ChangedTraceValue] {
        let rule = node.faults.add(tamper);
        let block = told(&ingest.pool, 7).await;
        assert!(verify(&block, &rules(Verification::Full)).is_ok(), "{tamper:?}");
        node.faults.remove(rule);
    }
}

/// A block's JSON and its receipts', to be bent.
fn parts(chain: &SimChain, number: u64) -> (Value, Value) {
    let parse = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap();
    (parse(&chain.block_json(number, true).unwrap()), parse(&chain.receipts_json(number).unwrap()))
}

fn put_together(block: &Value, receipts: &Value) -> Block {
    let mut read = Block::read(block.to_string().as_bytes()).unwrap().unwrap();
    read.set_receipts(serde_json::from_str(&receipts.to_string()).unwrap()).unwrap();
    read
}

#[test]
fn foreign_forms_lower_the_proof_on_lenient_chains_and_are_refused_on_strict_ones() {
    let chain = busy_sim(174, 5);
    let chain = read(&chain);
    let bent = |bend: &dyn Fn(&mut Value, &mut Value)| {
        let (mut block, mut receipts) = parts(&chain, 4);
        bend(&mut block, &mut receipts);
        put_together(&block, &receipts)
    };
    let unknown_type = bent(&|block, receipts| {
        block["transactions"][2]["type"] = json!("0x68");
        receipts[2]["type"] = json!("0x68");
    });
    let aura = bent(&|block, _| {
        let fields = block.as_object_mut().unwrap();
        fields.remove("nonce");
        fields.remove("mixHash");
        fields.insert("step".into(), json!("340000"));
        fields.insert("signature".into(), json!("0xab"));
    });
    let state_sync = bent(&|block, receipts| {
        let count = block["transactions"].as_array().unwrap().len();
        let hash = format!("0x{}", "5a".repeat(32));
        let mut tx = block["transactions"][0].clone();
        let mut receipt = receipts[0].clone();
        let zero = json!(format!("0x{}", "00".repeat(20)));
        for (field, value) in [
            ("hash", json!(hash)),
            ("type", json!("0x0")),
            ("from", zero.clone()),
            ("to", zero.clone()),
            ("transactionIndex", json!(format!("{count:#x}"))),
            ("r", json!("0x0")),
            ("s", json!("0x0")),
            ("v", json!("0x0")),
            ("gasPrice", json!("0x0")),
        ] {
            tx[field] = value;
        }
        for (field, value) in [
            ("transactionHash", json!(hash)),
            ("type", json!("0x0")),
            ("from", zero.clone()),
            ("to", zero),
            ("transactionIndex", json!(format!("{count:#x}"))),
            ("logs", json!([])),
        ] {
            receipt[field] = value;
        }
        block["transactions"].as_array_mut().unwrap().push(tx);
        receipts.as_array_mut().unwrap().push(receipt);
    });
    for (block, level) in
        [(unknown_type, Level::Partial), (aura, Level::Unverified), (state_sync, Level::Partial)]
    {
        let proof = verify(&block, &rules(Verification::Lenient)).unwrap();
        assert_eq!(proof.level(), level);
        assert!(verify(&block, &rules(Verification::Full)).is_err());
    }
}

#[test]
fn a_block_without_receipts_is_partly_proven() {
    let chain = busy_sim(175, 3);
    let mut block = block(&read(&chain), 3, Dialect::None);
    block.receipts = vec![None; block.txs.len()];
    let proof = verify(&block, &rules(Verification::Full)).unwrap();
    assert_eq!(proof.level(), Level::Partial);
    assert!(proof.has(Proof::TRANSACTIONS) && proof.has(Proof::SENDERS));
}
