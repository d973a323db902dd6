//! The parameters of the wallet operation, read and checked.

use alloy_primitives::Address;
use model::cursor::{Position, QuestionDigest};
use store::read::{Place, WalletQuestion};
use store::{Coverage, View};

use super::paging::Paging;
use crate::answers::Question;
use crate::app::{App, ServedChain};
use crate::error::ApiError;
use crate::params::{self, BlockRange, Blocks, Query};
use crate::wire::Profile;

pub struct Asked {
    pub question: WalletQuestion,
    /// Blocks the question could be about, stored or not.
    pub reach: Blocks,
    pub paging: Paging,
    pub profile: Profile,
    cursor_ttl_s: u64,
}

/// What is known before the rest of the query is read.
pub struct Known<'a> {
    pub app: &'a App,
    pub served: &'a ServedChain,
    pub view: &'a View,
    pub coverage: &'a Coverage,
    pub address: Address,
    pub with_internal: bool,
    pub profile: Profile,
}

impl Asked {
    pub fn read(known: &Known, query: &Query) -> Result<Self, ApiError> {
        let Known { app, with_internal, address, .. } = *known;
        let chain = known.served.chain.id;
        let range = BlockRange::read(query)?;
        let oldest_first = params::order(query)?;
        let digest = QuestionDigest::builder()
            .field("operation", "getWalletTransactions")
            .number("chain", chain.0)
            .field("address", address)
            .field("order", [u8::from(oldest_first)])
            .field("include", [u8::from(with_internal)]);
        let paging = Paging::read(app, query, range.describe(digest).finish())?;
        let resolved = range.resolve(known.view, chain, known.coverage)?;
        let question = WalletQuestion {
            chain,
            address,
            from_block: resolved.blocks.0,
            to_block: resolved.blocks.1,
            oldest_first,
            with_internal,
            after: paging.after.map(|position| (position.block, position.index)),
            limit: paging.limit as usize,
        };
        Ok(Asked {
            question,
            reach: resolved.reach,
            paging,
            profile: known.profile,
            cursor_ttl_s: app.parts.config.cursor_ttl_s,
        })
    }

    /// Under what the answer may be kept.
    pub fn kept_under(&self) -> Question {
        let (q, paging) = (&self.question, &self.paging);
        Question {
            digest: paging.digest,
            blocks: (q.from_block, q.to_block),
            after: q.after,
            limit: q.limit,
            page: paging.page,
            profile: self.profile,
            // A kept cursor has at least half of its life before it.
            era: paging.now_s / (self.cursor_ttl_s / 2).max(1),
        }
    }

    /// The cursor of the page that begins behind `last`.
    pub fn next_cursor(&self, app: &App, last: Place) -> String {
        self.paging.next(app, Position { block: last.0, index: last.1, sub: 0 })
    }
}
