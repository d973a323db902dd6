//! The demo's chain: a few days of history in blocks far apart, then blocks as they come, with reorgs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use testkit::{SharedChain, SimChain, SimConfig, shared, write};

use crate::cli::DemoArgs;

pub const BLOCK_TIME_S: u64 = 2;
/// So that a history of 300 blocks has a price of a day ago, and days to draw.
const OLD_BLOCK_TIME_S: u64 = 900;
/// The newest blocks of the history, which follow each other as new ones will.
const NEW_BLOCKS: usize = 60;
/// When `--fixed` begins: 2026-01-01.
const FIXED_START: u64 = 1_767_225_600;
const NFT_SALES_PER_BLOCK: usize = 2;
const POOL_TRADES_PER_BLOCK: usize = 4;
/// Every so many blocks the last one or two are replaced, as happens on real chains.
const REORG_EVERY: u64 = 15;

pub struct Simulation {
    pub chain: SharedChain,
}

impl Simulation {
    pub fn start(args: &DemoArgs) -> Self {
        let new = args.blocks.min(NEW_BLOCKS);
        let old = args.blocks - new;
        let length_s = old as u64 * OLD_BLOCK_TIME_S + new as u64 * BLOCK_TIME_S;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let chain = shared(SimConfig {
            chain_id: args.served_as.id(),
            start_time: if args.fixed { FIXED_START } else { now.saturating_sub(length_s) },
            block_time_s: OLD_BLOCK_TIME_S,
            nft_sales_per_block: NFT_SALES_PER_BLOCK,
            pool_trades_per_block: POOL_TRADES_PER_BLOCK,
            ..SimConfig::seeded(args.seed)
        });
        {
            let mut chain = write(&chain);
            chain.extend(old);
            chain.set_block_time(BLOCK_TIME_S);
            chain.extend(new);
        }
        Self { chain }
    }

    /// New blocks, without end.
    pub async fn live(&self) {
        let mut tick = tokio::time::interval(Duration::from_secs(BLOCK_TIME_S));
        tick.tick().await;
        loop {
            tick.tick().await;
            let mut chain = write(&self.chain);
            match chain.head_number() % REORG_EVERY {
                0 => {
                    chain.reorg(2, 3);
                }
                _ => {
                    chain.extend(1);
                }
            }
        }
    }
}

pub fn named(chain: &SimChain, name: &str) -> String {
    chain.address_of(name).map_or(String::new(), |address| format!("{address:#x}"))
}
