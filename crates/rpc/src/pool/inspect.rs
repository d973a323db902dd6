//! One look at each node of a chain, for an operator who asks whether they will do: what probing finds, and what
//! the node bears. Nothing is watched afterwards.

use super::PoolOptions;
use super::shared::{Member, Shared};
use super::status::HeadStatus;
use crate::call::{Call, RpcFailureKind};
use crate::error::{Error, error_chain};
use crate::lane::Lane;
use crate::probe::{self, Capabilities, Failure, Probed, Receipts};
use crate::upstream::{Asking, HeadEvent, HeadSubscription, Upstream};
use crate::upstream_id::UpstreamId;
use futures_util::future::join_all;
use serde::Serialize;
use std::time::Duration;
use tasks::Backoff;
use tokio::time::{Instant, timeout};

/// A node that needs longer for all questions together is of no use, whatever it says.
const ALL_QUESTIONS: Duration = Duration::from_secs(90);
const SUBSCRIBE_WITHIN: Duration = Duration::from_secs(10);
/// Blocks with receipts that are asked for to see how fast the node is.
const SPEED_BLOCKS: u64 = 6;
const LATENCY_TRIALS: usize = 5;

/// What one node is, or why it cannot be used.
#[derive(Clone, Debug, Serialize)]
pub struct NodeReport {
    pub name: String,
    /// Scheme, host and port only.
    pub url: String,
    #[serde(flatten)]
    pub outcome: NodeOutcome,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeOutcome {
    Usable(Box<NodeFindings>),
    WrongChain {
        got: String,
    },
    Unreachable {
        why: String,
    },
    /// It answered, but not to what every node must answer.
    Useless {
        why: String,
    },
}

#[derive(Clone, Debug, Serialize)]
pub struct NodeFindings {
    pub capabilities: Capabilities,
    pub head: HeadStatus,
    /// Why it does not trace, or may not.
    pub trace_failure: Option<String>,
    /// Whether balances in the middle of its blocks can be asked for. None where it gave no clear answer.
    pub keeps_old_state: Option<bool>,
    /// Calls in one request: what was tried first, and what it takes.
    pub batch_asked: usize,
    pub batch_max: usize,
    pub latency_ms: f64,
    /// Blocks with receipts from the middle of its history, on one connection.
    pub blocks_per_second: Option<f64>,
    /// None where no socket is configured.
    pub subscription: Option<Subscription>,
}

/// Whether it tells new heads over a socket.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subscription {
    Works,
    Fails { why: String },
}

/// In the order of the configuration, all at once.
pub async fn inspect(options: PoolOptions) -> Result<Vec<NodeReport>, Error> {
    let shared = Shared::new(options)?;
    let reports = shared.ids().map(|id| {
        let shared = &shared;
        async move { Some(report(shared, shared.member(id)?, id).await) }
    });
    Ok(join_all(reports).await.into_iter().flatten().collect())
}

async fn report(shared: &Shared, member: &Member, id: UpstreamId) -> NodeReport {
    let upstream = &member.upstream;
    let outcome = match timeout(ALL_QUESTIONS, findings(shared, member, id)).await {
        Ok(Ok(findings)) => NodeOutcome::Usable(Box::new(findings)),
        Ok(Err(Failure::WrongChain { got })) => NodeOutcome::WrongChain { got },
        Ok(Err(Failure::Useless(why))) => NodeOutcome::Useless { why },
        Ok(Err(Failure::Unreachable(error))) => {
            NodeOutcome::Unreachable { why: error_chain(&error) }
        }
        Err(_) => {
            let why = format!("not all questions were answered in {} s", ALL_QUESTIONS.as_secs());
            NodeOutcome::Unreachable { why }
        }
    };
    NodeReport { name: upstream.label.clone(), url: upstream.url_shown.clone(), outcome }
}

async fn findings(
    shared: &Shared,
    member: &Member,
    id: UpstreamId,
) -> Result<NodeFindings, Failure> {
    let upstream = &member.upstream;
    let Probed { capabilities, trace_doubt, head, .. } =
        probe::probe(upstream, id, shared.expected(member)).await?;
    let middle = capabilities.oldest_block.midpoint(head.number);
    let keeps_old_state = keeps_state(upstream, middle).await?;
    let latency_ms = latency_ms(upstream).await?;
    let batch_asked = upstream.batch.get();
    let batch_max = batch_max(upstream, batch_asked).await?;
    let blocks_per_second = speed(upstream, capabilities.receipts, middle, head.number).await;
    Ok(NodeFindings {
        trace_failure: trace_doubt.map(|doubt| doubt.reason()),
        subscription: subscription(upstream, id).await,
        head: head.into(),
        capabilities,
        keeps_old_state,
        batch_asked,
        batch_max,
        latency_ms,
        blocks_per_second,
    })
}

/// Any account will do: one that does not exist has no balance, which only a node with the state can say.
async fn keeps_state(upstream: &Upstream, block: u64) -> Result<Option<bool>, Error> {
    let params = format!(r#"["0x{:040}","{block:#x}"]"#, 0);
    let answer = upstream.poll(&Call::listed("eth_getBalance", params)).await?;
    Ok(match answer {
        Ok(balance) => balance.parse::<&str>().is_ok().then_some(true),
        Err(failure) => (failure.kind() == RpcFailureKind::StateMissing).then_some(false),
    })
}

/// The median of some small questions, one after the other.
async fn latency_ms(upstream: &Upstream) -> Result<f64, Error> {
    let mut taken = Vec::with_capacity(LATENCY_TRIALS);
    for _ in 0..LATENCY_TRIALS {
        let started = Instant::now();
        // A refusal takes as long as an answer.
        let _ = upstream.poll(&Call::block_number()).await?;
        taken.push(started.elapsed());
    }
    taken.sort_unstable();
    let median = taken.get(LATENCY_TRIALS / 2).copied().unwrap_or_default();
    Ok(tenths(median.as_secs_f64() * 1000.0))
}

/// As many as are configured; then the size that the node's refusals taught.
async fn batch_max(upstream: &Upstream, asked: usize) -> Result<usize, Error> {
    let calls = vec![Call::block_number(); asked];
    upstream.call_many(&calls, Asking::calls(Lane::Head)).await?;
    Ok(upstream.batch.get())
}

/// None where it did not give the blocks: how fast an error comes says nothing.
async fn speed(upstream: &Upstream, receipts: Receipts, from: u64, head: u64) -> Option<f64> {
    let last = head.min(from + SPEED_BLOCKS - 1);
    let of_block = |number| {
        let receipts = (receipts == Receipts::Block).then(|| Call::block_receipts(number));
        std::iter::once(Call::block_by_number(number, true)).chain(receipts)
    };
    let calls: Vec<Call> = (from..=last).flat_map(of_block).collect();
    let started = Instant::now();
    let answers = upstream.call_many(&calls, Asking::calls(Lane::History)).await.ok()?;
    let given =
        |answer: &crate::call::CallResult| answer.as_ref().is_ok_and(|answer| !answer.is_null());
    let blocks = (last + 1 - from) as f64;
    answers.iter().all(given).then(|| tenths(blocks / started.elapsed().as_secs_f64().max(1e-6)))
}

async fn subscription(upstream: &Upstream, id: UpstreamId) -> Option<Subscription> {
    let target = upstream.heads_at()?.clone();
    let pause = Backoff { min: SUBSCRIBE_WITHIN, max: SUBSCRIBE_WITHIN };
    let mut heads = HeadSubscription::start(target, id, pause);
    Some(match timeout(SUBSCRIBE_WITHIN, heads.next()).await {
        Ok(Some(HeadEvent::Subscribed | HeadEvent::Head(_))) => Subscription::Works,
        Ok(Some(HeadEvent::Lost(why))) => Subscription::Fails { why },
        Ok(None) | Err(_) => {
            let why = format!("it did not confirm within {} s", SUBSCRIBE_WITHIN.as_secs());
            Subscription::Fails { why }
        }
    })
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
