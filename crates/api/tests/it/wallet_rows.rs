//! What a wallet's rows say where a block does not tell everything itself: labels, fees, receipts that are missing.

use alloy_primitives::{Address, U256};
use model::chain::ChainId;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header, Receipt, Tx};
use model::token::{Source, Token};
use serde_json::{Value, json};
use store::{Change, Options, Origin, Store, VerifiedBlock};

use crate::test_server::{TestServer, block_on, open};

const ETH: ChainId = ChainId(1);
const WALLET: Address = Address::repeat_byte(0x11);

fn server(txs: Vec<Tx>, receipts: Vec<Option<Receipt>>) -> (TestServer, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&Options { durable: false, ..Options::new(folder.path()) });
    let header = Header {
        number: Some(5),
        hash: Some([5; 32].into()),
        parent_hash: Some([4; 32].into()),
        timestamp: Some(1_700_000_000),
        ..Header::default()
    };
    let block = Block {
        number: 5,
        hash: [5; 32].into(),
        parent_hash: [4; 32].into(),
        timestamp: 1_700_000_000,
        header,
        txs,
        receipts,
        ..Block::default()
    };
    let verified = VerifiedBlock { block, proof: Proof::default(), facts: Facts::default() };
    let apply = vec![store.prepare(ETH, verified)];
    block_on(store.commit(ETH, Change::apply(Origin::Head, apply))).unwrap();
    let server = TestServer::over(store.clone(), folder, &["eth"]);
    (server, store)
}

fn tx(index: u64, to: Address) -> Tx {
    Tx {
        hash: Some([index as u8 + 1; 32].into()),
        transaction_index: Some(index),
        block_number: Some(5),
        block_hash: Some([5; 32].into()),
        from: Some(WALLET),
        to: Some(to),
        nonce: Some(index),
        value: Some(U256::ONE),
        gas: Some(21_000),
        gas_price: Some(U256::from(100)),
        ..Tx::default()
    }
}

fn rows(server: &TestServer, profile: &str) -> (Value, Option<String>) {
    let answer = server.get_as(profile, &format!("/api/v2.2/{WALLET:#x}?order=ASC"));
    assert_eq!(answer.status, 200, "{answer:?}");
    (answer.json()["result"].clone(), answer.header("x-receipts").map(str::to_owned))
}

#[test]
fn tokens_that_are_known_are_labelled_with_name_and_symbol() {
    let usdc: Address = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48".parse().unwrap();
    let weth: Address = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2".parse().unwrap();
    let other = Address::repeat_byte(0x33);
    let txs = vec![tx(0, usdc), tx(1, weth), tx(2, other)];
    let (server, store) = server(txs, vec![None; 3]);
    let labels = || {
        let (rows, _) = rows(&server, "spec");
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["to_address_label"].clone())
            .collect::<Vec<_>>()
    };
    let known = [json!("USD Coin (USDC)"), json!("Wrapped Ether (WETH)")];
    assert_eq!(labels(), [&known[..], &[Value::Null]].concat());
    let token = Token {
        name: Some("Trial Token".into()),
        symbol: Some("TRY".into()),
        decimals: Some(9),
        source: Source::Contract,
    };
    block_on(store.put_token(ETH, other, &token)).unwrap();
    // As a server has it that is asked after the contract told.
    let fresh = TestServer::without_cache(store, &["eth"]);
    let (rows, _) = rows(&fresh, "live");
    assert_eq!(rows[2]["to_address_label"], "Trial Token (TRY)");
    assert_eq!(rows[2]["from_address_label"], Value::Null);
}

#[test]
fn a_fee_holds_what_blobs_and_the_chain_below_cost() {
    let receipt = |text: &str| {
        let text = format!(
            r#"{{"gasUsed":"0x5208","cumulativeGasUsed":"0x5208","effectiveGasPrice":"0x64","status":"0x1"{text}}}"#
        );
        serde_json::from_str::<Receipt>(&text).unwrap()
    };
    let receipts = vec![
        Some(receipt("")),
        Some(receipt(r#","blobGasUsed":"0x20000","blobGasPrice":"0x3""#)),
        Some(receipt(r#","l1Fee":"0x7","l1GasPrice":"0x9""#)),
    ];
    let to = Address::repeat_byte(0x22);
    let (server, _) = server(vec![tx(0, to), tx(1, to), tx(2, to)], receipts);
    let (rows, missing) = rows(&server, "live");
    let fees: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["transaction_fee"].as_str().unwrap())
        .collect();
    // 21000 × 100, then 131072 × 3 more, then 7 more.
    assert_eq!(fees, ["0.0000000000021", "0.000000000002493216", "0.000000000002100007"]);
    assert_eq!(missing, None);
}

#[test]
fn rows_without_receipts_can_be_read_by_the_sdks_and_say_what_is_missing() {
    let (server, _) = server(vec![tx(0, Address::repeat_byte(0x22))], vec![None]);
    let (live, missing) = rows(&server, "live");
    for name in ["receipt_gas_used", "receipt_cumulative_gas_used"] {
        assert_eq!(live[0][name], "0", "no transaction uses none");
    }
    for name in ["receipt_status", "receipt_contract_address", "transaction_fee"] {
        assert_eq!(live[0][name], Value::Null, "{name}");
    }
    assert_eq!(missing.as_deref(), Some("missing"));
    let (spec, missing) = rows(&server, "spec");
    assert_eq!(spec[0]["receipt_gas_used"], Value::Null);
    assert_eq!(missing.as_deref(), Some("missing"));
}
