//! Takes a request apart, answers each call from the store or from a node, puts the answer together.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use model::chain::{Chain, ChainId};
use model::printable;
use rpc::{Bound, ByteBudget, Call, Forward, Forwarded, OverBudget, Pool};
use serde_json::value::RawValue;
use store::Store;
use tokio::sync::broadcast::Receiver;

use crate::answer::{Answer, Failure, Outcome, SHOWN_CHARS_MAX};
use crate::chain_head::{ChainHead, quantity};
use crate::config::Config;
use crate::feed::{ChainFeed, Filters, Happening};
use crate::local::{self, LocalAnswer, Question, without_node};
use crate::methods::{Place, Route, route};
use crate::request::{Body, Item, Refused, Request, Requests, read};

/// Calls of one batch under way at once: later ones need not be asked once the batch is too large.
const BATCH_CALLS_AT_ONCE: usize = 32;
/// Of an error in a log line.
const ERROR_CHARS_MAX: usize = 500;

/// A chain that is served, with its nodes where it has any.
#[derive(Clone)]
pub struct ChainNode {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
}

/// The same, with what its clients were told.
struct ServedChain {
    pool: Option<Arc<Pool>>,
    head: ChainHead,
    feed: Arc<ChainFeed>,
}

pub struct Gateway {
    pub config: Config,
    pub(crate) store: Store,
    nodes: HashMap<ChainId, ServedChain>,
    /// Answers in memory, of all clients.
    in_flight: Arc<ByteBudget>,
    filters: Filters,
}

impl Gateway {
    pub fn new(config: Config, store: Store, nodes: impl IntoIterator<Item = ChainNode>) -> Self {
        let nodes = nodes
            .into_iter()
            .map(|node: ChainNode| {
                let head = ChainHead::new(node.pool.clone());
                (node.chain.id, ServedChain { pool: node.pool, head, feed: Arc::default() })
            })
            .collect();
        let in_flight = ByteBudget::new(Bound::InFlight, config.bytes_in_flight_max);
        Gateway { config, store, nodes, in_flight, filters: Filters::default() }
    }

    pub fn read<'a>(&self, body: &'a [u8]) -> Requests<'a> {
        Requests(read(body, self.config.batch_max))
    }

    /// All that happens on the chain from now on; none where it is not served.
    pub(crate) async fn listen(&self, chain: ChainId) -> Option<Receiver<Arc<Happening>>> {
        let served = self.nodes.get(&chain)?;
        Some(served.feed.listen(&self.store, chain).await)
    }

    /// Bytes of answers in memory, being made or not yet sent.
    pub fn bytes_in_flight(&self) -> usize {
        self.in_flight.used()
    }

    /// The answer to a body; `None` when every call in it was a notification.
    pub async fn answer(&self, chain: ChainId, requests: Requests<'_>) -> Option<Vec<u8>> {
        Some(self.answer_in_pieces(chain, requests).await?.into_vec())
    }

    /// The same, without copying large results together.
    pub async fn answer_in_pieces(&self, chain: ChainId, requests: Requests<'_>) -> Option<Answer> {
        let mut answer = Answer::default();
        match requests.0 {
            Err(failure) => answer.write("null", Err(failure)),
            Ok(Body::One(item)) => {
                let (id, outcome) = self.one(chain, item, &self.in_flight).await;
                answer.write(id?, outcome);
            }
            Ok(Body::Batch(items)) => {
                let bytes_max = self.config.batch_bytes_max;
                let budget = ByteBudget::within(&self.in_flight, Bound::Batch, bytes_max);
                let mut items = items.into_iter();
                let mut calls = FuturesOrdered::new();
                let mut before = b'[';
                loop {
                    for item in items.by_ref().take(BATCH_CALLS_AT_ONCE - calls.len()) {
                        calls.push_back(self.one(chain, item, &budget));
                    }
                    let Some((id, outcome)) = calls.next().await else { break };
                    let Some(id) = id else { continue };
                    answer.push(before);
                    answer.write(id, outcome);
                    before = b',';
                }
                if before == b'[' {
                    return None;
                }
                answer.push(b']');
            }
        }
        Some(answer)
    }

    async fn one<'a>(
        &self,
        chain: ChainId,
        item: Item<'a>,
        budget: &Arc<ByteBudget>,
    ) -> (Option<&'a str>, Outcome) {
        match item {
            Ok(request) => {
                let id = request.id;
                // Once a batch is too large, the rest of it is not even asked for.
                let outcome = match budget.spent() {
                    Some(over) if over.bound == Bound::Batch => Err(over.into()),
                    _ => self.call(chain, request, budget).await,
                };
                (id, outcome)
            }
            Err(Refused { id, failure }) => (id.or(Some("null")), Err(failure)),
        }
    }

    async fn call(
        &self,
        chain: ChainId,
        request: Request<'_>,
        budget: &Arc<ByteBudget>,
    ) -> Outcome {
        let name = request.method.as_str();
        let method = match route(name, &self.config) {
            Route::Refused => return Err(Failure::not_offered(name)),
            Route::Allowed => return self.forward_once(chain, &request, budget).await,
            Route::Offered(method) => method,
        };
        if method.handling.writes {
            return self.forward_once(chain, &request, budget).await;
        }
        let Some(served) = self.nodes.get(&chain) else { return Err(Failure::not_offered(name)) };
        let local = match method.place {
            Place::Here | Place::Store => {
                let (store, config, head) = (&self.store, &self.config, &served.head);
                let (feed, filters, params) = (&*served.feed, &self.filters, request.params);
                let question =
                    Question { store, config, chain, head, feed, filters, method, params };
                local::answer(&question).await?
            }
            Place::Cache | Place::Forward => {
                if let (None, Some(said)) = (&served.pool, without_node(name)) {
                    return Ok(said.into());
                }
                return self.forward(chain, &request, budget).await;
            }
        };
        match local {
            LocalAnswer::Known(json) => {
                metrics::counter!("headwater_rpc_answers_total", "from" => "store").increment(1);
                Ok(budget.hold(json.into())?)
            }
            // Null would say that there is no such thing. Nobody here knows that.
            LocalAnswer::AskNode if self.pool(chain).is_none() => {
                let coverage = self.store.view().await?.coverage(chain).await?;
                Err(Failure::not_held(&coverage))
            }
            LocalAnswer::AskNode => {
                let answer = self.forward(chain, &request, budget).await?;
                match name {
                    "eth_blockNumber" => {
                        let said = serde_json::from_slice(&answer).ok().and_then(quantity);
                        let Some(number) = said else { return Ok(answer) };
                        return Ok(format!("\"{:#x}\"", served.head.at_least(number)).into());
                    }
                    "eth_getTransactionReceipt" | "eth_getTransactionByHash" => {
                        served.head.note_answer(&answer);
                    }
                    _ => {}
                }
                Ok(answer)
            }
        }
    }

    fn pool(&self, chain: ChainId) -> Option<&Arc<Pool>> {
        self.nodes.get(&chain).and_then(|node| node.pool.as_ref())
    }

    async fn forward(
        &self,
        chain: ChainId,
        request: &Request<'_>,
        budget: &Arc<ByteBudget>,
    ) -> Outcome {
        let pool = self.pool_for(chain, request)?;
        outcome(chain, request, pool.forward(forward(request, budget)).await)
    }

    async fn forward_once(
        &self,
        chain: ChainId,
        request: &Request<'_>,
        budget: &Arc<ByteBudget>,
    ) -> Outcome {
        let pool = self.pool_for(chain, request)?;
        outcome(chain, request, pool.forward_once(forward(request, budget)).await)
    }

    fn pool_for(&self, chain: ChainId, request: &Request<'_>) -> Result<&Arc<Pool>, Failure> {
        let Some(pool) = self.pool(chain) else {
            let method = printable(&request.method, SHOWN_CHARS_MAX);
            let why = format!("{method} needs a node, and this chain has none configured");
            return Err(Failure::new(-32000, &why));
        };
        metrics::counter!("headwater_rpc_answers_total", "from" => "node").increment(1);
        Ok(pool)
    }
}

fn forward<'a>(request: &Request<'_>, budget: &'a Arc<ByteBudget>) -> Forward<'a> {
    let params = request.params.map_or_else(empty, |raw| raw.to_owned());
    Forward { call: Call::new(request.method.clone(), params), batch: Some(budget) }
}

fn outcome(
    chain: ChainId,
    request: &Request<'_>,
    forwarded: Result<Forwarded, rpc::Error>,
) -> Outcome {
    let error = match forwarded.map(|forwarded| forwarded.answer) {
        Ok(Ok(answer)) => return Ok(answer.into_bytes()),
        Ok(Err(failure)) => return Err(Failure::of_node(failure.json())),
        Err(error) => error,
    };
    // Which nodes there are and what ails them is told to operators, in /status and the log.
    let method = printable(&request.method, SHOWN_CHARS_MAX);
    let shown = printable(&error.to_string(), ERROR_CHARS_MAX);
    if matches!(error, rpc::Error::RateLimited { .. } | rpc::Error::TooLarge { .. }) {
        // As often as a client likes.
        tracing::debug!(chain.id = chain.0, %method, error = %shown, "a call was refused");
    } else {
        tracing::warn!(chain.id = chain.0, %method, error = %shown, "no node could answer a call");
    }
    Err(match error {
        rpc::Error::TooLarge { bytes_max, bound, .. } => OverBudget { bound, bytes_max }.into(),
        rpc::Error::RateLimited { retry_after, .. } => Failure::busy(retry_after),
        _ => Failure::internal("no node of this chain could answer"),
    })
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("[]".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
