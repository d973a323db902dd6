//! Which blocks a call is about, read from its parameters by what the method table says of them. Pure.

use alloy_primitives::B256;
use model::raw::json_value::JsonValue;
use model::raw::reader::Reader;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::methods::{BlockParam, Method};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// No block, or none that can be told from the parameters.
    Nothing,
    Hash(B256),
    /// From the first to the last.
    Blocks {
        from: u64,
        to: u64,
    },
    /// `latest`, or what is left out.
    Head,
    /// `pending`, `safe`, `finalized`: what a node takes them for.
    Tag,
    Transaction(B256),
}

impl About {
    /// Parameters that cannot be read are about nothing: the node says what is wrong with them.
    pub fn of(method: &Method, params: &str) -> About {
        let at = |place: usize| item(params, place);
        match method.block {
            BlockParam::None => About::Nothing,
            BlockParam::Number(place) => at(place).map_or(About::Nothing, named),
            BlockParam::Hash(place) => at(place).and_then(hash).map_or(About::Nothing, About::Hash),
            BlockParam::NumberOrHash(place) => {
                at(place).filter(|text| *text != "null").map_or(About::Head, named)
            }
            BlockParam::Filter(place) => at(place).map_or(About::Nothing, filter),
            BlockParam::TxHash(place) => {
                at(place).and_then(hash).map_or(About::Nothing, About::Transaction)
            }
        }
    }
}

/// One of the items of a list; none where the text is none.
fn item(list: &str, place: usize) -> Option<&str> {
    let (mut reader, mut is_first) = (Reader::new(list.as_bytes()), true);
    reader.expect(b'[')?;
    for _ in 0..place {
        reader.next_item(b']', &mut is_first)?.then(|| reader.value())??;
    }
    let found = reader.next_item(b']', &mut is_first)?.then(|| reader.value())??;
    std::str::from_utf8(found).ok()
}

/// A number, a tag, a hash, or an EIP-1898 object.
fn named(text: &str) -> About {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named<'a> {
        #[serde(borrow, default)]
        block_hash: Option<&'a RawValue>,
        #[serde(borrow, default)]
        block_number: Option<&'a RawValue>,
    }
    match text {
        "\"latest\"" => About::Head,
        "\"earliest\"" => About::Blocks { from: 0, to: 0 },
        "\"pending\"" | "\"safe\"" | "\"finalized\"" => About::Tag,
        text if text.starts_with('{') => match serde_json::from_str::<Named>(text) {
            Ok(Named { block_hash: Some(raw), .. }) => {
                hash(raw.get()).map_or(About::Nothing, About::Hash)
            }
            Ok(Named { block_number: Some(raw), .. }) if !raw.get().starts_with('{') => {
                named(raw.get())
            }
            _ => About::Nothing,
        },
        text => match (hash(text), number(text)) {
            (Some(hash), _) => About::Hash(hash),
            (None, Some(number)) => About::Blocks { from: number, to: number },
            (None, None) => About::Nothing,
        },
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range<'a> {
    #[serde(borrow, default)]
    block_hash: Option<&'a RawValue>,
    #[serde(borrow, default)]
    from_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    to_block: Option<&'a RawValue>,
}

fn filter(text: &str) -> About {
    let Ok(range) = serde_json::from_str::<Range>(text) else { return About::Nothing };
    if let Some(raw) = range.block_hash {
        return hash(raw.get()).map_or(About::Nothing, About::Hash);
    }
    let end = |raw: Option<&RawValue>| raw.map_or(About::Head, |raw| named(raw.get()));
    match (end(range.from_block), end(range.to_block)) {
        (About::Blocks { from, .. }, About::Blocks { to, .. }) => About::Blocks { from, to },
        (About::Nothing, _) | (_, About::Nothing) => About::Nothing,
        (About::Tag, _) | (_, About::Tag) => About::Tag,
        _ => About::Head,
    }
}

fn hash(text: &str) -> Option<B256> {
    B256::read_json(text.as_bytes()).map(|(hash, _)| hash)
}

fn number(text: &str) -> Option<u64> {
    text.starts_with('"')
        .then(|| u64::read_json(text.as_bytes()))
        .flatten()
        .map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::find;

    #[test]
    fn blocks_are_read_where_the_table_says_they_are() {
        let hash = B256::repeat_byte(7);
        let one = |number| About::Blocks { from: number, to: number };
        for (method, params, about) in [
            ("eth_chainId", "[]".to_owned(), About::Nothing),
            ("eth_getBlockByHash", format!(r#"["{hash}",true]"#), About::Hash(hash)),
            ("eth_getBlockByNumber", r#"["0x10",true]"#.into(), one(16)),
            ("eth_getBlockByNumber", r#"["latest",true]"#.into(), About::Head),
            ("eth_getBlockByNumber", r#"["earliest",true]"#.into(), one(0)),
            ("eth_getBlockByNumber", r#"["safe",true]"#.into(), About::Tag),
            ("eth_getBlockByNumber", "[]".into(), About::Nothing),
            ("eth_call", "[{}]".into(), About::Head),
            ("eth_call", r#"[{},null]"#.into(), About::Head),
            ("eth_call", r#"[{},"0x5"]"#.into(), one(5)),
            ("eth_call", format!(r#"[{{}},{{"blockHash":"{hash}"}}]"#), About::Hash(hash)),
            ("eth_call", r#"[{},{"blockNumber":"0x5"}]"#.into(), one(5)),
            ("eth_call", r#"[{},{"blockNumber":{}}]"#.into(), About::Nothing),
            ("eth_getBlockReceipts", format!(r#"["{hash}"]"#), About::Hash(hash)),
            ("eth_getLogs", r#"[{}]"#.into(), About::Head),
            ("eth_getLogs", r#"[{"fromBlock":"0x1","toBlock":"latest"}]"#.into(), About::Head),
            (
                "eth_getLogs",
                r#"[{"fromBlock":"0x1","toBlock":"0x9"}]"#.into(),
                About::Blocks { from: 1, to: 9 },
            ),
            ("eth_getLogs", format!(r#"[{{"blockHash":"{hash}"}}]"#), About::Hash(hash)),
            ("eth_getLogs", "[7]".into(), About::Nothing),
            ("eth_getTransactionByHash", format!(r#"["{hash}"]"#), About::Transaction(hash)),
            ("eth_getTransactionByHash", "{".into(), About::Nothing),
        ] {
            let found = About::of(find(method).unwrap(), &params);
            assert_eq!(found, about, "{method} {params}");
        }
    }
}
