//! What keeps the server from doing its work, in words for an operator.

use serde::Serialize;

/// One thing that is wrong, in words for an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// None where it concerns the whole server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
    pub reason: String,
    pub advice: String,
}

/// What the rest of the process knows of. Cheap: every probe asks.
pub type ProblemsFn = Box<dyn Fn() -> Vec<Problem> + Send + Sync>;
