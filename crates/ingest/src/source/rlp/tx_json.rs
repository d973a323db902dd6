//! A transaction: a list, or bytes whose first says its type.

use alloy_primitives::{U256, keccak256};
use model::raw::{Malformed, Tx};
use serde_json::{Map, Value, json};

use super::item::{Item, RlpContent, malformed};
use crate::verify::{Signer, signer};

/// Where it stands.
pub struct Place<'a> {
    pub header: &'a Map<String, Value>,
    pub index: usize,
    pub base_fee: Option<U256>,
}

/// Fields of a type, in the order in which they are encoded; the signature follows.
const LEGACY: &[&str] = &["nonce", "gasPrice", "gas", "to", "value", "input"];
const ACCESS_LIST: &[&str] =
    &["chainId", "nonce", "gasPrice", "gas", "to", "value", "input", "accessList"];
const DYNAMIC_FEE: &[&str] = &[
    "chainId",
    "nonce",
    "maxPriorityFeePerGas",
    "maxFeePerGas",
    "gas",
    "to",
    "value",
    "input",
    "accessList",
];
const BLOB: &[&str] = &[
    "chainId",
    "nonce",
    "maxPriorityFeePerGas",
    "maxFeePerGas",
    "gas",
    "to",
    "value",
    "input",
    "accessList",
    "maxFeePerBlobGas",
    "blobVersionedHashes",
];
const SET_CODE: &[&str] = &[
    "chainId",
    "nonce",
    "maxPriorityFeePerGas",
    "maxFeePerGas",
    "gas",
    "to",
    "value",
    "input",
    "accessList",
    "authorizationList",
];

pub fn tx_json(item: &Item, place: &Place) -> Result<Value, Malformed> {
    let (kind, bytes) = match item.content {
        RlpContent::List(_) => (0, item.encoded),
        RlpContent::Bytes(bytes) => (bytes.first().copied().unwrap_or_default(), bytes),
    };
    let names = match kind {
        0 => LEGACY,
        1 => ACCESS_LIST,
        2 => DYNAMIC_FEE,
        3 => BLOB,
        4 => SET_CODE,
        other => return Err(malformed(&format!("a transaction of type {other:#x}"))),
    };
    let body = match kind {
        0 => bytes,
        _ => bytes.get(1..).unwrap_or_default(),
    };
    let body = Item::read(body)?;
    let fields = body.list()?;
    let Some((fields, signature)) = fields.split_last_chunk::<3>() else {
        return Err(malformed("a transaction without a signature"));
    };
    if fields.len() != names.len() {
        return Err(malformed(&format!("a transaction of {} fields", fields.len() + 3)));
    }
    let mut tx = Map::new();
    for (name, field) in names.iter().zip(fields) {
        tx.insert((*name).to_owned(), field_json(name, field)?);
    }
    add_signature(&mut tx, kind, signature)?;
    tx.insert("type".into(), format!("{kind:#x}").into());
    tx.insert("hash".into(), keccak256(bytes).to_string().into());
    add_place(&mut tx, place)?;
    add_sender(tx)
}

fn field_json(name: &str, field: &Item) -> Result<Value, Malformed> {
    Ok(match name {
        "to" if field.bytes()?.is_empty() => Value::Null,
        "to" => field.address()?.to_string().to_lowercase().into(),
        "input" => field.data()?.into(),
        "accessList" => list_json(field, access_json)?,
        "blobVersionedHashes" => list_json(field, |hash| Ok(hash.hash()?.to_string().into()))?,
        "authorizationList" => list_json(field, authorization_json)?,
        _ => field.quantity()?.into(),
    })
}

fn list_json(
    field: &Item,
    of_item: impl Fn(&Item) -> Result<Value, Malformed>,
) -> Result<Value, Malformed> {
    field.list()?.iter().map(of_item).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn access_json(item: &Item) -> Result<Value, Malformed> {
    let [address, keys] = item.list()? else { return Err(malformed("odd access list")) };
    let address = address.address()?.to_string().to_lowercase();
    let keys = list_json(keys, |key| Ok(key.hash()?.to_string().into()))?;
    Ok(json!({ "address": address, "storageKeys": keys }))
}

fn authorization_json(item: &Item) -> Result<Value, Malformed> {
    let [chain, address, nonce, parity, r, s] = item.list()? else {
        return Err(malformed("odd authorization"));
    };
    Ok(json!({
        "chainId": chain.quantity()?,
        "address": address.address()?.to_string().to_lowercase(),
        "nonce": nonce.quantity()?,
        "yParity": parity.quantity()?,
        "r": r.quantity()?,
        "s": s.quantity()?,
    }))
}

/// A legacy transaction tells its chain in `v`, if it does.
fn add_signature(
    tx: &mut Map<String, Value>,
    kind: u8,
    [v, r, s]: &[Item; 3],
) -> Result<(), Malformed> {
    for (name, value) in [("v", v), ("r", r), ("s", s)] {
        tx.insert(name.to_owned(), value.quantity()?.into());
    }
    let (v, first) = (v.number()?, U256::from(35));
    if kind != 0 {
        tx.insert("yParity".into(), format!("{v:#x}").into());
    } else if v >= first {
        tx.insert("chainId".into(), format!("{:#x}", (v - first) / U256::from(2)).into());
    }
    Ok(())
}

fn add_place(tx: &mut Map<String, Value>, place: &Place) -> Result<(), Malformed> {
    for (of_tx, of_block) in
        [("blockHash", "hash"), ("blockNumber", "number"), ("blockTimestamp", "timestamp")]
    {
        let value = place.header.get(of_block).cloned().unwrap_or_default();
        tx.insert(of_tx.to_owned(), value);
    }
    tx.insert("transactionIndex".into(), format!("{:#x}", place.index).into());
    if let (Some(cap), Some(tip)) = (number(tx, "maxFeePerGas"), number(tx, "maxPriorityFeePerGas"))
    {
        // What was paid.
        let price = cap.min(place.base_fee.unwrap_or_default().saturating_add(tip));
        tx.insert("gasPrice".into(), format!("{price:#x}").into());
    }
    Ok(())
}

fn number(tx: &Map<String, Value>, name: &str) -> Option<U256> {
    U256::from_str_radix(tx.get(name)?.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn add_sender(mut tx: Map<String, Value>) -> Result<Value, Malformed> {
    let text = Value::Object(tx.clone()).to_string();
    let signed: Tx = serde_json::from_str(&text).map_err(|error| malformed(&error.to_string()))?;
    let Signer::Is(sender) = signer(&signed) else {
        return Err(malformed("a transaction whose signature names no sender"));
    };
    tx.insert("from".into(), sender.to_string().to_lowercase().into());
    Ok(Value::Object(tx))
}
