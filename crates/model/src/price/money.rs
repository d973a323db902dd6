//! What counts as money on a chain: the wrapped coin and the stables, with what they are worth.

use alloy_primitives::Address;

use super::ratio::Ratio;
use crate::chain::Chain;

/// The chain's table as pricing needs it.
#[derive(Clone, Debug)]
pub struct PricingTable {
    pub wrapped: Address,
    pub native_decimals: u8,
    /// Stables that may stand for a dollar at the asked time, with their decimals.
    pub stables: Vec<(Address, u8)>,
    /// Factories whose pools may be believed.
    pub factories: Vec<Address>,
}

impl PricingTable {
    /// `None` where the chain has no wrapped native coin.
    pub fn of(chain: &Chain, timestamp: u64) -> Option<PricingTable> {
        let backed = chain.stables.iter().filter(|it| it.is_backed_at(timestamp));
        Some(PricingTable {
            wrapped: chain.wrapped.as_ref()?.address,
            native_decimals: chain.native.decimals,
            stables: backed.map(|it| (it.address, it.decimals)).collect(),
            factories: chain.exchanges.iter().map(|it| it.factory).collect(),
        })
    }
}

/// A token of known worth.
#[derive(Clone, Debug)]
pub struct Money {
    pub token: Address,
    pub decimals: u8,
    /// Of one whole token.
    pub usd: Ratio,
    pub kind: MoneyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoneyKind {
    Native {
        doubtful: bool,
    },
    Stable {
        pegged: bool,
    },
    /// Priced itself, over its own pools.
    Via,
}

/// What the chain's money is worth.
pub struct ReferencePrices {
    pub native: Option<Money>,
    pub stables: Vec<Money>,
    /// The stables contradict each other, and it is not clear which are right.
    pub undecided: bool,
}
