//! Blocks with sales of NFTs and pools in them, made by hand for `headwater import`.
//!
//! They are of a form that is not modelled, so nothing of them is proven; what decoders find in them
//! is all that matters here.

use std::path::{Path, PathBuf};

use alloy_primitives::{Address, B256, U256, keccak256};
use serde_json::{Value, json};

/// Seaport 1.5, where every chain has it.
const SEAPORT: &str = "0x00000000000000adc04c56bf30ac9d3c0aaf14dc";
const WETH: &str = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const BUYER: Address = Address::repeat_byte(0xbb);
const SALES_PER_BLOCK: u64 = 6;

/// Blocks 0 to `last`, one record a line.
pub fn write(folder: &Path, last: u64) -> PathBuf {
    let path = folder.join(format!("handmade-{last}.jsonl"));
    let lines: Vec<String> = (0..=last).map(|number| record(number).to_string()).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn hash(what: &str, number: u64) -> B256 {
    keccak256(format!("{what} {number}"))
}

fn record(number: u64) -> Value {
    let parent = number.checked_sub(1).map_or(B256::ZERO, |below| hash("block", below));
    let (own, tx) = (hash("block", number).to_string(), hash("transaction", number).to_string());
    let mut logs: Vec<Value> = (0..SALES_PER_BLOCK).flat_map(|n| sale(number, n)).collect();
    let buyer = format!("{BUYER:#x}");
    logs.push(sync(number));
    for (index, log) in logs.iter_mut().enumerate() {
        log["logIndex"] = json!(format!("{index:#x}"));
        log["blockNumber"] = json!(format!("{number:#x}"));
        log["blockHash"] = json!(own);
        log["transactionHash"] = json!(tx);
        log["transactionIndex"] = json!("0x0");
    }
    json!({
        "block": {
            "number": format!("{number:#x}"),
            "hash": own,
            "parentHash": parent.to_string(),
            "timestamp": format!("{:#x}", 1_750_000_000 + number * 12),
            "transactions": [{
                "type": "0x7e", "hash": tx, "from": buyer, "to": SEAPORT, "value": "0x0",
                "nonce": format!("{number:#x}"), "gas": "0x5208", "gasPrice": "0x1", "input": "0x",
                "blockNumber": format!("{number:#x}"), "blockHash": own, "transactionIndex": "0x0",
            }],
        },
        "receipts": [{
            "type": "0x7e", "transactionHash": tx, "transactionIndex": "0x0", "blockHash": own,
            "blockNumber": format!("{number:#x}"), "from": buyer, "to": SEAPORT, "status": "0x1",
            "gasUsed": "0x5208", "cumulativeGasUsed": "0x5208", "logs": logs,
        }],
    })
}

fn word(value: impl Into<U256>) -> B256 {
    B256::from(value.into())
}

fn log(address: Address, topics: Vec<B256>, data: &[B256]) -> Value {
    let data: String = data.iter().map(|word| format!("{word:x}")).collect();
    let topics: Vec<String> = topics.iter().map(B256::to_string).collect();
    json!({ "address": format!("{address:#x}"), "topics": topics, "data": format!("0x{data}") })
}

/// A seller's order is filled for wrapped coins: the event, the token's move and the payment.
fn sale(number: u64, n: u64) -> [Value; 3] {
    let buyer = BUYER;
    let seller = Address::repeat_byte(0xa0 + (number % 7) as u8);
    let nft = Address::repeat_byte(0xc0 + (n % 3) as u8);
    let weth: Address = WETH.parse().unwrap();
    let price = U256::from(1_000 + number % 50 + n);
    let token = U256::from(number * SALES_PER_BLOCK + n);
    let fulfilled = keccak256(
        "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],\
         (uint8,address,uint256,uint256,address)[])",
    );
    let transfer = keccak256("Transfer(address,address,uint256)");
    let data = [
        hash("order", token.to()),
        buyer.into_word(),
        word(U256::from(0x80)),
        word(U256::from(0x120)),
        word(U256::ONE),
        word(U256::from(2)),
        nft.into_word(),
        word(token),
        word(U256::ONE),
        word(U256::ONE),
        word(U256::ONE),
        weth.into_word(),
        word(U256::ZERO),
        word(price),
        seller.into_word(),
    ];
    let order = vec![fulfilled, seller.into_word(), B256::ZERO];
    let moved = vec![transfer, seller.into_word(), buyer.into_word(), word(token)];
    let paid = vec![transfer, buyer.into_word(), seller.into_word()];
    [
        log(SEAPORT.parse().unwrap(), order, &data),
        log(nft, moved, &[]),
        log(weth, paid, &[word(price)]),
    ]
}

/// A pool of nobody knows whom tells what it holds.
fn sync(number: u64) -> Value {
    let topics = vec![keccak256("Sync(uint112,uint112)")];
    let reserves = [word(U256::from(number + 1)), word(U256::from(number + 2))];
    log(Address::repeat_byte(0xd0 + (number % 5) as u8), topics, &reserves)
}
