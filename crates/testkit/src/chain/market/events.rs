//! What pools and their factories say in logs when they are made and when something is swapped.

use super::{Holdings, MarketPool, Side, Swap, tick_of};
use alloy_primitives::{Address, B256, Bytes, I256, Log, U256, keccak256};

/// The last ticks at which ranges may end, before they are rounded to the pool's spacing.
const TICK_MAX: i32 = 887_272;

impl MarketPool {
    /// `maker` put the first amounts in.
    pub(crate) fn opening_logs(&self, maker: Address, held: &Holdings) -> Vec<Log> {
        let [token0, token1] = self.tokens.each_ref().map(|token| token.address.into_word());
        let pool = self.address.into_word();
        let factory = self.exchange.factory;
        match (*held, self.exchange.ranged) {
            (Holdings::Ranged { sqrt_price, liquidity }, Some((fee, spacing))) => {
                let made = "PoolCreated(address,address,uint24,int24,address)";
                let topics = [token0, token1, word(fee)];
                let end = TICK_MAX / spacing * spacing;
                let ends = [maker.into_word(), signed(-end), signed(end)];
                let [amount0, amount1] = held.reserves().map(word);
                let first = [word(sqrt_price), signed(tick_of(sqrt_price))];
                let minted = [maker.into_word(), word(liquidity), amount0, amount1];
                let mint = "Mint(address,address,int24,int24,uint128,uint256,uint256)";
                vec![
                    log(factory, made, &topics, &[signed(spacing), pool]),
                    log(self.address, "Initialize(uint160,int24)", &[], &first),
                    log(self.address, mint, &ends, &minted),
                ]
            }
            _ => {
                let made = "PairCreated(address,address,address,uint256)";
                let mint = "Mint(address,uint256,uint256)";
                let amounts = held.reserves().map(word);
                vec![
                    log(factory, made, &[token0, token1], &[pool, word(1)]),
                    self.state_log(held.reserves()),
                    log(self.address, mint, &[maker.into_word()], &amounts),
                ]
            }
        }
    }

    /// `ends` are who called and who received; `paid` is what was paid on that side.
    pub(crate) fn swap_logs(
        &self,
        ends: [Address; 2],
        (side, paid): (Side, u128),
        Swap { received, after }: &Swap,
    ) -> Vec<Log> {
        let ends = ends.map(|end| end.into_word());
        match *after {
            Holdings::Pair { .. } => {
                let swap = "Swap(address,uint256,uint256,uint256,uint256,address)";
                let data = [side.order([paid, 0]), side.order([0, *received])].concat();
                let data: Vec<B256> = data.into_iter().map(word).collect();
                let swap = log(self.address, swap, &ends, &data);
                vec![self.state_log(after.reserves()), swap]
            }
            Holdings::Ranged { sqrt_price, liquidity } => {
                let swap = "Swap(address,address,int256,int256,uint160,uint128,int24)";
                let amounts = side.order([whole(paid), -whole(*received)]);
                let [amount0, amount1] = amounts.map(|amount| amount.into_raw().into());
                let tick = signed(tick_of(sqrt_price));
                let data = [amount0, amount1, word(sqrt_price), word(liquidity), tick];
                vec![log(self.address, swap, &ends, &data)]
            }
        }
    }

    fn state_log(&self, reserves: [u128; 2]) -> Log {
        log(self.address, "Sync(uint112,uint112)", &[], &reserves.map(word))
    }
}

fn log(address: Address, signature: &str, topics: &[B256], data: &[B256]) -> Log {
    let topics = [&[keccak256(signature)], topics].concat();
    let data: Vec<u8> = data.iter().flat_map(|word| word.0).collect();
    Log::new_unchecked(address, topics, Bytes::from(data))
}

fn word(value: impl TryInto<U256>) -> B256 {
    value.try_into().unwrap_or_default().into()
}

fn signed(value: i32) -> B256 {
    I256::unchecked_from(value).into_raw().into()
}

fn whole(amount: u128) -> I256 {
    I256::unchecked_from(amount)
}
