//! One chain for several nodes and a test that changes it.

use super::{SimChain, SimConfig};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub type SharedChain = Arc<RwLock<SimChain>>;

pub fn shared(config: SimConfig) -> SharedChain {
    Arc::new(RwLock::new(SimChain::new(config)))
}

/// To look at the chain. Do not hold it over an await.
pub fn read(chain: &SharedChain) -> RwLockReadGuard<'_, SimChain> {
    chain.read().unwrap_or_else(PoisonError::into_inner)
}

/// To extend or reorganise the chain. Do not hold it over an await.
pub fn write(chain: &SharedChain) -> RwLockWriteGuard<'_, SimChain> {
    chain.write().unwrap_or_else(PoisonError::into_inner)
}
