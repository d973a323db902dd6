//! Takes a request apart, answers each call from the store or from a node, puts the answer together.

use std::sync::Arc;

use alloy_primitives::map::HashMap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use futures_util::{FutureExt, StreamExt};
use model::chain::{Chain, ChainId};
use model::printable;
use rpc::{Bound, ByteBudget, Call, Pool};
use serde_json::value::RawValue;
use store::Store;
use tokio::sync::broadcast::Receiver;

use crate::answer::{Answer, Failure, Outcome, SHOWN_CHARS_MAX};
use crate::chain_head::ChainHead;
use crate::config::Config;
use crate::feed::{ChainEvent, ChainFeed, Filters, PendingFeed};
use crate::forward::{ForwardedChain, Forwarder, NodeFilters, RequestScope, Source, Told, pinned};
use crate::local::{self, LocalAnswer, StoreCall, without_node};
use crate::methods::{BlockParam, Method, Place, Route, route};
use crate::params::quantity;
use crate::request::{Body, Item, Refused, Request, Requests, read};

/// Calls of one batch under way at once: later ones need not be asked once the batch is too large.
const BATCH_CALLS_AT_ONCE: usize = 32;

/// A chain that is served, with its nodes where it has any.
#[derive(Clone)]
pub struct ChainNode {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
    /// New blocks are stored as they come.
    pub is_ingested: bool,
}

/// The same, with what its clients were told.
struct ServedChain {
    pool: Option<Arc<Pool>>,
    /// Its nodes are all there is to know what is new.
    is_forwarded: bool,
    head: ChainHead,
    feed: Arc<ChainFeed>,
    /// By their hashes, and whole.
    pending: [Arc<PendingFeed>; 2],
}

impl ServedChain {
    /// What a node said, after it is noted which blocks clients now know of.
    fn note(&self, method: &str, answer: Bytes) -> Bytes {
        match method {
            "eth_blockNumber" => {
                let said = std::str::from_utf8(&answer).ok().and_then(quantity);
                let told = |number| format!("\"{:#x}\"", self.head.at_least(number)).into();
                return said.map_or(answer, told);
            }
            "eth_getTransactionReceipt" | "eth_getTransactionByHash" => {
                self.head.note_answer(&answer);
            }
            _ => {}
        }
        answer
    }
}

pub struct Gateway {
    pub config: Config,
    pub(crate) store: Store,
    nodes: HashMap<ChainId, ServedChain>,
    pub forwarder: Forwarder,
    /// Answers in memory, of all clients.
    in_flight: Arc<ByteBudget>,
    filters: Filters,
}

impl Gateway {
    pub fn new(config: Config, store: Store, nodes: impl IntoIterator<Item = ChainNode>) -> Self {
        let nodes: Vec<ChainNode> = nodes.into_iter().collect();
        let forwarder = Forwarder::new(&config, nodes.iter());
        let nodes = nodes
            .into_iter()
            .map(|node: ChainNode| {
                let head = ChainHead::new(node.pool.clone());
                let is_forwarded = node.pool.is_some() && !node.is_ingested;
                let (pool, feed) = (node.pool, Arc::default());
                let pending = [false, true].map(|whole| Arc::new(PendingFeed::new(whole)));
                (node.chain.id, ServedChain { pool, is_forwarded, head, feed, pending })
            })
            .collect();
        let in_flight = ByteBudget::new(Bound::InFlight, config.bytes_in_flight_max);
        Gateway { config, store, nodes, forwarder, in_flight, filters: Filters::default() }
    }

    pub fn read<'a>(&self, body: &'a [u8]) -> Requests<'a> {
        Requests(read(body, self.config.batch_max))
    }

    /// All that happens on the chain from now on; none where it is not served.
    pub(crate) async fn listen(&self, chain: ChainId) -> Option<Receiver<Arc<ChainEvent>>> {
        let served = self.nodes.get(&chain)?;
        let forwarded = self.forwarder.chain(chain).filter(|_| served.is_forwarded);
        Some(match forwarded {
            Some(nodes) => served.feed.listen_to_nodes(self.forwarder.block_source(nodes)).await,
            None => served.feed.listen(&self.store, chain).await,
        })
    }

    /// Pending transactions from now on, by their hashes or whole.
    pub(crate) async fn listen_to_pending(
        &self,
        chain: ChainId,
        whole: bool,
    ) -> Result<Receiver<Bytes>, Failure> {
        let served = self.nodes.get(&chain);
        let Some((served, pool)) = served.and_then(|it| Some((it, it.pool.as_ref()?))) else {
            let why = "newPendingTransactions needs a node, and this chain has none configured";
            return Err(Failure::new(-32601, why));
        };
        let [hashes, transactions] = &served.pending;
        if whole { transactions.listen(pool).await } else { hashes.listen(pool).await }
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
        let scope = match &requests.0 {
            Ok(Body::Batch(_)) => RequestScope::of_batch(),
            _ => RequestScope::default(),
        };
        self.answer_in_scope(chain, requests, &scope).await
    }

    /// The same for a part of a larger request, whose calls share a scope. Boxed, so that all of it is compiled here
    /// and not in every crate that awaits it.
    pub fn answer_in_scope<'a>(
        &'a self,
        chain: ChainId,
        requests: Requests<'a>,
        scope: &'a RequestScope,
    ) -> BoxFuture<'a, Option<Answer>> {
        self.answer_all(chain, requests, scope).boxed()
    }

    pub(crate) async fn answer_all(
        &self,
        chain: ChainId,
        requests: Requests<'_>,
        scope: &RequestScope,
    ) -> Option<Answer> {
        let mut answer = Answer::default();
        match requests.0 {
            Err(failure) => answer.write("null", Err(failure)),
            Ok(Body::One(item)) => {
                let (id, outcome) = self.one(chain, item, scope, &self.in_flight).await;
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
                        calls.push_back(self.one(chain, item, scope, &budget));
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
        scope: &RequestScope,
        budget: &Arc<ByteBudget>,
    ) -> (Option<&'a str>, Outcome) {
        match item {
            Ok(request) => {
                let id = request.id;
                // Once a batch is too large, the rest of it is not even asked for.
                let outcome = match budget.spent() {
                    Some(over) if over.bound == Bound::Batch => Err(over.into()),
                    _ => self.call(chain, &request, scope, budget).await,
                };
                let source = outcome.as_ref().ok().map(|(_, source)| *source);
                self.forwarder.counts.add(&request.method, source);
                scope.note(source.unwrap_or(Source::Gateway));
                if outcome.as_ref().is_err_and(Failure::is_put_off) {
                    scope.put_off();
                }
                (id, outcome.map(|(answer, _)| answer))
            }
            Err(Refused { is_notification: true, failure, .. }) => (None, Err(failure)),
            Err(Refused { id, failure, .. }) => (id.or(Some("null")), Err(failure)),
        }
    }

    async fn call(
        &self,
        chain: ChainId,
        request: &Request<'_>,
        scope: &RequestScope,
        budget: &Arc<ByteBudget>,
    ) -> Told {
        let name = &*request.method;
        let params = request.params.map_or("[]", RawValue::get);
        let method = match route(name, request.listed, &self.config) {
            Route::Refused => return Err(Failure::not_offered(name)),
            // Nothing is known of it: asked of one node, once.
            Route::Allowed => {
                let call = Call::new(name.to_owned(), raw(params));
                return self.write(chain, call, budget).await;
            }
            Route::Offered(method) => method,
        };
        if method.forwarding.writes {
            return self.write(chain, Call::listed(method.name, params.to_owned()), budget).await;
        }
        let Some(served) = self.nodes.get(&chain) else { return Err(Failure::not_offered(name)) };
        let head = self.head_of_batch(chain, method, scope).await?;
        let at_head = head.and_then(|head| pinned(method, params, head)).map(|text| raw(&text));
        let params = at_head.as_deref().or(request.params);
        let local = match (method.place, head) {
            // The head that all calls of the batch see.
            (_, Some(head)) if name == "eth_blockNumber" => {
                let number = served.head.at_least(head);
                return Ok((format!("\"{number:#x}\"").into(), Source::Gateway));
            }
            (Place::Here | Place::Store, _) => {
                // Before the store, which has next to nothing of a chain that is only forwarded.
                let text = params.map_or("[]", RawValue::get);
                let kept = || self.forwarder.kept(chain, method, text);
                if let Some(answer) = served.is_forwarded.then(kept).flatten() {
                    return Ok((budget.hold(answer)?, Source::Cache));
                }
                self.local(served, chain, method, params).await?
            }
            (Place::Cache | Place::Forward, _) => match (&served.pool, without_node(name)) {
                (None, Some(said)) => return Ok((said.into(), Source::Gateway)),
                _ => LocalAnswer::AskNode,
            },
        };
        match local {
            LocalAnswer::Known(json) => {
                let is_here = method.place == Place::Here;
                let source = if is_here { Source::Gateway } else { Source::Store };
                Ok((budget.hold(json.into())?, source))
            }
            // Null would say that there is no such thing. Nobody here knows that.
            LocalAnswer::AskNode if method.place == Place::Store && served.pool.is_none() => {
                let coverage = self.store.view().await?.coverage(chain).await?;
                Err(Failure::not_held(&coverage))
            }
            LocalAnswer::AskNode if NodeFilters::offers(name) => {
                let nodes = self.nodes_of(chain, name)?;
                let text = params.map_or("[]", RawValue::get);
                let answer = NodeFilters::ask(&nodes.pool, method, text, budget).await?;
                Ok((answer, Source::Node))
            }
            LocalAnswer::AskNode => {
                let (nodes, params) =
                    (self.nodes_of(chain, name)?, params.map_or("[]", RawValue::get));
                let (answer, source) = self.forwarder.read(nodes, method, params, scope).await?;
                Ok((served.note(name, budget.hold(answer)?), source))
            }
        }
    }

    /// What the gateway and the store say themselves.
    async fn local(
        &self,
        served: &ServedChain,
        chain: ChainId,
        method: &'static Method,
        params: Option<&RawValue>,
    ) -> Result<LocalAnswer, Failure> {
        // A filter's node is the only one that knows it.
        if served.is_forwarded && NodeFilters::offers(method.name) {
            return Ok(LocalAnswer::AskNode);
        }
        let (store, config, head) = (&self.store, &self.config, &served.head);
        let (feed, filters) = (&*served.feed, &self.filters);
        let store_call = StoreCall { store, config, chain, head, feed, filters, method, params };
        match local::answer(&store_call).await {
            // The node says itself what is wrong with them.
            Err(failure) if served.is_forwarded && failure.is_about_params() => {
                Ok(LocalAnswer::AskNode)
            }
            answer => answer,
        }
    }

    async fn write(&self, chain: ChainId, call: Call, budget: &Arc<ByteBudget>) -> Told {
        let nodes = self.nodes_of(chain, call.method())?;
        let answer = self.forwarder.write(nodes, call, budget).await?;
        Ok((answer, Source::Node))
    }

    /// What `latest` means in a batch: the same for all of its calls. None for a call that comes alone, and where
    /// nobody knows.
    async fn head_of_batch(
        &self,
        chain: ChainId,
        method: &Method,
        scope: &RequestScope,
    ) -> Result<Option<u64>, Failure> {
        let Some(batch) = scope.batch() else { return Ok(None) };
        let names_no_block = matches!(method.block, BlockParam::None | BlockParam::Hash(_));
        if names_no_block && method.name != "eth_blockNumber" {
            return Ok(None);
        }
        let head = batch.head.get_or_try_init(|| self.head(chain)).await?;
        Ok(Some(*head).filter(|head| *head > 0))
    }

    /// The newest stored block where the store is current, else the newest that nodes gave; zero where there is none.
    async fn head(&self, chain: ChainId) -> Result<u64, Failure> {
        let Some(served) = self.nodes.get(&chain) else { return Ok(0) };
        let view = self.store.view().await?;
        Ok(match (served.head.stored(&view, chain).await?, &served.pool) {
            (Some(stored), _) => stored,
            (None, Some(pool)) => pool.head_number(),
            (None, None) => 0,
        })
    }

    fn nodes_of(&self, chain: ChainId, method: &str) -> Result<&Arc<ForwardedChain>, Failure> {
        self.forwarder.chain(chain).ok_or_else(|| {
            let method = printable(method, SHOWN_CHARS_MAX);
            let why = format!("{method} needs a node, and this chain has none configured");
            Failure::new(-32000, &why)
        })
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
