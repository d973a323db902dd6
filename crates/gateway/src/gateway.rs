//! Takes a request apart, answers each call from the store or from a node, puts the answer together.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use model::chain::{Chain, ChainId};
use rpc::{Call, Pool};
use serde_json::value::RawValue;
use store::Store;

use crate::answer::{Failure, Outcome, write};
use crate::config::Config;
use crate::local::LocalAnswer;
use crate::methods::{Route, route};
use crate::request::{Body, Item, Refused, Request, Requests, read};
use crate::{get_block_by_hash, get_transaction_by_block_number_and_index};

/// A chain that is served, with its nodes where it has any.
#[derive(Clone)]
pub struct ChainNode {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
}

pub struct Gateway {
    pub config: Config,
    store: Store,
    nodes: HashMap<ChainId, ChainNode>,
}

impl Gateway {
    pub fn new(config: Config, store: Store, nodes: impl IntoIterator<Item = ChainNode>) -> Self {
        let nodes = nodes.into_iter().map(|node| (node.chain.id, node)).collect();
        Gateway { config, store, nodes }
    }

    pub fn read<'a>(&self, body: &'a [u8]) -> Requests<'a> {
        Requests(read(body, self.config.batch_max))
    }

    /// The answer to a body; `None` when every call in it was a notification.
    pub async fn answer(&self, chain: ChainId, requests: Requests<'_>) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(1024);
        match requests.0 {
            Err(failure) => {
                write("null", &Err(failure), &mut out);
                Some(out)
            }
            Ok(Body::One(item)) => {
                let (id, outcome) = self.one(chain, item).await;
                write(id?, &outcome, &mut out);
                Some(out)
            }
            Ok(Body::Batch(items)) => {
                let mut calls = FuturesOrdered::new();
                for item in items {
                    calls.push_back(self.one(chain, item));
                }
                let answers: Vec<_> = calls.collect().await;
                out.push(b'[');
                for (id, outcome) in &answers {
                    let Some(id) = id else { continue };
                    if out.len() > 1 {
                        out.push(b',');
                    }
                    write(id, outcome, &mut out);
                }
                out.push(b']');
                (out.len() > 2).then_some(out)
            }
        }
    }

    async fn one<'a>(&self, chain: ChainId, item: Item<'a>) -> (Option<&'a str>, Outcome) {
        match item {
            Ok(request) => {
                let id = request.id;
                (id, self.call(chain, request).await)
            }
            Err(Refused { id, failure }) => (id.or(Some("null")), Err(failure)),
        }
    }

    async fn call(&self, chain: ChainId, request: Request<'_>) -> Outcome {
        let method = request.method.as_str();
        let local = match route(method, &self.config) {
            Route::Refuse => return Err(Failure::not_offered(method)),
            Route::ChainId => return Ok(format!("\"{}\"", chain.hex()).into_bytes()),
            Route::NetVersion => return Ok(format!("\"{chain}\"").into_bytes()),
            Route::GetBlockByHash => {
                let view = self.store.view().await?;
                get_block_by_hash::answer(&view, chain, request.params).await?
            }
            Route::GetTransactionByBlockNumberAndIndex => {
                let current = |newest| self.is_current(chain, newest);
                let view = self.store.view().await?;
                get_transaction_by_block_number_and_index::answer(
                    &view,
                    chain,
                    request.params,
                    current,
                )
                .await?
            }
            Route::Forward => return self.forward(chain, &request, false).await,
            Route::ForwardOnce => return self.forward(chain, &request, true).await,
        };
        match local {
            LocalAnswer::Known(json) => {
                metrics::counter!("headwater_rpc_answers_total", "from" => "store").increment(1);
                Ok(json)
            }
            // Without a node, what is not stored is not known: the answer for that is null.
            LocalAnswer::AskNode if self.pool(chain).is_none() => Ok(b"null".to_vec()),
            LocalAnswer::AskNode => self.forward(chain, &request, false).await,
        }
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

    async fn forward(&self, chain: ChainId, request: &Request<'_>, once: bool) -> Outcome {
        let Some(pool) = self.pool(chain) else {
            let why =
                format!("{} needs a node, and this chain has none configured", request.method);
            return Err(Failure::new(-32000, &why));
        };
        metrics::counter!("headwater_rpc_answers_total", "from" => "node").increment(1);
        let params = request.params.map_or_else(empty, |raw| raw.to_owned());
        let call = Call::new(request.method.clone(), params);
        let forwarded = if once { pool.forward_once(call).await } else { pool.forward(call).await };
        match forwarded {
            Ok(forwarded) => match forwarded.answer {
                Ok(answer) => Ok(answer.json().to_vec()),
                Err(failure) => Err(Failure::of_node(failure.json())),
            },
            // Which nodes there are and what ails them is told to operators, in /status and the log.
            Err(error) => {
                tracing::warn!(chain.id = chain.0, method = %request.method, %error, "no node could answer a call");
                Err(Failure::internal("no node of this chain could answer"))
            }
        }
    }
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("[]".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
