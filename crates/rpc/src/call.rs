//! One JSON-RPC call and what a node said to it.
//!
//! Answers stay raw: a result is a view into the response body, so a 600 KB block is parsed once, by
//! whoever knows what it means.

use crate::json_members::SeenMembers;
use bytes::Bytes;
use model::printable;
use model::raw::reader::Reader;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A method and its parameters as JSON text.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Cow<'static, str>,
}

impl Call {
    pub fn new(method: impl Into<Cow<'static, str>>, params: Box<RawValue>) -> Self {
        Self { method: method.into(), params: Cow::Owned(String::from(Box::<str>::from(params))) }
    }

    pub fn method(&self) -> &str {
        &self.method
    }

    /// As JSON text.
    pub fn params(&self) -> &str {
        &self.params
    }

    /// One whose name is our own: it may be told apart in figures and metrics.
    pub fn listed(method: &'static str, params: String) -> Self {
        Self::owned(method, params)
    }

    pub(crate) fn listed_method(&self) -> Option<&'static str> {
        match self.method {
            Cow::Borrowed(method) => Some(method),
            Cow::Owned(_) => None,
        }
    }

    pub fn chain_id() -> Self {
        Self::fixed("eth_chainId", "[]")
    }

    pub fn client_version() -> Self {
        Self::fixed("web3_clientVersion", "[]")
    }

    /// The number of the node's own head.
    pub fn block_number() -> Self {
        Self::fixed("eth_blockNumber", "[]")
    }

    pub fn latest_block() -> Self {
        Self::fixed("eth_getBlockByNumber", r#"["latest",false]"#)
    }

    pub fn finalized_block() -> Self {
        Self::fixed("eth_getBlockByNumber", r#"["finalized",false]"#)
    }

    pub fn block_by_number(number: u64, full_transactions: bool) -> Self {
        Self::owned("eth_getBlockByNumber", format!(r#"["{number:#x}",{full_transactions}]"#))
    }

    pub fn block_by_hash(hash: &alloy_primitives::B256, full_transactions: bool) -> Self {
        Self::owned("eth_getBlockByHash", format!(r#"["{hash}",{full_transactions}]"#))
    }

    pub fn block_receipts(number: u64) -> Self {
        Self::owned("eth_getBlockReceipts", format!(r#"["{number:#x}"]"#))
    }

    pub fn block_receipts_by_hash(hash: &alloy_primitives::B256) -> Self {
        Self::owned("eth_getBlockReceipts", format!(r#"["{hash}"]"#))
    }

    pub fn transaction_receipt(hash: &alloy_primitives::B256) -> Self {
        Self::owned("eth_getTransactionReceipt", format!(r#"["{hash}"]"#))
    }

    pub fn debug_trace_block(number: u64) -> Self {
        Self::owned(
            "debug_traceBlockByNumber",
            format!(r#"["{number:#x}",{{"tracer":"callTracer"}}]"#),
        )
    }

    pub fn debug_trace_block_by_hash(hash: &alloy_primitives::B256) -> Self {
        Self::owned("debug_traceBlockByHash", format!(r#"["{hash}",{{"tracer":"callTracer"}}]"#))
    }

    pub fn trace_block(number: u64) -> Self {
        Self::owned("trace_block", format!(r#"["{number:#x}"]"#))
    }

    /// Balance, nonce and code of an account after a block, with the way to the state root.
    pub fn account_proof(account: &alloy_primitives::Address, number: u64) -> Self {
        Self::owned("eth_getProof", format!(r#"["{account:#x}",[],"{number:#x}"]"#))
    }

    const fn fixed(method: &'static str, params: &'static str) -> Self {
        Self { method: Cow::Borrowed(method), params: Cow::Borrowed(params) }
    }

    const fn owned(method: &'static str, params: String) -> Self {
        Self { method: Cow::Borrowed(method), params: Cow::Owned(params) }
    }
}

pub type CallResult = Result<RawAnswer, RpcFailure>;

/// A result as the node wrote it. Cheap to clone; keeps the whole response body alive.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// Begins with the result.
    text: Bytes,
    /// None where there is nothing but the result; else the rest of its envelope follows, and these were in
    /// front of it.
    before: Option<SeenMembers>,
    /// It was read as JSON when it came, and is.
    is_checked: bool,
}

impl RawAnswer {
    pub(crate) fn new(json: Bytes) -> Self {
        Self { text: json, before: None, is_checked: false }
    }

    /// One that was read as JSON to its end.
    pub(crate) fn checked(json: Bytes) -> Self {
        Self { text: json, before: None, is_checked: true }
    }

    /// A large result, whose end was not looked for: whoever reads it will find it.
    pub(crate) fn uncut(text: Bytes, before: SeenMembers) -> Self {
        Self { text, before: Some(before), is_checked: false }
    }

    /// The JSON text of the result; a large one was not read yet and may be broken.
    pub fn json(&self) -> &[u8] {
        if self.before.is_none() {
            return &self.text;
        }
        // What has no end fails when it is read.
        Reader::new(&self.text).value().unwrap_or(&self.text)
    }

    pub fn into_bytes(self) -> Bytes {
        self.text.slice_ref(self.json())
    }

    pub fn is_null(&self) -> bool {
        self.text.as_ref() == b"null"
    }

    /// Reads the result straight out of the response body; `T` may borrow from it.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        // Nothing at all where the envelope is none.
        serde_json::from_slice(self.whole().unwrap_or_default())
    }

    /// Whether it is JSON to its end.
    pub fn check(&self) -> Result<(), String> {
        if self.is_checked {
            return Ok(());
        }
        self.parse::<IgnoredAny>().map(drop).map_err(|error| error.to_string())
    }

    /// The JSON text of the result where its envelope is one.
    fn whole(&self) -> Option<&[u8]> {
        if self.before.is_none() {
            return Some(&self.text);
        }
        let mut reader = Reader::new(&self.text);
        let value = reader.value()?;
        self.ends_well(&mut reader).then_some(value)
    }

    /// The same by a reader of one's own, in one pass. `None` where `read` says so, or where more
    /// follows than the rest of an envelope.
    pub fn read<T>(&self, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let mut reader = Reader::new(&self.text);
        let value = read(&mut reader)?;
        self.ends_well(&mut reader).then_some(value)
    }

    /// Whether nothing follows but the rest of an envelope, with no name that was there before.
    fn ends_well(&self, reader: &mut Reader<'_>) -> bool {
        let Some(mut seen) = self.before else { return reader.is_at_end() };
        let mut rest = || {
            let mut is_first = false;
            while let Some(name) = reader.next_name(&mut is_first)? {
                let is_nothing = reader.value()? == b"null";
                // A result and an error at once is neither.
                if seen.is_repeated(&name) || name.as_ref() == b"error" && !is_nothing {
                    return None;
                }
            }
            Some(())
        };
        rest().is_some() && reader.is_at_end()
    }
}

impl PartialEq for RawAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for RawAnswer {}

/// For answers put together from several; the text must be JSON.
impl From<Vec<u8>> for RawAnswer {
    fn from(json: Vec<u8>) -> Self {
        Self::new(json.into())
    }
}

/// The node's error object. Passed on unchanged (`json`), understood only as far as `kind` goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcFailure {
    pub code: i64,
    /// Fit for a log line.
    pub message: String,
    json: Bytes,
}

/// What a node's refusal means for asking another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcFailureKind {
    /// Too many requests: slow down.
    RateLimited,
    /// This node does not offer the method.
    MethodMissing,
    /// This node does not hold that block or state (pruned, lagging, still syncing).
    StateMissing,
    /// The answer would be larger than the node allows.
    TooLarge,
    /// An error in the node.
    Internal,
    /// Anything else (reverted, invalid parameters …): another node would say the same.
    Other,
}

/// Nodes add a whole stack trace at times.
const MESSAGE_CHARS_MAX: usize = 500;

impl RpcFailure {
    pub(crate) fn parse(json: Bytes) -> Self {
        #[derive(Deserialize)]
        struct Fields<'a> {
            #[serde(default)]
            code: i64,
            #[serde(default, borrow)]
            message: Cow<'a, str>,
        }
        let (code, message) = match serde_json::from_slice::<Fields<'_>>(&json) {
            Ok(fields) => (fields.code, printable(&fields.message, MESSAGE_CHARS_MAX)),
            // Some gateways put a bare string here.
            Err(_) => (0, printable(&String::from_utf8_lossy(&json), MESSAGE_CHARS_MAX)),
        };
        Self { code, message, json }
    }

    /// An error object that no node sent.
    pub fn of_text(json: &str) -> Self {
        Self::parse(Bytes::copy_from_slice(json.as_bytes()))
    }

    /// Whether it says that a range of blocks is too wide, or holds too much: halves of it may do.
    pub fn refuses_range(&self) -> bool {
        let text = self.message.to_ascii_lowercase();
        let says = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        if says(RANGE_INVALID) {
            return false;
        }
        let is_limit = self.code == -32005 && !says(RATE_WORDS);
        self.kind() == RpcFailureKind::TooLarge || is_limit || says(RANGE_TOO_WIDE)
    }

    /// The error object as the node wrote it.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    pub fn kind(&self) -> RpcFailureKind {
        let text = self.message.to_ascii_lowercase();
        let says = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        // The words of a contract are not the node's.
        if self.code == 3 || says(&["execution reverted"]) {
            RpcFailureKind::Other
        } else if matches!(self.code, -32005 | 429 | -32029)
            && !says(&["returned more than", "block range"])
            || says(&["rate limit", "too many requests", "request limit", "capacity exceeded"])
        {
            RpcFailureKind::RateLimited
        } else if matches!(self.code, -32601 | -32004)
            || says(&["method not found", "does not exist/is not available", "unsupported method"])
        {
            RpcFailureKind::MethodMissing
        } else if matches!(self.code, 4444 | -32001) || says(STATE_MISSING) {
            RpcFailureKind::StateMissing
        } else if says(&["response too large", "response is too big", "response size"]) {
            RpcFailureKind::TooLarge
        } else if self.code == -32603 || says(&["internal error", "timed out", "timeout"]) {
            RpcFailureKind::Internal
        } else {
            RpcFailureKind::Other
        }
    }
}

const RATE_WORDS: &[&str] =
    &["rate", "too many requests", "per second", "request limit", "capacity"];

/// A range that is none, whatever its width.
const RANGE_INVALID: &[&str] =
    &["invalid block range", "beyond", "invalid argument", "greater than"];

/// How nodes and providers refuse `eth_getLogs` over too many blocks, or with too much in them.
const RANGE_TOO_WIDE: &[&str] = &[
    "returned more than",
    "more than 10000 results",
    "exceeds max results",
    "exceed max results",
    "too many results",
    "too many logs",
    "max results",
    "block range",
    "range is too",
    "range too",
    "range limit",
    "blocks distance",
    "exceeds the range",
    "exceed maximum block",
    "limited to",
    "response size",
    "response too large",
    "response is too big",
    "query timeout",
    "query timed out",
];

const STATE_MISSING: &[&str] = &[
    "missing trie node",
    "header not found",
    "header for hash not found",
    "could not be found",
    "block not found",
    "unknown block",
    "pruned",
    "historical state",
    "state not available",
    "not yet synced",
    "resource not found",
];

impl fmt::Display for RpcFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node error {}: {}", self.code, self.message)
    }
}

impl std::error::Error for RpcFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(json: &'static str) -> RpcFailureKind {
        RpcFailure::parse(Bytes::from_static(json.as_bytes())).kind()
    }

    #[test]
    fn refusals_of_real_nodes_are_understood() {
        use RpcFailureKind::*;
        for (json, expected) in [
            (r#"{"code":-32005,"message":"limit exceeded"}"#, RateLimited),
            (r#"{"code":-32005,"message":"query returned more than 10000 results"}"#, Other),
            (r#"{"code":-32000,"message":"Too Many Requests"}"#, RateLimited),
            (r#"{"code":-32601,"message":"the method trace_block does not exist"}"#, MethodMissing),
            (r#"{"code":-32000,"message":"missing trie node 12ab"}"#, StateMissing),
            (r#"{"code":4444,"message":"pruned history unavailable"}"#, StateMissing),
            (r#"{"code":-32000,"message":"header for hash not found"}"#, StateMissing),
            (r#"{"code":-32001,"message":"Block 0x12 could not be found"}"#, StateMissing),
            (r#"{"code":-32000,"message":"execution reverted: owner not found, pruned"}"#, Other),
            (r#"{"code":-32003,"message":"response too large"}"#, TooLarge),
            (r#"{"code":-32603,"message":"Internal error"}"#, Internal),
            (r#"{"code":3,"message":"execution reverted","data":"0x"}"#, Other),
            (r#""quota: too many requests""#, RateLimited),
        ] {
            assert_eq!(kind(json), expected, "{json}");
        }
    }

    #[test]
    fn ranges_that_are_too_wide_are_told_from_those_that_are_wrong() {
        for (json, is_too_wide) in [
            (r#"{"code":-32005,"message":"query returned more than 10000 results"}"#, true),
            (
                r#"{"code":-32602,"message":"Log response size exceeded. up to a 2K block range"}"#,
                true,
            ),
            (r#"{"code":-32000,"message":"exceed maximum block range: 50000"}"#, true),
            (r#"{"code":-32614,"message":"eth_getLogs is limited to a 10,000 range"}"#, true),
            (r#"{"code":-32005,"message":"limit exceeded"}"#, true),
            (r#"{"code":-32005,"message":"rate limit exceeded"}"#, false),
            (r#"{"code":-32602,"message":"invalid block range params"}"#, false),
            (r#"{"code":-32602,"message":"block range extends beyond current head block"}"#, false),
            (r#"{"code":-32000,"message":"header not found"}"#, false),
        ] {
            assert_eq!(RpcFailure::of_text(json).refuses_range(), is_too_wide, "{json}");
        }
    }

    #[test]
    fn what_a_node_says_cannot_forge_a_log_line() {
        let json = r#"{"code":1,"message":"no\nINFO all is well \u001b[2J"}"#;
        let failure = RpcFailure::parse(Bytes::from(json));
        assert_eq!(failure.to_string(), r"node error 1: no\nINFO all is well \u{1b}[2J");
        assert_eq!(failure.json(), json.as_bytes(), "passed on as it is");
        let long = format!(r#"{{"code":1,"message":"{}"}}"#, "x".repeat(10_000));
        assert_eq!(RpcFailure::parse(Bytes::from(long)).message.chars().count(), 501);
    }
}
