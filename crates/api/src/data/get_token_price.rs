//! `GET /api/v2.2/erc20/{address}/price`: what a token was worth after a block, in native coins and in
//! US dollars, by the pools of exchanges.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use model::chain::Operation;

use super::coverage::RestsOn;
use super::price::params::{PriceParams, PriceWords};
use super::price::pricing::{PriceBlock, Pricing};
use crate::app::{App, ServedChain};
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, Path, Query};
use crate::repeats::Said;
use crate::wire::Profile;

/// Compute units of one answer, and what the change since yesterday adds.
const UNITS: u32 = 50;
const UNITS_CHANGE: u32 = 5;
/// How often a price is begun anew because its block was replaced while a node was asked.
const ATTEMPTS: usize = 3;

pub async fn get_token_price(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = params::chain(&app, Operation::TokenPrice, query.get("chain"))?;
    let params = PriceParams::read(&app, served, &address, &query)?;
    let units = UNITS + if params.percent_change { UNITS_CHANGE } else { 0 };
    key.owner.throttle.take(units)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let said = say(&app, served, PriceWords { chain: served.chain.id, params, profile }).await?;
    let mut response = ([(header::CONTENT_TYPE, "application/json")], said.body).into_response();
    let rests_on = RestsOn { served, coverage: &said.coverage, asked: said.reach };
    rests_on.describe(response.headers_mut(), units);
    Ok(response)
}

async fn say(app: &App, served: &ServedChain, words: PriceWords) -> Result<Said, ApiError> {
    let version = app.parts.store.version(served.chain.id).await?;
    if let Some(said) = app.price_repeats.get(&words, version) {
        return Ok(said);
    }
    for _ in 0..ATTEMPTS {
        let (params, profile) = (&words.params, words.profile);
        let block = &PriceBlock::find(app, served, params).await?;
        let pricing = Pricing { app, served, params, profile, block };
        let Some(priced) = pricing.price().await? else { continue };
        let (coverage, reach) = (block.coverage.clone(), (block.number, block.number));
        let said = Said { body: priced.body, coverage, reach, traces_missing: false };
        // Where nothing is indexed, the newest block is a node's, and moves without the store.
        if priced.version == block.version && !block.coverage.is_empty() {
            app.price_repeats.keep(words, block.version, said.clone());
        }
        return Ok(said);
    }
    let why = "the block was replaced while its price was worked out; ask again in a moment";
    Err(ApiError::Unavailable(why.to_owned()))
}
