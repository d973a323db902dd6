//! Asks contracts through a node: many questions at once, at one block, within a time.
//!
//! In: calls. Out: raw answers, one for each; what they mean is for the asker. Whatever a node or a
//! contract says, the worst is no answer.

mod multicall;

use std::time::{Duration, Instant};

use alloy_primitives::{Address, address, hex};
use rpc::{Call, CallResult, Fetch, Lane, Needs, Pool, RpcFailureKind};
use serde_json::json;
use tokio::sync::Semaphore;

pub use multicall::{ContractCall, ReturnData};

/// At the same address on nearly every chain.
const MULTICALL3: Address = address!("cA11bde05977b3631167028862bE2a173976CA11");
/// Questions put into one call. A node gives a call tens of millions of gas; a question takes thousands.
const TOGETHER_MAX: usize = 128;
/// A longer answer is nobody's name and no pool's state.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Why there is no answer at all.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    #[error("no node of this chain holds the state of that block")]
    NoState,
    #[error("too many questions wait for the nodes of this chain; ask again in a moment")]
    Busy,
    #[error("the nodes of this chain gave no answer within {0} ms")]
    Timeout(u128),
    /// The cause is in the log: it may name a node.
    #[error("the nodes of this chain cannot be asked at the moment")]
    Unreachable,
}

impl CallError {
    fn outcome(&self) -> &'static str {
        match self {
            CallError::NoState => "no_state",
            CallError::Busy => "busy",
            CallError::Timeout(_) => "timeout",
            CallError::Unreachable => "unreachable",
        }
    }
}

pub struct Contracts {
    permits: Semaphore,
    timeout: Duration,
}

impl Contracts {
    /// So many questions under way at once, each for so long.
    pub fn new(at_once: usize, timeout: Duration) -> Self {
        Contracts { permits: Semaphore::new(at_once.clamp(1, 1 << 16)), timeout }
    }

    /// In the order of the questions. `block`: the newest where none is given.
    pub async fn call(
        &self,
        pool: &Pool,
        calls: &[ContractCall],
        block: Option<u64>,
    ) -> Result<Vec<ReturnData>, CallError> {
        self.bounded(async {
            let mut answers = Vec::with_capacity(calls.len());
            for some in calls.chunks(TOGETHER_MAX) {
                answers.extend(together(pool, some, block).await?);
            }
            Ok(answers)
        })
        .await
    }

    /// When a block was made, in unix seconds.
    pub async fn block_time(&self, pool: &Pool, number: u64) -> Result<u64, CallError> {
        self.bounded(async {
            let forwarded = pool.forward(Call::block_by_number(number, false)).await;
            let answer = forwarded.map_err(unreachable)?.answer.map_err(|e| refused(&e))?;
            let block: serde_json::Value = answer.parse().unwrap_or_default();
            let time = block.get("timestamp").and_then(|it| it.as_str());
            let time =
                time.and_then(|it| u64::from_str_radix(it.trim_start_matches("0x"), 16).ok());
            time.ok_or(CallError::NoState)
        })
        .await
    }

    async fn bounded<T>(
        &self,
        work: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let started = Instant::now();
        let timed = tokio::time::timeout(self.timeout, async {
            let _permit = self.permits.acquire().await.map_err(|_| CallError::Busy)?;
            work.await
        });
        let full = self.permits.available_permits() == 0;
        let outcome = timed.await.unwrap_or_else(|_| {
            Err(if full { CallError::Busy } else { CallError::Timeout(self.timeout.as_millis()) })
        });
        let name = outcome.as_ref().err().map_or("answered", CallError::outcome);
        metrics::counter!("headwater_contract_questions_total", "outcome" => name).increment(1);
        metrics::histogram!("headwater_contract_question_seconds")
            .record(started.elapsed().as_secs_f64());
        outcome
    }
}

async fn together(
    pool: &Pool,
    calls: &[ContractCall],
    block: Option<u64>,
) -> Result<Vec<ReturnData>, CallError> {
    let all = ContractCall { to: MULTICALL3, data: multicall::aggregate(calls) };
    let forwarded = pool.forward(eth_call(&all, block)?).await.map_err(unreachable)?;
    match bytes(&forwarded.answer) {
        Err(error @ (CallError::NoState | CallError::Busy)) => return Err(error),
        Ok(Some(data)) => {
            if let Some(answers) = multicall::aggregated(&data, calls.len()) {
                return Ok(answers);
            }
        }
        _ => {}
    }
    // No such contract there, or not yet at that block, or one question spoiled it for the others.
    let single = calls.iter().map(|call| eth_call(call, block)).collect::<Result<Vec<_>, _>>()?;
    let needs = Needs { block, ..Needs::default() };
    let fetch = Fetch { calls: single, not: &[], needs, lane: Lane::Interactive };
    let fetched = pool.fetch(fetch).await.map_err(unreachable)?;
    one_by_one(&fetched.answers, calls.len())
}

/// Some nodes call it their own fault when a contract misbehaves. One such answer is a contract's, all
/// of them are the node's.
fn one_by_one(answers: &[CallResult], count: usize) -> Result<Vec<ReturnData>, CallError> {
    let mut read: Vec<Result<ReturnData, CallError>> = answers.iter().map(bytes).collect();
    let failed = |it: &Result<ReturnData, CallError>| matches!(it, Err(CallError::Unreachable));
    if read.len() != count || (count > 0 && read.iter().all(failed)) {
        return Err(CallError::Unreachable);
    }
    read.iter_mut().filter(|it| failed(it)).for_each(|it| *it = Ok(None));
    read.into_iter().collect()
}

fn eth_call(call: &ContractCall, block: Option<u64>) -> Result<Call, CallError> {
    let at = block.map_or("latest".to_owned(), |number| format!("{number:#x}"));
    let params =
        json!([{ "to": format!("{:#x}", call.to), "data": hex::encode_prefixed(&call.data) }, at]);
    let params = serde_json::value::to_raw_value(&params).map_err(|_| CallError::Unreachable)?;
    Ok(Call::new("eth_call", params))
}

/// What was returned; nothing where the contract refused or sent what is no data.
fn bytes(answer: &CallResult) -> Result<ReturnData, CallError> {
    let raw = match answer {
        Ok(raw) => raw,
        Err(failure) => {
            return match failure.kind() {
                RpcFailureKind::Other | RpcFailureKind::TooLarge => Ok(None),
                _ => Err(refused(failure)),
            };
        }
    };
    if raw.json().len() > ANSWER_BYTES_MAX {
        return Ok(None);
    }
    let text: Option<String> = raw.parse().ok();
    Ok(text.and_then(|text| hex::decode(text).ok()))
}

fn refused(failure: &rpc::RpcFailure) -> CallError {
    match failure.kind() {
        RpcFailureKind::StateMissing => CallError::NoState,
        RpcFailureKind::RateLimited => CallError::Busy,
        _ => {
            tracing::debug!(error = %failure, "a node refused a question about a contract");
            CallError::Unreachable
        }
    }
}

fn unreachable(error: rpc::Error) -> CallError {
    tracing::debug!(%error, "no node could be asked about a contract");
    CallError::Unreachable
}
