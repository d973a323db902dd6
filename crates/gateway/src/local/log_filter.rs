//! A filter of logs as `eth_getLogs`, `eth_newFilter` and `eth_subscribe` take it.

use alloy_primitives::{Address, B256};
use model::raw::json_value::JsonValue;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::Failure;
use crate::config::Config;
use crate::params::{BlockTag, shown};

/// Where logs are looked for.
#[derive(Clone, Debug, PartialEq)]
pub enum LogRange {
    Block(B256),
    Blocks { from: BlockTag, to: BlockTag },
}

#[derive(Clone, Debug, PartialEq)]
pub struct LogFilter {
    pub range: LogRange,
    pub addresses: Vec<Address>,
    pub topics: Vec<Vec<B256>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow)]
    from_block: Option<&'a RawValue>,
    #[serde(borrow)]
    to_block: Option<&'a RawValue>,
    #[serde(borrow)]
    block_hash: Option<&'a RawValue>,
    #[serde(borrow)]
    address: Option<&'a RawValue>,
    #[serde(borrow)]
    topics: Option<&'a RawValue>,
}

/// Positions of topics; no log has more.
const TOPICS_MAX: usize = 4;

impl LogFilter {
    pub fn read(raw: &RawValue, config: &Config) -> Result<Self, Failure> {
        let text = raw.get();
        if !text.starts_with('{') {
            return Err(wrong("filter", text, "an object"));
        }
        let fields: Fields = serde_json::from_str(text)
            .map_err(|error| Failure::params(&format!("the filter cannot be read ({error})")))?;
        let given = |field: Option<&RawValue>| field.is_some_and(|raw| raw.get() != "null");
        let range = if given(fields.block_hash) {
            if given(fields.from_block) || given(fields.to_block) {
                let why =
                    "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other";
                return Err(Failure::new(-32602, &format!("invalid argument 0: {why}")));
            }
            LogRange::Block(one("blockHash", fields.block_hash.map_or("null", RawValue::get))?)
        } else {
            let (from, to) =
                (tag("fromBlock", fields.from_block)?, tag("toBlock", fields.to_block)?);
            LogRange::Blocks { from, to }
        };
        let addresses = list("address", fields.address.map_or("null", RawValue::get), config)?;
        let text = fields.topics.map_or("null", RawValue::get);
        let positions: Option<Vec<&RawValue>> =
            serde_json::from_str(text).map_err(|_| wrong("topics", text, "a list"))?;
        let positions = positions.unwrap_or_default();
        if positions.len() > TOPICS_MAX {
            let why = format!("topics has {} positions; logs have at most 4", positions.len());
            return Err(Failure::params(&why));
        }
        let topics = positions.into_iter().map(|raw| list("topics", raw.get(), config));
        Ok(LogFilter { range, addresses, topics: topics.collect::<Result<_, _>>()? })
    }
}

fn wrong(name: &str, text: &str, wanted: &str) -> Failure {
    Failure::params(&format!("{name} with value {} is not {wanted}", shown(text)))
}

fn tag(name: &str, raw: Option<&RawValue>) -> Result<BlockTag, Failure> {
    let text = raw.map_or("null", RawValue::get);
    if text == "null" {
        return Ok(BlockTag::Latest);
    }
    let wanted = "a hex block number, or latest, earliest, safe, finalized or pending";
    BlockTag::read(text).ok_or_else(|| wrong(name, text, wanted))
}

fn one<T: JsonValue>(name: &str, text: &str) -> Result<T, Failure> {
    let wanted =
        if name == "address" { "a 20-byte address with 0x" } else { "a 32-byte hash with 0x" };
    T::read_json(text.as_bytes()).map(|(value, _)| value).ok_or_else(|| wrong(name, text, wanted))
}

/// Nothing, one, or several.
fn list<T: JsonValue>(name: &str, text: &str, config: &Config) -> Result<Vec<T>, Failure> {
    if text == "null" {
        return Ok(Vec::new());
    }
    if !text.starts_with('[') {
        return Ok(vec![one(name, text)?]);
    }
    let values: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|_| wrong(name, text, "a list"))?;
    if values.len() > config.log_values_max {
        let (given, max) = (values.len(), config.log_values_max);
        let why = format!(
            "{name} lists {given} values; at most {max} are taken (gateway.log_values_max)"
        );
        return Err(Failure::params(&why));
    }
    values.into_iter().map(|value| one(name, value.get())).collect()
}
