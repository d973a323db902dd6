//! Requests and answers that others recorded, as they lie in files.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use gateway::{BlockParam, METHODS, Place};
use serde_json::{Value, json};

use super::node::key;

/// One request and what was answered.
pub struct RoundTrip {
    pub name: String,
    pub request: Value,
    pub response: Value,
}

impl RoundTrip {
    pub fn method(&self) -> &str {
        self.request["method"].as_str().unwrap()
    }

    /// Whether it says of a block that cannot change what follows from that block: it comes again from the cache.
    pub fn is_immutable(&self, is_final: impl Fn(u64) -> bool) -> bool {
        let Some(method) = METHODS.iter().find(|method| method.name == self.method()) else {
            return false;
        };
        let result = &self.response["result"];
        let is_nothing = [json!(null), json!([]), json!("0x")].contains(result);
        if is_nothing || !matches!(method.place, Place::Store | Place::Cache) {
            return false;
        }
        let param = |at: usize| &self.request["params"][at];
        let names_final = |named: &Value| match named.get("blockNumber").unwrap_or(named) {
            Value::String(text) => quantity(text).is_some_and(&is_final),
            _ => false,
        };
        match method.block {
            BlockParam::None => false,
            BlockParam::Hash(at) => is_hash(param(at)),
            BlockParam::Number(at) => names_final(param(at)),
            BlockParam::NumberOrHash(at) => {
                let named = param(at);
                is_hash(named) || is_hash(&named["blockHash"]) || names_final(named)
            }
            BlockParam::Filter(at) => {
                is_hash(&param(at)["blockHash"])
                    || ["fromBlock", "toBlock"].iter().all(|end| names_final(&param(at)[*end]))
            }
            // The whole list of a transaction's traces names one block.
            BlockParam::TxHash(_) => {
                let told = result.get(0).unwrap_or(result);
                match &told["blockNumber"] {
                    Value::String(text) => quantity(text).is_some_and(is_final),
                    number => number.as_u64().is_some_and(is_final),
                }
            }
        }
    }
}

fn is_hash(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() == 66 && text.starts_with("0x"))
}

pub fn quantity(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Only what means something: an envelope's members are written in any order, and some leave out what is null.
pub fn said(answer: &Value) -> Value {
    match answer.get("error") {
        Some(error) => json!({ "error": error }),
        None => json!({ "result": answer["result"] }),
    }
}

pub fn execution_apis(folder: &Path) -> Vec<RoundTrip> {
    let mut trips = Vec::new();
    let mut folders: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut request = None;
            for line in text.lines() {
                if let Some(asked) = line.strip_prefix(">> ") {
                    request = serde_json::from_str::<Value>(asked).ok();
                } else if let (Some(told), Some(request)) =
                    (line.strip_prefix("<< "), request.take())
                {
                    let name =
                        file.strip_prefix(folder.parent().unwrap()).unwrap().display().to_string();
                    trips.push(RoundTrip {
                        name,
                        request,
                        response: serde_json::from_str(told).unwrap(),
                    });
                }
            }
        }
    }
    trips
}

pub fn erigon(folder: &Path) -> Vec<RoundTrip> {
    let mut trips = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|it| it == "gz")) {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let (request, response) = (row["request"].clone(), row["response"].clone());
            // Null is no expectation there.
            let has_expectation = !response["error"].is_null() || !response["result"].is_null();
            if has_expectation && request["method"].is_string() {
                let name =
                    format!("{} {}", file.file_stem().unwrap().to_string_lossy(), row["test"]);
                trips.push(RoundTrip { name, request, response });
            }
        }
    }
    // One record cannot give two answers to one question.
    let mut seen: HashMap<String, Value> = HashMap::new();
    trips.retain(|trip| {
        let asked =
            key(trip.request["method"].as_str().unwrap(), &trip.request["params"], &json!({}));
        *seen.entry(asked).or_insert_with(|| trip.response.clone()) == trip.response
    });
    trips
}
