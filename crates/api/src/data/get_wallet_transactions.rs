//! `GET /api/v2.2/{address}`: native transactions of a wallet, newest first.

use alloy_primitives::Address;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use model::chain::Operation;
use model::cursor::{Cursor, Position, QuestionDigest};
use store::View;
use store::read::{Stamp, WalletPage, WalletQuestion};

use super::wallet_row::WalletRow;
use super::{coverage, row};
use crate::answers::Question;
use crate::app::{App, ServedChain};
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, BlockRange, Query};
use crate::wire::{Profile, VARY};

/// Compute units of one answer, and what internal transactions add.
const WEIGHT: u32 = 30;
const WEIGHT_INTERNAL: u32 = 50;
const WEIGHT_HEADER: HeaderName = HeaderName::from_static("x-request-weight");

/// What was asked, read and checked.
struct Asked {
    question: WalletQuestion,
    digest: QuestionDigest,
    page: u32,
    profile: Profile,
}

pub async fn get_wallet_transactions(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = params::chain(&app, Operation::WalletTransactions, query.get("chain"))?;
    let address = params::address("address", &address)?;
    let internal = params::include(&query, "internal_transactions")?;
    let weight = WEIGHT + if internal { WEIGHT_INTERNAL } else { 0 };
    key.owner.throttle.take(weight)?;
    let view = app.parts.store.view();
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let asked = read(&app, served, &view, address, internal, profile, &query)?;
    let body = crate::hosts::off_the_reactor(|| answer(&app, served, &view, &asked))?;
    let mut response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    let out = response.headers_mut();
    out.insert(header::VARY, HeaderValue::from_static(VARY));
    out.insert(WEIGHT_HEADER, HeaderValue::from(weight));
    let range = (asked.question.from_block, asked.question.to_block);
    coverage::tell(out, served, &view.coverage(served.chain.id)?, range);
    Ok(response)
}

fn read(
    app: &App,
    served: &ServedChain,
    view: &View,
    address: Address,
    with_internal: bool,
    profile: Profile,
    query: &Query,
) -> Result<Asked, ApiError> {
    let chain = served.chain.id;
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
    let cursor = match query.get("cursor") {
        Some(text) => Some(
            app.parts
                .cursor_key
                .open(text, &digest, now_s(), config.cursor_ttl_s)
                .map_err(|error| ApiError::BadRequest(format!("cursor: {error}")))?,
        ),
        None => None,
    };
    let (from_block, to_block) = range.resolve(view, chain)?;
    let question = WalletQuestion {
        chain,
        address,
        from_block,
        to_block,
        oldest_first,
        with_internal,
        after: cursor.map(|c| (c.position.block, c.position.index)),
        // The limit of the first page holds for all that follow.
        limit: cursor.map_or(limit, |c| c.limit.min(config.limit_max)) as usize,
    };
    Ok(Asked { question, digest, page: cursor.map_or(0, |c| c.page), profile })
}

fn answer(app: &App, served: &ServedChain, view: &View, asked: &Asked) -> Result<Bytes, ApiError> {
    let q = &asked.question;
    let summary = view.wallet_summary(q.chain, q.address)?;
    let kept_under = cache_key(asked);
    if let Some(body) = app.answers.get(&kept_under, summary.version) {
        return Ok(body);
    }
    let page = view.wallet_page(q)?;
    let mut body = Vec::with_capacity(256 + page.places.len() * 1024);
    begin_envelope(app, view, asked, &page, &mut body)?;
    write_rows(app, served, view, asked, &page, &mut body)?;
    body.extend_from_slice(b"]}");
    let body = Bytes::from(body);
    app.answers.keep(kept_under, summary.version, body.clone());
    Ok(body)
}

/// The profile, the whole question with its resolved range, and the page.
fn cache_key(asked: &Asked) -> Question {
    let q = &asked.question;
    let after = q.after.unwrap_or((u64::MAX, u32::MAX));
    let flags = [
        u8::from(q.oldest_first),
        u8::from(q.with_internal),
        u8::from(asked.profile == Profile::Live),
        u8::from(q.after.is_some()),
    ];
    let mut key = Vec::with_capacity(96);
    for number in [q.chain.0, q.from_block, q.to_block, after.0, u64::from(after.1), q.limit as u64] {
        key.extend_from_slice(&number.to_be_bytes());
    }
    key.extend_from_slice(&asked.page.to_be_bytes());
    key.extend_from_slice(q.address.as_slice());
    key.extend_from_slice(&flags);
    Question(key)
}

fn begin_envelope(
    app: &App,
    view: &View,
    asked: &Asked,
    page: &WalletPage,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let q = &asked.question;
    let next = match (page.more, page.places.last()) {
        (true, Some((block, index))) => Some(app.parts.cursor_key.seal(
            &Cursor {
                position: Position { block: *block, index: *index, sub: 0 },
                limit: q.limit as u32,
                page: asked.page + 1,
                issued_at: now_s(),
            },
            &asked.digest,
        )),
        _ => None,
    };
    let mut envelope = row::Row::begin(out, asked.profile);
    match asked.profile {
        Profile::Spec => {
            envelope.digits("total", alloy_primitives::U256::from(view.wallet_total(q)?));
            envelope.digits("page", alloy_primitives::U256::from(asked.page));
            envelope.digits("page_size", alloy_primitives::U256::from(q.limit));
            envelope.text("cursor", Some(next.as_deref().unwrap_or_default()));
        }
        // A numeric total without a cursor sends the JS SDK into a wall, so there is none.
        Profile::Live => {
            envelope.text("cursor", next.as_deref());
            envelope.integer("page", u64::from(asked.page));
            envelope.integer("page_size", q.limit as u64);
        }
    }
    envelope.name("result").push(b'[');
    Ok(())
}

fn write_rows(
    app: &App,
    served: &ServedChain,
    view: &View,
    asked: &Asked,
    page: &WalletPage,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let chain = asked.question.chain;
    let mut stamp: Option<Stamp> = None;
    let missing = || ApiError::from(store::Error::BrokenRow { table: "wallet_txs" });
    for (i, (number, index)) in page.places.iter().enumerate() {
        // Rows of one block stand together.
        if stamp.is_none_or(|s| s.number != *number) {
            stamp = view.stamp(chain, *number)?;
        }
        let stamp = stamp.as_ref().ok_or_else(missing)?;
        let found = view.transaction(chain, stamp, *index)?.ok_or_else(missing)?;
        let frames = match asked.question.with_internal {
            true => Some(view.frames(chain, *number, *index)?),
            false => None,
        };
        if i > 0 {
            out.push(b',');
        }
        let row = WalletRow {
            stamp,
            tx: &found.tx,
            receipt: found.receipt.as_ref(),
            frames: frames.as_deref(),
            labels: &app.parts.labels,
            coin: &served.chain.native,
        };
        row.write(asked.profile, out);
    }
    Ok(())
}

fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs())
}
