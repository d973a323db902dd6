//! Definitions: tables of what is taken, what is refused and with which words, and what then matches.

mod any_json;
mod balances;
mod bodies;
mod decoding;
mod events;
mod filters;
mod refusals;
mod trigger_calls;
mod triggers;
mod updates;

use serde_json::{Value, json};
use streams::definition::{Definition, DefinitionError, read_create};

pub const TRANSFER: &str = "Transfer(address,address,uint256)";
pub const TRANSFER_HASH: &str =
    "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
pub const WALLET: &str = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
pub const TOKEN: &str = "0xdac17f958d2ee523a2206206994597c13d831ec7";

/// What a row of a table expects.
pub enum Expect {
    Taken,
    /// The path, and the message or a part of it.
    Field(&'static str, &'static str),
    /// A part of the sentence.
    Rule(&'static str),
}

/// A body that is taken, with these fields set or, where null, left as null.
pub fn body(fields: &Value) -> Vec<u8> {
    let mut body = json!({
        "webhookUrl": "https://example.com/hook", "description": "test", "tag": "t",
        "chainIds": ["0x1"], "includeContractLogs": true,
    });
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    body.to_string().into_bytes()
}

pub fn create(fields: &Value) -> Result<Definition, DefinitionError> {
    read_create(&body(fields))
}

pub fn transfer_abi() -> Value {
    json!({ "type": "event", "name": "Transfer", "inputs": [
        { "name": "from", "type": "address", "indexed": true },
        { "name": "to", "type": "address", "indexed": true },
        { "name": "value", "type": "uint256" },
    ] })
}

pub fn check(case: &str, result: Result<(), DefinitionError>, expected: &Expect) {
    match (result, expected) {
        (Ok(()), Expect::Taken) => {}
        (Err(DefinitionError::Fields(fields)), Expect::Field(path, words)) => {
            let found = fields.iter().find(|field| field.path == *path);
            let found = found.unwrap_or_else(|| panic!("{case}: no error at {path}: {fields:?}"));
            assert!(found.message.contains(words), "{case}: {found:?}");
            assert_eq!(fields.len(), 1, "{case}: one fault, one error: {fields:?}");
        }
        (Err(DefinitionError::Rule(text)), Expect::Rule(words)) => {
            assert!(text.contains(words), "{case}: {text}");
        }
        (Ok(()), Expect::Field(path, _)) => panic!("{case}: taken, but {path} is wrong"),
        (Ok(()), Expect::Rule(words)) => panic!("{case}: taken, against the rule {words}"),
        (Err(error), _) => panic!("{case}: {error:?}"),
    }
}
