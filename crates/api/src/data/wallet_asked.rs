//! The parameters of the wallet operation, read and checked.

use alloy_primitives::Address;
use model::cursor::{Cursor, Position, QuestionDigest};
use store::read::{Place, WalletQuestion};
use store::{Coverage, View};

use crate::answers::Question;
use crate::app::{App, ServedChain};
use crate::error::ApiError;
use crate::params::{self, BlockRange, Blocks, Query};
use crate::wire::Profile;

pub struct Asked {
    pub question: WalletQuestion,
    /// Blocks the question could be about, stored or not.
    pub reach: Blocks,
    pub page: u32,
    pub profile: Profile,
    digest: QuestionDigest,
    now_s: u64,
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
        let config = &app.parts.config;
        let range = BlockRange::read(query)?;
        let oldest_first = params::order(query)?;
        let limit = params::limit(query, config)?;
        let digest = QuestionDigest::builder()
            .field("operation", "getWalletTransactions")
            .number("chain", chain.0)
            .field("address", address)
            .field("order", [u8::from(oldest_first)])
            .field("include", [u8::from(with_internal)]);
        let digest = range.describe(digest).finish();
        let now_s = now_s();
        let open = |text| app.parts.cursor_key.open(text, &digest, now_s, config.cursor_ttl_s);
        let cursor = query.get("cursor").map(open).transpose();
        let cursor = cursor.map_err(|error| ApiError::BadRequest(error.to_string()))?;
        let resolved = range.resolve(known.view, chain, known.coverage)?;
        let question = WalletQuestion {
            chain,
            address,
            from_block: resolved.blocks.0,
            to_block: resolved.blocks.1,
            oldest_first,
            with_internal,
            after: cursor.map(|c| (c.position.block, c.position.index)),
            // The limit of the first page holds for all that follow.
            limit: cursor.map_or(limit, |c| c.limit.min(config.limit_max)) as usize,
        };
        Ok(Asked {
            question,
            reach: resolved.reach,
            page: cursor.map_or(0, |c| c.page),
            profile: known.profile,
            digest,
            now_s,
            cursor_ttl_s: config.cursor_ttl_s,
        })
    }

    /// Under what the answer may be kept.
    pub fn kept_under(&self) -> Question {
        let q = &self.question;
        Question {
            digest: self.digest,
            blocks: (q.from_block, q.to_block),
            after: q.after,
            limit: q.limit,
            page: self.page,
            profile: self.profile,
            // A kept cursor has at least half of its life before it.
            era: self.now_s / (self.cursor_ttl_s / 2).max(1),
        }
    }

    /// The cursor of the page that begins behind `last`.
    pub fn next_cursor(&self, app: &App, last: Place) -> String {
        let cursor = Cursor {
            position: Position { block: last.0, index: last.1, sub: 0 },
            limit: self.question.limit as u32,
            page: self.page.saturating_add(1),
            issued_at: self.now_s,
        };
        app.parts.cursor_key.seal(&cursor, &self.digest)
    }
}

fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs())
}
