//! A JSON-RPC call as it came in, and a reply as it goes out.

use alloy_primitives::{Address, B256};
use bytes::Bytes;
use serde_json::{Value, json};

pub(super) struct Call {
    pub id: Value,
    pub method: String,
    params: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    Result(Bytes),
    Error { code: i64, message: String },
}

impl Reply {
    pub fn value(value: Value) -> Self {
        Self::Result(value.to_string().into())
    }

    pub fn quantity(number: u128) -> Self {
        Self::value(json!(format!("{number:#x}")))
    }

    /// What is not there is `null`, as nodes have it.
    pub fn or_null(text: Option<Bytes>) -> Self {
        Self::Result(text.unwrap_or_else(|| Bytes::from_static(b"null")))
    }

    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error { code, message: message.into() }
    }

    pub fn no_method(method: &str) -> Self {
        let message = format!("the method {method} does not exist/is not available");
        Self::error(-32601, message)
    }

    pub fn bad_params() -> Self {
        Self::error(-32602, "invalid argument")
    }

    /// Appends the whole response object.
    pub fn write(&self, id: &Value, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.to_string().as_bytes());
        match self {
            Self::Result(text) => {
                out.extend_from_slice(br#","result":"#);
                out.extend_from_slice(text);
            }
            Self::Error { code, message } => {
                out.extend_from_slice(br#","error":"#);
                let error = json!({ "code": code, "message": message });
                out.extend_from_slice(error.to_string().as_bytes());
            }
        }
        out.push(b'}');
    }

    pub fn text(&self, id: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(id, &mut out);
        out
    }
}

impl Call {
    /// Fails with the reply to send where this is no call at all.
    pub fn parse(mut request: Value) -> Result<Self, Vec<u8>> {
        let id = request.get_mut("id").map(Value::take).unwrap_or_default();
        let Some(method) = request.get("method").and_then(Value::as_str) else {
            return Err(Reply::error(-32600, "invalid request").text(&id));
        };
        let method = method.to_owned();
        let params = match request.get_mut("params").map(Value::take) {
            Some(Value::Array(params)) => params,
            _ => Vec::new(),
        };
        Ok(Self { id, method, params })
    }

    pub fn param(&self, place: usize) -> Option<&Value> {
        self.params.get(place)
    }

    pub fn text(&self, place: usize) -> Option<&str> {
        self.param(place)?.as_str()
    }

    pub fn flag(&self, place: usize) -> bool {
        self.param(place).and_then(Value::as_bool).unwrap_or_default()
    }

    pub fn quantity(&self, place: usize) -> Option<u64> {
        parse_quantity(self.text(place)?)
    }

    pub fn hash(&self, place: usize) -> Option<B256> {
        self.text(place)?.parse().ok()
    }

    pub fn address(&self, place: usize) -> Option<Address> {
        self.text(place)?.parse().ok()
    }
}

pub(super) fn parse_quantity(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
