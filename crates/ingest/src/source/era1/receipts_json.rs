//! Receipts in their own encoding, and what a node adds to them from the block.

use alloy_primitives::{Address, U256};
use model::raw::Malformed;
use serde_json::{Value, json};

use super::wrong;
use crate::source::rlp::{Item, RlpContent};

/// One for each transaction of the block.
pub fn receipts_json(encoded: &[u8], block: &Value) -> Result<Vec<Value>, Malformed> {
    let list = Item::read(encoded)?;
    let (receipts, txs) = (list.list()?, block["transactions"].as_array());
    let txs = txs.map(Vec::as_slice).unwrap_or_default();
    if receipts.len() != txs.len() {
        let why = format!("{} receipts for {} transactions", receipts.len(), txs.len());
        return Err(wrong(&why));
    }
    let mut sums = Sums::default();
    receipts.iter().zip(txs).map(|(receipt, tx)| receipt_json(receipt, tx, &mut sums)).collect()
}

/// What the receipts before this one add up to.
#[derive(Default)]
struct Sums {
    gas: U256,
    logs: u64,
}

fn receipt_json(item: &Item, tx: &Value, sums: &mut Sums) -> Result<Value, Malformed> {
    let typed;
    let fields = match item.content {
        RlpContent::List(ref fields) => fields.as_slice(),
        RlpContent::Bytes(bytes) => {
            typed = Item::read(bytes.get(1..).unwrap_or_default())?;
            typed.list()?
        }
    };
    let [status, gas, bloom, logs] = fields else { return Err(wrong("odd receipt")) };
    let cumulative = gas.number()?;
    let used = cumulative.checked_sub(sums.gas).ok_or_else(|| wrong("gas goes down"))?;
    sums.gas = cumulative;
    let mut json = json!({
        "transactionHash": tx["hash"],
        "transactionIndex": tx["transactionIndex"],
        "blockHash": tx["blockHash"],
        "blockNumber": tx["blockNumber"],
        "from": tx["from"],
        "to": tx["to"],
        "type": tx["type"],
        "effectiveGasPrice": tx["gasPrice"],
        "cumulativeGasUsed": gas.quantity()?,
        "gasUsed": format!("{used:#x}"),
        "contractAddress": created(tx),
        "logsBloom": bloom.data()?,
        "logs": logs_json(logs, tx, sums)?,
    });
    // Before Byzantium the state's root stood in the place of the status.
    let (name, value) = match status.bytes()?.len() {
        32 => ("root", status.data()?),
        _ => ("status", status.quantity()?),
    };
    if let Some(fields) = json.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
    Ok(json)
}

fn logs_json(logs: &Item, tx: &Value, sums: &mut Sums) -> Result<Value, Malformed> {
    let mut list = Vec::new();
    for log in logs.list()? {
        let [address, topics, data] = log.list()? else { return Err(wrong("odd log")) };
        let topics = topics.list()?.iter().map(|topic| Ok(topic.hash()?.to_string()));
        list.push(json!({
            "address": address.address()?.to_string().to_lowercase(),
            "topics": topics.collect::<Result<Vec<_>, Malformed>>()?,
            "data": data.data()?,
            "blockNumber": tx["blockNumber"],
            "blockHash": tx["blockHash"],
            "blockTimestamp": tx["blockTimestamp"],
            "transactionHash": tx["hash"],
            "transactionIndex": tx["transactionIndex"],
            "logIndex": format!("{:#x}", sums.logs),
            "removed": false,
        }));
        sums.logs += 1;
    }
    Ok(Value::Array(list))
}

/// The address that a transaction without a receiver makes.
fn created(tx: &Value) -> Value {
    let text = |name: &str| tx[name].as_str();
    let from = text("from").and_then(|from| from.parse::<Address>().ok());
    let nonce = text("nonce").and_then(|nonce| u64::from_str_radix(nonce.get(2..)?, 16).ok());
    match (tx["to"].is_null(), from, nonce) {
        (true, Some(from), Some(nonce)) => from.create(nonce).to_string().to_lowercase().into(),
        _ => Value::Null,
    }
}
