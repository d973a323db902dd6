//! One chain of the configuration: where to read it, and what it is if it is not built in.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use serde::{Deserialize, Serialize};

/// The fewest blocks that a chain can be told to keep; more where it takes more to be sure of one.
const RETAIN_BLOCKS_MIN: u64 = 128;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSection {
    /// Needed for a chain that is not built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    pub upstreams: Vec<rpc::UpstreamConfig>,
    /// "off": its blocks are not stored; calls to its nodes are forwarded, checked and cached.
    #[serde(skip_serializing_if = "IngestChoice::is_on")]
    pub ingest: IngestChoice,
    /// A database of its own, `postgres://…`; empty: the store of all.
    #[serde(skip_serializing_if = "String::is_empty", serialize_with = "super::hidden")]
    pub store: String,
    /// The oldest block to fill down to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_block: Option<u64>,
    /// Only so many of the newest blocks are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain_blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmations: Option<u64>,
    /// A built-in chain whose well-known contracts this one has at the same addresses, as a fork
    /// of it does: wrapped coin, stable tokens, exchanges, marketplaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contracts_of: Option<String>,
    /// By which rules its blocks are checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
}

/// Whether a chain's blocks are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IngestChoice {
    #[default]
    On,
    Off,
}

impl IngestChoice {
    pub fn is_on(&self) -> bool {
        *self == IngestChoice::On
    }
}

impl ChainSection {
    /// Adds a private chain to the table, if this is one.
    pub fn extend(&self, name: &str, table: ChainTable) -> Result<ChainTable> {
        let Some(private) = self.private(name, &table)? else { return Ok(table) };
        let private = self.with_contracts(name, private, &table)?;
        table.with_private(private).with_context(|| format!("chain '{name}' of the configuration"))
    }

    fn private(&self, name: &str, table: &ChainTable) -> Result<Option<PrivateChain>> {
        let known = table.find(name);
        let changes = self.block_time_ms.is_some()
            || self.confirmations.is_some()
            || self.contracts_of.is_some()
            || self.verification.is_some();
        let id = match (self.id, known) {
            (None, Some(chain)) if changes => chain.id,
            (None, Some(_)) => return Ok(None),
            (Some(id), Some(chain)) if chain.id == ChainId(id) && !changes => return Ok(None),
            (Some(id), _) => ChainId(id),
            (None, None) => match name.parse() {
                Ok(id) => return Ok(Some(self.described(ChainId(id), format!("chain-{id}")))),
                Err(_) => anyhow::bail!(
                    "chain '{name}' is not built in; give its id in the configuration: \
                     [chains.{name}] id = …, or use the id itself as its name"
                ),
            },
        };
        Ok(Some(self.described(id, name.to_owned())))
    }

    fn with_contracts(
        &self,
        name: &str,
        mut private: PrivateChain,
        table: &ChainTable,
    ) -> Result<PrivateChain> {
        let Some(model) = &self.contracts_of else { return Ok(private) };
        let model = table.find(model).with_context(|| {
            format!("chain '{name}': contracts_of names '{model}', which is not a known chain")
        })?;
        private.wrapped = model.wrapped.clone();
        private.stables = Some(model.stables.clone());
        private.exchanges = Some(model.exchanges.clone());
        private.marketplaces = Some(model.marketplaces.clone());
        private.native_pools = Some(model.native_pools.clone());
        Ok(private)
    }

    /// What is not stored can only be asked of a node.
    fn check_ingest(&self, name: &str) -> Result<()> {
        anyhow::ensure!(
            self.ingest.is_on() || !self.upstreams.is_empty(),
            "chains.{name}.ingest is \"off\", so its calls are forwarded; name a node in chains.{name}.upstreams"
        );
        Ok(())
    }

    /// What belongs to no chain, keys and streams, is in the database of `store.url`: every process must reach it.
    fn check_store(&self, name: &str, settings: &super::Settings) -> Result<()> {
        if self.store.is_empty() {
            return Ok(());
        }
        // Not quoted: it may hold a password.
        anyhow::ensure!(
            super::is_postgres(&self.store),
            "chains.{name}.store must begin with postgres:// or postgresql://"
        );
        anyhow::ensure!(
            !settings.store.url.is_empty(),
            "chains.{name}.store is a database for this chain alone; give a database for all else in store.url, \
             which is empty"
        );
        anyhow::ensure!(
            self.ingest.is_on(),
            "chains.{name}.ingest is \"off\", so nothing is stored in chains.{name}.store; leave one of them out"
        );
        Ok(())
    }

    /// A reorg must find its ancestor among the blocks that are kept.
    fn check_retain(&self, name: &str, table: &ChainTable) -> Result<()> {
        let Some(keep) = self.retain_blocks else { return Ok(()) };
        let chain = table.find(name).or_else(|| table.find(&format!("chain-{name}")));
        let least = chain.map_or(0, |chain| chain.confirmations).max(RETAIN_BLOCKS_MIN);
        anyhow::ensure!(
            keep >= least,
            "chains.{name}.retain_blocks ({keep}) must be at least {least}, so that a reorg finds the \
             block it starts from; leave it out to keep all blocks"
        );
        Ok(())
    }

    fn described(&self, id: ChainId, name: String) -> PrivateChain {
        let mut private = PrivateChain::new(id, name);
        private.block_time_ms = self.block_time_ms.or(private.block_time_ms);
        private.confirmations = self.confirmations.or(private.confirmations);
        private.verification = self.verification;
        private
    }
}

/// The table with every chain of the configuration in it.
pub fn table(settings: &super::Settings) -> Result<ChainTable> {
    let mut table = ChainTable::builtin().context("the built-in chains")?;
    let mut names: BTreeMap<ChainId, &str> = BTreeMap::new();
    for (name, section) in &settings.chains {
        table = section.extend(name, table)?;
        section.check_retain(name, &table)?;
        section.check_ingest(name)?;
        section.check_store(name, settings)?;
        let Some(chain) = table.find(name) else { continue };
        if let Some(other) = names.insert(chain.id, name) {
            let id = chain.id.0;
            bail!(
                "chains.{other} and chains.{name} are the same chain, {id}; make them one section"
            );
        }
    }
    Ok(table)
}

/// Chains that have a database of their own, and where that is.
pub fn placed(settings: &super::Settings) -> Result<Vec<(ChainId, String)>> {
    let table = table(settings)?;
    let has_own = settings.chains.iter().filter(|(_, section)| !section.store.is_empty());
    let placed = has_own.map(|(name, section)| {
        let chain = table.find(name).or_else(|| table.find(&format!("chain-{name}")));
        let chain = chain.with_context(|| format!("chain '{name}'"))?;
        Ok((chain.id, section.store.clone()))
    });
    placed.collect()
}

/// The chain a command names; an unknown id is a chain of its own.
pub fn find_or_make(table: ChainTable, text: &str) -> Result<(ChainTable, Chain)> {
    let table = match table.find(text) {
        Some(_) => table,
        None => ChainSection::default().extend(text, table)?,
    };
    let chain = table.find(text).cloned().with_context(|| format!("chain '{text}'"))?;
    Ok((table, chain))
}
