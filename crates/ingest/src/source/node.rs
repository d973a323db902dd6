//! Blocks from nodes: asked for, parsed, verified and turned into rows.
//!
//! In: block numbers. Out: prepared blocks, in that order. A node that contradicts itself is asked
//! once more for the same block, since its head may have moved between two calls; the second
//! contradiction is reported to the pool with the evidence and another node is asked.

use std::sync::Arc;

use alloy_primitives::B256;
use model::chain::{Chain, ChainId};
use model::raw::{Block, Header, read_geth_traces, read_parity_traces};
use rpc::{Call, CallResult, Capabilities, Needs, Plan, Pool, RawAnswer, Receipts, Traces, UpstreamId};
use store::Prepared;

use super::record::read_receipts;
use crate::config::TraceUse;
use crate::error::{Error, Fault, all_but, evidence};
use crate::verify::{Lie, Rules, Senders, verify};

/// How often a block is asked for before the caller is told that it cannot be had now.
const TRIALS: usize = 3;

#[derive(Clone)]
pub struct NodeSource {
    pub pool: Arc<Pool>,
    pub chain: Arc<Chain>,
    pub traces: TraceUse,
}

/// What one node said about some blocks.
struct Answered {
    upstream: UpstreamId,
    dialect: Traces,
    answers: Vec<CallResult>,
}

impl NodeSource {
    pub fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    pub async fn blocks(&self, numbers: &[u64], senders: Senders) -> Result<Vec<Prepared>, Error> {
        let mut last = Error::Stopped;
        for _ in 0..TRIALS {
            let answered = self.ask(numbers, &[]).await?;
            let upstream = answered.upstream;
            match self.read(numbers, answered, senders).await {
                Ok(blocks) => return Ok(blocks),
                Err(Problem::Fault(number, fault)) => {
                    let lie = fault.into_lie(number);
                    last = self.ask_again(number, upstream, senders, lie).await?;
                }
                Err(Problem::Other(error)) => return Err(error),
            }
        }
        Err(last)
    }

    /// A second contradiction about the same block is no accident.
    async fn ask_again(
        &self,
        number: u64,
        upstream: UpstreamId,
        senders: Senders,
        first: Lie,
    ) -> Result<Error, Error> {
        let others = all_but(&self.pool, upstream);
        let second = match self.ask(&[number], &others).await {
            Ok(answered) => self.read(&[number], answered, senders).await.err(),
            Err(_) => None,
        };
        let Some(Problem::Fault(_, fault)) = second else { return Ok(Error::Moved { number }) };
        let lie = fault.into_lie(number);
        let label = self.pool.label(upstream).to_owned();
        tracing::warn!(
            chain.id = self.chain.id.0, block.number = number, upstream = %label,
            check = lie.check, expected = %lie.expected, got = %lie.got, first = %first.check,
            "an upstream contradicts itself and is left out"
        );
        metrics::counter!("headwater_lies_total", "chain" => self.chain.slug.clone(), "check" => lie.check)
            .increment(1);
        self.pool.report_lie(upstream, evidence(&lie));
        Ok(Error::Lie { upstream: label, lie })
    }

    fn wants_traces(&self) -> bool {
        let needs = Needs { traces: true, ..Needs::default() };
        self.traces == TraceUse::Auto && self.pool.can(&needs)
    }

    async fn ask(&self, numbers: &[u64], not: &[UpstreamId]) -> Result<Answered, Error> {
        let traces = self.wants_traces();
        let needs = Needs { traces, block: numbers.iter().max().copied(), ..Needs::default() };
        let plan = |able: &Capabilities| plan(numbers, able, traces);
        let fetched = self.pool.fetch_planned(Plan { calls: &plan, not, needs }).await?;
        let able = self.pool.capabilities(fetched.upstream);
        let dialect = able.as_ref().filter(|_| traces).map_or(Traces::None, |c| c.traces);
        let mut answers = fetched.answers;
        if able.is_some_and(|c| c.receipts == Receipts::Transaction) {
            answers = self.add_receipts(fetched.upstream, answers, parts(dialect)).await?;
        }
        Ok(Answered { upstream: fetched.upstream, dialect, answers })
    }

    /// For nodes without `eth_getBlockReceipts`: one receipt at a time, put together as a list where
    /// the block's receipts would stand.
    async fn add_receipts(
        &self,
        upstream: UpstreamId,
        answers: Vec<CallResult>,
        parts: usize,
    ) -> Result<Vec<CallResult>, Error> {
        let others = all_but(&self.pool, upstream);
        let mut all = Vec::with_capacity(answers.len() + answers.len() / parts.max(1));
        for (i, answer) in answers.into_iter().enumerate() {
            let hashes = match (&answer, i % (parts - 1) == 0) {
                (Ok(block), true) => transaction_hashes(block.json()),
                _ => None,
            };
            all.push(answer);
            let Some(hashes) = hashes else { continue };
            let calls = hashes.iter().map(Call::transaction_receipt).collect();
            let fetch = rpc::Fetch { calls, not: &others, needs: Needs::default() };
            all.push(join(self.pool.fetch(fetch).await?.answers));
        }
        Ok(all)
    }

    /// Parsing and hashing are work for a thread of their own.
    async fn read(
        &self,
        numbers: &[u64],
        answered: Answered,
        senders: Senders,
    ) -> Result<Vec<Prepared>, Problem> {
        let rules = Rules {
            verification: self.chain.verification,
            chain_id: self.chain.id.0,
            senders,
        };
        let (chain, numbers) = (self.chain.id, numbers.to_vec());
        let label = self.pool.label(answered.upstream).to_owned();
        let work = move || {
            let per_block = answered.answers.chunks(parts(answered.dialect));
            let pairs = numbers.iter().zip(per_block);
            pairs
                .map(|(number, answers)| {
                    let block = read_block(*number, answers, answered.dialect, &label)?;
                    let proof = verify(&block, &rules)
                        .map_err(|lie| Problem::Fault(*number, Fault::Lie(lie)))?;
                    Ok(store::prepare(chain, &block, proof))
                })
                .collect()
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(_) => Err(Problem::Other(Error::Stopped)),
        }
    }

    /// Hash and parent of a block, without its body: for walking back to a common ancestor.
    pub async fn link(&self, number: u64) -> Result<(B256, B256), Error> {
        let call = Call::block_by_number(number, false);
        let needs = Needs { block: Some(number), ..Needs::default() };
        let fetch = rpc::Fetch { calls: vec![call], not: &[], needs };
        let fetched = self.pool.fetch(fetch).await?;
        let answer = fetched.answers.into_iter().next();
        let Some(Ok(answer)) = answer else { return Err(Error::NotThere { number }) };
        let link = answer.parse::<LinkOnly>().ok().and_then(|l| Some((hash(l.hash)?, hash(l.parent)?)));
        link.ok_or(Error::NotThere { number })
    }
}

#[derive(serde::Deserialize)]
struct LinkOnly<'a> {
    hash: &'a str,
    #[serde(rename = "parentHash")]
    parent: &'a str,
}

fn hash(text: &str) -> Option<B256> {
    text.parse().ok()
}

enum Problem {
    /// The block's number and what is wrong with it.
    Fault(u64, Fault),
    Other(Error),
}

/// Answers per block: block, receipts and, where asked for, traces.
fn parts(dialect: Traces) -> usize {
    if dialect == Traces::None { 2 } else { 3 }
}

fn plan(numbers: &[u64], able: &Capabilities, traces: bool) -> Vec<Call> {
    let mut calls = Vec::with_capacity(numbers.len() * 3);
    for number in numbers {
        calls.push(Call::block_by_number(*number, true));
        if able.receipts == Receipts::Block {
            calls.push(Call::block_receipts(*number));
        }
        match able.traces {
            _ if !traces => {}
            Traces::DebugTraceBlock => calls.push(Call::debug_trace_block(*number)),
            Traces::TraceBlock => calls.push(Call::trace_block(*number)),
            Traces::None => {}
        }
    }
    calls
}

fn read_block(
    number: u64,
    answers: &[CallResult],
    dialect: Traces,
    upstream: &str,
) -> Result<Block, Problem> {
    let malformed = |m| Problem::Fault(number, Fault::Malformed(m));
    let take = |i: usize, what| take(answers.get(i), what, number, upstream);
    let mut block = Block::read(take(0, "a block")?)
        .map_err(malformed)?
        .ok_or(Problem::Other(Error::NotThere { number }))?;
    if block.number != number {
        let (expected, got) = (number.to_string(), block.number.to_string());
        let lie = Lie { block: number, check: "block number", expected, got };
        return Err(Problem::Fault(number, Fault::Lie(lie)));
    }
    let receipts = read_receipts(text(take(1, "receipts")?)).map_err(malformed)?;
    block.set_receipts(receipts).map_err(malformed)?;
    if !block.has_all_receipts() {
        let expected = format!("{} receipts", block.txs.len());
        let got = block.receipts.iter().flatten().count().to_string();
        let lie = Lie { block: number, check: "receipt count", expected, got };
        return Err(Problem::Fault(number, Fault::Lie(lie)));
    }
    let count = block.txs.len();
    block.traces = match dialect {
        Traces::None => None,
        // Nothing happened in it, and tracers differ in what they say of genesis.
        _ if count == 0 => Some(Vec::new()),
        Traces::DebugTraceBlock => {
            Some(read_geth_traces(text(take(2, "traces")?), count).map_err(malformed)?)
        }
        Traces::TraceBlock => {
            Some(read_parity_traces(text(take(2, "traces")?), count).map_err(malformed)?)
        }
    };
    Ok(block)
}

fn take<'a>(
    answer: Option<&'a CallResult>,
    what: &'static str,
    number: u64,
    upstream: &str,
) -> Result<&'a [u8], Problem> {
    match answer {
        Some(Ok(answer)) => Ok(answer.json()),
        Some(Err(failure)) => Err(Problem::Other(Error::Refused {
            upstream: upstream.to_owned(),
            what,
            message: failure.message.clone(),
        })),
        None => Err(Problem::Other(Error::NotThere { number })),
    }
}

/// JSON is UTF-8; text that is not reads as nothing and fails as malformed.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn transaction_hashes(block: &[u8]) -> Option<Vec<B256>> {
    let header: Header = serde_json::from_slice(block).ok()?;
    header.transactions?.into_iter().map(|tx| tx.hash).collect()
}

fn join(receipts: Vec<CallResult>) -> CallResult {
    let mut list = vec![b'['];
    for receipt in receipts {
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(receipt?.json());
    }
    list.push(b']');
    Ok(RawAnswer::from(list))
}
