//! The versions of all chains in memory: every request asks for one.
//!
//! This process is the only one that writes here, so it knows. While a write is under way nobody but
//! the table can tell which version is visible, so none is told from memory then.

use std::sync::{PoisonError, RwLock};

use alloy_primitives::map::HashMap;
use model::chain::ChainId;

use super::codec::journal::unpack_version;
use super::engine::Snapshot;
use super::keys;
use super::tables::Tables;
use crate::Error;
use crate::journal::Version;

pub struct Versions(RwLock<HashMap<ChainId, Version>>);

impl Versions {
    pub fn read(snapshot: &Snapshot, tables: &Tables) -> Result<Self, Error> {
        let mut versions = HashMap::default();
        for item in snapshot.prefix(&tables.meta, keys::VERSIONS) {
            let (key, row) = item.into_inner()?;
            let chain = keys::last_number(&key).map(ChainId);
            let entry = chain.zip(unpack_version(&row));
            versions.extend([entry.ok_or(Error::Broken { what: "version of a chain" })?]);
        }
        Ok(Versions(RwLock::new(versions)))
    }

    /// None where the table must be asked.
    pub fn get(&self, chain: ChainId) -> Option<Version> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&chain).copied()
    }

    /// After the engine was opened anew.
    pub fn replace(&self, other: Versions) {
        let other = other.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = other;
    }

    pub fn forget(&self, chain: ChainId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&chain);
    }

    pub fn set(&self, chain: ChainId, version: Version) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(chain, version);
    }
}
