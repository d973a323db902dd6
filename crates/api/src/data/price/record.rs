//! The price record in both profiles.

use model::chain::Chain;
use model::price::{PoolAt, Price, Ratio, percent_change};

use super::amounts::{dollars, pool};
use super::explain::Explained;
use super::params::PriceParams;
use super::quoted_pools::QuotedPools;
use super::second_hop::Hop;
use crate::data::row::Row;
use crate::profile::Profile;
use crate::tokens::TokenInfo;

pub struct PriceRecord<'a> {
    pub chain: &'a Chain,
    pub params: &'a PriceParams,
    pub profile: Profile,
    /// The price after it.
    pub block: u64,
    pub token: &'a TokenInfo,
    pub price: &'a Price,
    /// The pools it follows from: the token's own and the native coin's.
    pub own_pools: &'a [PoolAt],
    pub native_pools: &'a [PoolAt],
    /// A day earlier, where it was asked for and is known.
    pub then: Option<Ratio>,
    pub source: &'static str,
    /// Block and time of the last change, where they are stored.
    pub changed_at: Option<(u64, u64)>,
    /// The token on the way, where the price goes through one.
    pub hop: Option<&'a Hop>,
}

impl PriceRecord<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        let (params, price, profile) = (self.params, self.price, self.profile);
        let live = profile == Profile::Live;
        let mut row = Row::begin(out, profile);
        row.text("tokenName", self.token.name.as_deref());
        row.text("tokenSymbol", self.token.symbol.as_deref());
        row.text("tokenLogo", self.token.logo.as_deref());
        row.text("tokenDecimals", Some(&self.token.decimals.to_string()));
        self.native(&mut row);
        float(&mut row, "usdPrice", price.usd_price());
        row.text("usdPriceFormatted", Some(&price.usd_price_formatted()));
        if params.percent_change {
            self.change(&mut row, live);
        }
        row.address("exchangeAddress", Some(price.factory));
        let exchange = self.chain.exchange_at(price.factory);
        row.text("exchangeName", exchange.map(|it| it.name.as_str()));
        row.address("tokenAddress", Some(params.token));
        row.text("toBlock", Some(&self.block.to_string()));
        if live {
            self.extras(&mut row);
        }
        if live || params.explain {
            let (own, native) = (self.own_pools, self.native_pools);
            let explained = Explained {
                price,
                pools: QuotedPools { chain: self.chain, own, native },
                source: self.source,
                changed_at: self.changed_at,
                hop: self.hop,
                profile,
            };
            explained.write(row.name("explain"));
        }
        row.end();
    }

    fn native(&self, row: &mut Row) {
        let coin = &self.chain.native;
        let Some(value) = self.price.native_value() else { return row.null("nativePrice") };
        let mut native = Row::begin(row.name("nativePrice"), self.profile);
        native.text("value", Some(&value.to_string()));
        // A number in both profiles: the JS SDK stumbles over anything else.
        native.integer("decimals", coin.decimals.into());
        native.text("name", Some(&coin.name));
        native.text("symbol", Some(&coin.symbol));
        native.address("address", self.chain.wrapped.as_ref().map(|it| it.address));
        native.end();
    }

    /// Null where nothing is known of the day before.
    fn change(&self, row: &mut Row, live: bool) {
        let percent = self.then.and_then(|then| percent_change(self.price.usd, then));
        row.text("24hrPercentChange", percent.as_deref());
        if live {
            let then = self.then.map(|it| it.to_f64());
            let change = then.map(|then| self.price.usd_price() - then);
            let percent = percent.and_then(|it| it.parse().ok());
            for (name, value) in [
                ("usdPrice24h", then),
                ("usdPrice24hrUsdChange", change),
                ("usdPrice24hrPercentChange", percent),
            ] {
                float(row, name, value.unwrap_or(f64::NAN));
            }
        }
    }

    /// What the live service adds, null where we do not judge.
    fn extras(&self, row: &mut Row) {
        let changed =
            self.changed_at.map(|(block, time)| (block.to_string(), format!("{time}000")));
        row.text("priceLastChangedAtBlock", changed.as_ref().map(|it| it.0.as_str()));
        row.text("blockTimestamp", changed.as_ref().map(|it| it.1.as_str()));
        row.null("possibleSpam");
        row.null("verifiedContract");
        pool(row, "pairAddress", self.price.pool);
        let liquidity = dollars(self.price.total_liquidity_micro_usd());
        row.text("pairTotalLiquidityUsd", Some(&liquidity));
        row.null("securityScore");
    }
}

/// A JSON number in the shortest form that is read back as the same; null where there is none.
fn float(row: &mut Row, name: &str, value: f64) {
    let text = serde_json::Value::from(value).to_string();
    row.name(name).extend_from_slice(text.as_bytes());
}
