//! What a token is called and how it counts. The operator's lists win, then the chain table, then what
//! the contract says: from memory, from the store, at last from a node, which is then remembered.

mod list;
mod not_tokens;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alloy_primitives::Address;
use model::abi::{self, Words};
use model::chain::{Chain, ChainId};
use model::token::{Source, Token};
use quick_cache::sync::Cache;
use store::{Store, View};

use crate::contracts::{CallError, ContractCall, Contracts, ReturnData};
use crate::served_chain::ServedChain;

pub use list::{TokenListError, TokenLists};
pub use not_tokens::KnownTokens;
use not_tokens::NotTokens;

/// `decimals()`, `symbol()`, `name()`. In this order: one that burns all gas hurts those behind it.
const DECIMALS: [u8; 4] = [0x31, 0x3c, 0xe5, 0x67];
const SYMBOL: [u8; 4] = [0x95, 0xd8, 0x9b, 0x41];
const NAME: [u8; 4] = [0x06, 0xfd, 0xde, 0x03];
/// How long it is believed that an address is no token; one may be deployed there any time.
const MISSING_FOR: Duration = Duration::from_secs(60);
/// Contracts remembered in memory.
const REMEMBERED: usize = 20_000;

/// A token as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenInfo {
    pub name: Option<String>,
    pub symbol: Option<String>,
    pub decimals: u8,
    pub logo: Option<String>,
}

/// Why the decimals of a token are not known.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("its contract does not tell them, or there is none")]
    NotTold,
    #[error("this server has no node of the chain, and no token list names it")]
    NoNode,
    #[error(transparent)]
    Node(#[from] CallError),
    #[error(transparent)]
    Store(#[from] store::Error),
}

#[derive(Clone)]
struct Remembered {
    token: Arc<Token>,
    until: Option<Instant>,
}

pub struct Tokens {
    lists: TokenLists,
    store: Store,
    remembered: Cache<(ChainId, Address), Remembered>,
    not_tokens: NotTokens,
    /// Contracts that told what they are, since the start.
    resolved: AtomicU64,
}

impl Tokens {
    pub fn new(lists: TokenLists, store: Store) -> Self {
        let (remembered, not_tokens) = (Cache::new(REMEMBERED), NotTokens::new());
        Tokens { lists, store, remembered, not_tokens, resolved: AtomicU64::new(0) }
    }

    pub async fn find(
        &self,
        contracts: &Contracts,
        served: &ServedChain,
        address: Address,
    ) -> Result<TokenInfo, TokenError> {
        let chain = &served.chain;
        if self.is_told(chain, address) {
            return self.info(chain, address, None).ok_or(TokenError::NotTold);
        }
        let own = match self.remembered(chain.id, address).await? {
            Some(token) => Ok(token),
            None => self.ask(contracts, served, address).await,
        };
        match own {
            Ok(token) => self.info(chain, address, Some(&token)).ok_or(TokenError::NotTold),
            Err(TokenError::Store(error)) => Err(error.into()),
            // A list or the chain table may know enough.
            Err(error) => self.info(chain, address, None).ok_or(error),
        }
    }

    /// Whatever is known of a contract, for texts in which nothing hangs on it.
    pub async fn describe(
        &self,
        contracts: &Contracts,
        served: &ServedChain,
        address: Address,
    ) -> Token {
        let chain = &served.chain;
        let own = match self.remembered(chain.id, address).await {
            Ok(Some(token)) => Some(token),
            _ if self.is_told(chain, address) => None,
            _ => self.ask(contracts, served, address).await.ok(),
        };
        match self.info(chain, address, own.as_deref()) {
            Some(TokenInfo { name, symbol, decimals, .. }) => {
                Token { name, symbol, decimals: Some(decimals), source: Source::Contract }
            }
            None => own.map(|own| Token::clone(&own)).unwrap_or_default(),
        }
    }

    /// "Name (SYMBOL)" of a token that is known by now; no contract is asked. `known` is of before the view was taken.
    pub async fn label(
        &self,
        view: &View,
        chain: &Chain,
        address: Address,
        known: KnownTokens,
    ) -> Result<Option<String>, store::Error> {
        let key = (chain.id, address);
        let own = if self.is_told(chain, address) || self.not_tokens.has(key, known) {
            None
        } else {
            let own = view.token(chain.id, address).await?;
            if own.is_none() {
                self.not_tokens.insert(key, known);
            }
            own
        };
        let info = self.info(chain, address, own.as_ref());
        Ok(info.and_then(|info| Some(format!("{} ({})", info.name?, info.symbol?))))
    }

    /// `resolved` is another number whenever a label may be another one.
    pub fn known(&self) -> KnownTokens {
        KnownTokens { resolved: self.resolved.load(Ordering::Acquire), at: Instant::now() }
    }

    /// Whether nothing is left to ask the contract.
    fn is_told(&self, chain: &Chain, address: Address) -> bool {
        let listed = self.lists.get(chain.id, address);
        listed.is_some_and(|it| it.name.is_some() && it.symbol.is_some())
    }

    /// All that is said of it, the more trusted first.
    fn info(&self, chain: &Chain, address: Address, own: Option<&Token>) -> Option<TokenInfo> {
        let listed = self.lists.get(chain.id, address);
        let table = of_table(chain, address);
        let name = listed.and_then(|it| it.name.clone()).or_else(|| own?.name.clone());
        let symbol = listed.and_then(|it| it.symbol.clone()).or_else(|| own?.symbol.clone());
        let decimals = listed.map(|it| it.decimals);
        let decimals = decimals.or(table.as_ref().and_then(|it| it.decimals));
        Some(TokenInfo {
            name: name.or_else(|| table.as_ref()?.name.clone()),
            symbol: symbol.or_else(|| table.as_ref()?.symbol.clone()),
            decimals: decimals.or_else(|| own?.decimals)?,
            logo: listed.and_then(|it| it.logo.clone()),
        })
    }

    async fn remembered(
        &self,
        chain: ChainId,
        address: Address,
    ) -> Result<Option<Arc<Token>>, store::Error> {
        if let Some(found) = self.remembered.get(&(chain, address)) {
            if found.until.is_none_or(|until| Instant::now() < until) {
                return Ok(Some(found.token));
            }
            self.remembered.remove(&(chain, address));
        }
        let stored = self.store.view().await?.token(chain, address).await?;
        let Some(token) = stored.map(Arc::new) else { return Ok(None) };
        let found = Remembered { token: token.clone(), until: None };
        self.remembered.insert((chain, address), found);
        Ok(Some(token))
    }

    async fn ask(
        &self,
        contracts: &Contracts,
        served: &ServedChain,
        address: Address,
    ) -> Result<Arc<Token>, TokenError> {
        let Some(upstreams) = &served.pool else { return Err(TokenError::NoNode) };
        let chain = served.chain.id;
        // Whoever asks for the same meanwhile waits for this answer.
        let key = (chain, address);
        let asked = self.remembered.get_or_insert_async(&key, async {
            let calls = [DECIMALS, SYMBOL, NAME].map(|it| ContractCall::new(address, it, &[]));
            let answers = contracts.call(upstreams, &calls, None).await?;
            let token = Arc::new(read(&answers));
            // An NFT contract has a name and no decimals.
            let is_missing = token.decimals.is_none() && token.name.is_none();
            let until = is_missing.then(|| Instant::now() + MISSING_FOR);
            Ok::<_, CallError>(Remembered { token, until })
        });
        let token = asked.await?.token;
        if token.decimals.is_some() {
            self.store.put_token(chain, address, &token).await?;
            // Whoever sees it sees the token in the store.
            self.resolved.fetch_add(1, Ordering::Release);
        }
        Ok(token)
    }
}

/// Answers to decimals, symbol and name.
fn read(answers: &[ReturnData]) -> Token {
    let answer = |n: usize| answers.get(n).and_then(Option::as_deref);
    Token {
        decimals: answer(0).and_then(|it| u8::try_from(Words(it).uint(0)?).ok()),
        symbol: answer(1).and_then(abi::text),
        name: answer(2).and_then(abi::text),
        source: Source::Contract,
    }
}

/// Money is known without asking anyone.
fn of_table(chain: &Chain, address: Address) -> Option<Token> {
    let wrapped = chain.wrapped.as_ref().filter(|it| it.address == address).map(|it| Token {
        name: Some(format!("Wrapped {}", chain.native.name)),
        symbol: Some(it.symbol.clone()),
        decimals: Some(chain.native.decimals),
        source: Source::Table,
    });
    let stable = || {
        let stable = chain.stables.iter().find(|it| it.address == address)?;
        let (name, symbol) = (stable.name.clone(), Some(stable.symbol.clone()));
        Some(Token { name, symbol, decimals: Some(stable.decimals), source: Source::Table })
    };
    wrapped.or_else(stable)
}
