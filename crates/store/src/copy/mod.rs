//! Copies what is stored into another store, of whichever engine, and holds the two against each other.
//!
//! Blocks with what was found in them, token names, API keys, secrets, and streams with their deliveries, so that they go on
//! where they were. What is there already is passed over: a copy that was cut off is simply begun again. Of a chain's journal
//! only that is copied which streams have not taken into account yet.

mod chain;
mod readers;
mod streams;
mod streams_digest;

use alloy_primitives::B256;
use model::chain::ChainId;

use crate::store::Store;
use crate::{Coverage, Error};

/// How far the copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    pub part: CopyPart,
    pub done: u64,
    pub total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPart {
    Blocks(ChainId),
    Deliveries,
}

pub(crate) type ProgressFn<'a> = &'a (dyn Fn(CopyProgress) + Send + Sync);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pub chains: Vec<CopiedChain>,
    pub streams: CopiedStreams,
}

/// A chain that was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedChain {
    pub chain: ChainId,
    pub coverage: Coverage,
    /// Of the store that was copied.
    pub expected: B256,
    /// Of the store that it was copied into: the same, unless something else was in it.
    pub digest: B256,
}

/// All streams, of all tenants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedStreams {
    pub streams: u64,
    pub deliveries: u64,
    pub expected: B256,
    pub digest: B256,
}

impl Copied {
    /// Whether the two stores hold the same.
    pub fn is_equal(&self) -> bool {
        let streams = self.streams.expected == self.streams.digest;
        streams && self.chains.iter().all(|chain| chain.expected == chain.digest)
    }
}

impl Store {
    /// Everything that `self` holds now. Whoever writes to either store meanwhile makes the digests differ.
    pub async fn copy_to(
        &self,
        to: &Store,
        progress: impl Fn(CopyProgress) + Send + Sync,
    ) -> Result<Copied, Error> {
        for key in self.api_keys().await? {
            to.put_api_key(&key).await?;
        }
        for (name, secret) in self.secrets().await? {
            to.secret(&name, || secret).await?;
        }
        let ids = self.view().await?.chains().await?;
        let mut chains = Vec::with_capacity(ids.len());
        for chain in &ids {
            chains.push(self.copy_chain(to, *chain, &progress).await?);
        }
        let streams = self.copy_streams(to, &ids, &progress).await?;
        to.flush().await?;
        Ok(Copied { chains, streams })
    }
}
