//! Writing JSON-RPC answers.

/// What a call came to: raw JSON of its result, or a failure.
pub type Outcome = Result<Vec<u8>, Failure>;

#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The error object as JSON.
    json: Vec<u8>,
}

impl Failure {
    pub fn new(code: i64, message: &str) -> Self {
        let error = serde_json::json!({ "code": code, "message": message });
        Failure { json: error.to_string().into_bytes() }
    }

    /// A node's own error object, passed on as it is.
    pub fn of_node(json: &[u8]) -> Self {
        Failure { json: json.to_vec() }
    }

    pub fn parse(error: &serde_json::Error) -> Self {
        Self::new(-32700, &format!("parse error: the body is not JSON ({error})"))
    }

    pub fn invalid(why: &str) -> Self {
        Self::new(-32600, &format!("invalid request: {why}"))
    }

    pub fn not_offered(method: &str) -> Self {
        Self::new(-32601, &format!("the method {method} does not exist or is not offered here"))
    }

    pub fn params(why: &str) -> Self {
        Self::new(-32602, &format!("invalid params: {why}"))
    }

    pub fn internal(why: &str) -> Self {
        Self::new(-32603, why)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "the store could not answer a call");
        Failure::internal("the store could not answer; see the server's log")
    }
}

pub fn write(id: &str, outcome: &Outcome, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    match outcome {
        Ok(result) => {
            out.extend_from_slice(b",\"result\":");
            out.extend_from_slice(result);
        }
        Err(failure) => {
            out.extend_from_slice(b",\"error\":");
            out.extend_from_slice(&failure.json);
        }
    }
    out.push(b'}');
}
