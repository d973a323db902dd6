//! The kinds of items that a webhook carries and the fields that a selector may name, as the payload writes them.

/// What triggers and balances are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    Tx,
    Log,
    InternalTx,
    Erc20Transfer,
    Erc20Approval,
    NftTransfer,
}

/// What a field holds; a selector must fit the type it is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    Address,
    /// A decimal number.
    Integer,
    /// 32 bytes in hex.
    Word,
    /// Any number of bytes in hex.
    Bytes,
    Bool,
    Text,
}

impl ItemKind {
    pub const ALL: [Self; 6] = [
        Self::Tx,
        Self::Log,
        Self::InternalTx,
        Self::Erc20Transfer,
        Self::Erc20Approval,
        Self::NftTransfer,
    ];

    /// As `type` in a body names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tx => "tx",
            Self::Log => "log",
            Self::InternalTx => "internalTx",
            Self::Erc20Transfer => "erc20transfer",
            Self::Erc20Approval => "erc20approval",
            Self::NftTransfer => "nfttransfer",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What the field of this name holds, if items of this kind have one.
    pub fn field(self, name: &str) -> Option<FieldKind> {
        self.fields().iter().find(|(field, _)| *field == name).map(|(_, kind)| *kind)
    }

    /// In the order of the payload.
    pub fn fields(self) -> &'static [(&'static str, FieldKind)] {
        match self {
            Self::Tx => TX,
            Self::Log => LOG,
            Self::InternalTx => INTERNAL_TX,
            Self::Erc20Transfer => ERC20_TRANSFER,
            Self::Erc20Approval => ERC20_APPROVAL,
            Self::NftTransfer => NFT_TRANSFER,
        }
    }
}

use FieldKind::{Address, Bool, Bytes, Integer, Text, Word};

const TX: &[(&str, FieldKind)] = &[
    ("hash", Word),
    ("gas", Integer),
    ("gasPrice", Integer),
    ("nonce", Integer),
    ("input", Bytes),
    ("transactionIndex", Integer),
    ("fromAddress", Address),
    ("toAddress", Address),
    ("value", Integer),
    ("type", Integer),
    ("v", Integer),
    ("r", Integer),
    ("s", Integer),
    ("receiptCumulativeGasUsed", Integer),
    ("receiptGasUsed", Integer),
    ("receiptContractAddress", Address),
    ("receiptRoot", Word),
    ("receiptStatus", Integer),
];

const LOG: &[(&str, FieldKind)] = &[
    ("logIndex", Integer),
    ("transactionHash", Word),
    ("address", Address),
    ("data", Bytes),
    ("topic0", Word),
    ("topic1", Word),
    ("topic2", Word),
    ("topic3", Word),
];

const INTERNAL_TX: &[(&str, FieldKind)] = &[
    ("from", Address),
    ("to", Address),
    ("value", Integer),
    ("gas", Integer),
    ("transactionHash", Word),
];

const ERC20_TRANSFER: &[(&str, FieldKind)] = &[
    ("transactionHash", Word),
    ("logIndex", Integer),
    ("contract", Address),
    ("from", Address),
    ("to", Address),
    ("value", Integer),
    ("tokenName", Text),
    ("tokenSymbol", Text),
    ("tokenDecimals", Integer),
    ("valueWithDecimals", Text),
    ("possibleSpam", Bool),
];

const ERC20_APPROVAL: &[(&str, FieldKind)] = &[
    ("transactionHash", Word),
    ("logIndex", Integer),
    ("contract", Address),
    ("owner", Address),
    ("spender", Address),
    ("value", Integer),
    ("tokenName", Text),
    ("tokenSymbol", Text),
    ("tokenDecimals", Integer),
    ("valueWithDecimals", Text),
    ("possibleSpam", Bool),
];

const NFT_TRANSFER: &[(&str, FieldKind)] = &[
    ("transactionHash", Word),
    ("logIndex", Integer),
    ("contract", Address),
    ("operator", Address),
    ("from", Address),
    ("to", Address),
    ("tokenId", Integer),
    ("amount", Integer),
    ("tokenName", Text),
    ("tokenSymbol", Text),
    ("tokenContractType", Text),
    ("possibleSpam", Bool),
];
