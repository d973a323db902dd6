//! What matching needs beside the block: streams, chains with their nodes, names of tokens, who sends.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use alloy_primitives::Address;
use futures_util::future::BoxFuture;
use model::chain::{Chain, ChainId};
use model::token::Token;
use rpc::{Needs, Pool};
use store::Store;
use tasks::TaskBoard;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::delivery::Deliverer;
use crate::matching::SpamList;
use crate::registry::Registry;

/// Whoever knows tokens; asks a node where it must.
pub trait TokenNames: Send + Sync {
    fn token(&self, chain: ChainId, address: Address) -> BoxFuture<'_, Token>;
}

/// A chain that streams can be of.
pub struct StreamChain {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
}

impl StreamChain {
    /// Whether traces that are missing may still come.
    pub fn may_trace(&self) -> bool {
        let needs = Needs { traces: true, ..Needs::default() };
        self.pool.as_ref().is_some_and(|pool| pool.can(&needs))
    }
}

pub struct Context {
    pub store: Store,
    pub config: Config,
    pub chains: BTreeMap<ChainId, StreamChain>,
    pub registry: Registry,
    pub spam: SpamList,
    pub tokens: Arc<dyn TokenNames>,
    pub deliverer: OnceLock<Arc<Deliverer>>,
    /// Streams with a reader of their own that may be matched at once: the others come first.
    pub own_permits: Semaphore,
    pub tasks: TaskBoard,
}

impl Context {
    pub fn confirmations(&self, chain: ChainId) -> u64 {
        self.chains.get(&chain).map_or(0, |it| it.chain.confirmations)
    }
}
