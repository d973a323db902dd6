//! One chain: its blocks with their facts, and the names of its tokens.

use model::chain::ChainId;

use super::{CopiedChain, CopyPart, CopyProgress, ProgressFn};
use crate::Error;
use crate::block::VerifiedBlock;
use crate::change::ChangeOf;
use crate::journal::Origin;
use crate::store::Store;

/// Blocks of one commit, and how much memory they may take.
const BLOCKS_AT_ONCE: usize = 200;
const BYTES_AT_ONCE: usize = 32 << 20;

impl Store {
    pub(super) async fn copy_chain(
        &self,
        to: &Store,
        chain: ChainId,
        progress: ProgressFn<'_>,
    ) -> Result<CopiedChain, Error> {
        let view = self.view().await?;
        let coverage = view.coverage(chain).await?;
        // What is read with another decoder there would be a mixture.
        to.decode_with(chain, view.generations(chain).await?.decoded_with).await?;
        let known = to.view().await?.coverage(chain).await?;
        let stored = coverage.ranges().iter().flat_map(|(from, to)| *from..=*to);
        let mut missing = stored.filter(|number| !known.contains(*number)).peekable();
        let total = coverage.blocks();
        let mut now = CopyProgress { part: CopyPart::Blocks(chain), done: 0, total };
        now.done = total.saturating_sub(
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
            now.done += blocks.len() as u64;
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
