//! A stream as the matcher sees it: what was configured, made ready, and where it applies.

use model::chain::ChainId;
use store::StreamId;

use crate::definition::{Compiled, Definition};

/// A stream's place in the index. Below 2^31.
pub type Slot = u32;

#[derive(Clone, Debug)]
pub struct StreamPlan {
    pub id: StreamId,
    pub definition: Definition,
    pub compiled: Compiled,
    pub chains: Vec<ChainId>,
}
