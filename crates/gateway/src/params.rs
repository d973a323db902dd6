//! Parameters of calls we answer ourselves; errors name the position and the value.

use alloy_primitives::{B256, Bytes};
use model::printable;
use model::raw::json_value::JsonValue;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::Failure;

pub struct Params<'a>(Vec<&'a RawValue>);

/// A block as a call names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockTag {
    Number(u64),
    Latest,
    Earliest,
    Pending,
    Safe,
    Finalized,
}

/// A block as a call names it that takes hashes, too.
#[derive(Debug, PartialEq)]
pub enum BlockName {
    Hash(B256),
    Tag(BlockTag),
}

impl BlockTag {
    /// Reads JSON.
    pub fn read(text: &str) -> Option<Self> {
        Some(match text {
            "\"latest\"" => BlockTag::Latest,
            "\"earliest\"" => BlockTag::Earliest,
            "\"pending\"" => BlockTag::Pending,
            "\"safe\"" => BlockTag::Safe,
            "\"finalized\"" => BlockTag::Finalized,
            _ => BlockTag::Number(quantity(text)?),
        })
    }
}

/// A JSON text with hex digits.
pub fn quantity(text: &str) -> Option<u64> {
    let value = text.starts_with('"').then(|| u64::read_json(text.as_bytes())).flatten();
    value.map(|(value, _)| value)
}

/// As much of a client's text as an answer repeats.
pub fn shown(text: &str) -> String {
    printable(text, 80)
}

impl<'a> Params<'a> {
    pub fn read(raw: Option<&'a RawValue>, count: usize) -> Result<Self, Failure> {
        let text = raw.map_or("[]", RawValue::get);
        let list: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|_| Failure::params(&format!("an array of {count} is needed")))?;
        if list.len() != count {
            let why = format!("{count} parameters are needed, {} were given", list.len());
            return Err(Failure::params(&why));
        }
        Ok(Params(list))
    }

    fn text(&self, position: usize) -> &'a str {
        self.0.get(position).map_or("null", |raw| raw.get())
    }

    fn wrong(&self, position: usize, wanted: &str) -> Failure {
        let shown = shown(self.text(position));
        Failure::params(&format!("argument {position} with value {shown} is not {wanted}"))
    }

    pub fn hash(&self, position: usize) -> Result<B256, Failure> {
        let value = B256::read_json(self.text(position).as_bytes());
        value.map(|(hash, _)| hash).ok_or_else(|| self.wrong(position, "a 32-byte hash with 0x"))
    }

    /// Bytes of any length, as hex.
    pub fn bytes(&self, position: usize) -> Result<Bytes, Failure> {
        let value = Bytes::read_json(self.text(position).as_bytes());
        value.map(|(bytes, _)| bytes).ok_or_else(|| self.wrong(position, "hex bytes with 0x"))
    }

    pub fn boolean(&self, position: usize) -> Result<bool, Failure> {
        let value = bool::read_json(self.text(position).as_bytes());
        value.map(|(value, _)| value).ok_or_else(|| self.wrong(position, "true or false"))
    }

    pub fn quantity(&self, position: usize) -> Result<u64, Failure> {
        quantity(self.text(position)).ok_or_else(|| self.wrong(position, "a hex quantity with 0x"))
    }

    pub fn block(&self, position: usize) -> Result<BlockTag, Failure> {
        BlockTag::read(self.text(position)).ok_or_else(|| {
            let wanted = "a hex block number, or latest, earliest, safe, finalized or pending";
            self.wrong(position, wanted)
        })
    }

    /// A number, a tag or a hash, plain or as EIP-1898 has them.
    pub fn block_name(&self, position: usize) -> Result<BlockName, Failure> {
        let text = self.text(position);
        let wrong = || {
            self.wrong(
                position,
                "a block's number, hash, tag, or an object with blockNumber or blockHash",
            )
        };
        let plain = |text: &str| {
            let hash = B256::read_json(text.as_bytes()).map(|(hash, _)| BlockName::Hash(hash));
            hash.or_else(|| BlockTag::read(text).map(BlockName::Tag))
        };
        if !text.starts_with('{') {
            return plain(text).ok_or_else(wrong);
        }
        let object: BlockObject = serde_json::from_str(text).map_err(|_| wrong())?;
        let named = match (object.block_hash, object.block_number) {
            (Some(hash), None) => {
                plain(hash.get()).filter(|name| matches!(name, BlockName::Hash(_)))
            }
            (None, Some(number)) => BlockTag::read(number.get()).map(BlockName::Tag),
            _ => None,
        };
        named.ok_or_else(wrong)
    }

    /// As the client wrote it.
    pub fn raw(&self, position: usize) -> &'a RawValue {
        self.0.get(position).copied().unwrap_or(RawValue::NULL)
    }
}

/// EIP-1898. Whether the block must be canonical says nothing here: others are not stored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockObject<'a> {
    #[serde(borrow, default)]
    block_hash: Option<&'a RawValue>,
    #[serde(borrow, default)]
    block_number: Option<&'a RawValue>,
}
