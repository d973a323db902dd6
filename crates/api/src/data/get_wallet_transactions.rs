//! `GET /api/v2.2/{address}`: native transactions of a wallet, newest first.

use alloy_primitives::U256;
use axum::extract::State;
use axum::response::Response;
use model::chain::Operation;
use store::{StoredTx, View, WalletPage, WalletQuery};

use super::asked::Asked;
use super::carried::Carried;
use super::chain_view::ChainView;
use super::page_labels::PageLabels;
use super::paging::Paging;
use super::response::{self, DataResponse};
use super::row::Row;
use super::wallet_params::WalletParams;
use super::wallet_row::WalletRow;
use crate::app::App;
use crate::cursor::Position;
use crate::error::ApiError;
use crate::hosts::{Key, RATE_LIMIT_COST, Refusal};
use crate::params::Blocks;
use crate::profile::Profile;
use crate::request_key::RequestKey;
use crate::response_cache::{ResourceState, Validity};
use crate::served_chain::ServedChain;
use crate::tokens::KnownTokens;

/// Compute units of one answer, and what internal transactions add.
const UNITS: u32 = 30;
const UNITS_INTERNAL: u32 = 50;

pub async fn get_wallet_transactions(
    State(app): State<App>,
    key: Key,
    asked: Asked,
) -> Result<Response, Refusal> {
    let request = key.admit(WalletRequest::read(&app, &asked), RATE_LIMIT_COST)?;
    let units = UNITS + if request.params.with_internal { UNITS_INTERNAL } else { 0 };
    Ok(response::finish(request.respond().await, request.served, units))
}

struct WalletRequest<'a> {
    app: &'a App,
    served: &'a ServedChain,
    params: WalletParams,
    paging: Paging,
    profile: Profile,
}

impl<'a> WalletRequest<'a> {
    fn read(app: &'a App, asked: &Asked) -> Result<Self, ApiError> {
        let (query, profile) = (asked.query()?, asked.profile(app)?);
        let carried = Carried::read(app, query)?;
        let served = carried.served(app, Operation::WalletTransactions, query)?;
        let params = WalletParams::read(asked.address()?, query, &carried)?;
        let paging = Paging::read(app, query, &carried, params.question(served.chain.id))?;
        Ok(WalletRequest { app, served, params, paging, profile })
    }

    /// Everything in a response is seen in one view of the store.
    async fn respond(&self) -> Result<DataResponse, ApiError> {
        let (app, chain) = (self.app, self.served.chain.id);
        let known = app.tokens.known();
        let asked = (&self.params, &self.paging.page, known.resolved);
        let key = RequestKey::new(Operation::WalletTransactions, chain, self.profile, &asked);
        if let Some(known) = app.cached(&key, chain).await? {
            return Ok(known);
        }
        let ChainView { view, version, coverage } =
            ChainView::open(&app.parts.store, &self.served.chain).await?;
        let resolved = self.params.range.resolve(&view, chain, &coverage).await?;
        let changed_seq = view.wallet_changed_seq(chain, self.params.address).await?;
        let state = ResourceState { changed_seq, blocks: resolved.blocks };
        let response = match app.responses.get_unchanged(&key, state) {
            // Blocks came since, none of them with this wallet.
            Some(known) => DataResponse { coverage, reach: resolved.reach, ..known },
            None => {
                let q = self.query(resolved.blocks);
                let page = view.wallet_page(&q).await?;
                let body = self.write((&view, known), &q, &page).await?;
                let traces_missing =
                    q.with_internal && page.txs.iter().any(|tx| !tx.block.has_traces);
                let receipts_missing = page.txs.iter().any(|tx| tx.receipt.is_none());
                let response = DataResponse::ok(body, coverage, resolved.reach);
                DataResponse { traces_missing, receipts_missing, ..response }
            }
        };
        app.responses.insert(key, Validity { version, resource: Some(state) }, response.clone());
        Ok(response)
    }

    fn query(&self, (from_block, to_block): Blocks) -> WalletQuery {
        let (params, page) = (&self.params, &self.paging.page);
        WalletQuery {
            chain: self.served.chain.id,
            address: params.address,
            from_block,
            to_block,
            oldest_first: params.oldest_first,
            with_internal: params.with_internal,
            after: page.after.map(|position| (position.block, position.index)),
            limit: page.limit as usize,
        }
    }

    async fn write(
        &self,
        (view, known): (&View, KnownTokens),
        q: &WalletQuery,
        page: &WalletPage,
    ) -> Result<Vec<u8>, ApiError> {
        let mut body =
            Vec::with_capacity(256 + page.txs.iter().map(|tx| row_bytes(tx)).sum::<usize>());
        let last = page.txs.last().filter(|_| page.more);
        let position = last.map(|tx| Position { block: tx.block.number, index: tx.index, sub: 0 });
        let next = position.map(|position| self.paging.next(self.app, position));
        let (number, limit) = (self.paging.page.number, self.paging.page.limit);
        // A numeric total without a cursor sends the JS SDK into a wall, so the live profile has none.
        let total = match self.profile {
            Profile::Spec => Some(view.wallet_total(q).await?),
            Profile::Live => None,
        };
        let chain = &self.served.chain;
        let of = (&**chain, self.params.address);
        let labels = PageLabels::read(self.app, (view, known), of, &page.txs).await?;
        let mut envelope = Row::begin(&mut body, self.profile);
        if let Some(total) = total {
            envelope.digits("total", U256::from(total));
            envelope.digits("page", U256::from(number));
            envelope.digits("page_size", U256::from(limit));
            envelope.text("cursor", Some(next.as_deref().unwrap_or_default()));
        } else {
            envelope.text("cursor", next.as_deref());
            envelope.integer("page", u64::from(number));
            envelope.integer("page_size", u64::from(limit));
        }
        envelope.name("result").push(b'[');
        self.write_rows(page, &labels, &mut body);
        body.extend_from_slice(b"]}");
        Ok(body)
    }

    fn write_rows(&self, page: &WalletPage, labels: &PageLabels, out: &mut Vec<u8>) {
        for (i, found) in page.txs.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            let row = WalletRow {
                block: &found.block,
                tx: &found.tx,
                receipt: found.receipt.as_ref(),
                frames: found.frames.as_deref(),
                labels,
                coin: &self.served.chain.native,
            };
            row.write(self.profile, out);
        }
    }
}

/// About what a row takes as JSON: call data is most of a large one, and growing a body copies it.
fn row_bytes(tx: &StoredTx) -> usize {
    let input = tx.tx.input.as_ref().map_or(0, |input| 2 * input.len());
    let frames = tx.frames.iter().flatten().map(|frame| 512 + 2 * frame.input.len());
    1024 + input + frames.sum::<usize>()
}
