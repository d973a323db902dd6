//! Asking nodes until one gives an answer that can be believed.

use std::sync::Arc;

use alloy_primitives::B256;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::printable;
use rpc::{
    Call, CallResult, Forward, Forwarded, Needs, OverBudget, RawAnswer, Route, RpcFailure,
    RpcFailureKind, UpstreamId,
};
use serde::de::IgnoredAny;

use super::ForwardedChain;
use super::about::About;
use super::cache::AnswerCache;
use super::check::{self, Beside, Checked, Verdict};
use super::together::Together;
use super::{node_error, quorum, split_logs};
use crate::answer::{Failure, Outcome, SHOWN_CHARS_MAX};
use crate::methods::{BlockParam, Finality, Method};

/// So many nodes are asked for what others answered wrongly or did not have.
const TRIALS_MAX: usize = 8;
/// Checking what is larger takes long enough to do it beside the others.
const LARGE_BYTES: usize = 64 << 10;
/// Of an error in a log line.
const ERROR_CHARS_MAX: usize = 500;

#[derive(Clone)]
pub struct Question {
    pub chain: Arc<ForwardedChain>,
    pub cache: Arc<AnswerCache>,
    pub method: &'static Method,
    pub about: About,
    pub params: Arc<str>,
    pub checked: Checked,
    /// So many nodes must agree where the answer cannot be proven.
    pub quorum: usize,
    pub together: Option<Arc<Together>>,
}

/// Why there is no answer.
enum Refused {
    /// The range is too wide for the node.
    TooWide(Failure),
    Told(Failure),
    /// Nobody answered, or nothing that holds.
    Failed(Failure),
}

/// What a node said, and whether it has not come so far as what was asked.
struct Said {
    id: UpstreamId,
    answer: CallResult,
    is_behind: bool,
}

impl Question {
    pub async fn answer(self) -> Outcome {
        let mut is_proven = self.checked.proves(self.about);
        if let Some(hash) = self.wants_hashes() {
            match self.whole_block(hash).await {
                Ok(block) => {
                    if let Some(block) = check::with_hashes(&block) {
                        return Ok(block.into());
                    }
                }
                Err(Refused::Failed(failure)) => return Err(failure),
                // Too large, or not known to this node in that form.
                Err(Refused::Told(_) | Refused::TooWide(_)) => {}
            }
            is_proven = false;
        }
        if self.quorum > 1 && !is_proven {
            return self.agreed().await;
        }
        match self.ask().await {
            Ok(answer) => Ok(answer),
            Err(Refused::Told(failure) | Refused::Failed(failure)) => Err(failure),
            Err(Refused::TooWide(failure)) => {
                let mut parts = split_logs::PARTS_MAX;
                self.in_halves(&mut parts).await.unwrap_or(Err(failure))
            }
        }
    }

    /// The block that is named by its hash and asked for with no more than the hashes of its transactions, which
    /// nothing proves: it is taken whole.
    fn wants_hashes(&self) -> Option<B256> {
        let (Checked::Block, About::Hash(hash)) = (self.checked, self.about) else { return None };
        let (_, is_whole): (IgnoredAny, bool) = serde_json::from_str(&self.params).ok()?;
        Some(hash).filter(|_| !is_whole)
    }

    fn call(&self) -> Call {
        Call::listed(self.method.name, self.params.to_string())
    }

    fn needs(&self) -> Needs {
        let head = self.chain.head().head;
        let block = match self.about {
            About::Blocks { to, .. } => Some(to),
            About::Head => Some(head),
            _ => None,
        };
        let asks_state = matches!(self.method.block, BlockParam::NumberOrHash(1..));
        let traces =
            self.method.name.starts_with("trace_") || self.method.name.starts_with("debug_trace");
        Needs {
            block: block.filter(|block| *block > 0),
            state: asks_state || traces,
            ..Needs::default()
        }
    }

    async fn agreed(self) -> Outcome {
        let head = self.chain.head().head;
        // `latest` must be the same for all of them.
        let params = super::pinned(self.method, &self.params, head).filter(|_| head > 0);
        let call =
            params.map_or_else(|| self.call(), |params| Call::listed(self.method.name, params));
        quorum::ask(&self.chain.pool, &call, self.needs(), self.quorum).await
    }

    /// One node after the other, as long as what they say cannot be right.
    async fn ask(&self) -> Result<Bytes, Refused> {
        let pool = &self.chain.pool;
        let (mut not, mut absent): (Vec<UpstreamId>, Option<Bytes>) = (Vec::new(), None);
        let mut refused: Option<RpcFailure> = None;
        let mut first = match &self.together {
            Some(together) => {
                let head = self.chain.head().head;
                together.clone().ask(pool, self.call(), Some(head).filter(|head| *head > 0)).await
            }
            None => None,
        };
        let beside = self.beside().await;
        for _ in 0..TRIALS_MAX {
            let (id, answer) = match first.take() {
                Some((id, Err(failure))) if another_may_know(&failure) => {
                    not.push(id);
                    refused = Some(failure);
                    continue;
                }
                Some(answered) => answered,
                None => match self.forward(&not).await {
                    Ok(Said { id, answer: Ok(answer), is_behind: true }) => {
                        // Better than nothing where all the others are, too.
                        absent.get_or_insert_with(|| answer.into_bytes());
                        not.push(id);
                        continue;
                    }
                    Ok(Said { id, answer, .. }) => (id, answer),
                    Err(_) if absent.is_some() || refused.is_some() => break,
                    Err(error @ rpc::Error::TooLarge { .. }) => {
                        return Err(Refused::Told(failed(&error, self.method.name)));
                    }
                    Err(error) => return Err(Refused::Failed(failed(&error, self.method.name))),
                },
            };
            let answer = answer.map_err(|failure| self.refusal(&failure))?;
            let (verdict, answer) = self.check(answer, beside.clone()).await?;
            match verdict {
                Verdict::Proven | Verdict::Plausible => return Ok(answer),
                Verdict::Absent if self.is_settled(&answer, not.len()) => return Ok(answer),
                Verdict::Absent => absent = Some(answer),
                Verdict::Wrong(evidence) => pool.distrust(id, evidence),
            }
            not.push(id);
        }
        absent.ok_or_else(|| {
            // Nobody else is there: its own words are better than none.
            if let Some(failure) = refused {
                return self.refusal(&failure);
            }
            let why = "no node of this chain gave an answer that holds";
            Refused::Failed(Failure::internal(why))
        })
    }

    async fn forward(&self, not: &[UpstreamId]) -> Result<Said, rpc::Error> {
        let may_hedge = self.method.forwarding.may_hedge;
        let route = Route { needs: self.needs(), not, may_hedge };
        let (pool, forward) = (&self.chain.pool, Forward { call: self.call(), batch: None, route });
        let (Forwarded { upstream, answer, .. }, is_behind) = match self.range_end() {
            None => (pool.forward(forward).await?, false),
            Some(end) => {
                let (forwarded, head) = pool.forward_with_head(forward).await?;
                (forwarded, head.is_some_and(|head| head < end))
            }
        };
        Ok(Said { id: upstream, answer, is_behind })
    }

    /// Where the range of a filter ends, if that block is there. A node that has not seen it leaves out what it
    /// does not know and says nothing of it, and when its head was last looked at it may have been elsewhere.
    fn range_end(&self) -> Option<u64> {
        match (self.method.block, self.about) {
            (BlockParam::Filter(_), About::Blocks { to, .. }) => {
                Some(to).filter(|to| *to <= self.chain.head().head)
            }
            _ => None,
        }
    }

    fn refusal(&self, failure: &RpcFailure) -> Refused {
        let told = node_error::told(failure);
        let is_range = matches!(self.about, About::Blocks { from, to } if from < to);
        let may_split = self.checked == Checked::Logs && self.method.forwarding.may_split;
        if may_split && is_range && failure.refuses_range() {
            Refused::TooWide(told)
        } else {
            Refused::Told(told)
        }
    }

    /// Whether nothing is the answer: nobody is asked again for what nobody can have, and one other node
    /// for what it may have.
    fn is_settled(&self, answer: &[u8], asked_before: usize) -> bool {
        if answer != b"null" || asked_before + 1 >= self.chain.pool.upstreams().len() {
            return true;
        }
        // Null is no list, and no price.
        if self.checked == Checked::Logs || self.method.finality == Finality::Head {
            return false;
        }
        let head = self.chain.head().head;
        match (self.method.finality, self.about) {
            // That block is there.
            (Finality::Block, About::Blocks { from, to }) if from == to && to <= head => false,
            (Finality::Block, About::Head) => false,
            (Finality::Block | Finality::Transaction, About::Hash(_) | About::Transaction(_)) => {
                asked_before > 0
            }
            _ => true,
        }
    }

    async fn check(
        &self,
        answer: RawAnswer,
        mut beside: Beside,
    ) -> Result<(Verdict, Bytes), Refused> {
        let answer = answer.into_bytes();
        if self.checked == Checked::Not && answer.as_ref() != b"null" {
            return Ok((Verdict::Plausible, answer));
        }
        if self.checked == Checked::Receipt {
            beside = self.at_hand_of_receipt(&answer);
        }
        let bytes = answer.len() + beside.bytes();
        let (about, checked, rules) = (self.about, self.checked, self.chain.rules());
        let judge = move |answer: &Bytes| {
            let question = check::Question { checked, about, rules: &rules, beside };
            check::check(&question, answer)
        };
        if bytes < LARGE_BYTES {
            return Ok((judge(&answer), answer));
        }
        let text = answer.clone();
        match tokio::task::spawn_blocking(move || judge(&text)).await {
            Ok(verdict) => Ok((verdict, answer)),
            // What could not be looked at is not told.
            Err(error) => {
                tracing::error!(%error, method = self.method.name, "the check of an answer failed");
                let why = "an answer could not be checked";
                Err(Refused::Failed(Failure::internal(why)))
            }
        }
    }

    /// For all receipts of a block: that block.
    async fn beside(&self) -> Beside {
        let About::Hash(hash) = self.about else { return Beside::default() };
        if self.checked != Checked::Receipts {
            return Beside::default();
        }
        let block = self.whole_block(hash).await.ok();
        Beside { block, receipts: None }
    }

    /// For one receipt: what is at hand of its block. Asking for it would cost more than the call.
    fn at_hand_of_receipt(&self, answer: &[u8]) -> Beside {
        let Some(hash) = check::block_of_receipt(answer) else { return Beside::default() };
        let block = self.at_hand("eth_getBlockByHash", &whole(hash));
        let receipts = self.at_hand("eth_getBlockReceipts", &format!(r#"["{hash}"]"#));
        Beside { block, receipts: receipts.filter(|_| self.checked == Checked::Receipt) }
    }

    fn at_hand(&self, method: &str, params: &str) -> Option<Bytes> {
        self.cache.by_hash((self.chain.chain.id, crate::methods::find(method)?), params)
    }

    /// With its transactions; asked for where it is not at hand.
    fn whole_block(&self, hash: B256) -> BoxFuture<'_, Result<Bytes, Refused>> {
        async move {
            if let Some(block) = self.at_hand("eth_getBlockByHash", &whole(hash)) {
                return Ok(block);
            }
            let name = "eth_getBlockByHash";
            let method = crate::methods::find(name)
                .ok_or_else(|| Refused::Failed(Failure::not_offered(name)))?;
            let (about, params) = (About::Hash(hash), Arc::from(whole(hash)));
            let (checked, together, quorum) = (Checked::Block, None, 1);
            let asked =
                Question { method, about, params, checked, quorum, together, ..self.clone() };
            let block = asked.ask().await?;
            self.cache.insert_by_hash((self.chain.chain.id, method), &asked.params, &block);
            Ok(block)
        }
        .boxed()
    }

    /// None where it cannot be cut any further.
    fn in_halves<'a>(&'a self, parts: &'a mut usize) -> BoxFuture<'a, Option<Outcome>> {
        async move {
            let About::Blocks { from, to } = self.about else { return None };
            let mut lists = Vec::with_capacity(2);
            for (params, from, to) in split_logs::halves(&self.params, from, to)? {
                *parts = parts.checked_sub(1)?;
                let about = About::Blocks { from, to };
                let half =
                    Question { about, params: params.into(), together: None, ..self.clone() };
                lists.push(match half.ask().await {
                    Ok(list) => list,
                    Err(Refused::Told(failure) | Refused::Failed(failure)) => {
                        return Some(Err(failure));
                    }
                    Err(Refused::TooWide(_)) => match half.in_halves(parts).await? {
                        Ok(list) => list,
                        Err(failure) => return Some(Err(failure)),
                    },
                });
            }
            split_logs::joined(&lists).map(Ok)
        }
        .boxed()
    }
}

/// The parameters that ask for a block with whole transactions.
fn whole(hash: B256) -> String {
    format!(r#"["{hash}",true]"#)
}

fn another_may_know(failure: &RpcFailure) -> bool {
    use RpcFailureKind::{Internal, MethodMissing, RateLimited, StateMissing};
    matches!(failure.kind(), MethodMissing | StateMissing | Internal | RateLimited)
}

/// What a node said to a call that was sent as it is.
pub fn told(forwarded: Result<Forwarded, rpc::Error>, method: &str) -> Outcome {
    match forwarded.map(|forwarded| forwarded.answer) {
        Ok(Ok(answer)) => Ok(answer.into_bytes()),
        Ok(Err(failure)) => Err(node_error::told(&failure)),
        Err(error) => Err(failed(&error, method)),
    }
}

/// Which nodes there are and what ails them is told to operators, in /status and the log.
pub fn failed(error: &rpc::Error, method: &str) -> Failure {
    let shown = printable(&error.to_string(), ERROR_CHARS_MAX);
    let method = printable(method, SHOWN_CHARS_MAX);
    if matches!(error, rpc::Error::RateLimited { .. } | rpc::Error::TooLarge { .. }) {
        // As often as a client likes.
        tracing::debug!(%method, error = %shown, "a call was refused");
    } else {
        tracing::warn!(%method, error = %shown, "no node could answer a call");
    }
    match error {
        rpc::Error::TooLarge { bytes_max, bound, .. } => {
            OverBudget { bound: *bound, bytes_max: *bytes_max }.into()
        }
        rpc::Error::RateLimited { retry_after, .. } => Failure::busy(*retry_after),
        _ => Failure::internal("no node of this chain could answer"),
    }
}
