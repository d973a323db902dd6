//! Takes a request apart, answers each call from the store or from a node, puts the answer together.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use model::chain::{Chain, ChainId};
use model::printable;
use rpc::{Bound, ByteBudget, Call, Pool};
use serde_json::value::RawValue;
use store::Store;

use crate::answer::{Answer, Failure, Outcome, SHOWN_CHARS_MAX};
use crate::config::Config;
use crate::forward::{ForwardedChain, Forwarder, RequestScope, Source, pinned};
use crate::local::LocalAnswer;
use crate::methods::{BlockParam, Method, Place, Route, route};
use crate::request::{Body, Item, Refused, Request, Requests, read};
use crate::{get_block_by_hash, get_transaction_by_block_number_and_index};

/// Calls of one batch under way at once: later ones need not be asked once the batch is too large.
const BATCH_CALLS_AT_ONCE: usize = 32;

/// A chain that is served, with its nodes where it has any.
#[derive(Clone)]
pub struct ChainNode {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
}

pub struct Gateway {
    pub config: Config,
    pub(crate) store: Store,
    nodes: HashMap<ChainId, ChainNode>,
    pub forwarder: Forwarder,
    /// Answers in memory, of all clients.
    in_flight: Arc<ByteBudget>,
}

impl Gateway {
    pub fn new(config: Config, store: Store, nodes: impl IntoIterator<Item = ChainNode>) -> Self {
        let nodes: HashMap<_, _> = nodes.into_iter().map(|node| (node.chain.id, node)).collect();
        let in_flight = ByteBudget::new(Bound::InFlight, config.bytes_in_flight_max);
        let forwarder = Forwarder::new(&config, nodes.values());
        Gateway { config, store, nodes, forwarder, in_flight }
    }

    pub fn read<'a>(&self, body: &'a [u8]) -> Requests<'a> {
        Requests(read(body, self.config.batch_max))
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

    /// The same for a part of a larger request, whose calls share a scope.
    pub async fn answer_in_scope(
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
    ) -> Result<(Bytes, Source), Failure> {
        let name = request.method.as_str();
        let params = request.params.map_or("[]", RawValue::get);
        let method = match route(name, &self.config) {
            Route::Refused => return Err(Failure::not_offered(name)),
            // Nothing is known of it: asked of one node, once.
            Route::Allowed => {
                let params = params_of(params);
                let call = Call::new(request.method.clone(), params);
                let answer =
                    self.forwarder.write(self.nodes_of(chain, name)?, call, budget).await?;
                return Ok((answer, Source::Node));
            }
            Route::Offered(method) => method,
        };
        if method.handling.writes {
            let call = Call::listed(method.name, params.to_owned());
            let answer = self.forwarder.write(self.nodes_of(chain, name)?, call, budget).await?;
            return Ok((answer, Source::Node));
        }
        let head = self.head_of_batch(chain, method, scope).await?;
        let at_head = head.and_then(|head| pinned(method, params, head));
        let params = at_head.as_deref().unwrap_or(params);
        let local = match (method.place, head) {
            // The head that all calls of the batch see.
            (_, Some(head)) if name == "eth_blockNumber" => {
                return Ok((format!("\"{head:#x}\"").into(), Source::Gateway));
            }
            (Place::Here | Place::Store, _) => self.local(chain, name, params).await?,
            (Place::Cache | Place::Forward, _) => LocalAnswer::AskNode,
        };
        match local {
            LocalAnswer::Known(json) => {
                let source =
                    if method.place == Place::Here { Source::Gateway } else { Source::Store };
                Ok((budget.hold(json.into())?, source))
            }
            // Null would say that there is no such thing. Nobody here knows that.
            LocalAnswer::AskNode if method.place == Place::Store && self.pool(chain).is_none() => {
                let coverage = self.store.view().await?.coverage(chain).await?;
                Err(Failure::not_held(&coverage))
            }
            LocalAnswer::AskNode => {
                let nodes = self.nodes_of(chain, name)?;
                let (answer, source) = self.forwarder.read(nodes, method, params, scope).await?;
                Ok((budget.hold(answer)?, source))
            }
        }
    }

    /// What the gateway and the store know.
    async fn local(
        &self,
        chain: ChainId,
        name: &str,
        params: &str,
    ) -> Result<LocalAnswer, Failure> {
        let params = params_of(params);
        let params = Some(params.as_ref());
        match name {
            "eth_chainId" => Ok(LocalAnswer::Known(format!("\"{}\"", chain.hex()).into())),
            "net_version" => Ok(LocalAnswer::Known(format!("\"{chain}\"").into())),
            "eth_getBlockByHash" => {
                let view = self.store.view().await?;
                get_block_by_hash::answer(&view, chain, params).await
            }
            "eth_getTransactionByBlockNumberAndIndex" => {
                let current = |newest| self.is_current(chain, newest);
                let view = self.store.view().await?;
                get_transaction_by_block_number_and_index::answer(&view, chain, params, current)
                    .await
            }
            _ => Ok(LocalAnswer::AskNode),
        }
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
        let newest = self.store.view().await?.coverage(chain).await?.newest();
        Ok(match (newest, self.pool(chain)) {
            (Some(newest), _) if self.is_current(chain, newest) => newest,
            (_, Some(pool)) => pool.head_number(),
            (newest, None) => newest.unwrap_or(0),
        })
    }

    fn pool(&self, chain: ChainId) -> Option<&Arc<Pool>> {
        self.nodes.get(&chain).and_then(|node| node.pool.as_ref())
    }

    /// Without nodes the newest stored block is all there is.
    fn is_current(&self, chain: ChainId, newest: u64) -> bool {
        match self.pool(chain) {
            Some(pool) => pool.heads().borrow().is_some_and(|head| head.number <= newest),
            None => true,
        }
    }

    fn nodes_of(&self, chain: ChainId, method: &str) -> Result<&Arc<ForwardedChain>, Failure> {
        self.forwarder.chain(chain).ok_or_else(|| {
            let method = printable(method, SHOWN_CHARS_MAX);
            let why = format!("{method} needs a node, and this chain has none configured");
            Failure::new(-32000, &why)
        })
    }
}

fn params_of(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
