//! The parameters of the token price, read and checked.

use alloy_primitives::Address;
use model::chain::{Chain, ChainTable};

use crate::app::App;
use crate::error::ApiError;
use crate::params::{self, Query};
use crate::served_chain::ServedChain;

/// All of a request but its chain and profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PriceParams {
    pub token: Address,
    /// The price after this block; the newest where none is given.
    pub to_block: Option<u64>,
    /// A factory.
    pub exchange: Option<Address>,
    pub percent_change: bool,
    pub explain: bool,
    pub min_side_micro_usd: u128,
    pub max_inactivity_days: Option<u32>,
}

impl PriceParams {
    pub fn read(
        app: &App,
        served: &ServedChain,
        address: &str,
        query: &Query,
    ) -> Result<Self, ApiError> {
        let exchange = query.get("exchange");
        let exchange = exchange.map(|it| exchange_of(&app.parts.table, &served.chain, it));
        Ok(PriceParams {
            token: params::address("address", address)?,
            to_block: number(query, "to_block", "is not a block number")?,
            exchange: exchange.transpose()?,
            percent_change: params::include(query, "percent_change")?,
            explain: flag(query, "explain")?,
            min_side_micro_usd: match query.get("min_pair_side_liquidity_usd") {
                Some(text) => micro_usd(text)?,
                None => u128::from(app.parts.price.min_pair_side_liquidity_usd) * 1_000_000,
            },
            max_inactivity_days: number(query, "max_token_inactivity", "is not a number of days")?,
        })
    }

    /// The newest indexed block or an asked one before it: past the newest one nothing can have changed yet.
    pub fn block(&self, newest: u64) -> u64 {
        self.to_block.map_or(newest, |asked| asked.min(newest))
    }
}

fn number<T: std::str::FromStr>(
    query: &Query,
    name: &str,
    why: &str,
) -> Result<Option<T>, ApiError> {
    let Some(text) = query.get(name) else { return Ok(None) };
    // `parse` would also take a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = text.parse().ok().filter(|_| digits);
    parsed.map(Some).ok_or_else(|| ApiError::bad_value(name, text, why))
}

fn flag(query: &Query, name: &str) -> Result<bool, ApiError> {
    match query.get(name) {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(ApiError::bad_value(name, text, "is neither true nor false")),
    }
}

/// Dollars, with or without a fraction, in millionths.
fn micro_usd(text: &str) -> Result<u128, ApiError> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let parsed = text.parse::<f64>().ok().filter(|it| plain && *it <= 1e15);
    let usd = parsed.ok_or_else(|| {
        let why = "is not an amount in US dollars";
        ApiError::bad_value("min_pair_side_liquidity_usd", text, why)
    })?;
    Ok((usd * 1e6) as u128)
}

/// Two refusals that can be told apart: no such exchange, and not on this chain.
fn exchange_of(table: &ChainTable, chain: &Chain, text: &str) -> Result<Address, ApiError> {
    let wrong = |why: String| ApiError::bad_value("exchange", text, &why);
    if text.starts_with("0x") || text.starts_with("0X") {
        let factory = params::address("exchange", text)?;
        let known = chain.exchange_at(factory).map(|it| it.factory);
        let why = || format!("is not the factory of an exchange known on {}", chain.slug);
        return known.ok_or_else(|| wrong(why()));
    }
    if let Some(exchange) = chain.exchange_named(text) {
        return Ok(exchange.factory);
    }
    let here: Vec<String> = chain.exchange_names().collect();
    let here = if here.is_empty() { "none".to_owned() } else { here.join(", ") };
    if table.iter().any(|other| other.exchange_named(text).is_some()) {
        return Err(wrong(format!("is not on {}; exchanges there: {here}", chain.slug)));
    }
    Err(wrong(format!(
        "is not a known exchange; known on {}: {here}; a factory's address will do, too",
        chain.slug
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the live service with the chains they belong to, and an old way to write one.
    const NAMES: [(&str, &str); 22] = [
        ("eth", "uniswapv2"),
        ("eth", "uniswapv3"),
        ("eth", "uniswap-v2"),
        ("eth", "sushiswapv2"),
        ("eth", "fraxswap"),
        ("bsc", "pancakeswapv1"),
        ("bsc", "pancakeswapv2"),
        ("bsc", "pancakeswapv3"),
        ("bsc", "uniswapv3"),
        ("polygon", "quickswap"),
        ("polygon", "quickswapv2"),
        ("polygon", "mm finance"),
        ("avalanche", "traderjoe"),
        ("avalanche", "pangolin"),
        ("fantom", "spookyswap"),
        ("cronos", "vvs"),
        ("cronos", "mm finance"),
        ("cronos", "MM-Finance"),
        ("cronos", "crodex"),
        ("arbitrum", "camelotv2"),
        ("arbitrum", "uniswapv3"),
        ("optimism", "sushiswapv2"),
    ];

    #[test]
    fn every_name_of_the_live_service_means_a_factory_on_its_chain() {
        let table = ChainTable::builtin().unwrap();
        for (chain, name) in NAMES {
            let chain = table.find(chain).unwrap();
            let found = exchange_of(&table, chain, name);
            let factory = found.unwrap_or_else(|e| panic!("{} {name}: {e}", chain.slug));
            assert_eq!(exchange_of(&table, chain, &format!("{factory:#x}")).unwrap(), factory);
        }
    }

    #[test]
    fn an_exchange_is_taken_by_name_on_every_chain_whose_table_has_it() {
        let table = ChainTable::builtin().unwrap();
        for chain in table.iter() {
            for exchange in &chain.exchanges {
                let named = exchange_of(&table, chain, &exchange.name);
                assert_eq!(named.unwrap(), exchange.factory, "{} {}", chain.slug, exchange.name);
            }
            for name in chain.exchange_names() {
                assert!(exchange_of(&table, chain, &name).is_ok(), "{} {name}", chain.slug);
            }
        }
        for (chain, name) in [
            ("eth", "pancakeswapv3"),
            ("optimism", "uniswap-v3"),
            ("arbitrum", "sushiswapv2"),
            ("polygon", "sushiswap v2"),
        ] {
            let chain = table.find(chain).unwrap();
            assert!(exchange_of(&table, chain, name).is_ok(), "{} {name}", chain.slug);
        }
    }

    #[test]
    fn an_unknown_exchange_and_one_of_another_chain_are_told_apart() {
        let table = ChainTable::builtin().unwrap();
        let eth = table.find("eth").unwrap();
        for (text, says) in [
            ("uniswapv9", "is not a known exchange; known on eth: uniswapv2"),
            ("quickswap", "is not on eth; exchanges there: uniswapv2"),
            ("0x12", "is not a valid hex address"),
            ("0x00000000000000000000000000000000000000aa", "is not the factory of an exchange"),
        ] {
            let error = exchange_of(&table, eth, text).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn amounts_are_read_to_the_millionth() {
        for (text, micro) in
            [("0", 0), ("50", 50_000_000), ("0.5", 500_000), ("1000000", 10u128.pow(12))]
        {
            assert_eq!(micro_usd(text).unwrap(), micro);
        }
        for text in ["-1", "1e9", "NaN", "inf", "abc", ".", "9999999999999999999"] {
            assert!(micro_usd(text).is_err(), "{text}");
        }
    }
}
