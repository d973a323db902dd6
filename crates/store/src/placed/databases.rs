//! The databases of chains that have one of their own: opened, and held against what was noted of them before.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::chain::ChainId;

use crate::Error;
use crate::engine::Engine;
use crate::options::Options;
use crate::postgres::{AdmitFn, DatabaseId, Store as Database};

pub(crate) struct Placed {
    pub by_chain: BTreeMap<ChainId, Engine>,
    /// Each database once.
    pub databases: Vec<Database>,
    /// What marks of this installation begin with.
    pub mark: String,
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
