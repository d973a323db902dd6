//! Which changes each field is put through, by the objects that have it and those that must not.

use super::{Edit, Object};

pub(super) struct FieldLies {
    pub objects: &'static [Object],
    pub field: &'static str,
    pub edits: &'static [Edit],
}

const fn lies(
    objects: &'static [Object],
    field: &'static str,
    edits: &'static [Edit],
) -> FieldLies {
    FieldLies { objects, field, edits }
}

const UNREADABLE: &str = r#""0xnone""#;
const ONE: &str = r#""0x1""#;
const MANY: &str = r#""0x5a5a5a5a""#;
const HASH: &str = r#""0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a""#;
const ADDRESS: &str = r#""0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a""#;
const HASHES: &str = r#"["0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"]"#;
const WITHDRAWALS: &str = r#"[{"index":"0x1","validatorIndex":"0x2","address":"0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","amount":"0x3"}]"#;
const ACCESS_LIST: &str =
    r#"[{"address":"0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","storageKeys":[]}]"#;
const AUTHORIZATIONS: &str = r#"[{"chainId":"0x1","address":"0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","nonce":"0x1","yParity":"0x0","r":"0x1","s":"0x1"}]"#;

const fn tx(kind: u8) -> Object {
    Object::Tx(Some(kind))
}

const fn receipt(kind: u8) -> Object {
    Object::Receipt(Some(kind))
}

const HEADER: &[Object] = &[Object::Header];
const TXS: &[Object] = &[tx(0), tx(1), tx(2), tx(3), tx(4), tx(0x7e)];
const SIGNED: &[Object] = &[tx(0), tx(1), tx(2), tx(3), tx(4)];
const TYPED: &[Object] = &[tx(1), tx(2), tx(3), tx(4)];
const TIPPED: &[Object] = &[tx(2), tx(3), tx(4)];
const NO_TIP: &[Object] = &[tx(0), tx(1)];
const NO_BLOBS: &[Object] = &[tx(0), tx(1), tx(2), tx(4)];
const NO_CODE: &[Object] = &[tx(0), tx(1), tx(2), tx(3)];
const RECEIPTS: &[Object] = &[receipt(0), receipt(2), receipt(0x7e)];
const NO_BLOB_RECEIPTS: &[Object] = &[receipt(0), receipt(2)];

pub(super) const FIELDS: &[FieldLies] = &[
    lies(HEADER, "hash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "parentHash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "sha3Uncles", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "miner", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "stateRoot", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "transactionsRoot", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "receiptsRoot", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "logsBloom", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "mixHash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "nonce", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "number", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "difficulty", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "gasLimit", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "gasUsed", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "timestamp", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "extraData", &[Edit::Grow, Edit::Replace(UNREADABLE)]),
    lies(HEADER, "size", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(
        HEADER,
        "baseFeePerGas",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Add(ONE)],
    ),
    lies(
        HEADER,
        "blobGasUsed",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Add(ONE)],
    ),
    lies(
        HEADER,
        "excessBlobGas",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Add(ONE)],
    ),
    lies(
        HEADER,
        "withdrawalsRoot",
        &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Add(HASH)],
    ),
    lies(
        HEADER,
        "parentBeaconBlockRoot",
        &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Add(HASH)],
    ),
    lies(
        HEADER,
        "requestsHash",
        &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Add(HASH)],
    ),
    lies(HEADER, "uncles", &[Edit::Put(HASHES), Edit::Replace(UNREADABLE)]),
    lies(
        HEADER,
        "withdrawals",
        &[Edit::Add(WITHDRAWALS), Edit::DropFirst, Edit::Replace(UNREADABLE)],
    ),
    lies(HEADER, "transactions", &[Edit::DropFirst]),
    lies(&[Object::Withdrawal], "index", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(
        &[Object::Withdrawal],
        "validatorIndex",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(&[Object::Withdrawal], "amount", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(&[Object::Withdrawal], "address", &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(TXS, "blockHash", &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(TXS, "blockNumber", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(TXS, "transactionIndex", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(TXS, "blockTimestamp", &[Edit::Bump, Edit::Put(ONE), Edit::Replace(UNREADABLE)]),
    lies(TXS, "from", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(&[Object::EveryTx], "from", &[Edit::Flip]),
    lies(TXS, "hash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(TXS, "gas", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(TXS, "nonce", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(SIGNED, "nonce", &[Edit::Remove]),
    lies(TXS, "value", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(TXS, "gasPrice", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(TXS, "input", &[Edit::Grow, Edit::Replace(UNREADABLE)]),
    lies(TXS, "to", &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Replace("null")]),
    lies(TXS, "type", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(TXS, "r", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put(ONE)]),
    lies(TXS, "s", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put(ONE)]),
    lies(TXS, "v", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("\"0x25\"")]),
    lies(TXS, "chainId", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Tx(Some(0))], "yParity", &[Edit::Put("\"0x2\"")]),
    lies(TYPED, "yParity", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(NO_TIP, "maxFeePerGas", &[Edit::Add(ONE)]),
    lies(NO_TIP, "maxPriorityFeePerGas", &[Edit::Add(ONE)]),
    lies(TIPPED, "maxFeePerGas", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(TIPPED, "maxPriorityFeePerGas", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Tx(Some(0))], "accessList", &[Edit::Put(ACCESS_LIST)]),
    lies(TYPED, "accessList", &[Edit::Put(ACCESS_LIST), Edit::Replace(UNREADABLE)]),
    lies(NO_BLOBS, "maxFeePerBlobGas", &[Edit::Add(ONE)]),
    lies(NO_BLOBS, "blobVersionedHashes", &[Edit::Put(HASHES)]),
    lies(NO_CODE, "authorizationList", &[Edit::Put(AUTHORIZATIONS)]),
    lies(TXS, "sourceHash", &[Edit::Add(HASH)]),
    lies(TXS, "mint", &[Edit::Add(ONE)]),
    lies(TXS, "isSystemTx", &[Edit::Put("true")]),
    lies(
        &[Object::AccessListItem],
        "address",
        &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(
        &[Object::AccessListItem],
        "storageKeys",
        &[Edit::Put(HASHES), Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(RECEIPTS, "transactionHash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(RECEIPTS, "transactionIndex", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(RECEIPTS, "blockNumber", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(RECEIPTS, "blockHash", &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(RECEIPTS, "from", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(&[Object::CallReceipt], "to", &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(&[Object::CallReceipt], "contractAddress", &[Edit::Put(ADDRESS), Edit::Put(UNREADABLE)]),
    lies(RECEIPTS, "cumulativeGasUsed", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(RECEIPTS, "gasUsed", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(RECEIPTS, "effectiveGasPrice", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(RECEIPTS, "logsBloom", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(RECEIPTS, "type", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(
        RECEIPTS,
        "status",
        &[Edit::Bump, Edit::Replace("\"0x7\""), Edit::Replace(UNREADABLE), Edit::Add(ONE)],
    ),
    lies(RECEIPTS, "root", &[Edit::Add(HASH), Edit::Flip]),
    lies(NO_BLOB_RECEIPTS, "blobGasUsed", &[Edit::Add(ONE)]),
    // The least price is what some nodes write there.
    lies(NO_BLOB_RECEIPTS, "blobGasPrice", &[Edit::Add(MANY)]),
    lies(RECEIPTS, "depositNonce", &[Edit::Add(ONE)]),
    lies(RECEIPTS, "depositReceiptVersion", &[Edit::Add(ONE)]),
    lies(RECEIPTS, "logs", &[Edit::DropFirst, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Log], "address", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Log], "data", &[Edit::Grow, Edit::Replace(UNREADABLE)]),
    lies(
        &[Object::Log],
        "topics",
        &[Edit::Put(HASHES), Edit::DropFirst, Edit::Replace(UNREADABLE)],
    ),
    lies(
        &[Object::Log],
        "blockNumber",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")],
    ),
    lies(
        &[Object::Log],
        "transactionIndex",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")],
    ),
    lies(&[Object::Log], "logIndex", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Put("null")]),
    lies(&[Object::Log], "transactionHash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Log], "blockHash", &[Edit::Flip, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Log], "removed", &[Edit::Put("true"), Edit::Replace(UNREADABLE)]),
    lies(
        &[Object::Log],
        "blockTimestamp",
        &[Edit::Bump, Edit::Put(ONE), Edit::Replace(UNREADABLE)],
    ),
];

/// Where a contract is made.
pub(super) const CREATIONS: &[FieldLies] = &[
    lies(&[Object::CreationTx], "to", &[Edit::Put(ADDRESS)]),
    lies(&[Object::CreationReceipt], "to", &[Edit::Put(ADDRESS)]),
    lies(
        &[Object::CreationReceipt],
        "contractAddress",
        &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove, Edit::Put("null")],
    ),
];

/// Of blob transactions.
pub(super) const BLOB: &[FieldLies] = &[
    lies(
        &[Object::Tx(Some(3))],
        "maxFeePerBlobGas",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(
        &[Object::Tx(Some(3))],
        "blobVersionedHashes",
        &[Edit::DropFirst, Edit::Put(HASHES), Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(&[Object::Receipt(Some(3))], "blobGasUsed", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
    lies(&[Object::Receipt(Some(3))], "blobGasPrice", &[Edit::Bump, Edit::Replace(UNREADABLE)]),
];

/// Of transactions that set code.
pub(super) const SET_CODE: &[FieldLies] = &[
    lies(
        &[Object::Tx(Some(4))],
        "authorizationList",
        &[Edit::DropFirst, Edit::Put(AUTHORIZATIONS), Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(
        &[Object::Authorization],
        "chainId",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(&[Object::Authorization], "nonce", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(
        &[Object::Authorization],
        "yParity",
        &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove],
    ),
    lies(&[Object::Authorization], "r", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(&[Object::Authorization], "s", &[Edit::Bump, Edit::Replace(UNREADABLE), Edit::Remove]),
    lies(
        &[Object::Authorization],
        "address",
        &[Edit::Flip, Edit::Replace(UNREADABLE), Edit::Remove],
    ),
];
