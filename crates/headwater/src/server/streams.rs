//! Streams, put together from the chains that are served.

use std::path::PathBuf;
use std::sync::Arc;

use alloy_primitives::Address;
use anyhow::{Context, Result};
use api::{App, ContractList, ServedChain};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::{ChainId, ChainTable};
use model::token::Token;
use store::Store;
use streams::{SpamList, StreamChain, StreamOptions, Streams, TokenNames};
use tokio::sync::watch;

use crate::config::Settings;

/// What tokens are called is known by what answers for prices, which is put together after streams.
pub struct LateTokens(watch::Sender<Option<App>>);

impl LateTokens {
    pub fn new() -> Arc<Self> {
        Arc::new(LateTokens(watch::Sender::new(None)))
    }

    pub fn set(&self, app: App) {
        self.0.send_replace(Some(app));
    }
}

impl TokenNames for LateTokens {
    fn token(&self, chain: ChainId, address: Address) -> BoxFuture<'_, Token> {
        let mut app = self.0.subscribe();
        async move {
            let app = match app.wait_for(Option::is_some).await {
                Ok(app) => app.clone(),
                Err(_) => None,
            };
            match app {
                Some(app) => app.token(chain, address).await,
                None => Token::default(),
            }
        }
        .boxed()
    }
}

pub async fn start(
    settings: &Settings,
    store: &Store,
    table: &ChainTable,
    served: &[ServedChain],
    tokens: Arc<LateTokens>,
) -> Result<Streams> {
    let chains = served.iter().map(|it| {
        let chain = StreamChain { chain: it.chain.clone(), pool: it.pool.clone() };
        (it.chain.id, chain)
    });
    let options = StreamOptions {
        store: store.clone(),
        config: settings.streams.clone(),
        chains: chains.collect(),
        spam: spam(&settings.streams.spam, table, served)?,
        tokens,
    };
    Streams::start(options).await.context("streams cannot start")
}

/// Contracts that the operator holds for spam.
fn spam(files: &[PathBuf], table: &ChainTable, served: &[ServedChain]) -> Result<SpamList> {
    let list = ContractList::read("spam contracts", files, table)?;
    let of_chain = |it: &ServedChain| {
        let id = it.chain.id;
        list.of_chain(id).map(move |address| (id, address)).collect::<Vec<_>>()
    };
    Ok(SpamList::new(served.iter().flat_map(of_chain)))
}
