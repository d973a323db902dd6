//! Parameters of calls we answer ourselves; errors name the position and the value.

use alloy_primitives::B256;
use model::printable;
use model::raw::json_value::JsonValue;
use serde_json::value::RawValue;

use crate::answer::Failure;

pub struct Params<'a>(Vec<&'a RawValue>);

/// A block as a call names it.
#[derive(Debug, PartialEq)]
pub enum BlockTag {
    Number(u64),
    Latest,
    Earliest,
    Pending,
    /// `safe` and `finalized`: only a node knows.
    NodeOnly,
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
        let shown = printable(self.text(position), 80);
        Failure::params(&format!("argument {position} with value {shown} is not {wanted}"))
    }

    pub fn hash(&self, position: usize) -> Result<B256, Failure> {
        let value = B256::read_json(self.text(position).as_bytes());
        value.map(|(hash, _)| hash).ok_or_else(|| self.wrong(position, "a 32-byte hash with 0x"))
    }

    pub fn boolean(&self, position: usize) -> Result<bool, Failure> {
        let value = bool::read_json(self.text(position).as_bytes());
        value.map(|(value, _)| value).ok_or_else(|| self.wrong(position, "true or false"))
    }

    pub fn quantity(&self, position: usize) -> Result<u64, Failure> {
        let text = self.text(position);
        let value = text.starts_with('"').then(|| u64::read_json(text.as_bytes())).flatten();
        value.map(|(value, _)| value).ok_or_else(|| self.wrong(position, "a hex quantity with 0x"))
    }

    pub fn block(&self, position: usize) -> Result<BlockTag, Failure> {
        Ok(match self.text(position) {
            "\"latest\"" => BlockTag::Latest,
            "\"earliest\"" => BlockTag::Earliest,
            "\"pending\"" => BlockTag::Pending,
            "\"safe\"" | "\"finalized\"" => BlockTag::NodeOnly,
            _ => BlockTag::Number(self.quantity(position).map_err(|_| {
                self.wrong(position, "a hex block number, or latest, earliest or pending")
            })?),
        })
    }
}
