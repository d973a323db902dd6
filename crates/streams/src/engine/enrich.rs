//! What a webhook says beside the block: names of tokens, answers of contracts, balances. All of it is asked at once,
//! within a bound; what cannot be had is said where it was wanted, and the webhook goes out all the same.
//!
//! Nodes are asked by the block's hash: one that is on another branch must say that it does not know the block, not what
//! its own block of that height holds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use alloy_primitives::{Address, B256, U256, hex};
use futures_util::StreamExt;
use futures_util::stream;
use model::chain::ChainId;
use model::token::Token;
use rpc::{Call, CallResult, Fetch, Lane, Needs as NodeNeeds, Pool, RpcFailureKind, UpstreamId};
use serde_json::json;
use store::Event;

use super::context::Context;
use crate::definition::TriggerCall;
use crate::matching::{BlockMatch, Needs};

/// Of one request to a node, and requests at once.
const CALLS_TOGETHER: usize = 50;
const REQUESTS_AT_ONCE: usize = 8;
const TOKENS_AT_ONCE: usize = 32;
/// That are asked the same because others do not have the block.
const NODES_MAX: usize = 3;
const NO_NODE: &str = "this server has no node of the chain";

pub async fn enrich(context: &Context, chain: ChainId, event: &Event, matches: &mut [BlockMatch]) {
    let needs = |found: &BlockMatch| found.items.needs(&found.plan);
    let mut all: Vec<Needs> = matches.iter().map(needs).collect();
    let wanted: BTreeSet<Address> = all.iter().flat_map(|it| it.tokens.iter().copied()).collect();
    let tokens = tokens(context, chain, wanted).await;
    for (found, needs) in matches.iter_mut().zip(&mut all) {
        let known = needs.tokens.iter().filter_map(|it| Some((*it, tokens.get(it)?.clone())));
        found.items.fill_tokens(known);
        if needs.tokens_first {
            *needs = found.items.needs(&found.plan);
        }
    }
    let questions = Questions::of(&all);
    if questions.calls.is_empty() {
        return fill(matches, &all, &HashMap::new());
    }
    let pool = context.chains.get(&chain).and_then(|it| it.pool.as_deref());
    let timeout = Duration::from_millis(context.config.call_timeout_ms);
    let answers = questions.ask(pool, event, timeout).await;
    fill(matches, &all, &answers);
}

async fn tokens(
    context: &Context,
    chain: ChainId,
    wanted: BTreeSet<Address>,
) -> BTreeMap<Address, Token> {
    let timeout = Duration::from_millis(context.config.call_timeout_ms);
    let ask = |address: Address| async move {
        let token = tokio::time::timeout(timeout, context.tokens.token(chain, address)).await;
        (address, token.unwrap_or_default())
    };
    stream::iter(wanted).map(ask).buffer_unordered(TOKENS_AT_ONCE).collect().await
}

/// One question to a node; equal ones are asked once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Question {
    Trigger(TriggerCall),
    Balance(Address),
}

type NodeAnswers = HashMap<Question, Result<Vec<u8>, String>>;

struct Questions {
    calls: Vec<Question>,
}

impl Questions {
    fn of(all: &[Needs]) -> Self {
        let mut seen = std::collections::HashSet::new();
        let triggers = all.iter().flat_map(|it| &it.triggers);
        let triggers = triggers.filter_map(|it| it.call.clone().ok().map(Question::Trigger));
        let balances = all.iter().flat_map(|it| &it.balances);
        let balances = balances.map(|it| Question::Balance(it.address));
        let calls = triggers.chain(balances).filter(|it| seen.insert(it.clone())).collect();
        Questions { calls }
    }

    async fn ask(self, pool: Option<&Pool>, at: &Event, timeout: Duration) -> NodeAnswers {
        let Some(pool) = pool else {
            let failed = |it: Question| (it, Err(NO_NODE.to_owned()));
            return self.calls.into_iter().map(failed).collect();
        };
        let chunks: Vec<Vec<Question>> =
            self.calls.chunks(CALLS_TOGETHER).map(<[Question]>::to_vec).collect();
        let asked = stream::iter(chunks).map(|some| async move {
            let mut asking = Asking { left: some, answers: NodeAnswers::new(), not: Vec::new() };
            let in_time = tokio::time::timeout(timeout, asking.run(pool, at)).await;
            let why = in_time.map_or_else(
                |_| format!("no answer within {} ms", timeout.as_millis()),
                |()| "no node could be asked".to_owned(),
            );
            asking.end(&why)
        });
        let answers: Vec<NodeAnswers> = asked.buffer_unordered(REQUESTS_AT_ONCE).collect().await;
        answers.into_iter().flatten().collect()
    }
}

/// A node after the other, until all is answered.
struct Asking {
    left: Vec<Question>,
    /// Of questions that are left: what the last node said.
    answers: NodeAnswers,
    not: Vec<UpstreamId>,
}

impl Asking {
    async fn run(&mut self, pool: &Pool, at: &Event) {
        let needs = NodeNeeds { block: Some(at.number), ..NodeNeeds::default() };
        while !self.left.is_empty() && self.not.len() < NODES_MAX {
            let calls = self.left.iter().filter_map(|question| question.call(at.hash)).collect();
            let fetch = Fetch { calls, not: &self.not, needs, lane: Lane::Stream };
            let fetched = match pool.fetch(fetch).await {
                Ok(fetched) => fetched,
                Err(error) => {
                    tracing::debug!(%error, "no node could be asked for a stream");
                    return;
                }
            };
            self.not.push(fetched.upstream);
            for (question, answer) in
                std::mem::take(&mut self.left).into_iter().zip(fetched.answers)
            {
                if answer.as_ref().is_err_and(|failure| failure.kind() != RpcFailureKind::Other) {
                    self.left.push(question.clone());
                }
                self.answers.insert(question, read(&answer));
            }
        }
    }

    fn end(mut self, why: &str) -> NodeAnswers {
        for question in self.left {
            self.answers.entry(question).or_insert_with(|| Err(why.to_owned()));
        }
        self.answers
    }
}

impl Question {
    fn call(&self, block: B256) -> Option<Call> {
        let at = json!({ "blockHash": block });
        let (method, params) = match self {
            Question::Trigger(call) => {
                let mut request = json!({ "to": format!("{:#x}", call.to), "data": hex::encode_prefixed(&call.data) });
                if let (Some(from), Some(request)) = (call.from, request.as_object_mut()) {
                    request.insert("from".to_owned(), json!(format!("{from:#x}")));
                }
                ("eth_call", json!([request, at]))
            }
            Question::Balance(address) => ("eth_getBalance", json!([format!("{address:#x}"), at])),
        };
        Some(Call::new(method, serde_json::value::to_raw_value(&params).ok()?))
    }
}

/// The bytes of a node's hex answer; of a quantity, without leading zeros.
fn read(answer: &CallResult) -> Result<Vec<u8>, String> {
    let raw = answer
        .as_ref()
        .map_err(|failure| model::printable(&failure.to_string(), 300).to_string())?;
    let text: String = raw.parse().map_err(|_| "the node's answer is no text".to_owned())?;
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    let even = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    hex::decode(even).map_err(|_| "the node's answer is not hex".to_owned())
}

fn fill(matches: &mut [BlockMatch], all: &[Needs], answers: &NodeAnswers) {
    let nothing = || Err("the node did not answer this call".to_owned());
    for (found, needs) in matches.iter_mut().zip(all) {
        for need in &needs.triggers {
            let answer = match &need.call {
                Ok(call) => {
                    answers.get(&Question::Trigger(call.clone())).cloned().unwrap_or_else(nothing)
                }
                Err(why) => Err(why.clone()),
            };
            found.items.fill_trigger(&found.plan, need.place, answer);
        }
        for need in &needs.balances {
            let answer =
                answers.get(&Question::Balance(need.address)).cloned().unwrap_or_else(nothing);
            let balance = answer.and_then(|bytes| {
                U256::try_from_be_slice(&bytes).ok_or_else(|| "the balance is too large".to_owned())
            });
            found.items.fill_balance(need.place, balance);
        }
    }
}
