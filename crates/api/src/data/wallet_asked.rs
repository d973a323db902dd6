//! The parameters of the wallet operation, read and checked.

use alloy_primitives::Address;
use model::chain::ChainId;
use store::{Coverage, Place, View, WalletQuery};

use super::paging::Paging;
use crate::answers::{Question, Words};
use crate::app::App;
use crate::cursor::{Position, QuestionDigest};
use crate::error::ApiError;
use crate::params::{self, BlockRange, Blocks, Query};
use crate::wire::Profile;

/// The request as it reads, before anything of the store is known.
pub struct Request {
    chain: ChainId,
    address: Address,
    with_internal: bool,
    oldest_first: bool,
    range: BlockRange,
    paging: Paging,
    pub words: Words,
}

/// The request and what its range means at the moment.
pub struct Asked {
    pub question: WalletQuery,
    /// Blocks the question could be about, stored or not.
    pub reach: Blocks,
    pub paging: Paging,
    pub words: Words,
}

impl Request {
    pub fn read(
        app: &App,
        query: &Query,
        (chain, address): (ChainId, Address),
        with_internal: bool,
        profile: Profile,
    ) -> Result<Self, ApiError> {
        let range = BlockRange::read(query)?;
        let oldest_first = params::order(query)?;
        let digest = QuestionDigest::builder()
            .field("operation", "getWalletTransactions")
            .number("chain", chain.0)
            .field("address", address)
            .field("order", [u8::from(oldest_first)])
            .field("include", [u8::from(with_internal)]);
        let paging = Paging::read(app, query, range.describe(digest).finish())?;
        let words = Words {
            digest: paging.digest,
            after: paging.after.map(|position| (position.block, position.index)),
            limit: paging.limit as usize,
            page: paging.page,
            profile,
            // A kept cursor has at least half of its life before it.
            era: paging.now_s / (app.parts.config.cursor_ttl_s / 2).max(1),
        };
        Ok(Request { chain, address, with_internal, oldest_first, range, paging, words })
    }

    pub async fn at(self, view: &View, coverage: &Coverage) -> Result<Asked, ApiError> {
        let resolved = self.range.resolve(view, self.chain, coverage).await?;
        let question = WalletQuery {
            chain: self.chain,
            address: self.address,
            from_block: resolved.blocks.0,
            to_block: resolved.blocks.1,
            oldest_first: self.oldest_first,
            with_internal: self.with_internal,
            after: self.words.after,
            limit: self.words.limit,
        };
        Ok(Asked { question, reach: resolved.reach, paging: self.paging, words: self.words })
    }
}

impl Asked {
    /// Under what the answer may be kept.
    pub fn kept_under(&self) -> Question {
        let blocks = (self.question.from_block, self.question.to_block);
        Question { words: self.words.clone(), blocks }
    }

    /// The cursor of the page that begins behind `last`.
    pub fn next_cursor(&self, app: &App, last: Place) -> String {
        self.paging.next(app, Position { block: last.0, index: last.1, sub: 0 })
    }
}
