//! Operations of the live v2.2 API that this server does not have. They are 501: the SDKs read 404 as "there is no
//! such thing", and would tell their callers that a transaction does not exist.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;
use crate::hosts::Key;

/// Below `/api/v2.2/`, as the official SDKs and the live service's documentation have them. `{}` is any one part, `*`
/// at the end any rest.
const PATHS: [&str; 83] = [
    "block/{}",
    "block/{}/nft/transfers",
    "block/{}/stats",
    "latestBlockNumber/{}",
    "transaction/{}",
    "transaction/{}/verbose",
    "transaction/{}/internal-transactions",
    "{}/balance",
    "{}/erc20",
    "{}/erc20/transfers",
    "{}/events",
    "{}/function",
    "{}/logs",
    "{}/nft",
    "{}/nft/collections",
    "{}/nft/trades",
    "{}/nft/transfers",
    "{}/reserves",
    "{}/verbose",
    "{}/{}/pairAddress",
    "erc20/metadata",
    "erc20/metadata/symbols",
    "erc20/prices",
    "erc20/{}/allowance",
    "erc20/{}/burns",
    "erc20/{}/holders",
    "erc20/{}/holders/historical",
    "erc20/{}/mints",
    "erc20/{}/owners",
    "erc20/{}/pairs",
    "erc20/{}/pairs/stats",
    "erc20/{}/stats",
    "erc20/{}/swaps",
    "erc20/{}/top-gainers",
    "erc20/{}/transfers",
    "erc20/{}/bonding-status",
    "erc20/exchange/{}/new",
    "erc20/exchange/{}/bonding",
    "erc20/exchange/{}/graduated",
    "nft/getMultipleNFTs",
    "nft/metadata",
    "nft/search",
    "nft/transfers",
    "nft/{}",
    "nft/{}/contracts",
    "nft/{}/floor-price",
    "nft/{}/floor-price/historical",
    "nft/{}/metadata",
    "nft/{}/multiple",
    "nft/{}/owners",
    "nft/{}/price",
    "nft/{}/stats",
    "nft/{}/sync",
    "nft/{}/traits",
    "nft/{}/traits/paginate",
    "nft/{}/transfers",
    "nft/{}/unique-owners",
    "nft/{}/{}",
    "nft/{}/{}/floor-price",
    "nft/{}/{}/metadata/resync",
    "nft/{}/{}/owners",
    "nft/{}/{}/price",
    "nft/{}/{}/stats",
    "nft/{}/{}/trades",
    "nft/{}/{}/transfers",
    "pairs/{}/*",
    "resolve/ens/{}",
    "resolve/{}",
    "resolve/{}/domain",
    "resolve/{}/reverse",
    "wallets/balances",
    "wallets/{}/*",
    "market-data/*",
    "discovery/*",
    "entities/*",
    "tokens/*",
    "contracts-review/*",
    "ipfs/uploadFolder",
    "info/endpointWeights",
    "web3/version",
    "volume/*",
    "nft/contracts/*",
    "defi/*",
];

const OFFERED: &str = "it has /{address}, /nft/{address}/trades, /nft/{address}/lowestprice, \
    /erc20/{address}/price and /dateToBlock below /api/v2.2";

/// Any path that no route has. No path is named back: it may hold a key that was meant for another host.
pub async fn not_offered(app: &App, parts: &mut Parts) -> Response {
    let below = parts.uri.path().strip_prefix("/api/v2.2/");
    let Some(pattern) = below.and_then(|below| PATHS.into_iter().find(|it| is_like(below, it)))
    else {
        return match below {
            Some(_) => no_operation().await.into_response(),
            None => ApiError::NotFound("nothing is served at this path".into()).into_response(),
        };
    };
    match Key::from_request_parts(parts, app).await {
        Ok(key) => {
            let why = format!("/{pattern} is not offered: {OFFERED}");
            key.owner.refuse(ApiError::NotImplemented(why)).into_response()
        }
        Err(error) => error.into_response(),
    }
}

/// Paths that stop short of an operation, or lack their beginning.
pub async fn no_operation() -> ApiError {
    ApiError::NotFound(format!("no operation is at this path of the data host: {OFFERED}"))
}

fn is_like(path: &str, pattern: &str) -> bool {
    let mut parts = path.strip_suffix('/').unwrap_or(path).split('/');
    for wanted in pattern.split('/') {
        let Some(part) = parts.next() else { return false };
        match wanted {
            "*" => return !part.is_empty(),
            "{}" if !part.is_empty() => {}
            fixed if fixed == part => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_like_its_pattern_part_by_part() {
        for (path, pattern, is) in [
            ("transaction/0x12", "transaction/{}", true),
            ("transaction/0x12/", "transaction/{}", true),
            ("transaction", "transaction/{}", false),
            ("transaction/", "transaction/{}", false),
            ("transaction/0x12/more", "transaction/{}", false),
            ("0x12/balance", "{}/balance", true),
            ("/balance", "{}/balance", false),
            ("wallets/0x12/tokens/price", "wallets/{}/*", true),
            ("wallets/0x12/", "wallets/{}/*", false),
        ] {
            assert_eq!(is_like(path, pattern), is, "{path} {pattern}");
        }
    }
}
