//! What every handler may use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use alloy_primitives::Address;
use gateway::Gateway;
use model::chain::{ChainId, ChainTable, Operation};
use model::token::Token;
use store::Store;

use crate::answer_headers::AnswerDate;
use crate::backups::Backups;
use crate::config::{Config, PriceConfig, StatusAccess};
use crate::console::{ConsoleConfig, Live, RecentAnswers, Sessions};
use crate::contract_list::ContractList;
use crate::contracts::Contracts;
use crate::cursor::CursorKey;
use crate::data::price::memory::PriceMemory;
use crate::data::response::DataResponse;
use crate::error::ApiError;
use crate::keys::KeyRing;
use crate::labels::Labels;
use crate::listen_config::ListenConfig;
use crate::meters::Meters;
use crate::problem::ProblemsFn;
use crate::redecode_control::RedecodeControl;
use crate::request_key::RequestKey;
use crate::response_budget::ResponseBudget;
use crate::response_cache::ResponseCache;
use crate::served_chain::{ServedChain, StatusFn};
use crate::shared_answers::SharedAnswers;
use crate::streams_slot::StreamsSlot;
use crate::tokens::{TokenLists, Tokens};

/// What the server is put together from.
pub struct Parts {
    pub config: Config,
    pub console: ConsoleConfig,
    pub listen: ListenConfig,
    pub store: Store,
    pub table: Arc<ChainTable>,
    pub chains: Vec<ServedChain>,
    pub gateway: Gateway,
    /// None: this server has no streams host.
    pub streams: Option<StreamsSlot>,
    pub keys: KeyRing,
    pub status_access: StatusAccess,
    pub redecode: Box<dyn RedecodeControl>,
    pub problems: ProblemsFn,
    pub cursor_key: CursorKey,
    pub labels: Labels,
    pub price: PriceConfig,
    pub token_lists: TokenLists,
    pub verified: ContractList,
    /// The text of /metrics.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    pub version: &'static str,
    /// How much of its disk budget the store takes, for /status; none where there is no budget.
    pub disk_budget: Option<StatusFn>,
}

#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

pub struct Inner {
    pub parts: Parts,
    pub served: BTreeMap<ChainId, usize>,
    pub responses: ResponseCache,
    pub response_budget: ResponseBudget,
    pub date: AnswerDate,
    pub shared_answers: SharedAnswers,
    pub tokens: Tokens,
    pub contracts: Contracts,
    pub price_memory: PriceMemory,
    pub meters: Meters,
    pub backups: Backups,
    pub sessions: Sessions,
    pub live: Live,
    pub recent_answers: RecentAnswers,
    /// When this server was put together.
    pub started: SystemTime,
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
        let responses = ResponseCache::new(parts.config.answer_cache_bytes);
        let tokens = Tokens::new(std::mem::take(&mut parts.token_lists), parts.store.clone());
        let timeout = Duration::from_millis(parts.price.node_timeout_ms);
        let contracts = Contracts::new(parts.price.node_questions_max, timeout);
        let response_budget = ResponseBudget::new(parts.config.response_bytes_in_flight_max);
        let (sessions, live) = (Sessions::new(&parts.console), Live::new(&parts.chains));
        let inner = Inner {
            parts,
            served,
            responses,
            response_budget,
            date: AnswerDate::default(),
            shared_answers: SharedAnswers::default(),
            tokens,
            contracts,
            price_memory: PriceMemory::default(),
            meters: Meters::default(),
            backups: Backups::default(),
            sessions,
            live,
            recent_answers: RecentAnswers::default(),
            started: SystemTime::now(),
            stopping: AtomicBool::new(false),
        };
        App { inner: Arc::new(inner) }
    }

    pub fn served(&self, chain: ChainId) -> Option<&ServedChain> {
        self.served.get(&chain).and_then(|i| self.parts.chains.get(*i))
    }

    /// The chain of a request's `chain` parameter. Three different refusals: no such chain, not for this
    /// operation, not on this server.
    pub fn served_for(
        &self,
        operation: Operation,
        name: Option<&str>,
    ) -> Result<&ServedChain, ApiError> {
        let name = name.unwrap_or("eth");
        let wrong = |why: &str| ApiError::bad_value("chain", name, why);
        let chain = self.parts.table.find_for(operation, name).ok_or_else(|| {
            wrong("is not a known chain; give a name such as eth or a hex id such as 0x1")
        })?;
        if !chain.offers(operation) {
            let offered = self.parts.table.iter().filter(|chain| chain.offers(operation));
            let offered: Vec<&str> = offered.map(|chain| chain.slug.as_str()).collect();
            let why = "is not offered by this operation";
            return Err(wrong(&format!("{why} ({operation}), which has {}", offered.join(", "))));
        }
        let served = self.served(chain.id);
        served.ok_or_else(|| wrong(&format!("is not served here; served chains: {}", self.slugs())))
    }

    /// A chain of a path, by any of its names.
    pub fn served_by_name(&self, name: &str) -> Result<&ServedChain, ApiError> {
        let served = self.parts.table.find(name).and_then(|chain| self.served(chain.id));
        served.ok_or_else(|| ApiError::NotFound("this chain is not served here".into()))
    }

    /// The response to the same request, if nothing was written of its chain since.
    pub async fn cached(
        &self,
        key: &RequestKey,
        chain: ChainId,
    ) -> Result<Option<DataResponse>, ApiError> {
        Ok(self.responses.get(key, self.parts.store.version(chain).await?))
    }

    /// Whatever is known of a token, for texts; nothing where nobody can tell.
    pub async fn token(&self, chain: ChainId, address: Address) -> Token {
        match self.served(chain) {
            Some(served) => self.tokens.describe(&self.contracts, served, address).await,
            None => Token::default(),
        }
    }

    /// The chains served, for messages to people.
    pub fn slugs(&self) -> String {
        let slugs: Vec<_> = self.parts.chains.iter().map(|c| c.chain.slug.as_str()).collect();
        if slugs.is_empty() { "none".to_owned() } else { slugs.join(", ") }
    }

    /// From now on /health/ready says no, so that a balancer sends nothing more.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.backups.stop();
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
