//! A matcher: one journal reader with the streams that follow it. All that is done with it, matching and changes of its
//! streams alike, is done while its lock is held, so a change is in force from a block that can be named.

use std::sync::Arc;

use model::chain::ChainId;
use store::{Error, Reader, Start};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::context::Context;
use super::step::{MatcherState, Members, Step, Stepped};

pub struct Matcher {
    pub chain: ChainId,
    pub members: Members,
    state: Arc<Mutex<MatcherState>>,
}

impl Matcher {
    pub async fn open(
        context: &Context,
        chain: ChainId,
        members: Members,
        start: Start,
    ) -> Result<Self, Error> {
        let reader = Reader::open(&context.store, &members.reader_name(), chain, start).await?;
        let state = Arc::new(Mutex::new(MatcherState::new(reader)));
        Ok(Matcher { chain, members, state })
    }

    pub async fn lock(&self) -> OwnedMutexGuard<MatcherState> {
        self.state.clone().lock_owned().await
    }

    pub async fn step(&self, context: &Context) -> Result<Stepped, Error> {
        let mut state = self.lock().await;
        self.step_locked(context, &mut state).await
    }

    pub async fn step_locked(
        &self,
        context: &Context,
        state: &mut MatcherState,
    ) -> Result<Stepped, Error> {
        let stepped = Step::new(context, self.chain, self.members, state).run().await;
        if stepped.is_err() {
            // What was begun is begun again from what the store knows.
            let name = self.members.reader_name();
            if let Ok(reader) = Reader::open(&context.store, &name, self.chain, Start::Head).await {
                *state = MatcherState::new(reader);
            }
        }
        stepped
    }
}
