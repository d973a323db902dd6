//! `GET /api/v2.2/erc20/{address}/price`: what a token was worth after a block, in native coins and in
//! US dollars, by the pools of exchanges.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use model::chain::Operation;

use super::price::params::PriceParams;
use super::price::price_block::PriceBlock;
use super::price::pricing::Pricing;
use super::response::DataResponse;
use crate::app::App;
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{Path, Query};
use crate::profile::Profile;
use crate::request_key::RequestKey;
use crate::response_cache::Validity;
use crate::served_chain::ServedChain;

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
    let served = app.served_for(Operation::TokenPrice, query.get("chain"))?;
    let params = PriceParams::read(&app, served, &address, &query)?;
    let units = UNITS + if params.percent_change { UNITS_CHANGE } else { 0 };
    key.owner.throttle.take(units)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    Ok(respond(&app, served, &params, profile).await?.send(served, units))
}

async fn respond(
    app: &App,
    served: &ServedChain,
    params: &PriceParams,
    profile: Profile,
) -> Result<DataResponse, ApiError> {
    let chain = served.chain.id;
    let key = RequestKey::new(Operation::TokenPrice, chain, profile, params);
    if let Some(known) = app.cached(&key, chain).await? {
        return Ok(known);
    }
    for _ in 0..ATTEMPTS {
        let block = &PriceBlock::find(app, served, params).await?;
        let pricing = Pricing { app, served, params, profile, block };
        let Some(priced) = pricing.price().await? else { continue };
        let reach = (block.number, block.number);
        let response = DataResponse::ok(priced.body, block.coverage.clone(), reach);
        // Where nothing is indexed, the newest block is a node's, and moves without the store.
        if priced.version == block.version && !block.coverage.is_empty() {
            app.responses.insert(key, Validity::at(block.version), response.clone());
        }
        return Ok(response);
    }
    let why = "the block was replaced while its price was worked out; ask again in a moment";
    Err(ApiError::Unavailable(why.to_owned()))
}
