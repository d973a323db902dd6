//! Transfers and approvals of tokens, as a webhook tells them beside the logs they were read from.

use alloy_primitives::{Address, B256, U256};

use super::{FieldValue, Item, Tokens, TriggerResults};

/// Which log an event was read from, and what it takes over from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogOrigin {
    /// Place in the webhook's list of logs.
    pub log: usize,
    pub transaction_hash: B256,
    pub log_index: u64,
    pub contract: Address,
    pub triggered_by: Vec<Address>,
    pub possible_spam: bool,
}

impl LogOrigin {
    fn value<'a>(&'a self, key: &str, tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "transactionHash" => FieldValue::Word(self.transaction_hash),
            "logIndex" => FieldValue::Small(self.log_index),
            "contract" => FieldValue::Address(self.contract),
            "triggered_by" => FieldValue::Addresses(&self.triggered_by),
            "possibleSpam" => FieldValue::Bool(self.possible_spam),
            "tokenName" => tokens.name(self.contract),
            "tokenSymbol" => tokens.symbol(self.contract),
            "tokenDecimals" => tokens.decimals(self.contract),
            _ => FieldValue::Null,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NftStandard {
    #[default]
    Erc721,
    Erc1155,
}

impl NftStandard {
    fn name(self) -> FieldValue<'static> {
        match self {
            Self::Erc721 => "ERC721".into(),
            Self::Erc1155 => "ERC1155".into(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Erc20Transfer {
    pub origin: LogOrigin,
    pub from: Address,
    pub to: Address,
    pub value: U256,
    pub triggers: TriggerResults,
}

impl Item for Erc20Transfer {
    const KEYS: &'static [&'static str] = &[
        "transactionHash",
        "logIndex",
        "contract",
        "triggered_by",
        "from",
        "to",
        "value",
        "tokenName",
        "tokenSymbol",
        "tokenDecimals",
        "possibleSpam",
        "valueWithDecimals",
    ];

    fn value<'a>(&'a self, key: &str, tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "from" => FieldValue::Address(self.from),
            "to" => FieldValue::Address(self.to),
            "value" => FieldValue::Large(self.value),
            "valueWithDecimals" => tokens.amount(self.origin.contract, self.value),
            _ => self.origin.value(key, tokens),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Erc20Approval {
    pub origin: LogOrigin,
    pub owner: Address,
    pub spender: Address,
    pub value: U256,
    pub triggers: TriggerResults,
}

impl Item for Erc20Approval {
    const KEYS: &'static [&'static str] = &[
        "transactionHash",
        "logIndex",
        "contract",
        "triggered_by",
        "owner",
        "spender",
        "value",
        "tokenName",
        "tokenSymbol",
        "tokenDecimals",
        "possibleSpam",
        "valueWithDecimals",
    ];

    fn value<'a>(&'a self, key: &str, tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "owner" => FieldValue::Address(self.owner),
            "spender" => FieldValue::Address(self.spender),
            "value" => FieldValue::Large(self.value),
            "valueWithDecimals" => tokens.amount(self.origin.contract, self.value),
            _ => self.origin.value(key, tokens),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NftTransfer {
    pub origin: LogOrigin,
    /// Who moved it; ERC1155 alone says so.
    pub operator: Option<Address>,
    pub from: Address,
    pub to: Address,
    pub token_id: U256,
    pub amount: U256,
    pub standard: NftStandard,
    pub triggers: TriggerResults,
}

impl Item for NftTransfer {
    const KEYS: &'static [&'static str] = &[
        "operator",
        "from",
        "to",
        "tokenId",
        "amount",
        "transactionHash",
        "logIndex",
        "contract",
        "triggered_by",
        "tokenName",
        "tokenSymbol",
        "tokenContractType",
        "possibleSpam",
    ];

    fn value<'a>(&'a self, key: &str, tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "operator" => self.operator.into(),
            "from" => FieldValue::Address(self.from),
            "to" => FieldValue::Address(self.to),
            "tokenId" => FieldValue::Large(self.token_id),
            "amount" => FieldValue::Large(self.amount),
            "tokenContractType" => self.standard.name(),
            _ => self.origin.value(key, tokens),
        }
    }
}

/// One NFT (`token_id`), or all of an account's at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NftApproval {
    pub origin: LogOrigin,
    pub account: Address,
    pub operator: Address,
    pub approved_all: bool,
    pub token_id: Option<U256>,
}

impl NftApproval {
    /// The forms of `nftApprovals`, which the live service keeps for older receivers.
    pub const KEYS_ERC721: &'static [&'static str] = &[
        "transactionHash",
        "logIndex",
        "contract",
        "triggered_by",
        "owner",
        "approved",
        "tokenId",
        "tokenName",
        "tokenSymbol",
        "tokenContractType",
        "possibleSpam",
    ];
    pub const KEYS_ERC1155: &'static [&'static str] = &[
        "transactionHash",
        "logIndex",
        "contract",
        "triggered_by",
        "account",
        "operator",
        "approved",
        "tokenName",
        "tokenSymbol",
        "tokenContractType",
        "possibleSpam",
    ];

    /// `ApprovalForAll` is the same event in both standards; it is told as ERC1155's, as the live service does.
    pub fn standard(&self) -> NftStandard {
        if self.token_id.is_some() { NftStandard::Erc721 } else { NftStandard::Erc1155 }
    }
}

impl Item for NftApproval {
    const KEYS: &'static [&'static str] = &[
        "transactionHash",
        "logIndex",
        "contract",
        "triggered_by",
        "account",
        "operator",
        "approvedAll",
        "tokenId",
        "tokenName",
        "tokenSymbol",
        "tokenContractType",
        "possibleSpam",
    ];

    fn value<'a>(&'a self, key: &str, tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "account" | "owner" => FieldValue::Address(self.account),
            "operator" => FieldValue::Address(self.operator),
            "approvedAll" => FieldValue::Bool(self.approved_all),
            // One key with two meanings: the one approved in ERC721, whether all is approved in ERC1155.
            "approved" if self.token_id.is_some() => FieldValue::Address(self.operator),
            "approved" => FieldValue::Bool(self.approved_all),
            "tokenId" => self.token_id.into(),
            "tokenContractType" => self.standard().name(),
            _ => self.origin.value(key, tokens),
        }
    }
}
