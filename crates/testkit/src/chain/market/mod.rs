//! Tokens that are traded, the pools they are traded in, and what those hold.
//!
//! Coin, dollar and factories stand where Ethereum has them, so a chain whose table names those contracts
//! has these pools. Whole numbers only: the same seed gives the same trades on any machine.

mod events;
mod holdings;

use alloy_primitives::{Address, B256, U256, address, b256, keccak256};
pub use holdings::Holdings;
pub(crate) use holdings::{Side, Swap, tick_of};

pub const WRAPPED: Address = address!("C02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2");
const DOLLAR: Address = address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48");
/// What a price is told in: a dollar has so many of these.
const MICROS: u128 = 1_000_000;
/// Prices wander up and down by this share of a thousand.
const WAVE: u64 = 60;

#[derive(Clone, Debug)]
pub struct MarketToken {
    pub address: Address,
    pub name: &'static str,
    pub symbol: &'static str,
    pub decimals: u32,
    /// Around which the price wanders, in millionths of a dollar.
    usd_micros: u128,
    /// Hours from one peak to the next; none where it stands still.
    period_h: Option<u64>,
}

/// An exchange that makes pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    factory: Address,
    init_code_hash: B256,
    /// Of pools with liquidity in ranges: the fee in millionths, and how far apart ranges begin.
    ranged: Option<(u32, i32)>,
}

const UNISWAP_V2: Exchange = Exchange {
    factory: address!("5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f"),
    init_code_hash: b256!("96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"),
    ranged: None,
};
const SUSHISWAP_V2: Exchange = Exchange {
    factory: address!("C0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac"),
    init_code_hash: b256!("e18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303"),
    ranged: None,
};
const UNISWAP_V3: Exchange = Exchange {
    factory: address!("1F98431c8aD98523631AE4a59f267346ea31F984"),
    init_code_hash: b256!("e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54"),
    ranged: Some((500, 10)),
};
const UNISWAP_V3_DEARER: Exchange = Exchange { ranged: Some((3000, 60)), ..UNISWAP_V3 };

#[derive(Clone, Debug)]
pub(crate) struct MarketPool {
    pub exchange: Exchange,
    pub address: Address,
    /// In the order of their addresses, as pools have them.
    pub tokens: [MarketToken; 2],
    /// What lies on either side at first.
    side_usd: u128,
}

#[derive(Clone, Debug)]
pub struct Market {
    pub tokens: [MarketToken; 5],
    /// In the order in which they are opened.
    pub(crate) pools: Vec<MarketPool>,
}

impl Market {
    /// `own` are the chain's own tokens; each is worth something else.
    pub fn new(own: [Address; 3]) -> Self {
        let [river, brook, delta] = own;
        let token = |address, name, symbol, decimals, usd_micros, period_h| MarketToken {
            address,
            name,
            symbol,
            decimals,
            usd_micros,
            period_h,
        };
        let tokens = [
            token(WRAPPED, "Wrapped Ether", "WETH", 18, 3_200 * MICROS, Some(70)),
            token(DOLLAR, "USD Coin", "USDC", 6, MICROS, None),
            token(river, "River", "RVR", 18, 1_840_000, Some(50)),
            token(brook, "Brook", "BRK", 6, 72_500, Some(35)),
            token(delta, "Delta", "DLT", 18, 12_500_000, Some(58)),
        ];
        let [coin, dollar, river, brook, delta] = &tokens;
        let pools = vec![
            MarketPool::new(UNISWAP_V2, [coin, dollar], 3_200_000),
            MarketPool::new(UNISWAP_V3, [coin, dollar], 6_400_000),
            MarketPool::new(UNISWAP_V2, [river, coin], 900_000),
            MarketPool::new(SUSHISWAP_V2, [river, coin], 250_000),
            MarketPool::new(UNISWAP_V3_DEARER, [river, dollar], 400_000),
            MarketPool::new(UNISWAP_V2, [brook, dollar], 150_000),
            // No money in it: its price takes two steps.
            MarketPool::new(UNISWAP_V2, [delta, river], 120_000),
        ];
        Self { tokens, pools }
    }

    pub fn token(&self, address: Address) -> Option<&MarketToken> {
        self.tokens.iter().find(|token| token.address == address)
    }

    /// Its place among what a block's `pools` hold, with what it is.
    pub(crate) fn pool(&self, address: Address) -> Option<(usize, &MarketPool)> {
        self.pools.iter().enumerate().find(|(_, pool)| pool.address == address)
    }
}

impl MarketToken {
    /// What it should be worth at that time: up and down along straight lines.
    fn usd_micros_at(&self, time: u64) -> u128 {
        let Some(period) = self.period_h.map(|hours| hours * 3600) else { return self.usd_micros };
        let (half, place) = (period / 2, time % period);
        let height = if place < half { place } else { period - place };
        let share = 1000 - WAVE + 2 * WAVE * height / half.max(1);
        self.usd_micros * u128::from(share) / 1000
    }

    fn unit(&self) -> u128 {
        10u128.pow(self.decimals)
    }

    /// What such an amount should be worth at that time, in millionths of a dollar.
    fn value(&self, amount: u128, time: u64) -> U256 {
        U256::from(amount) * U256::from(self.usd_micros_at(time)) / U256::from(self.unit())
    }
}

impl MarketPool {
    fn new(exchange: Exchange, of: [&MarketToken; 2], side_usd: u128) -> Self {
        let mut tokens = of.map(MarketToken::clone);
        tokens.sort_by_key(|token| token.address);
        let [token0, token1] = [&tokens[0], &tokens[1]].map(|token| token.address);
        let salt = match exchange.ranged {
            None => keccak256([token0.as_slice(), token1.as_slice()].concat()),
            Some((fee, _)) => {
                let fee = U256::from(fee).to_be_bytes::<32>();
                keccak256([token0.into_word().0, token1.into_word().0, fee].concat())
            }
        };
        let address = exchange.factory.create2(salt, exchange.init_code_hash);
        Self { exchange, address, tokens, side_usd }
    }

    /// What is put into it at first: the same worth of either token.
    pub fn opening(&self) -> [u128; 2] {
        let amount = |it: &MarketToken| self.side_usd * MICROS * it.unit() / it.usd_micros.max(1);
        self.tokens.each_ref().map(amount)
    }

    pub fn opened(&self, amounts: [u128; 2]) -> Holdings {
        match self.exchange.ranged {
            None => Holdings::pair(amounts),
            Some(_) => Holdings::ranged(amounts),
        }
    }

    /// The side whose token is worth less here than it should be, so that whoever buys it does well; and whether by much.
    pub fn cheap_side(&self, holdings: &Holdings, time: u64) -> (Side, bool) {
        let [amount0, amount1] = holdings.reserves();
        let [token0, token1] = &self.tokens;
        let (value0, value1) = (token0.value(amount0, time), token1.value(amount1, time));
        let (low, high) = (value0.min(value1), value0.max(value1));
        let is_far = high * U256::from(100) > low * U256::from(101);
        (if value0 > value1 { Side::First } else { Side::Second }, is_far)
    }

    /// Fees are in millionths.
    pub fn swap(&self, holdings: &Holdings, paid: Side, amount: u128) -> Swap {
        let fee = self.exchange.ranged.map_or(3000, |(fee, _)| fee);
        holdings.swap(paid, amount, fee)
    }
}
