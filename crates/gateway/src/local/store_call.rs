//! A call that the store may answer, and how the block that it names is found.

use alloy_primitives::B256;
use model::chain::ChainId;
use serde_json::value::RawValue;
use store::{Coverage, Store, View};

use super::LocalAnswer;
use crate::answer::Failure;
use crate::chain_head::ChainHead;
use crate::config::Config;
use crate::feed::{ChainFeed, Filters};
use crate::methods::{BlockParam, Method};
use crate::params::{BlockName, BlockTag, Params};

pub struct StoreCall<'a> {
    pub store: &'a Store,
    pub config: &'a Config,
    pub chain: ChainId,
    pub head: &'a ChainHead,
    pub feed: &'a ChainFeed,
    pub filters: &'a Filters,
    pub method: &'static Method,
    pub params: Option<&'a RawValue>,
}

/// A block that a call names.
#[derive(Debug, PartialEq)]
pub enum NamedBlock {
    Stored(u64),
    /// It is known that there is none.
    Absent,
    /// Only a node can say.
    Unknown,
}

impl NamedBlock {
    /// What is said of a block that is not stored.
    pub fn not_stored(&self) -> LocalAnswer {
        match self {
            NamedBlock::Absent => LocalAnswer::null(),
            NamedBlock::Stored(_) | NamedBlock::Unknown => LocalAnswer::AskNode,
        }
    }
}

impl StoreCall<'_> {
    pub async fn view(&self) -> Result<View, Failure> {
        Ok(self.store.view().await?)
    }

    /// The block that the method's block parameter names.
    pub async fn named(&self, view: &View, params: &Params<'_>) -> Result<NamedBlock, Failure> {
        match self.method.block {
            BlockParam::Hash(at) => self.of_hash(view, params.hash(at)?).await,
            BlockParam::Number(at) => self.of_tag(view, params.block(at)?).await,
            BlockParam::NumberOrHash(at) => match params.block_name(at)? {
                BlockName::Hash(hash) => self.of_hash(view, hash).await,
                BlockName::Tag(tag) => self.of_tag(view, tag).await,
            },
            BlockParam::None | BlockParam::Filter(_) | BlockParam::TxHash(_) => {
                Ok(NamedBlock::Unknown)
            }
        }
    }

    pub async fn of_hash(&self, view: &View, hash: B256) -> Result<NamedBlock, Failure> {
        Ok(match view.number_of(self.chain, hash).await? {
            Some(number) => NamedBlock::Stored(number),
            None => self.not_found(&view.coverage(self.chain).await?),
        })
    }

    pub async fn of_tag(&self, view: &View, tag: BlockTag) -> Result<NamedBlock, Failure> {
        let coverage = view.coverage(self.chain).await?;
        let number = match tag {
            BlockTag::Number(number) => number,
            BlockTag::Earliest => 0,
            BlockTag::Latest => match self.head.stored(view, self.chain).await? {
                Some(newest) => newest,
                None => return Ok(NamedBlock::Unknown),
            },
            BlockTag::Pending | BlockTag::Safe | BlockTag::Finalized => {
                return Ok(NamedBlock::Unknown);
            }
        };
        Ok(if coverage.contains(number) {
            NamedBlock::Stored(number)
        } else {
            self.not_found(&coverage)
        })
    }

    /// Of what is not stored: where all blocks are and there is no node that might know more, there is no such thing.
    pub fn not_found(&self, coverage: &Coverage) -> NamedBlock {
        let is_whole = matches!(coverage.ranges(), [(0, _)]);
        if is_whole && !self.head.has_nodes() { NamedBlock::Absent } else { NamedBlock::Unknown }
    }
}
