//! A stream as its owner configured it: checked, in one form, whatever form it came in. Written as JSON it is
//! what the store keeps and what answers show.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Definition {
    pub webhook_url: String,
    pub description: String,
    pub tag: String,
    pub demo: bool,
    /// Signatures such as `Transfer(address,address,uint256)`, or their hashes.
    pub topic0: Option<Vec<String>>,
    pub all_addresses: bool,
    pub include_native_txs: bool,
    pub filter_possible_spam_addresses: bool,
    pub include_contract_logs: bool,
    pub include_internal_txs: bool,
    pub include_all_tx_logs: bool,
    pub get_native_balances: Vec<NativeBalances>,
    pub triggers: Vec<Trigger>,
    pub abi: Option<Vec<AbiItem>>,
    pub advanced_options: Option<Vec<AdvancedOption>>,
    /// `0x` and lower-case hex without leading zeros, each once.
    pub chain_ids: Vec<String>,
    /// Ours: false sends confirmed blocks only.
    pub include_unconfirmed: bool,
    /// Ours: says when an unconfirmed block that was delivered is reverted.
    pub include_retractions: bool,
    /// Ours: past blocks from this one on are delivered first.
    pub from_block: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NativeBalances {
    pub selectors: Vec<String>,
    #[serde(rename = "type")]
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdvancedOption {
    pub topic0: String,
    /// In the grammar of `filter`, as it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_native_txs: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Trigger {
    #[serde(rename = "type")]
    pub kind: String,
    pub contract_address: String,
    pub function_abi: AbiItem,
    /// Texts, or lists of them for structs and arrays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic0: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_from: Option<String>,
}

/// Only the fields that were given are written again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AbiItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anonymous: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<AbiParam>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<AbiParam>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_mutability: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    /// An integer that JavaScript can hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gas: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AbiParam {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<AbiParam>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_type: Option<String>,
}
