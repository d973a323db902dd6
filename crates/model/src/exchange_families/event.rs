//! What an event of a pool or factory says, whichever family it is of.
//!
//! In: a log. Out: a [`PoolEvent`], or nothing where the log is not what its topic promises. Must not
//! know which families there are.

use alloy_primitives::{Address, B256, I256, U256};

use super::pool_terms::PoolTerms;
use crate::facts::{PoolId, PoolState, RangeDelta};
use crate::raw::Log;

/// One event and who reads it. A family that says it in another family's words lists that one's.
#[derive(Clone, Copy)]
pub struct EventReader {
    /// The hash of the signature.
    pub topic: B256,
    pub signature: &'static str,
    pub read: fn(&Log) -> Option<PoolEvent>,
}

pub struct PoolEvent {
    pub id: PoolId,
    pub event: Event,
    /// Who acted on the pool, where pools are no contracts of their own and the event says so.
    pub actor: Option<Address>,
}

impl PoolEvent {
    /// Of the pool that emitted the log.
    pub fn of_emitter(log: &Log, event: Event) -> Option<PoolEvent> {
        Some(PoolEvent { id: PoolId::Contract(log.address?), event, actor: None })
    }

    /// Of a pool that a factory made.
    pub fn created(pool: Address, created: Created) -> PoolEvent {
        PoolEvent { id: PoolId::Contract(pool), event: Event::Created(created), actor: None }
    }
}

pub enum Event {
    /// A factory made a pool. Believed only from a factory of the chain table.
    Created(Created),
    State(PoolState),
    Liquidity(RangeDelta),
    Swap(Flow),
}

/// What a factory told of a new pool.
pub struct Created {
    /// In their order.
    pub tokens: [Address; 2],
    pub terms: PoolTerms,
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
    /// What this swap paid, in millionths, where the event says so.
    pub fee: Option<u32>,
}

impl Flow {
    /// From amounts as the pool counts them: positive is what it received.
    pub fn of_pool(amount0: I256, amount1: I256, sender: Address) -> Flow {
        let split = |amount: I256| {
            if amount.is_negative() {
                (U256::ZERO, amount.unsigned_abs())
            } else {
                (amount.unsigned_abs(), U256::ZERO)
            }
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
