//! Decoders that find different things in the same block, and how one of them reads stored blocks anew.

use std::sync::atomic::{AtomicUsize, Ordering};

use alloy_primitives::{Address, B256, U256, keccak256};
use model::facts::{
    Change as PoolStateChange, Facts, Market, Pool, PoolChange, PoolFacts, PoolId, PoolState, Trade,
};
use store::{Decoded, FactsRebuild, Fingerprint, Generations, PreparedBlock, VerifiedBlock};
use testkit::SimChain;

use crate::chain::{CHAIN, block, proven};
use crate::engine::Engine;
use crate::home::Home;

pub const TOKEN: Address = Address::repeat_byte(0xaa);
pub const OLD: Decoder = Decoder(1);
pub const NEW: Decoder = Decoder(2);
pub const OTHER: Decoder = Decoder(3);
/// More than any store here takes: work that would never end fails instead.
const LOOKS_MAX: usize = 10_000;

/// Does not stop work that comes to an end.
pub fn patience() -> impl Fn() -> bool + Send + Sync {
    let looks = AtomicUsize::new(0);
    move || looks.fetch_add(1, Ordering::Relaxed) > LOOKS_MAX
}

/// Who decodes: what they find in a block follows from its hash and their number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoder(pub u8);

impl Decoder {
    pub fn fingerprint(self) -> Fingerprint {
        Fingerprint::repeat_byte(self.0)
    }

    pub fn facts(self, hash: B256) -> Facts {
        let dice = keccak256([hash.as_slice(), &[self.0]].concat());
        let trades = (0..dice[0] % 4).map(|n| self.trade(dice, n)).collect();
        let ids: Vec<u8> = (0..4).filter(|n| dice[1] >> n & 1 == 1).collect();
        let changes = ids.iter().map(|n| PoolChange {
            id: PoolId::Contract(Address::repeat_byte(*n)),
            log_index: u32::from(dice[2]),
            change: PoolStateChange::State(PoolState::Reserves {
                reserve0: U256::from(dice[3]),
                reserve1: U256::from(dice[4]),
            }),
        });
        let seen = ids.iter().map(|n| self.pool(*n));
        Facts { trades, pools: PoolFacts { seen: seen.collect(), changes: changes.collect() } }
    }

    pub fn decoded(self, blocks: &[(u64, B256)]) -> Vec<Decoded> {
        let read = |(number, hash): &(u64, B256)| Decoded {
            number: *number,
            hash: *hash,
            facts: self.facts(*hash),
        };
        blocks.iter().map(read).collect()
    }

    fn trade(self, dice: B256, n: u8) -> Trade {
        Trade {
            tx_index: u32::from(n),
            log_index: u32::from(n),
            market: if dice[5] & 1 == 0 { Market::ALL[0] } else { Market::ALL[1] },
            marketplace: Address::repeat_byte(9),
            contract: Address::repeat_byte(dice[6 + usize::from(n)] % 3),
            tokens: vec![(U256::from(dice[10]), U256::ONE)],
            seller: Address::repeat_byte(1),
            buyer: Address::repeat_byte(2),
            currency: Address::ZERO,
            price: U256::from(dice[11] % 8),
            mixed: false,
            in_native: dice[12] & 1 == 0,
            reconciled: true,
        }
    }

    /// What a pool is said to be also depends on who decodes.
    fn pool(self, n: u8) -> Pool {
        Pool {
            id: PoolId::Contract(Address::repeat_byte(n)),
            factory: Address::repeat_byte(self.0),
            kind: model::chain::ExchangeKind::V2,
            token0: TOKEN,
            token1: Address::repeat_byte(n),
            fee: None,
            tick_spacing: None,
            hooks: Address::ZERO,
            stable: None,
        }
    }

    pub fn prepared(self, home: &Home, chain: &SimChain, hash: B256) -> PreparedBlock {
        let facts = self.facts(hash);
        let block = VerifiedBlock { block: block(chain, hash), proof: proven(), facts };
        home.store().prepare(CHAIN, block)
    }
}

pub async fn start(home: &Home, decoder: Decoder) -> Generations {
    home.store().decode_with(CHAIN, decoder.fingerprint()).await.unwrap()
}

/// The chain as one decoder alone would have stored it.
pub async fn indexed_by(engine: Engine, chain: &SimChain, decoder: Decoder) -> Home {
    let home = Home::new(engine).await;
    start(&home, decoder).await;
    let blocks = chain.blocks().iter().map(|block| decoder.prepared(&home, chain, block.hash));
    home.apply(blocks.collect()).await.unwrap();
    home
}

pub async fn rebuild(home: &Home, decoder: Decoder) -> FactsRebuild {
    let rebuild = home.store().rebuild_facts(CHAIN, decoder.fingerprint(), &patience()).await;
    rebuild.unwrap().unwrap()
}

/// The next blocks below what was walked, at most so many; false when there are none.
pub async fn walk(home: &Home, decoder: Decoder, some: usize) -> bool {
    let rebuild = rebuild(home, decoder).await;
    let view = home.view().await;
    let coverage = view.coverage(CHAIN).await.unwrap();
    let numbers = coverage.ranges().iter().flat_map(|(from, to)| *from..=*to).rev();
    let below = numbers.filter(|n| rebuild.reached().is_none_or(|reached| *n < reached));
    let mut blocks: Vec<(u64, B256)> = Vec::new();
    for number in below.take(some) {
        let (block, _) = view.whole_block(CHAIN, number).await.unwrap().unwrap();
        blocks.push((number, block.hash));
    }
    let Some((last, _)) = blocks.last() else { return false };
    // Once more changes nothing.
    for _ in 0..2 {
        let written = rebuild.write(decoder.decoded(&blocks), *last).await.unwrap();
        assert_eq!(written, blocks.len());
    }
    true
}

/// Each walk goes on below the last, so it ends.
pub async fn walk_all(home: &Home, decoder: Decoder) {
    let mut walks = 0;
    while walk(home, decoder, 5).await {
        walks += 1;
        assert!(walks < 100, "a walk begins where another began");
    }
}

/// Reads what is left and puts it in use; the rows of what was in use before go.
pub async fn finish(home: &Home, decoder: Decoder) -> u64 {
    walk_all(home, decoder).await;
    rebuild(home, decoder).await.finish(&patience()).await.unwrap()
}
