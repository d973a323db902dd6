//! A matcher: one journal reader with the streams that follow it. All that is done with it, matching and changes of its
//! streams alike, is done while its lock is held, so a change is in force from a block that can be named.

use std::sync::Arc;

use model::chain::ChainId;
use store::{Error, Reader, Start, Store};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::context::Context;
use super::step::{MatcherState, Members, Step, Stepped};

pub struct Matcher {
    pub chain: ChainId,
    pub members: Members,
    /// What its task is called.
    pub task: String,
    store: Store,
    state: Arc<Mutex<MatcherState>>,
}

impl Matcher {
    pub async fn open(
        context: &Context,
        chain: ChainId,
        members: Members,
        start: Start,
    ) -> Result<Self, Error> {
        let (store, name) = (context.store.clone(), members.reader_name());
        let reader = Reader::open(&store, &name, chain, start).await?;
        let state = Arc::new(Mutex::new(MatcherState::new(reader)));
        let task = format!("matching of {name} on chain {chain}", chain = chain.0);
        Ok(Matcher { chain, members, task, store, state })
    }

    /// Where a step failed or panicked, what was begun is begun again from what the store knows.
    pub async fn lock(&self) -> Result<OwnedMutexGuard<MatcherState>, Error> {
        let mut state = self.state.clone().lock_owned().await;
        if state.is_stepping {
            let name = self.members.reader_name();
            let reader = Reader::open(&self.store, &name, self.chain, Start::Head).await?;
            *state = MatcherState::new(reader);
        }
        Ok(state)
    }

    pub async fn step(&self, context: &Context) -> Result<Stepped, Error> {
        let mut state = self.lock().await?;
        self.step_locked(context, &mut state).await
    }

    pub async fn step_locked(
        &self,
        context: &Context,
        state: &mut MatcherState,
    ) -> Result<Stepped, Error> {
        state.is_stepping = true;
        let stepped = Step::new(context, self.chain, self.members, state).run().await?;
        state.is_stepping = false;
        Ok(stepped)
    }
}
