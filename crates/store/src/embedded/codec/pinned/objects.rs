//! A block made by hand in which every kind of field, null and surplus stands somewhere.

use alloy_primitives::{Address, Bytes, U256};
use model::raw::{Block, Frame, FrameKind, Header, Receipt, Tx, Withdrawal};

fn word(byte: u8) -> String {
    format!("0x{}", format!("{byte:02x}").repeat(32))
}

fn account(byte: u8) -> String {
    format!("0x{}", format!("{byte:02x}").repeat(20))
}

fn header() -> Header {
    let [hash, parent, root] = [0xb1, 0xb0, 0xb2].map(word);
    let (miner, heir) = (account(0xa1), account(0xa2));
    let bloom = "01".repeat(256);
    let text = format!(
        r#"{{"number":"0x64","hash":"{hash}","parentHash":"{parent}","nonce":"0x0000000000000042",
        "sha3Uncles":"{root}","logsBloom":"0x{bloom}","transactionsRoot":"{root}","stateRoot":"{root}",
        "receiptsRoot":"{root}","miner":"{miner}","difficulty":"0x0","totalDifficulty":"0xc70d815d562d3cfa955",
        "extraData":"0xd883010d0d","size":"0x21c","gasLimit":"0x1c9c380","gasUsed":"0xa410","timestamp":"0x65000000",
        "mixHash":"{root}","baseFeePerGas":"0x7","withdrawalsRoot":"{root}","blobGasUsed":"0x20000",
        "excessBlobGas":"0x0","parentBeaconBlockRoot":"{root}","requestsHash":null,"uncles":["{parent}","{root}"],
        "withdrawals":[{{"index":"0x1","validatorIndex":"0x80","address":"{heir}","amount":"0xffffffffffffffff"}}],
        "l1BlockNumber":"0x12","sealFields":["0x1",null]}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// With a null, a field of an odd form and fields that nobody knows.
fn old_tx() -> Tx {
    let [block, hash] = [0xb1, 0xc0].map(word);
    let (from, to) = (account(0xf0), account(0xf1));
    let text = format!(
        r#"{{"blockHash":"{block}","blockNumber":"0x64","from":"{from}","gas":"0x5208","gasPrice":"0x4a817c800",
        "hash":"{hash}","input":"0xa9059cbb","nonce":"0x07","to":"{to}","transactionIndex":"0x0",
        "value":"0xde0b6b3a7640000","type":"0x0","chainId":"0x1","v":"0x1b","r":"{block}","s":"0x1",
        "accessList":null,"fork\"field":{{"a":[1,2,{{"b":null}}]}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// Every field that a transaction can have.
fn new_tx() -> Tx {
    let [block, hash, blob] = [0xb1, 0xc1, 0xc2].map(word);
    let (from, code) = (account(0xf0), account(0xf3));
    let text = format!(
        r#"{{"blockHash":"{block}","blockNumber":"0x64","from":"{from}","gas":"0x30d40","gasPrice":"0x9",
        "maxFeePerGas":"0x10","maxPriorityFeePerGas":"0x2","maxFeePerBlobGas":"0x1","hash":"{hash}","input":"0x",
        "nonce":"0x8","to":null,"transactionIndex":"0x1","value":"0x0","type":"0x4",
        "accessList":[{{"address":"{code}","storageKeys":["{blob}","{hash}"]}},{{"address":"{from}","storageKeys":[]}}],
        "chainId":"0x1","blobVersionedHashes":["{blob}"],
        "authorizationList":[{{"chainId":"0x1","address":"{code}","nonce":"0x5","yParity":"0x1","r":"0x2","s":"0x3","odd":7}}],
        "v":"0x1","r":"{hash}","s":"{blob}","yParity":"0x1","blockTimestamp":"0x65000000","sourceHash":"{blob}",
        "mint":"0x0","isSystemTx":false}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn receipt() -> Receipt {
    let [block, hash, topic] = [0xb1, 0xc0, 0xd0].map(word);
    let (from, to) = (account(0xf0), account(0xf1));
    let bloom = "20".repeat(256);
    let log = |index: &str, more: &str| {
        format!(
            r#"{{"address":"{to}","topics":["{topic}","{hash}"],"data":"0x0102","blockNumber":"0x64",
            "transactionHash":"{hash}","transactionIndex":"0x0","blockHash":"{block}","logIndex":"{index}","removed":{more}}}"#
        )
    };
    let logs = [log("0x5", "false"), log("0x6", r#"true,"blockTimestamp":"0x1","extra":{}"#)];
    let text = format!(
        r#"{{"transactionHash":"{hash}","transactionIndex":"0x0","blockHash":"{block}","blockNumber":"0x64",
        "from":"{from}","to":"{to}","cumulativeGasUsed":"0xa410","gasUsed":"0x5208","effectiveGasPrice":"0x4a817c800",
        "contractAddress":null,"logsBloom":"0x{bloom}","type":"0x0","status":"0x1","root":"{topic}","blobGasUsed":"0x0",
        "blobGasPrice":"0x1","depositNonce":"0x9","depositReceiptVersion":"0x1","logs":[{}],"l1Fee":"0x3"}}"#,
        logs.join(",")
    );
    serde_json::from_str(&text).unwrap()
}

fn frames() -> Vec<Frame> {
    use FrameKind::{Call, CallCode, Create, Create2, DelegateCall, SelfDestruct, StaticCall};
    let kinds = [Call, CallCode, DelegateCall, StaticCall, Create, Create2, SelfDestruct];
    let frame = |(place, kind): (u32, FrameKind)| Frame {
        path: vec![place; place as usize],
        kind,
        from: Address::repeat_byte(0xe0),
        to: (kind != Create).then(|| Address::repeat_byte(0xe1)),
        value: U256::from(place) << 100,
        gas: 1 << (9 * place),
        gas_used: place.into(),
        input: Bytes::from(vec![0xab; place as usize]),
        output: Bytes::from(vec![0xcd; 130 * usize::from(kind == Call)]),
        error: (kind == StaticCall).then(|| "execution reverted".into()),
        undone: kind == Create2,
    };
    (0..).zip(kinds).map(frame).collect()
}

pub fn withdrawal() -> Withdrawal {
    header().withdrawals.unwrap().remove(0)
}

pub fn block() -> Block {
    let mut block =
        Block::from_header(Header { transactions: Some(vec![old_tx(), new_tx()]), ..header() })
            .unwrap();
    block.receipts = vec![Some(receipt()), None];
    block.traces = Some(vec![frames(), Vec::new()]);
    block
}
