//! Copies what is stored into another store, of whichever engine, and holds the two against each other.
//!
//! Blocks with what was found in them, token names, API keys and secrets. Blocks that are there already are passed over, so a copy
//! that was cut off is simply begun again. What a chain's journal says, its readers and streams are not copied: they
//! belong to the store that wrote them.

use alloy_primitives::B256;
use model::chain::ChainId;

use crate::block::VerifiedBlock;
use crate::change::ChangeOf;
use crate::journal::Origin;
use crate::store::Store;
use crate::{Coverage, Error};

/// Blocks of one commit, and how much memory they may take.
const BLOCKS_AT_ONCE: usize = 200;
const BYTES_AT_ONCE: usize = 32 << 20;

/// How far the copy of a chain has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    pub chain: ChainId,
    pub blocks_done: u64,
    pub blocks_total: u64,
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

impl Store {
    /// Everything that `self` holds now. Whoever writes to either store meanwhile makes the digests differ.
    pub async fn copy_to(
        &self,
        to: &Store,
        progress: impl Fn(CopyProgress) + Send + Sync,
    ) -> Result<Vec<CopiedChain>, Error> {
        for key in self.api_keys().await? {
            to.put_api_key(&key).await?;
        }
        for (name, secret) in self.secrets().await? {
            to.secret(&name, || secret).await?;
        }
        let chains = self.view().await?.chains().await?;
        let mut copied = Vec::with_capacity(chains.len());
        for chain in chains {
            copied.push(self.copy_chain(to, chain, &progress).await?);
        }
        to.flush().await?;
        Ok(copied)
    }

    async fn copy_chain(
        &self,
        to: &Store,
        chain: ChainId,
        progress: &(impl Fn(CopyProgress) + Send + Sync),
    ) -> Result<CopiedChain, Error> {
        let view = self.view().await?;
        let coverage = view.coverage(chain).await?;
        // What is read with another decoder there would be a mixture.
        to.decode_with(chain, view.generations(chain).await?.decoded_with).await?;
        let known = to.view().await?.coverage(chain).await?;
        let stored = coverage.ranges().iter().flat_map(|(from, to)| *from..=*to);
        let mut missing = stored.filter(|number| !known.contains(*number)).peekable();
        let blocks_total = coverage.blocks();
        let mut now = CopyProgress { chain, blocks_done: 0, blocks_total };
        now.blocks_done = blocks_total.saturating_sub(
            coverage.ranges().iter().map(|(from, to)| known.missing(*from, *to)).sum(),
        );
        progress(now);
        while missing.peek().is_some() {
            let (mut blocks, mut bytes) = (Vec::new(), 0);
            while blocks.len() < BLOCKS_AT_ONCE && bytes < BYTES_AT_ONCE {
                let Some(number) = missing.next() else { break };
                let found = view.whole_block(chain, number).await?;
                let (block, proof) = found.ok_or(Error::NotStored { number })?;
                let facts = view.facts(chain, number).await?;
                let prepared = to.prepare(chain, VerifiedBlock { block, proof, facts });
                bytes += prepared.bytes();
                blocks.push(prepared);
            }
            now.blocks_done += blocks.len() as u64;
            to.commit(chain, ChangeOf::apply(Origin::Import, blocks)).await?;
            progress(now);
        }
        for (address, token) in view.tokens(chain).await? {
            to.put_token(chain, address, &token).await?;
        }
        let expected = view.digest(chain).await?;
        let digest = to.view().await?.digest(chain).await?;
        Ok(CopiedChain { chain, coverage, expected, digest })
    }
}
