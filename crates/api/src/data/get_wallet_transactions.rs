//! `GET /api/v2.2/{address}`: native transactions of a wallet, newest first.

use std::sync::Arc;

use alloy_primitives::U256;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use model::chain::Operation;
use store::{View, WalletPage};

use super::coverage::RestsOn;
use super::row;
use super::wallet_asked::{Asked, Request};
use super::wallet_row::WalletRow;
use crate::answers::Answer;
use crate::app::{App, ServedChain};
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, Path, Query};
use crate::repeats::Said;
use crate::wire::Profile;

/// Compute units of one answer, and what internal transactions add.
const UNITS: u32 = 30;
const UNITS_INTERNAL: u32 = 50;
/// `missing`: internal transactions of a row on this page are not known.
const TRACES: HeaderName = HeaderName::from_static("x-traces");

pub async fn get_wallet_transactions(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = params::chain(&app, Operation::WalletTransactions, query.get("chain"))?;
    let address = params::address("address", &address)?;
    let with_internal = params::include(&query, "internal_transactions")?;
    let units = UNITS + if with_internal { UNITS_INTERNAL } else { 0 };
    key.owner.throttle.take(units)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let whose = (served.chain.id, address);
    let request = Request::read(&app, &query, whose, with_internal, profile)?;
    let said = say(&app, served, request).await?;
    let mut response = ([(header::CONTENT_TYPE, "application/json")], said.body).into_response();
    let rests_on = RestsOn { served, coverage: &said.coverage, asked: said.reach };
    let out = response.headers_mut();
    rests_on.describe(out, units);
    if said.traces_missing {
        out.insert(TRACES, HeaderValue::from_static("missing"));
    }
    Ok(response)
}

async fn say(app: &App, served: &ServedChain, request: Request) -> Result<Said, ApiError> {
    let store = &app.parts.store;
    let version = store.version(served.chain.id).await?;
    if let Some(said) = app.wallet_repeats.get(&request.words, version) {
        return Ok(said);
    }
    let view = &store.view().await?;
    let version = view.version(served.chain.id).await?;
    let coverage = view.coverage(served.chain.id).await?;
    let asked = &request.at(view, &coverage).await?;
    let Answer { body, traces_missing } = Answering { app, served, view, asked }.answer().await?;
    let said = Said { body, coverage: Arc::new(coverage), reach: asked.reach, traces_missing };
    app.wallet_repeats.keep(asked.words.clone(), version, said.clone());
    Ok(said)
}

/// One answer in the making: everything in it is seen in one view of the store.
struct Answering<'a> {
    app: &'a App,
    served: &'a ServedChain,
    view: &'a View,
    asked: &'a Asked,
}

impl Answering<'_> {
    async fn answer(&self) -> Result<Answer, ApiError> {
        let q = &self.asked.question;
        let version = self.view.wallet_summary(q.chain, q.address).await?.changed_seq;
        let kept_under = self.asked.kept_under();
        if let Some(answer) = self.app.answers.get(&kept_under, version) {
            return Ok(answer);
        }
        let answer = self.make().await?;
        self.app.answers.keep(kept_under, version, answer.clone());
        Ok(answer)
    }

    async fn make(&self) -> Result<Answer, ApiError> {
        let page = self.view.wallet_page(&self.asked.question).await?;
        let mut body = Vec::with_capacity(256 + page.txs.len() * 1024);
        self.begin_envelope(&page, &mut body).await?;
        let traces_missing = self.write_rows(&page, &mut body);
        body.extend_from_slice(b"]}");
        Ok(Answer { body: Bytes::from(body), traces_missing })
    }

    async fn begin_envelope(&self, page: &WalletPage, out: &mut Vec<u8>) -> Result<(), ApiError> {
        let asked = self.asked;
        let last = page.txs.last().filter(|_| page.more);
        let next = last.map(|tx| asked.next_cursor(self.app, (tx.block.number, tx.index)));
        let total = self.view.wallet_total(&asked.question).await?;
        let mut envelope = row::Row::begin(out, asked.words.profile);
        match asked.words.profile {
            Profile::Spec => {
                envelope.digits("total", U256::from(total));
                envelope.digits("page", U256::from(asked.paging.page));
                envelope.digits("page_size", U256::from(asked.question.limit));
                envelope.text("cursor", Some(next.as_deref().unwrap_or_default()));
            }
            // A numeric total without a cursor sends the JS SDK into a wall, so there is none.
            Profile::Live => {
                envelope.text("cursor", next.as_deref());
                envelope.integer("page", u64::from(asked.paging.page));
                envelope.integer("page_size", asked.question.limit as u64);
            }
        }
        envelope.name("result").push(b'[');
        Ok(())
    }

    /// Says whether a row's internal transactions were asked for and are not known.
    fn write_rows(&self, page: &WalletPage, out: &mut Vec<u8>) -> bool {
        let mut traces_missing = false;
        for (i, found) in page.txs.iter().enumerate() {
            traces_missing |= found.frames.is_some() && !found.block.has_traces;
            if i > 0 {
                out.push(b',');
            }
            let row = WalletRow {
                block: &found.block,
                tx: &found.tx,
                receipt: found.receipt.as_ref(),
                frames: found.frames.as_deref(),
                labels: &self.app.parts.labels,
                coin: &self.served.chain.native,
            };
            row.write(self.asked.words.profile, out);
        }
        traces_missing
    }
}
