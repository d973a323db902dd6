//! A chain and a block in a path.

use model::chain::ChainId;

use crate::app::App;
use crate::error::ApiError;

/// Whether the chain is served is for the streams to say.
pub fn read(app: &App, chain: &str, number: &str) -> Result<(ChainId, u64), ApiError> {
    let found = app.parts.table.find(chain).ok_or_else(|| {
        let why = "is not a known chain; give a hex id such as 0x1";
        ApiError::bad_value("chainId", chain, why)
    })?;
    let number = number
        .parse::<u64>()
        .map_err(|_| ApiError::invalid_param("blockNumber", number, "invalid integer number"))?;
    Ok((found.id, number))
}
