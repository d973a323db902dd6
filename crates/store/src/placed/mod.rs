//! Chains in databases of their own (docs/adr/0017): which database a chain is in, and how a journal reader whose cursor is in the
//! main database keeps a chain's journal from being pruned under it.
//!
//! What belongs to no chain is in the main database: keys, streams, deliveries. Journal readers' cursors are there, too,
//! because a reader's cursor is written with its rows.

mod everywhere;
mod marks;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::chain::ChainId;

use crate::options::Options;
use crate::postgres::{AdmitFn, DatabaseId, Store as Database};
use crate::store::{Engine, Store};
use crate::{Error, View};

pub(crate) struct Placed {
    by_chain: BTreeMap<ChainId, Engine>,
    /// Each database once.
    databases: Vec<Database>,
    /// What marks of this installation begin with.
    mark: String,
}

impl Placed {
    /// None where every chain is in the main database. One that is away is opened when it is back.
    pub async fn open(options: &Options, main: &Database) -> Result<Option<Arc<Self>>, Error> {
        let elsewhere = || options.placed.iter().filter(|(_, url)| *url != options.url);
        let chains: Vec<ChainId> = elsewhere().map(|(chain, _)| *chain).collect();
        main.check_places(&chains).await?;
        if chains.is_empty() {
            return Ok(None);
        }
        let mut by_url: BTreeMap<&str, Vec<ChainId>> = BTreeMap::new();
        elsewhere().for_each(|(chain, url)| by_url.entry(url).or_default().push(*chain));
        let (mut by_chain, mut databases) = (BTreeMap::new(), Vec::new());
        for (url, chains) in by_url {
            let database = open_one(options, main, url, &chains).await?;
            let engine = |chain| (chain, Engine::Postgres(database.clone()));
            by_chain.extend(chains.into_iter().map(engine));
            databases.push(database);
        }
        let id = main.ready().await?.unwrap_or_default();
        let mark = format!("{}/", alloy_primitives::hex::encode(&id[..4]));
        Ok(Some(Arc::new(Placed { by_chain, databases, mark })))
    }
}

async fn open_one(
    options: &Options,
    main: &Database,
    url: &str,
    chains: &[ChainId],
) -> Result<Database, Error> {
    let of_one = Options {
        url: url.to_owned(),
        read_urls: Vec::new(),
        placed: Vec::new(),
        ..options.clone()
    };
    let admit = admit(main.clone(), chains.to_vec(), options.create);
    let database =
        Database::open_late(&of_one, admit).map_err(|error| unreadable(error, chains))?;
    match database.look().await {
        Err(error) if error.is_retryable() => {
            let chains: Vec<u64> = chains.iter().map(|chain| chain.0).collect();
            tracing::warn!(?chains, %error, "the database of these chains is away; others are served meanwhile");
        }
        looked => looked?,
    }
    Ok(database)
}

/// Whether the database is the one in which these chains were before.
fn admit(main: Database, chains: Vec<ChainId>, may_change: bool) -> AdmitFn {
    Arc::new(move |database: DatabaseId| {
        let (main, chains) = (main.clone(), chains.clone());
        Box::pin(async move {
            for chain in chains {
                main.note_place(chain, database, may_change).await?;
            }
            Ok(())
        })
    })
}

/// A URL that is none, told by whose it is.
fn unreadable(error: Error, chains: &[ChainId]) -> Error {
    match error {
        Error::Engine { source, advice, .. } => {
            let chains: Vec<String> = chains.iter().map(|chain| chain.0.to_string()).collect();
            let path = format!("chain {}: postgres://…", chains.join(", ")).into();
            let action = "read [chains.NAME] store";
            Error::Engine { action, path, source, advice, retryable: false }
        }
        other => other,
    }
}

/// An embedded store has no databases beside it.
pub(crate) fn refuse_placed(options: &Options) -> Result<(), Error> {
    match options.placed.first() {
        None => Ok(()),
        Some((chain, _)) => Err(Error::Engine {
            action: "place a chain in a database of its own",
            path: options.path.clone(),
            source: format!("chain {} has one, and the store itself is a data folder", chain.0)
                .into(),
            advice: "say store.url, too: keys and streams are in that database",
            retryable: false,
        }),
    }
}

impl Store {
    /// Where a chain's rows are.
    pub(crate) fn of(&self, chain: ChainId) -> &Engine {
        let placed = self.placed.as_ref().and_then(|placed| placed.by_chain.get(&chain));
        placed.unwrap_or(&self.engine)
    }

    pub(crate) fn is_placed(&self, chain: ChainId) -> bool {
        self.placed.as_ref().is_some_and(|placed| placed.by_chain.contains_key(&chain))
    }

    /// A consistent look at everything as it is now; of chains with databases of their own, as each is when first asked about.
    pub async fn view(&self) -> Result<View, Error> {
        match &self.placed {
            None => Ok(View::now(self.engine.view().await?)),
            Some(placed) => {
                let engines = placed.by_chain.iter().map(|(chain, it)| (*chain, it.clone()));
                Ok(View::late(crate::read::LateViews::new(&self.engine, engines)))
            }
        }
    }

    /// An error where a database of a chain cannot be used now.
    pub async fn all_ready(&self) -> Result<(), Error> {
        for database in self.databases() {
            database.ready().await?;
        }
        Ok(())
    }

    /// Those of chains.
    fn databases(&self) -> impl Iterator<Item = &Database> {
        self.placed.iter().flat_map(|placed| &placed.databases)
    }
}
