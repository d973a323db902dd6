//! Equal calls that are under way at the same time are asked once.
//!
//! Whoever asks first makes the future, all of them poll it: one who goes away takes nobody's answer along.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use alloy_primitives::map::HashMap;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use model::chain::ChainId;

use super::Told;

/// More different calls than these under way are not looked after: each is asked for itself.
const CALLS_MAX: usize = 10_000;

/// What is asked: chain, method, parameters.
pub type CallKey = (ChainId, &'static str, Arc<str>);
type Answering = Shared<BoxFuture<'static, Told>>;
type Calls = Mutex<HashMap<CallKey, WeakShared<BoxFuture<'static, Told>>>>;

#[derive(Clone, Default)]
pub struct InFlight {
    calls: Arc<Calls>,
}

/// Takes the call off the list when its future ends or is dropped.
struct Listed {
    calls: Weak<Calls>,
    key: CallKey,
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(calls) = self.calls.upgrade() {
            lock(&calls).remove(&self.key);
        }
    }
}

impl InFlight {
    pub async fn once<F>(&self, key: CallKey, ask: impl FnOnce() -> F) -> Told
    where
        F: Future<Output = Told> + Send + 'static,
    {
        match self.join(key, ask) {
            Ok(shared) => shared.await,
            // Boxed: what hardly ever happens would be carried by every call.
            Err(alone) => Box::pin(alone).await,
        }
    }

    /// The call under way, or a new one; by itself where there are too many.
    fn join<F>(&self, key: CallKey, ask: impl FnOnce() -> F) -> Result<Answering, F>
    where
        F: Future<Output = Told> + Send + 'static,
    {
        let mut calls = lock(&self.calls);
        if let Some(answering) = calls.get(&key).and_then(WeakShared::upgrade) {
            return Ok(answering);
        }
        let asked = ask();
        if calls.len() >= CALLS_MAX {
            return Err(asked);
        }
        let listed = Listed { calls: Arc::downgrade(&self.calls), key: key.clone() };
        let answering = async move {
            let told = asked.await;
            drop(listed);
            told
        };
        let answering = answering.boxed().shared();
        // The list does not keep a call alive that nobody waits for.
        calls.extend(answering.downgrade().map(|weak| (key, weak)));
        Ok(answering)
    }

    pub fn len(&self) -> usize {
        lock(&self.calls).len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
