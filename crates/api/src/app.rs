//! What every handler may use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gateway::Gateway;
use model::chain::{Chain, ChainId, ChainTable};
use rpc::Pool;
use store::Store;

use crate::admin::RedecodeControl;
use crate::answers::{Answers, USUAL_BYTES, Words};
use crate::config::{Config, PriceConfig, StatusAccess};
use crate::contracts::Contracts;
use crate::cursor::CursorKey;
use crate::data::price::memory::PriceMemory;
use crate::data::price::params::PriceWords;
use crate::error::ApiError;
use crate::keys::KeyRing;
use crate::labels::Labels;
use crate::meters::Meters;
use crate::repeats::Repeats;
use crate::tokens::{TokenLists, Tokens};
use crate::verified::VerifiedCollections;

/// A chain this server answers for.
pub struct ServedChain {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
    /// What its ingest is doing, for /status.
    pub ingest: Option<StatusFn>,
    /// How far its stored blocks are decoded again by this process, for /status.
    pub redecode: Option<StatusFn>,
}

/// Describes something as it is now, for /status.
pub type StatusFn = Box<dyn Fn() -> serde_json::Value + Send + Sync>;

/// What the server is put together from.
pub struct Parts {
    pub config: Config,
    pub store: Store,
    pub table: Arc<ChainTable>,
    pub chains: Vec<ServedChain>,
    pub gateway: Gateway,
    pub keys: KeyRing,
    pub status_access: StatusAccess,
    pub redecode: Box<dyn RedecodeControl>,
    pub cursor_key: CursorKey,
    pub labels: Labels,
    pub price: PriceConfig,
    pub token_lists: TokenLists,
    pub verified: VerifiedCollections,
    /// The text of /metrics.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    pub version: &'static str,
}

#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

pub struct Inner {
    pub parts: Parts,
    pub served: BTreeMap<ChainId, usize>,
    pub answers: Answers,
    pub wallet_repeats: Repeats<Words>,
    pub price_repeats: Repeats<PriceWords>,
    pub tokens: Tokens,
    pub contracts: Contracts,
    pub price_memory: PriceMemory,
    pub meters: Meters,
    stopping: AtomicBool,
}

impl std::ops::Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl App {
    pub fn new(mut parts: Parts) -> Self {
        let served = parts.chains.iter().enumerate().map(|(i, c)| (c.chain.id, i)).collect();
        // What the operator allows, in eighths: wallets' pages are the largest.
        let eighth = parts.config.answer_cache_bytes / 8;
        let answers = Answers::new(eighth * 5, USUAL_BYTES);
        let tokens = Tokens::new(std::mem::take(&mut parts.token_lists), parts.store.clone());
        let timeout = Duration::from_millis(parts.price.node_timeout_ms);
        let contracts = Contracts::new(parts.price.node_questions_max, timeout);
        let inner = Inner {
            parts,
            served,
            answers,
            wallet_repeats: Repeats::new(eighth),
            price_repeats: Repeats::new(eighth),
            tokens,
            contracts,
            price_memory: PriceMemory::default(),
            meters: Meters::default(),
            stopping: AtomicBool::new(false),
        };
        App { inner: Arc::new(inner) }
    }

    pub fn served(&self, chain: ChainId) -> Option<&ServedChain> {
        self.served.get(&chain).and_then(|i| self.parts.chains.get(*i))
    }

    /// A chain of a path, by any of its names.
    pub fn served_by_name(&self, name: &str) -> Result<&ServedChain, ApiError> {
        let served = self.parts.table.find(name).and_then(|chain| self.served(chain.id));
        served.ok_or_else(|| ApiError::NotFound("this chain is not served here".into()))
    }

    /// The chains served, for messages to people.
    pub fn slugs(&self) -> String {
        let slugs: Vec<_> = self.parts.chains.iter().map(|c| c.chain.slug.as_str()).collect();
        if slugs.is_empty() { "none".to_owned() } else { slugs.join(", ") }
    }

    /// From now on /health/ready says no, so that a balancer sends nothing more.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
