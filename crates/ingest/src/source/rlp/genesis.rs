//! Block 0 from a genesis file: its accounts make the state root, its forks say which fields the header has.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_rlp::Encodable;
use alloy_trie::{EMPTY_ROOT_HASH, HashBuilder, KECCAK_EMPTY, Nibbles};
use model::raw::{Header, Malformed};
use model::rlp::put_list;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::verify::encode_header;

const EMPTY_UNCLES: &str = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
/// SHA-256 of nothing: no requests.
const EMPTY_REQUESTS: &str = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const FIRST_BASE_FEE: &str = "0x3b9aca00";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Genesis {
    config: Map<String, Value>,
    alloc: BTreeMap<String, Account>,
    gas_limit: Value,
    difficulty: Option<Value>,
    #[serde(default)]
    nonce: Option<Value>,
    timestamp: Option<Value>,
    extra_data: Option<String>,
    mix_hash: Option<String>,
    coinbase: Option<String>,
    base_fee_per_gas: Option<Value>,
    excess_blob_gas: Option<Value>,
    blob_gas_used: Option<Value>,
}

#[derive(Deserialize)]
struct Account {
    #[serde(default)]
    balance: Value,
    #[serde(default)]
    nonce: Value,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    storage: BTreeMap<String, String>,
}

fn wrong(what: &str) -> Malformed {
    Malformed::new("genesis", what)
}

/// As a node's `eth_getBlockByNumber` would say it.
pub fn genesis_json(text: &str) -> Result<Value, Malformed> {
    let genesis: Genesis = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let time = quantity(genesis.timestamp.as_ref())?;
    let zero = || format!("{:#x}", B256::ZERO);
    let mut block = json!({
        "number": "0x0",
        "parentHash": zero(),
        "sha3Uncles": EMPTY_UNCLES,
        "miner": genesis.coinbase.clone().unwrap_or_else(|| format!("{:#x}", Address::ZERO)),
        "stateRoot": state_root(&genesis.alloc)?.to_string(),
        "transactionsRoot": EMPTY_ROOT_HASH.to_string(),
        "receiptsRoot": EMPTY_ROOT_HASH.to_string(),
        "logsBloom": format!("0x{}", "0".repeat(512)),
        "difficulty": hex(quantity(genesis.difficulty.as_ref())?),
        "gasLimit": hex(quantity(Some(&genesis.gas_limit))?),
        "gasUsed": "0x0",
        "timestamp": hex(time),
        "extraData": genesis.extra_data.clone().unwrap_or_else(|| "0x".to_owned()),
        "mixHash": genesis.mix_hash.clone().unwrap_or_else(zero),
        "nonce": format!("0x{:016x}", quantity(genesis.nonce.as_ref())?),
        "transactions": [],
        "uncles": [],
    });
    if let Some(fields) = block.as_object_mut() {
        add_forks(fields, &genesis, time)?;
        let header: Header = serde_json::from_str(&Value::Object(fields.clone()).to_string())
            .map_err(|error| wrong(&error.to_string()))?;
        let encoded = encode_header(&header).ok_or_else(|| wrong("a field is missing"))?;
        let mut whole = Vec::with_capacity(encoded.len() + 8);
        put_list(&mut whole, |out| {
            out.extend_from_slice(&encoded);
            let lists = 2 + usize::from(header.withdrawals.is_some());
            out.extend(std::iter::repeat_n(alloy_rlp::EMPTY_LIST_CODE, lists));
        });
        fields.insert("hash".into(), keccak256(&encoded).to_string().into());
        fields.insert("size".into(), format!("{:#x}", whole.len()).into());
    }
    Ok(block)
}

fn add_forks(
    fields: &mut Map<String, Value>,
    genesis: &Genesis,
    time: U256,
) -> Result<(), Malformed> {
    let is_from_start = |name: &str| match genesis.config.get(name) {
        Some(Value::Null) | None => Ok(false),
        at => Ok(quantity(at)? <= if name.ends_with("Time") { time } else { U256::ZERO }),
    };
    let given = |value: &Option<Value>, default: &str| match value {
        Some(Value::Null) | None => Ok(default.to_owned()),
        value => quantity(value.as_ref()).map(hex),
    };
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    if is_from_start("londonBlock")? {
        put("baseFeePerGas", given(&genesis.base_fee_per_gas, FIRST_BASE_FEE)?.into());
    }
    if is_from_start("shanghaiTime")? {
        put("withdrawalsRoot", EMPTY_ROOT_HASH.to_string().into());
        put("withdrawals", json!([]));
    }
    if is_from_start("cancunTime")? {
        put("blobGasUsed", given(&genesis.blob_gas_used, "0x0")?.into());
        put("excessBlobGas", given(&genesis.excess_blob_gas, "0x0")?.into());
        put("parentBeaconBlockRoot", format!("{:#x}", B256::ZERO).into());
    }
    if is_from_start("pragueTime")? {
        put("requestsHash", EMPTY_REQUESTS.into());
    }
    Ok(())
}

fn hex(value: U256) -> String {
    format!("{value:#x}")
}

/// Files have numbers as hex, as decimal text and as JSON numbers.
fn quantity(value: Option<&Value>) -> Result<U256, Malformed> {
    let parsed = match value {
        None | Some(Value::Null) => Some(U256::ZERO),
        Some(Value::Number(number)) => number.as_u64().map(U256::from),
        Some(Value::String(text)) => match text.strip_prefix("0x") {
            Some("") => Some(U256::ZERO),
            Some(digits) => U256::from_str_radix(digits, 16).ok(),
            None => U256::from_str_radix(text, 10).ok(),
        },
        Some(_) => None,
    };
    parsed.ok_or_else(|| wrong("a number cannot be read"))
}

fn bytes(text: &str) -> Result<Bytes, Malformed> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    alloy_primitives::hex::decode(digits).map(Bytes::from).map_err(|_| wrong("no hex bytes"))
}

fn state_root(alloc: &BTreeMap<String, Account>) -> Result<B256, Malformed> {
    let mut leaves = BTreeMap::new();
    for (address, account) in alloc {
        let address = bytes(address)?;
        if address.len() != 20 {
            return Err(wrong("an account's address is not 20 bytes long"));
        }
        let code = account.code.as_deref().map(bytes).transpose()?.unwrap_or_default();
        let code_hash = if code.is_empty() { KECCAK_EMPTY } else { keccak256(&code) };
        let (nonce, balance) = (quantity(Some(&account.nonce))?, quantity(Some(&account.balance))?);
        let storage = storage_root(&account.storage)?;
        let mut leaf = Vec::with_capacity(110);
        put_list(&mut leaf, |out| {
            nonce.encode(out);
            balance.encode(out);
            storage.encode(out);
            code_hash.encode(out);
        });
        leaves.insert(keccak256(&address), leaf);
    }
    Ok(root(&leaves))
}

fn storage_root(storage: &BTreeMap<String, String>) -> Result<B256, Malformed> {
    let mut leaves = BTreeMap::new();
    for (slot, value) in storage {
        let word = |text: &str| {
            let bytes = bytes(text)?;
            U256::try_from_be_slice(&bytes).ok_or_else(|| wrong("storage of more than 32 bytes"))
        };
        let value = word(value)?;
        if !value.is_zero() {
            let slot = keccak256(word(slot)?.to_be_bytes::<32>());
            leaves.insert(slot, alloy_rlp::encode(value));
        }
    }
    Ok(root(&leaves))
}

fn root(leaves: &BTreeMap<B256, Vec<u8>>) -> B256 {
    let mut builder = HashBuilder::default();
    for (key, leaf) in leaves {
        builder.add_leaf(Nibbles::unpack(key), leaf);
    }
    builder.root()
}
