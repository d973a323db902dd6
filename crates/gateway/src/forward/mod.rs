//! A call that the store does not answer: from the cache, or from a node that fits, whose answer is held against what
//! was asked for.
//!
//! In: a method of the table and its parameters. Out: the answer and where it came from. Must not know: ids of
//! requests, the store.

mod about;
mod ask;
mod block_source;
mod cache;
mod chain_era;
mod check;
mod counts;
mod in_flight;
mod node_error;
mod node_filters;
mod pin;
mod quorum;
mod scope;
mod send;
mod split_logs;
mod together;

use std::sync::Arc;

use alloy_primitives::map::HashMap;
use bytes::Bytes;
use model::chain::{Chain, ChainId};
use rpc::{ByteBudget, Call, Forward, Pool, Repeat, Route};
use verify::{Rules, Senders};

use crate::answer::{Failure, Outcome};
use crate::config::Config;
use crate::gateway::ChainNode;
use crate::methods::{Finality, Method};
use about::About;
use ask::Question;
use cache::{AnswerCache, CacheKey, ChainHead};
use chain_era::ChainEra;
use check::Checked;
use in_flight::InFlight;
use together::Together;

pub(crate) use block_source::BlockSource;
pub use counts::{Counts, MethodCounts};
pub(crate) use node_filters::NodeFilters;
pub use pin::pinned;
pub use scope::{RequestScope, Source};

/// Blocks below the head that every node has with their states.
const COMMON_BLOCKS: u64 = 64;

/// What a call came to, and where it was found.
pub(crate) type Told = Result<(Bytes, Source), Failure>;

pub struct Forwarder {
    cache: Arc<AnswerCache>,
    in_flight: InFlight,
    quorum: usize,
    chains: HashMap<ChainId, Arc<ForwardedChain>>,
    pub counts: Counts,
}

/// A chain that has nodes.
pub(crate) struct ForwardedChain {
    pub chain: Arc<Chain>,
    pub pool: Arc<Pool>,
    era: ChainEra,
}

impl ForwardedChain {
    /// Where the chain stands, as far as its nodes showed.
    fn head(&self) -> ChainHead {
        ChainHead { head: self.pool.head_number(), confirmations: self.chain.confirmations }
    }

    /// A dev chain that bears a public chain's id has rules of its own.
    fn rules(&self) -> Rules {
        let is_dev = self.chain.genesis.is_some_and(|genesis| self.pool.is_dev_chain(genesis));
        if is_dev {
            Rules::of_dev_chain(&self.chain, Senders::All)
        } else {
            Rules::of(&self.chain, Senders::All)
        }
    }
}

impl Forwarder {
    pub fn new<'a>(config: &Config, nodes: impl Iterator<Item = &'a ChainNode>) -> Self {
        let chains = nodes.filter_map(|node| {
            let (chain, pool) = (node.chain.clone(), node.pool.clone()?);
            let id = chain.id;
            Some((id, Arc::new(ForwardedChain { chain, pool, era: ChainEra::default() })))
        });
        Forwarder {
            cache: Arc::new(AnswerCache::new(config.cache_bytes_max)),
            in_flight: InFlight::default(),
            quorum: config.quorum,
            chains: chains.collect(),
            counts: Counts::default(),
        }
    }

    /// None where the chain has no node.
    pub(crate) fn chain(&self, id: ChainId) -> Option<&Arc<ForwardedChain>> {
        self.chains.get(&id)
    }

    /// New blocks of a chain that nobody stores.
    pub(crate) fn block_source(&self, chain: &Arc<ForwardedChain>) -> BlockSource {
        BlockSource::new(chain.clone(), self.cache.clone())
    }

    pub fn cache_bytes(&self) -> u64 {
        self.cache.bytes()
    }

    pub fn cache_entries(&self) -> usize {
        self.cache.entries()
    }

    pub fn calls_in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// What was found out about a block that is named by its hash, if it is kept.
    pub(crate) fn kept(
        &self,
        chain: ChainId,
        method: &'static Method,
        params: &str,
    ) -> Option<Bytes> {
        self.cache.by_hash((chain, method), params)
    }

    /// A question: it may be asked again, and of several.
    pub(crate) async fn read(
        &self,
        chain: &Arc<ForwardedChain>,
        method: &'static Method,
        params: &str,
        scope: &RequestScope,
    ) -> Told {
        let about = About::of(method, params);
        let at = chain.head();
        let named = (chain.chain.id, method);
        let mut key = self.cache.key(named, params, about, (&chain.era, at));
        if key.as_ref().is_some_and(CacheKey::is_of_era) {
            let is_known = chain.era.look(&chain.pool).await;
            let again = || self.cache.key(named, params, about, (&chain.era, at));
            key = is_known.then(again).flatten();
        }
        if let Some(answer) = key.as_ref().and_then(|key| self.cache.get(key)) {
            return Ok((answer, Source::Cache));
        }
        let params: Arc<str> = params.into();
        let call_key = (chain.chain.id, method.name, params.clone());
        let (chain, cache, quorum) = (chain.clone(), self.cache.clone(), self.quorum);
        let together = scope.batch().filter(|_| travels_together(method, about, at.head));
        let together: Option<Arc<Together>> = together.map(|batch| batch.together.clone());
        let ask = move || async move {
            let question = Question {
                chain: chain.clone(),
                cache: cache.clone(),
                method,
                about,
                params,
                checked: Checked::of(method.name),
                quorum: if matches!(method.finality, Finality::Block | Finality::Transaction) {
                    quorum
                } else {
                    1
                },
                together,
            };
            let answer = question.answer().await?;
            if let Some(key) = key {
                cache.insert(key, about, &answer, (&chain.era, chain.head()));
            }
            Ok((answer, Source::Node))
        };
        self.in_flight.once(call_key, ask).await
    }

    /// What acts, or of which nothing is known: asked of one node, once.
    pub(crate) async fn write(
        &self,
        chain: &ForwardedChain,
        call: Call,
        budget: &Arc<ByteBudget>,
    ) -> Outcome {
        if let Some(raw) = send::raw_transaction(&call) {
            return send::send_raw_transaction(&chain.pool, call, raw, budget).await;
        }
        let method = call.method().to_owned();
        let forward = Forward { call, batch: Some(budget), route: Route::default() };
        ask::told(chain.pool.forward_once(forward, Repeat::Never).await, &method)
    }
}

/// Heavy questions travel alone, and so do those about blocks that only some nodes may have.
fn travels_together(method: &Method, about: About, head: u64) -> bool {
    let is_common = match about {
        About::Blocks { from, to } => from == to && to.saturating_add(COMMON_BLOCKS) >= head,
        _ => true,
    };
    method.forwarding.may_hedge && is_common
}
