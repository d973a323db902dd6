//! Bodies that would be too large become several, and together they tell the same.

use proptest::prelude::*;
use serde_json::Value;
use store::RecordCounts;

use alloy_primitives::{B256, U256};

use super::head;
use crate::matching::items::{
    BalanceItem, Erc20Transfer, InternalItem, Items, LogItem, LogOrigin, NftApproval, TxItem,
};
use crate::payload::{retracted, with_retries, write_parts};

/// So many logs with data of so many bytes in each of the transactions.
fn items(txs: &[Vec<usize>]) -> Items {
    let mut items = Items::default();
    for (place, logs) in txs.iter().enumerate() {
        let hash = B256::with_last_byte(place as u8);
        items.txs.push(TxItem { place, hash, ..TxItem::default() });
        for bytes in logs {
            let log = items.logs.len();
            items.logs.push(LogItem {
                tx_place: place,
                log_index: log as u64,
                transaction_hash: hash,
                data: vec![7; *bytes].into(),
                ..LogItem::default()
            });
            let origin = LogOrigin {
                log,
                transaction_hash: hash,
                log_index: log as u64,
                ..LogOrigin::default()
            };
            if bytes % 2 == 0 {
                let transfer = Erc20Transfer { origin: origin.clone(), ..Erc20Transfer::default() };
                items.erc20_transfers.push(transfer);
            }
            if bytes % 3 == 0 {
                let token_id = (bytes % 2 == 0).then_some(U256::ONE);
                items.nft_approvals.push(NftApproval {
                    origin,
                    token_id,
                    ..NftApproval::default()
                });
            }
        }
        let internal =
            InternalItem { tx_place: place, transaction_hash: hash, ..InternalItem::default() };
        items.internals.push(internal);
        // Rules may bring in addresses of later transactions first.
        let balance = if place % 3 == 2 { Err("no".to_owned()) } else { Ok(U256::from(place)) };
        let address = alloy_primitives::Address::with_last_byte(place as u8);
        let item = BalanceItem { address, tx_place: place, balance: Some(balance) };
        items.balances.insert(0, item);
    }
    items
}

const ARRAYS: [&str; 8] = [
    "logs",
    "txs",
    "txsInternal",
    "erc20Transfers",
    "erc20Approvals",
    "nftTokenApprovals",
    "nftTransfers",
    "nativeBalances",
];

fn list(body: &Value, name: &str) -> Vec<Value> {
    body[name].as_array().cloned().unwrap_or_default()
}

fn read(parts: &[(RecordCounts, bytes::Bytes)]) -> Vec<Value> {
    parts.iter().map(|(_, body)| serde_json::from_slice(body).unwrap()).collect()
}

/// How many objects a body holds.
fn size(body: &Value) -> usize {
    let plain: usize = ARRAYS.iter().map(|name| list(body, name).len()).sum();
    let old: usize =
        ["ERC721", "ERC1155"].iter().map(|it| list(&body["nftApprovals"], it).len()).sum();
    plain + old + list(body, "nativeBalanceErrors").len()
}

proptest! {
    #[test]
    fn parts_tell_together_what_one_body_would(
        txs in proptest::collection::vec(proptest::collection::vec(0usize..900, 0..6), 0..7),
        bytes_max in 0usize..12_000,
    ) {
        let (items, abi) = (items(&txs), None);
        let whole = read(&write_parts(&head("t", &abi), &items, usize::MAX)).remove(0);
        let parts = write_parts(&head("t", &abi), &items, bytes_max);
        let bodies = read(&parts);
        for name in ARRAYS {
            let mut together: Vec<Value> = bodies.iter().flat_map(|body| list(body, name)).collect();
            let mut expected = list(&whole, name);
            if name == "nativeBalances" {
                // They go with their transactions.
                together.sort_by_key(|it| it["address"].to_string());
                expected.sort_by_key(|it| it["address"].to_string());
            }
            prop_assert_eq!(together, expected, "{}", name);
        }
        prop_assert_eq!(bodies.iter().map(size).sum::<usize>(), size(&whole));
        for ((counts, bytes), body) in parts.iter().zip(&bodies) {
            let [logs, txs, inner] = ["logs", "txs", "txsInternal"].map(|it| list(body, it).len() as u32);
            prop_assert_eq!(*counts, RecordCounts { txs, logs, internal_txs: inner });
            let longest = with_retries(&retracted(bytes), u32::MAX).len();
            prop_assert!(longest <= bytes_max || size(body) <= 1, "{longest} > {bytes_max}");
            prop_assert_eq!(&body["block"], &whole["block"]);
        }
    }
}

#[test]
fn a_transaction_stays_together_where_it_fits() {
    let (items, abi) = (items(&vec![vec![100, 101, 102]; 6]), None);
    let one = write_parts(&head("t", &abi), &items, usize::MAX)[0].1.len();
    let parts = write_parts(&head("t", &abi), &items, one / 2);
    let bodies = read(&parts);
    assert!(bodies.len() >= 2 && bodies.len() <= 4, "{}", bodies.len());
    for body in &bodies {
        for tx in list(body, "txs") {
            let logs = list(body, "logs");
            let own = logs.iter().filter(|log| log["transactionHash"] == tx["hash"]).count();
            assert_eq!(own, 3);
        }
        assert_eq!(list(body, "logs").len(), 3 * list(body, "txs").len());
    }
}

#[test]
fn a_log_stays_with_what_was_read_from_it_where_it_fits() {
    let (items, abi) = (items(&[vec![600; 8]]), None);
    let parts = read(&write_parts(&head("t", &abi), &items, 6000));
    assert!(parts.len() > 2);
    for body in &parts {
        let numbers = |name: &str| -> Vec<Value> {
            list(body, name).iter().map(|it| it["logIndex"].clone()).collect()
        };
        assert_eq!(numbers("logs"), numbers("erc20Transfers"));
        assert_eq!(numbers("logs"), numbers("nftTokenApprovals"));
    }
}

#[test]
fn what_is_larger_than_the_limit_goes_alone() {
    let (items, abi) = (items(&[vec![1, 50_001, 1]]), None);
    let parts = write_parts(&head("t", &abi), &items, 4000);
    let large: Vec<_> = parts.iter().filter(|(_, body)| body.len() > 4000).collect();
    assert_eq!(large.len(), 1);
    assert_eq!(large[0].0, RecordCounts { txs: 0, logs: 1, internal_txs: 0 });
    assert!(large[0].1.len() < 102_000);
}
