//! A receipt's own bytes, over which the receipts root is made.

use alloy_primitives::Bloom;
use alloy_rlp::Encodable;
use model::raw::tx_rlp::is_deposit;
use model::raw::{Log, Receipt, Tx};
use model::rlp::{put_bytes, put_list};

/// `None` where a field that the encoding needs is missing.
pub fn encode_receipt(tx: &Tx, receipt: &Receipt, bloom: &Bloom, out: &mut Vec<u8>) -> Option<()> {
    let kind = receipt.kind.or(tx.kind).unwrap_or(0);
    let logs = receipt.logs.as_ref()?;
    let cumulative = receipt.cumulative_gas_used?;
    let mut outcome = Vec::with_capacity(33);
    match (receipt.status, receipt.root) {
        (Some(status), _) => (status != 0).encode(&mut outcome),
        (None, Some(root)) => root.encode(&mut outcome),
        (None, None) => return None,
    }
    let mut log_bytes = Vec::with_capacity(logs.len() * 160);
    for log in logs {
        encode_log(log, &mut log_bytes)?;
    }
    if kind > 0 {
        out.push(u8::try_from(kind).ok()?);
    }
    put_list(out, |out| {
        out.append(&mut outcome);
        cumulative.encode(out);
        bloom.encode(out);
        put_list(out, |out| out.append(&mut log_bytes));
        // The nonce alone was stored and told before Canyon, but not encoded.
        if let Some(version) = receipt.deposit_receipt_version.filter(|_| is_deposit(tx)) {
            receipt.deposit_nonce.unwrap_or_default().encode(out);
            version.encode(out);
        }
    });
    Some(())
}

fn encode_log(log: &Log, out: &mut Vec<u8>) -> Option<()> {
    let (address, topics, data) = (log.address?, log.topics.as_ref()?, log.data.as_ref()?);
    put_list(out, |out| {
        address.encode(out);
        topics.encode(out);
        put_bytes(out, data);
    });
    Some(())
}
