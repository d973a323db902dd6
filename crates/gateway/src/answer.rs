//! Writing JSON-RPC answers, in pieces: a large result goes out as it lies in memory, uncopied.

use std::time::Duration;

use bytes::Bytes;
use model::printable;
use rpc::{Bound, OverBudget};

/// What a call came to: raw JSON of its result, or a failure.
pub type Outcome = Result<Bytes, Failure>;

/// Of a client's text in an answer or a log line.
pub const SHOWN_CHARS_MAX: usize = 128;

#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The error object as JSON.
    json: Bytes,
    /// The store cannot be asked now, and can be later.
    is_put_off: bool,
}

impl Failure {
    pub fn new(code: i64, message: &str) -> Self {
        let error = serde_json::json!({ "code": code, "message": message });
        Failure { json: error.to_string().into(), is_put_off: false }
    }

    /// A node's own error object, passed on as it is.
    pub fn of_node(json: &[u8]) -> Self {
        Failure { json: Bytes::copy_from_slice(json), is_put_off: false }
    }

    /// "Resource unavailable" of EIP-1474.
    fn put_off() -> Self {
        let message = "the store cannot be asked now; try again";
        let data = serde_json::json!({ "retryAfter": 1 });
        let error = serde_json::json!({ "code": -32002, "message": message, "data": data });
        Failure { json: error.to_string().into(), is_put_off: true }
    }

    pub fn is_put_off(&self) -> bool {
        self.is_put_off
    }

    /// The error object as JSON.
    #[cfg(test)]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    pub fn parse(error: &serde_json::Error) -> Self {
        Self::new(-32700, &format!("parse error: the body is not JSON ({error})"))
    }

    pub fn invalid(why: &str) -> Self {
        Self::new(-32600, &format!("invalid request: {why}"))
    }

    pub fn not_offered(method: &str) -> Self {
        let method = printable(method, SHOWN_CHARS_MAX);
        Self::new(-32601, &format!("the method {method} does not exist or is not offered here"))
    }

    /// The key's own rules.
    pub fn not_permitted(method: &str) -> Self {
        let method = printable(method, SHOWN_CHARS_MAX);
        Self::new(-32601, &format!("the method {method} is not allowed for this key"))
    }

    pub fn params(why: &str) -> Self {
        Self::new(-32602, &format!("invalid params: {why}"))
    }

    pub fn is_about_params(&self) -> bool {
        self.json.starts_with(br#"{"code":-32602,"#)
    }

    /// "Resource unavailable" of EIP-1474: it may exist, and cannot be had here.
    pub fn not_held(coverage: &store::Coverage) -> Self {
        let held = match (coverage.ranges().first(), coverage.newest()) {
            (Some((oldest, _)), Some(newest)) => format!("blocks from {oldest} to {newest}"),
            _ => "no block yet".to_owned(),
        };
        let why = "not among what is stored, and this chain has no node to ask";
        Self::new(-32002, &format!("{why}; stored: {held}"))
    }

    pub fn internal(why: &str) -> Self {
        Self::new(-32603, why)
    }

    /// With the seconds to wait, where a node said so.
    pub fn busy(retry_after: Option<Duration>) -> Self {
        let Some(wait) = retry_after else {
            return Self::new(-32005, "the nodes of this chain are busy; try again later");
        };
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let message = format!("the nodes of this chain are busy; try again in {seconds} s");
        let data = serde_json::json!({ "retryAfter": seconds });
        let error = serde_json::json!({ "code": -32005, "message": message, "data": data });
        Failure { json: error.to_string().into(), is_put_off: false }
    }

    /// The code that nodes use for what is beyond their limits.
    pub fn too_large(over: OverBudget) -> Self {
        let bytes = over.bytes_max;
        let why = match over.bound {
            Bound::Answer => format!("answer larger than {bytes} bytes; narrow the request"),
            Bound::Batch => format!(
                "answers of this batch together larger than {bytes} bytes; send fewer calls in a batch"
            ),
            Bound::InFlight => {
                format!("answers of all clients are at the limit of {bytes} bytes; try again later")
            }
        };
        Self::new(-32005, &why)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        if error.is_damage() {
            metrics::counter!("headwater_store_damage_total").increment(1);
        }
        if error.is_retryable() {
            tracing::warn!(%error, "a call was put off");
            return Failure::put_off();
        }
        tracing::error!(%error, "the store could not answer a call");
        Failure::internal("the store could not answer; see the server's log")
    }
}

impl From<OverBudget> for Failure {
    fn from(over: OverBudget) -> Self {
        Failure::too_large(over)
    }
}

/// Results from here on are not copied.
const PIECE_BYTES_MIN: usize = 8 << 10;
/// What is written around an id and a result, with what stands between the calls of a batch.
const ENVELOPE_BYTES: usize = 40;

/// The body of an answer. Its pieces, one after the other, are the JSON text; each that is dropped makes
/// room for other answers, so whoever sends them drops them one by one.
#[derive(Debug, Default)]
pub struct Answer {
    pieces: Vec<Bytes>,
    /// What is not yet a piece.
    text: Vec<u8>,
}

impl Answer {
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum::<usize>() + self.text.len()
    }

    pub fn into_pieces(mut self) -> Vec<Bytes> {
        self.cut();
        self.pieces
    }

    /// All in one, copied.
    pub fn into_vec(self) -> Vec<u8> {
        if self.pieces.is_empty() {
            return self.text;
        }
        self.into_pieces().concat()
    }

    pub(crate) fn push(&mut self, byte: u8) {
        self.text.push(byte);
    }

    /// One call's answer.
    pub(crate) fn write(&mut self, id: &str, outcome: Outcome) {
        let (name, json) = match outcome {
            Ok(result) => (",\"result\":", result),
            Err(failure) => (",\"error\":", failure.json),
        };
        let is_copied = json.len() < PIECE_BYTES_MIN;
        let copied_bytes = if is_copied { json.len() } else { 0 };
        self.text.reserve(ENVELOPE_BYTES + id.len() + copied_bytes);
        self.text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        self.text.extend_from_slice(id.as_bytes());
        self.text.extend_from_slice(name.as_bytes());
        if is_copied {
            self.text.extend_from_slice(&json);
        } else {
            self.cut();
            self.pieces.push(json);
        }
        self.text.push(b'}');
    }

    fn cut(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(std::mem::take(&mut self.text).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_node_is_told_with_the_whole_seconds_to_wait() {
        let error = Failure::busy(Some(Duration::from_millis(2_100)));
        let json: serde_json::Value = serde_json::from_slice(&error.json).unwrap();
        assert_eq!((&json["code"], &json["data"]["retryAfter"]), (&(-32005).into(), &3.into()));
        assert_eq!(json["message"], "the nodes of this chain are busy; try again in 3 s");
    }
}
