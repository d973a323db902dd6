//! The small questions that a probe is made of.

use super::Failure;
use crate::call::{Call, CallResult, RpcFailureKind};
use crate::error::Error;
use crate::upstream::Upstream;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::time::Duration;
use tokio::time::sleep;

/// How many blocks back a block with transactions is looked for.
const LOOK_BACK: u64 = 8;
/// How often a node that stumbles over a question is asked it, a little later each time.
pub const TRIALS: u32 = 3;
const AGAIN_AFTER: Duration = Duration::from_millis(100);

pub struct Questions<'a> {
    pub upstream: &'a Upstream,
}

/// As much of a block as a sample needs.
#[derive(Deserialize)]
pub struct Body {
    pub hash: Box<str>,
    transactions: Vec<IgnoredAny>,
}

/// A recent block to try methods on, best one with transactions: an empty one proves little.
pub struct Sample {
    pub number: u64,
    /// As written.
    pub hash: Option<Box<str>>,
    pub transactions: usize,
}

impl Questions<'_> {
    pub async fn ask(&self, call: Call) -> Result<CallResult, Error> {
        self.upstream.poll(&call).await
    }

    /// For questions whose refusal would be taken as an answer: an error in the node or a plea to
    /// slow down is none, and is asked about again.
    pub async fn ask_until_answered(&self, call: Call) -> Result<CallResult, Error> {
        let mut answer = self.ask(call.clone()).await?;
        for trial in 1..TRIALS {
            let kind = answer.as_ref().err().map(|failure| failure.kind());
            if !matches!(kind, Some(RpcFailureKind::Internal | RpcFailureKind::RateLimited)) {
                break;
            }
            sleep(AGAIN_AFTER * trial).await;
            answer = self.ask(call.clone()).await?;
        }
        Ok(answer)
    }

    pub async fn body(&self, number: u64) -> Result<Option<Body>, Failure> {
        let answer = self.ask(Call::block_by_number(number, false)).await?;
        Ok(answer.ok().and_then(|answer| answer.parse().ok()))
    }

    pub async fn sample(&self, head: u64) -> Result<Sample, Failure> {
        let mut newest = None;
        for number in (head.saturating_sub(LOOK_BACK)..=head).rev() {
            let Some(body) = self.body(number).await? else { continue };
            let hash = Some(body.hash);
            if !body.transactions.is_empty() {
                return Ok(Sample { number, hash, transactions: body.transactions.len() });
            }
            newest = newest.or(hash);
        }
        Ok(Sample { number: head, hash: newest, transactions: 0 })
    }
}

pub fn list_length(answer: &CallResult) -> Option<usize> {
    let list: Vec<IgnoredAny> = answer.as_ref().ok()?.parse().ok()?;
    Some(list.len())
}
