//! A block: header, transactions, uncles, and withdrawals since there are any.

use alloy_primitives::keccak256;
use model::raw::Malformed;
use serde_json::{Value, json};

use super::header_json::header_json;
use super::item::{Item, malformed};
use super::tx_json::{Place, tx_json};

pub fn block_json(encoded: &[u8]) -> Result<Value, Malformed> {
    let block = Item::read(encoded)?;
    let Some((head, body)) = block.list()?.split_first() else {
        return Err(malformed("no header"));
    };
    json_of(head, body, encoded.len())
}

/// Header and body apart, as archives keep them.
pub fn block_json_of_parts(header: &[u8], body: &[u8]) -> Result<Value, Malformed> {
    let (head, body) = (Item::read(header)?, Item::read(body)?);
    let parts = body.list()?;
    let payload = header.len() + parts.iter().map(|part| part.encoded.len()).sum::<usize>();
    json_of(&head, parts, payload + alloy_rlp::length_of_length(payload))
}

fn json_of(head: &Item, body: &[Item], size: usize) -> Result<Value, Malformed> {
    if body.len() != 2 && body.len() != 3 {
        return Err(malformed(&format!("a block of {} parts", body.len() + 1)));
    }
    let mut header = header_json(head)?;
    header.insert("size".into(), format!("{size:#x}").into());
    let base_fee = head.list()?.get(15).map(Item::number).transpose()?;
    let mut txs = Vec::new();
    if let Some(list) = body.first() {
        for (index, tx) in list.list()?.iter().enumerate() {
            txs.push(tx_json(tx, &Place { header: &header, index, base_fee })?);
        }
    }
    let mut uncles = Vec::new();
    if let Some(list) = body.get(1) {
        uncles.extend(list.list()?.iter().map(|uncle| keccak256(uncle.encoded).to_string()));
    }
    if let Some(list) = body.get(2) {
        let withdrawals = list.list()?.iter().map(withdrawal_json);
        header.insert("withdrawals".into(), withdrawals.collect::<Result<Vec<_>, _>>()?.into());
    }
    header.insert("transactions".into(), txs.into());
    header.insert("uncles".into(), uncles.into());
    Ok(Value::Object(header))
}

fn withdrawal_json(item: &Item) -> Result<Value, Malformed> {
    let [index, validator, address, amount] = item.list()? else {
        return Err(malformed("odd withdrawal"));
    };
    Ok(json!({
        "index": index.quantity()?,
        "validatorIndex": validator.quantity()?,
        "address": address.address()?.to_string().to_lowercase(),
        "amount": amount.quantity()?,
    }))
}
