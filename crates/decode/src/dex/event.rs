//! What an event of a pool or factory says, whichever exchange it is of, and the list of all events.
//!
//! A new exchange is one file with readers and one line here for each of its events.

use alloy_primitives::{Address, B256, I256, U256, b256};
use model::chain::ExchangeKind;
use model::facts::{PoolId, PoolState, RangeDelta};
use model::raw::Log;

use super::{algebra, slipstream, solidly, v2, v3, v4};

pub enum Event {
    /// A factory made a pool. Believed only from a factory of the chain table.
    Created(Created),
    State(PoolState),
    Liquidity(RangeDelta),
    Swap(Flow),
}

/// What a factory told of a new pool.
pub struct Created {
    pub kinds: &'static [ExchangeKind],
    pub token0: Address,
    pub token1: Address,
    pub fee: Option<u32>,
    pub tick_spacing: Option<i32>,
    pub hooks: Address,
    pub stable: Option<bool>,
    pub state: Option<PoolState>,
}

/// What went into a pool and came out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    pub amount0_in: U256,
    pub amount1_in: U256,
    pub amount0_out: U256,
    pub amount1_out: U256,
    pub sender: Address,
    /// Who received; v4 does not say.
    pub to: Option<Address>,
    /// v3 and its like tell the state with the swap; of others it is in the event before.
    pub state: Option<PoolState>,
    /// v4 only: what this swap paid, in millionths.
    pub fee: Option<u32>,
}

impl Flow {
    /// From amounts as the pool counts them: positive is what it received.
    pub fn of_pool(amount0: I256, amount1: I256, sender: Address) -> Flow {
        let split = |amount: I256| match amount.is_negative() {
            true => (U256::ZERO, amount.unsigned_abs()),
            false => (amount.unsigned_abs(), U256::ZERO),
        };
        let ((amount0_in, amount0_out), (amount1_in, amount1_out)) =
            (split(amount0), split(amount1));
        Flow {
            amount0_in,
            amount1_in,
            amount0_out,
            amount1_out,
            sender,
            to: None,
            state: None,
            fee: None,
        }
    }
}

type Reader = fn(&Log) -> Option<(PoolId, Event)>;

pub const TRANSFER: B256 =
    b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// The hash of the event's signature, the signature, and who reads it. Those met most come first.
pub static EVENTS: [(B256, &str, Reader); 18] = [
    (
        b256!("1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"),
        "Sync(uint112,uint112)",
        v2::sync,
    ),
    (
        b256!("d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"),
        "Swap(address,uint256,uint256,uint256,uint256,address)",
        v2::swap,
    ),
    (
        b256!("c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"),
        "Swap(address,address,int256,int256,uint160,uint128,int24)",
        v3::swap,
    ),
    (
        b256!("40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"),
        "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        v4::swap,
    ),
    (
        b256!("19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83"),
        "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
        v3::swap_pancake,
    ),
    (
        b256!("cf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a"),
        "Sync(uint256,uint256)",
        solidly::sync,
    ),
    (
        b256!("b3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b"),
        "Swap(address,address,uint256,uint256,uint256,uint256)",
        solidly::swap,
    ),
    (
        b256!("7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde"),
        "Mint(address,address,int24,int24,uint128,uint256,uint256)",
        v3::mint,
    ),
    (
        b256!("0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c"),
        "Burn(address,int24,int24,uint128,uint256,uint256)",
        v3::burn,
    ),
    (
        b256!("f208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec"),
        "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)",
        v4::modify_liquidity,
    ),
    (
        b256!("98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95"),
        "Initialize(uint160,int24)",
        v3::initialize,
    ),
    (
        b256!("dd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"),
        "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
        v4::initialize,
    ),
    (
        b256!("0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9"),
        "PairCreated(address,address,address,uint256)",
        v2::pair_created,
    ),
    (
        b256!("783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118"),
        "PoolCreated(address,address,uint24,int24,address)",
        v3::pool_created,
    ),
    (
        b256!("2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e"),
        "PoolCreated(address,address,bool,address,uint256)",
        solidly::pool_created,
    ),
    (
        b256!("c4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9"),
        "PairCreated(address,address,bool,address,uint256)",
        solidly::pair_created,
    ),
    (
        b256!("91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db"),
        "Pool(address,address,address)",
        algebra::pool,
    ),
    (
        b256!("ab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2"),
        "PoolCreated(address,address,int24,address)",
        slipstream::pool_created,
    ),
];

/// Whether any event's hash begins like this: most logs of a block are turned away by it.
fn may_be(first: u8) -> bool {
    const FIRST: [u8; 18] = [
        0x1c, 0xd7, 0xc4, 0x40, 0x19, 0xcf, 0xb3, 0x7a, 0x0c, 0xf2, 0x98, 0xdd, 0x0d, 0x78, 0x21,
        0xc4, 0x91, 0xab,
    ];
    FIRST.contains(&first)
}

/// `None` for everything that is not about pools, which is most of a block.
pub fn read(log: &Log) -> Option<(PoolId, Event)> {
    let name = log.topics.as_deref()?.first()?;
    if !may_be(*name.first()?) {
        return None;
    }
    let (_, _, reader) = EVENTS.iter().find(|(topic, _, _)| topic == name)?;
    if log.removed == Some(true) {
        return None;
    }
    reader(log)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn every_topic_is_the_hash_of_its_signature() {
        for (topic, signature, _) in &EVENTS {
            assert_eq!(*topic, keccak256(signature), "{signature}");
            assert!(may_be(topic[0]), "{signature}");
        }
        assert_eq!(TRANSFER, keccak256("Transfer(address,address,uint256)"));
    }
}
