//! `GET /api/v2.2/erc20/{address}/price`: what a token was worth after a block, in native coins and in
//! US dollars, by the pools of exchanges.

use axum::extract::State;
use axum::response::Response;
use model::chain::Operation;

use super::asked::Asked;
use super::price::params::PriceParams;
use super::price::price_block::PriceBlock;
use super::price::pricing::Pricing;
use super::response::{self, DataResponse};
use crate::app::App;
use crate::error::ApiError;
use crate::hosts::{Key, RATE_LIMIT_COST, Refusal};
use crate::params::PAST_NEWEST;
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
    key: Key,
    asked: Asked,
) -> Result<Response, Refusal> {
    let (served, params, profile) = key.admit(read(&app, &asked), RATE_LIMIT_COST)?;
    let units = UNITS + if params.percent_change { UNITS_CHANGE } else { 0 };
    Ok(response::finish(respond(&app, served, &params, profile).await, served, units))
}

fn read<'a>(
    app: &'a App,
    asked: &Asked,
) -> Result<(&'a ServedChain, PriceParams, Profile), ApiError> {
    let (query, profile) = (asked.query()?, asked.profile(app)?);
    let served = app.served_for(Operation::TokenPrice, query.get("chain"))?;
    let params = PriceParams::read(app, served, asked.address()?, query)?;
    Ok((served, params, profile))
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
        // What was asked for may lie past the block that is answered for.
        let reach_to = params.to_block.map_or(block.number, |asked| asked.min(PAST_NEWEST));
        let priced = match pricing.price().await {
            Ok(Some(priced)) => priced,
            Ok(None) => continue,
            Err(error) if error.status().is_client_error() => {
                let reach = (pricing.refusal_reach_from().await?, reach_to);
                return Ok(DataResponse::refused(&error, block.coverage.clone(), reach));
            }
            Err(error) => return Err(error),
        };
        let reach = (priced.reach_from, reach_to);
        let response = DataResponse::ok(priced.body, block.coverage.clone(), reach);
        if priced.version == block.version {
            app.responses.insert(key, Validity::at(block.version), response.clone());
        }
        return Ok(response);
    }
    let why = "the block was replaced while its price was worked out; ask again in a moment";
    Err(ApiError::Unavailable(why.to_owned()))
}
