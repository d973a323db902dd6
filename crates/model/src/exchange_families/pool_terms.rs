//! What tells two pools of the same exchange and tokens apart.

use alloy_primitives::Address;

/// What a pool is beside its tokens, as far as its family has such a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolTerms {
    pub fee: Option<u32>,
    pub tick_spacing: Option<i32>,
    pub hooks: Address,
    pub stable: Option<bool>,
}
