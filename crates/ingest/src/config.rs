//! What an operator may set about reading a chain.

use serde::{Deserialize, Serialize};

use crate::verify::Senders;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `auto` takes traces where a node offers them, also for blocks stored before; `off` never asks.
    pub traces: TraceUse,
    /// How long a new block at the head waits for its traces before it is stored without them; and for another
    /// node, where less of it is proven than is usual.
    pub head_trace_ms: u64,
    /// How long a node may take for a request of history with traces before it is asked without them. Time in
    /// which the request waits for its turn does not count.
    pub history_trace_ms: u64,
    /// Senders recovered while filling history; at the head all of them always are.
    pub senders: SenderCheck,
    /// Blocks asked for in one request while filling history.
    pub segment_blocks: usize,
    /// Requests under way at once while filling history.
    pub workers: usize,
    /// Accounts a minute whose balance is held against what a block says, by proofs of nodes; 0 is none.
    pub audit: u32,
    /// `auto` decodes stored blocks again where other decoders read them; `off` waits to be asked.
    pub redecode: Redecode,
    /// Where a chain has several nodes, a revert of more blocks than this, or of one that was called finalized,
    /// wants the word of a second node.
    pub revert_second_word_blocks: u64,
    /// How long that word is waited for; then the revert is done, and told of.
    pub revert_second_word_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redecode {
    Auto,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceUse {
    Auto,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SenderCheck {
    All,
    Sample,
}

impl From<SenderCheck> for Senders {
    fn from(check: SenderCheck) -> Self {
        match check {
            SenderCheck::All => Senders::All,
            SenderCheck::Sample => Senders::Sample,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            traces: TraceUse::Auto,
            head_trace_ms: 3_000,
            history_trace_ms: 10_000,
            senders: SenderCheck::Sample,
            segment_blocks: 6,
            workers: 8,
            audit: 6,
            redecode: Redecode::Auto,
            revert_second_word_blocks: 8,
            revert_second_word_ms: 60_000,
        }
    }
}
