//! Why there is no price, in words for the client.

use alloy_primitives::Address;
use model::chain::Chain;
use model::price::NoPrice;
use store::Coverage;

use crate::contracts::CallError;
use crate::error::ApiError;
use crate::tokens::TokenError;

/// As the live service says it: clients look for it.
const NO_POOLS: &str = "No pools found with enough liquidity, to calculate the price";
const NO_NATIVE: &str = "Could not determine native-usd price";

pub fn no_price(why: &NoPrice) -> ApiError {
    ApiError::NotFound(match why {
        NoPrice::NotEnoughLiquidity(_) => NO_POOLS.to_owned(),
        NoPrice::NoNativeUsd(_) => NO_NATIVE.to_owned(),
    })
}

pub fn no_native_coin(chain: &Chain) -> ApiError {
    let why = "no token has a price there: its table names no wrapped native coin";
    ApiError::NotFound(format!("{}: {why}", chain.slug))
}

pub fn no_node(chain: &Chain, block: u64, coverage: &Coverage) -> ApiError {
    not_indexed(chain, block, coverage, "and this server has no node of the chain to ask")
}

pub fn node_failed(chain: &Chain, block: u64, coverage: &Coverage, error: &CallError) -> ApiError {
    match error {
        CallError::NoState => {
            let why = "and no node of the chain holds the state of that block";
            not_indexed(chain, block, coverage, why)
        }
        other => ApiError::Unavailable(other.to_string()),
    }
}

fn not_indexed(chain: &Chain, block: u64, coverage: &Coverage, why: &str) -> ApiError {
    if coverage.contains(block) {
        return ApiError::NotFound(NO_POOLS.to_owned());
    }
    let slug = &chain.slug;
    ApiError::NotFound(format!(
        "to_block {block} is not indexed (indexed blocks of {slug}: {coverage}), {why}"
    ))
}

/// Without its decimals a token has no price. `has_pools`: whether any pool of it is known.
pub fn no_decimals(chain: &Chain, token: Address, has_pools: bool, error: TokenError) -> ApiError {
    let slug = &chain.slug;
    let unknown = format!("the decimals of {token:#x} on {slug} are not known");
    match (error, has_pools) {
        (TokenError::NotTold, false) => ApiError::NotFound(format!(
            "{token:#x} is not a token on {slug}: no contract there tells its decimals"
        )),
        (TokenError::NotTold, true) => ApiError::NotFound(format!(
            "{unknown}: its contract does not tell them; a token list of the operator may"
        )),
        (TokenError::NoNode, false) => ApiError::NotFound(NO_POOLS.to_owned()),
        // Nobody will tell them later, either.
        (error @ TokenError::NoNode, true) => ApiError::NotFound(format!("{unknown}: {error}")),
        (error @ TokenError::Node(_), _) => ApiError::Unavailable(format!("{unknown}: {error}")),
        (TokenError::Store(error), _) => error.into(),
    }
}

pub fn inactive(last_change: u64, days: u32) -> ApiError {
    ApiError::BadRequest(format!(
        "the token is inactive: its price last changed at block {last_change}, more than max_token_inactivity ({days} days) ago"
    ))
}
