//! Streams, put together from the chains that are served.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::Address;
use anyhow::{Context, Result};
use api::{App, ContractList, ServedChain, StreamsSlot};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::{Chain, ChainId, ChainTable};
use model::token::Token;
use rpc::Pool;
use store::{Duty, Leadership, Store};
use streams::{
    SpamList, StreamChain, StreamError, StreamOptions, StreamSender, Streams, TokenNames,
};
use tasks::TaskBoard;
use tokio::sync::watch;

use crate::config::Settings;

const AGAIN_AFTER: Duration = Duration::from_millis(500);
const OTHERS: &str = "answering requests about streams that came to other processes";

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

/// What streams are made of, each time this process gets them.
pub struct StreamsPlan {
    store: Store,
    config: streams::Config,
    chains: Vec<(ChainId, Arc<Chain>, Option<Arc<Pool>>)>,
    spam: SpamList,
    tokens: Arc<LateTokens>,
}

impl StreamsPlan {
    pub fn new(
        settings: &Settings,
        store: &Store,
        table: &ChainTable,
        served: &[ServedChain],
        tokens: Arc<LateTokens>,
    ) -> Result<Self> {
        let chain = |it: &ServedChain| (it.chain.id, it.chain.clone(), it.pool.clone());
        Ok(StreamsPlan {
            store: store.clone(),
            config: settings.streams.clone(),
            chains: served.iter().map(chain).collect(),
            spam: spam(&settings.streams.spam, table, served)?,
            tokens,
        })
    }

    async fn start(&self, leadership: &Leadership) -> Result<Streams, StreamError> {
        let chains = self.chains.iter().map(|(id, chain, pool)| {
            (*id, StreamChain { chain: chain.clone(), pool: pool.clone() })
        });
        let options = StreamOptions {
            store: self.store.under(leadership),
            config: self.config.clone(),
            chains: chains.collect(),
            spam: self.spam.clone(),
            tokens: self.tokens.clone(),
        };
        Streams::start(options).await
    }
}

/// Streams in whichever process has the duty: they start when this one gets it and stop when another does.
pub struct StreamsKeeper {
    plan: StreamsPlan,
    slot: StreamsSlot,
    tasks: TaskBoard,
}

impl StreamsKeeper {
    /// Where nobody else has them and they can be read, they are here when this returns.
    pub async fn start(
        plan: StreamsPlan,
        slot: StreamsSlot,
        tasks: TaskBoard,
    ) -> Result<(Self, Option<Leadership>)> {
        let mut leadership = plan.store.try_lead(Duty::Streams).await?;
        let started = match &leadership {
            Some(leadership) => plan.start(leadership).await.map(Some),
            None => Ok(None),
        };
        match started {
            // A database that a chain has for itself may be away; what needs no streams is served meanwhile.
            Err(StreamError::Store(error)) if error.is_retryable() => {
                tracing::warn!(%error, "streams cannot start; tried again");
                leadership = None;
            }
            started => slot.set(started.context("streams cannot start")?),
        }
        Ok((StreamsKeeper { plan, slot, tasks }, leadership))
    }

    /// As long as the server runs.
    pub async fn keep(self, app: App, mut leading: Option<Leadership>) {
        loop {
            let mut leadership = match leading.take() {
                Some(leadership) => leadership,
                None => match self.lead_again().await {
                    Ok(leadership) => leadership,
                    Err(error) => {
                        tracing::warn!(%error, "streams cannot start; tried again");
                        tokio::time::sleep(AGAIN_AFTER).await;
                        continue;
                    }
                },
            };
            let store = self.plan.store.under(&leadership);
            let others = || api::answer_others(&app, &store);
            tokio::select! {
                () = leadership.ended() => {}
                _ = self.tasks.keep_running(OTHERS, || false, others) => {}
            }
            self.tasks.recovered(OTHERS);
            let streams = self.slot.get();
            self.slot.set(None);
            tracing::warn!("another process may match streams now; this one waits");
            if let Some(streams) = streams {
                // What is being sent may end; nothing that is written now counts.
                tokio::spawn(async move { streams.stop().await });
            }
        }
    }

    /// Whoever waits sends.
    async fn lead_again(&self) -> Result<Leadership, StreamError> {
        let sender = StreamSender::start(&self.plan.store, &self.plan.config)?;
        let leadership = self.plan.store.lead(Duty::Streams).await;
        let started = self.plan.start(&leadership).await;
        tokio::spawn(async move { sender.stop().await });
        self.slot.set(Some(started?));
        Ok(leadership)
    }
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
