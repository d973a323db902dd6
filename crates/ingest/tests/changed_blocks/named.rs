//! Lies that need more than one change: senders, chains, keys that appear twice.

use alloy_primitives::{Address, keccak256};
use ingest::source::read_record;
use ingest::verify::{Rules, Senders, verify};
use model::chain::{Chain, ChainId, ChainTable, Verification};
use model::proof::{Level, Proof};
use model::raw::{Block, Tx};
use serde_json::{Value, json};

use crate::cases::{Case, Outcome, outcome, simulated};

fn newest() -> Case {
    simulated().into_iter().find(|case| case.name == "simulated Prague").unwrap()
}

fn op_stack() -> Case {
    simulated().into_iter().find(|case| case.name.contains("OP stack")).unwrap()
}

fn read(record: &Value) -> Block {
    read_record(record.to_string().as_bytes()).unwrap()
}

fn refused(record: &Value, chain: &Chain) -> String {
    match outcome(record, chain) {
        Outcome::Refused(why) => why,
        Outcome::Stored(proof) => panic!("stored as {:?}", proof.names().collect::<Vec<_>>()),
    }
}

/// As a node says it that changes senders everywhere: in transactions, in receipts, and it traces nothing.
fn with_senders(record: &Value, sender: &str) -> Value {
    let mut record = record.clone();
    record["traces"] = Value::Null;
    for list in ["/block/transactions", "/receipts"] {
        for object in record.pointer_mut(list).unwrap().as_array_mut().unwrap() {
            object["from"] = json!(sender);
            // The address of what is made follows from the sender.
            if object["contractAddress"].is_string() {
                object["contractAddress"] = json!(sender);
            }
        }
    }
    record
}

#[test]
fn a_block_whose_senders_are_all_wrong_is_refused() {
    for case in [newest(), op_stack()] {
        let only_calls = case.records.iter().find(|record| {
            let txs = record["block"]["transactions"].as_array().unwrap();
            txs.iter().all(|tx| tx["to"].is_string())
        });
        let wrong = with_senders(only_calls.unwrap(), &format!("0x{}", "5a".repeat(20)));
        let why = refused(&wrong, &case.chain);
        assert!(why.contains("sender") || why.contains("transaction hash"), "{why}");
        // One is looked at, and any one tells.
        let lie = verify(&read(&wrong), &Rules::of(&case.chain, Senders::Sample)).unwrap_err();
        assert!(["sender", "transaction hash"].contains(&lie.check), "{lie}");
    }
}

/// Which address the signature of a legacy transaction gives when its parity is turned over.
fn signer_of_the_other_parity(tx: &Tx) -> Address {
    use alloy_rlp::Encodable;
    let mut fields = Vec::new();
    tx.nonce.unwrap().encode(&mut fields);
    tx.gas_price.unwrap().encode(&mut fields);
    tx.gas.unwrap().encode(&mut fields);
    tx.to.unwrap().encode(&mut fields);
    tx.value.unwrap().encode(&mut fields);
    tx.input.clone().unwrap().encode(&mut fields);
    let v = tx.v.unwrap().to::<u64>();
    if v >= 35 {
        ((v - 35) / 2).encode(&mut fields);
        fields.extend([0x80, 0x80]);
    }
    let mut bytes = Vec::new();
    alloy_rlp::Header { list: true, payload_length: fields.len() }.encode(&mut bytes);
    bytes.extend(fields);
    let parity = if v >= 35 { (v - 35) % 2 } else { v - 27 };
    let id = secp256k1::ecdsa::RecoveryId::try_from(1 - parity as i32).unwrap();
    let [r, s] = [tx.r, tx.s].map(|word| word.unwrap().to_be_bytes::<32>());
    let compact = [r, s].concat();
    let signature = secp256k1::ecdsa::RecoverableSignature::from_compact(&compact, id).unwrap();
    let message = secp256k1::Message::from_digest(keccak256(&bytes).0);
    let key = secp256k1::SECP256K1.recover_ecdsa(message, &signature).unwrap();
    Address::from_raw_public_key(&key.serialize_uncompressed()[1..])
}

#[test]
fn a_parity_beside_a_legacy_signature_changes_nobody() {
    let case = newest();
    let mut tried = 0;
    for record in &case.records {
        let block = read(record);
        let Some(i) = block.txs.iter().position(|tx| tx.kind == Some(0) && tx.to.is_some()) else {
            continue;
        };
        let tx = &block.txs[i];
        let v = tx.v.unwrap().to::<u64>();
        let parity = if v >= 35 { (v - 35) % 2 } else { v - 27 };
        let other = signer_of_the_other_parity(tx);
        let mut wrong = record.clone();
        wrong["traces"] = Value::Null;
        let place = &mut wrong["block"]["transactions"][i];
        place["yParity"] = json!(format!("{:#x}", 1 - parity));
        place["from"] = json!(other.to_string().to_lowercase());
        wrong["receipts"][i]["from"] = json!(other.to_string().to_lowercase());
        refused(&wrong, &case.chain);
        // The right one does no harm.
        let mut right = record.clone();
        right["block"]["transactions"][i]["yParity"] = json!(format!("{parity:#x}"));
        assert!(matches!(outcome(&right, &case.chain), Outcome::Stored(_)));
        tried += 1;
    }
    assert!(tried > 5);
}

#[test]
fn what_nobody_signed_is_no_transaction_where_all_forms_are_known() {
    let case = newest();
    for word in ["r", "s"] {
        let mut wrong = case.records[0].clone();
        wrong["block"]["transactions"][0][word] = json!("0x1");
        refused(&wrong, &case.chain);
    }
}

#[test]
fn a_block_of_another_chain_is_refused() {
    let case = newest();
    let table = ChainTable::builtin().unwrap();
    for slug in ["polygon", "eth", "base", "bsc"] {
        let other = table.find(slug).unwrap();
        for record in &case.records {
            let why = refused(record, other);
            assert!(why.contains("chain id") || why.contains("transaction type"), "{slug}: {why}");
        }
    }
}

#[test]
fn a_known_genesis_is_pinned() {
    let mut sim = testkit::SimChain::new(testkit::SimConfig::seeded(1));
    sim.extend(1);
    let block = |number| Block::read(&sim.block_json(number, true).unwrap()).unwrap().unwrap();
    let rules = |genesis| Rules {
        verification: Verification::Full,
        chain_id: 1337,
        genesis,
        senders: Senders::All,
    };
    let own = block(0).hash;
    verify(&block(0), &rules(Some(own))).unwrap();
    verify(&block(1), &rules(Some(own))).unwrap();
    let lie = verify(&block(0), &rules(Some(keccak256(own)))).unwrap_err();
    assert_eq!(lie.check, "genesis hash");
    let eth = ChainTable::builtin().unwrap().get(ChainId(1)).unwrap().clone();
    assert!(eth.genesis.is_some() && eth.proof.has(Proof::RECEIPTS));
}

#[test]
fn a_known_key_that_appears_twice_is_refused() {
    let case = newest();
    let record = case.records.iter().find(|it| it["receipts"].to_string().contains("topics"));
    let text = record.unwrap().to_string();
    read_record(text.as_bytes()).unwrap();
    // A block, a withdrawal, a transaction, a receipt, a log: each with the key once more in front.
    for key in ["miner", "validatorIndex", "gasPrice", "effectiveGasPrice", "removed", "topics"] {
        let place = text.find(&format!("\"{key}\":")).unwrap();
        for value in ["null", "\"0x1\"", "[]"] {
            let twice = format!("{}\"{key}\":{value},{}", &text[..place], &text[place..]);
            serde_json::from_str::<&serde_json::value::RawValue>(&twice).unwrap();
            assert!(read_record(twice.as_bytes()).is_err(), "{key} {value}");
        }
    }
    // Keys that we do not know are the node's own.
    let twice = text.replacen("\"miner\":", "\"beside\":1,\"beside\":2,\"miner\":", 1);
    read_record(twice.as_bytes()).unwrap();
}

#[test]
fn nodes_may_fill_in_fields_that_a_block_does_not_have() {
    for case in simulated() {
        let mut filled = case.records[3].clone();
        let zero_hash = format!("0x{}", "00".repeat(32));
        fill(
            &mut filled["block"],
            &[
                ("baseFeePerGas", json!("0x0")),
                ("blobGasUsed", json!("0x0")),
                ("excessBlobGas", json!("0x0")),
                ("parentBeaconBlockRoot", json!(zero_hash)),
                ("withdrawals", json!([])),
                ("totalDifficulty", json!("0x5")),
                ("author", json!("x")),
            ],
        );
        for tx in filled["block"]["transactions"].as_array_mut().unwrap() {
            fill(
                tx,
                &[
                    ("accessList", json!([])),
                    ("maxFeePerGas", json!("0x0")),
                    ("maxPriorityFeePerGas", Value::Null),
                    ("maxFeePerBlobGas", json!("0x")),
                    ("blobVersionedHashes", Value::Null),
                    ("authorizationList", json!([])),
                    ("yParity", json!("0x0")),
                    ("sourceHash", json!(zero_hash)),
                    ("isSystemTx", json!(false)),
                    ("creates", Value::Null),
                    ("raw", json!("0xab")),
                ],
            );
        }
        for receipt in filled["receipts"].as_array_mut().unwrap() {
            let root = if receipt["status"].is_null() { Value::Null } else { json!("0x") };
            fill(
                receipt,
                &[
                    ("root", root),
                    ("blobGasUsed", json!("0x0")),
                    ("blobGasPrice", json!("0x1")),
                    ("revertReason", json!("0x")),
                    ("contractAddress", Value::Null),
                ],
            );
        }
        match outcome(&filled, &case.chain) {
            Outcome::Stored(proof) => assert_eq!(proof.level(), Level::Verified, "{}", case.name),
            Outcome::Refused(why) => panic!("{}: {why}", case.name),
        }
    }
}

/// As erigon wrote them, and reth does: the state's roots are not kept, a status is put in their place.
fn without_roots(record: &Value) -> Value {
    let mut record = record.clone();
    for receipt in record["receipts"].as_array_mut().unwrap() {
        receipt.as_object_mut().unwrap().remove("root");
        receipt["status"] = json!("0x1");
    }
    record
}

#[test]
fn receipts_of_before_byzantium_may_lack_their_roots_and_are_not_proven_then() {
    let case = simulated().swap_remove(0);
    let rules = |chain_id, senders| Rules {
        verification: Verification::Full,
        chain_id,
        genesis: None,
        senders,
    };
    let record = case.records.iter().find(|it| it["receipts"].to_string().contains("topics"));
    let (whole, without) = (record.unwrap(), without_roots(record.unwrap()));
    // Ethereum is older than Byzantium.
    for senders in [Senders::All, Senders::Sample] {
        assert!(verify(&read(whole), &rules(1, senders)).unwrap().has(Proof::RECEIPTS));
        let proof = verify(&read(&without), &rules(1, senders)).unwrap();
        assert_eq!((proof.level(), proof.has(Proof::RECEIPTS)), (Level::Partial, false));
        // A chain that never had such receipts is not.
        let lie = verify(&read(&without), &rules(1337, senders)).unwrap_err();
        assert_eq!(lie.check, "receipts root");
        // What can be held against something is: the header's bloom, and gas.
        let mut wrong = read(&without);
        let logs = |receipt: &mut model::raw::Receipt| receipt.logs.as_mut().and_then(Vec::pop);
        let dropped = wrong.receipts.iter_mut().rev().flatten().find_map(logs);
        assert!(dropped.is_some());
        assert!(verify(&wrong, &rules(1, senders)).is_err());
        let mut wrong = read(&without);
        let gas = &mut wrong.receipts[0].as_mut().unwrap().cumulative_gas_used;
        *gas = gas.map(|gas| gas + 1);
        assert!(verify(&wrong, &rules(1, senders)).is_err());
    }
    // One with a root among them is not of that kind.
    let mut half = without.clone();
    let first = &whole["receipts"][0];
    half["receipts"][0] = first.clone();
    assert!(verify(&read(&half), &rules(1, Senders::All)).is_err());
}

fn fill(object: &mut Value, fields: &[(&str, Value)]) {
    for (name, value) in fields {
        if object.get(name).is_none() {
            object[*name] = value.clone();
        }
    }
}

/// Which transaction of each block is looked at where one must do.
fn drawn(case: &Case) -> Vec<usize> {
    let rules = Rules::of(&case.chain, Senders::Sample);
    let caught = |block: &Block, i: usize| {
        let mut wrong = block.clone();
        let stranger = Address::from([5; 20]);
        let tx = &mut wrong.txs[i];
        tx.from = Some(stranger);
        let made = tx.to.is_none().then(|| stranger.create(tx.nonce.unwrap()));
        if let Some(receipt) = &mut wrong.receipts[i] {
            receipt.from = None;
            receipt.contract_address = made;
        }
        verify(&wrong, &rules).is_err_and(|lie| lie.check == "sender")
    };
    let of_block = |record: &Value| {
        let block = Block { traces: None, ..read(record) };
        let drawn: Vec<usize> = (0..block.txs.len()).filter(|i| caught(&block, *i)).collect();
        assert_eq!(drawn.len(), 1, "one of a block is looked at");
        drawn[0]
    };
    case.records.iter().map(of_block).collect()
}

#[test]
fn the_sampled_sender_does_not_follow_from_the_block() {
    let case = newest();
    let (first, again) = (drawn(&case), drawn(&case));
    assert_eq!(first, again, "asked twice, the same one: or asking often would tell");
    let by_hash = |record: &Value| {
        let block = read(record);
        let [.., a, b] = block.hash.0;
        usize::from(u16::from_be_bytes([a, b])) % block.txs.len()
    };
    // Ten to the power of eighteen to one that a secret draws the same.
    assert_ne!(first, case.records.iter().map(by_hash).collect::<Vec<_>>());
}

#[test]
fn an_empty_list_of_withdrawals_may_be_left_out_of_the_size() {
    let Case { chain, records, .. } = op_stack();
    let mut record = records[3].clone();
    assert_eq!(record["block"]["withdrawals"], json!([]));
    let size = u64::from_str_radix(&record["block"]["size"].as_str().unwrap()[2..], 16).unwrap();
    let mut told = |size: u64| {
        record["block"]["size"] = json!(format!("{size:#x}"));
        outcome(&record, &chain)
    };
    let Outcome::Stored(whole) = told(size) else { panic!("refused as it is") };
    assert!(matches!(told(size - 1), Outcome::Stored(proof) if proof == whole), "as anvil counts");
    assert!(matches!(told(size - 2), Outcome::Refused(why) if why.contains("size")));
    assert!(matches!(told(size + 1), Outcome::Refused(why) if why.contains("size")));
}
