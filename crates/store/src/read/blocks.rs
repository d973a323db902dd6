//! Which blocks are stored, and what they hold.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Header, Receipt};

use super::{EngineView, View};
use crate::block::{BlockSummary, StoredTx};
use crate::postgres::BlockParts;
use crate::query::Place;
use crate::{Coverage, Error};

impl View {
    pub async fn coverage(&self, chain: ChainId) -> Result<Coverage, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.coverage(chain),
            EngineView::Postgres(view) => Ok(view.coverage(chain)),
        }
    }

    /// Chains that have at least one block. One whose own database is away is among them: whoever asks on is told.
    pub async fn chains(&self) -> Result<Vec<ChainId>, Error> {
        let mut chains = match self.main().await? {
            EngineView::Embedded(view) => view.chains()?,
            EngineView::Postgres(view) => view.chains(),
        };
        let placed = self.placed();
        chains.retain(|chain| !placed.contains(chain));
        for chain in placed {
            match self.coverage(chain).await {
                Ok(coverage) if coverage.is_empty() => {}
                Err(error) if !error.is_retryable() => return Err(error),
                _ => chains.push(chain),
            }
        }
        chains.sort();
        Ok(chains)
    }

    /// The newest stored block.
    pub async fn head(&self, chain: ChainId) -> Result<Option<BlockSummary>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.head(chain),
            EngineView::Postgres(view) => view.head(chain).await,
        }
    }

    pub async fn block_summary(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<BlockSummary>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.block_summary(chain, number),
            EngineView::Postgres(view) => view.block_summary(chain, number).await,
        }
    }

    pub async fn parent_hash(&self, chain: ChainId, number: u64) -> Result<Option<B256>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.parent_hash(chain, number),
            EngineView::Postgres(view) => view.parent_hash(chain, number).await,
        }
    }

    pub async fn number_of(&self, chain: ChainId, hash: B256) -> Result<Option<u64>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.number_of(chain, hash),
            EngineView::Postgres(view) => view.number_of(chain, hash).await,
        }
    }

    pub async fn header(&self, chain: ChainId, number: u64) -> Result<Option<Header>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.header(chain, number),
            EngineView::Postgres(view) => view.header(chain, number).await,
        }
    }

    /// Header and transactions, as the node RPC gives them.
    pub async fn block(&self, chain: ChainId, number: u64) -> Result<Option<Block>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.block(chain, number),
            EngineView::Postgres(view) => Ok(view
                .read_block(chain, number, BlockParts::Transactions)
                .await?
                .map(|(block, _)| block)),
        }
    }

    /// With receipts, logs and frames (without roots): all that is known of it.
    pub async fn whole_block(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<(Block, Proof)>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.whole_block(chain, number),
            EngineView::Postgres(view) => {
                view.read_block(chain, number, BlockParts::Everything).await
            }
        }
    }

    /// The whole block, if the one of this hash is still the one that is stored.
    pub async fn block_if(
        &self,
        chain: ChainId,
        number: u64,
        hash: B256,
    ) -> Result<Option<(Block, Proof)>, Error> {
        match self.block_summary(chain, number).await? {
            Some(summary) if summary.hash == hash => self.whole_block(chain, number).await,
            _ => Ok(None),
        }
    }

    /// Header, transactions and receipts with their logs.
    pub async fn block_with_receipts(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<Block>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.block_with_receipts(chain, number),
            EngineView::Postgres(view) => Ok(view
                .read_block(chain, number, BlockParts::Receipts)
                .await?
                .map(|(block, _)| block)),
        }
    }

    /// One receipt with its logs; none where it is not known.
    pub async fn receipt(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<Receipt>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.receipt(chain, number, index),
            EngineView::Postgres(view) => view.receipt(chain, number, index).await,
        }
    }

    /// Block and index of the transaction with this hash.
    pub async fn place_of_tx(&self, chain: ChainId, hash: B256) -> Result<Option<Place>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.place_of_tx(chain, hash),
            EngineView::Postgres(view) => view.place_of_tx(chain, hash).await,
        }
    }

    /// One transaction, without frames.
    pub async fn transaction(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<StoredTx>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.transaction(chain, number, index),
            EngineView::Postgres(view) => view.transaction(chain, number, index).await,
        }
    }
}
