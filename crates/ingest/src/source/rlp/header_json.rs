//! A header's fields, in the order in which they are encoded.

use alloy_primitives::keccak256;
use model::raw::Malformed;
use serde_json::{Map, Value};

use super::item::{Item, malformed};

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Quantity,
    Data,
}

use Form::{Data, Quantity};

/// Those of all headers, then those that forks added.
const FIELDS: [(&str, Form); 21] = [
    ("parentHash", Data),
    ("sha3Uncles", Data),
    ("miner", Data),
    ("stateRoot", Data),
    ("transactionsRoot", Data),
    ("receiptsRoot", Data),
    ("logsBloom", Data),
    ("difficulty", Quantity),
    ("number", Quantity),
    ("gasLimit", Quantity),
    ("gasUsed", Quantity),
    ("timestamp", Quantity),
    ("extraData", Data),
    ("mixHash", Data),
    ("nonce", Data),
    ("baseFeePerGas", Quantity),
    ("withdrawalsRoot", Data),
    ("blobGasUsed", Quantity),
    ("excessBlobGas", Quantity),
    ("parentBeaconBlockRoot", Data),
    ("requestsHash", Data),
];
const FIELDS_MIN: usize = 15;

pub fn header_json(item: &Item) -> Result<Map<String, Value>, Malformed> {
    let fields = item.list()?;
    if !(FIELDS_MIN..=FIELDS.len()).contains(&fields.len()) {
        return Err(malformed(&format!("a header of {} fields", fields.len())));
    }
    let mut json = Map::new();
    for ((name, form), field) in FIELDS.iter().zip(fields) {
        let value = if *form == Quantity { field.quantity()? } else { field.data()? };
        json.insert((*name).to_owned(), value.into());
    }
    json.insert("hash".to_owned(), keccak256(item.encoded).to_string().into());
    Ok(json)
}
