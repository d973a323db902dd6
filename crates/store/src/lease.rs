//! Which of several processes does what only one may do at a time.
//!
//! In: a duty. Out: the right to it, which ends when another process takes it over. A store that belongs to one process
//! gives every right at once, and none ends.

use std::time::Duration;

use model::chain::ChainId;

use crate::store::{Engine, Store};
use crate::{Error, postgres};

/// How long until somebody who waits for a duty looks again.
const LOOK_EVERY: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duty {
    /// To write blocks of a chain.
    Chain(ChainId),
    /// To match blocks against streams, and to change streams.
    Streams,
}

impl Duty {
    pub(crate) fn name(self) -> String {
        match self {
            Duty::Chain(chain) => format!("chain/{}", chain.0),
            Duty::Streams => "streams".to_owned(),
        }
    }
}

/// The right to a duty. Dropping it gives it up.
pub struct Leadership {
    /// None where there is nobody else.
    pub(crate) term: Option<postgres::Term>,
}

impl Leadership {
    /// Returns when another process may have the duty.
    pub async fn ended(&mut self) {
        match &mut self.term {
            Some(term) => term.ended().await,
            None => std::future::pending().await,
        }
    }
}

impl Store {
    /// Whether other processes may write this store, too.
    pub fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// None while another process has the duty.
    pub async fn try_lead(&self, duty: Duty) -> Result<Option<Leadership>, Error> {
        let engine = match duty {
            Duty::Chain(chain) => self.of(chain),
            Duty::Streams => &self.engine,
        };
        let Engine::Postgres(store) = engine else { return Ok(Some(Leadership { term: None })) };
        let term = store.try_lead(duty).await?;
        if term.is_some() {
            self.drop_stray_marks(duty).await;
        }
        Ok(term.map(|term| Leadership { term: Some(term) }))
    }

    /// Whether the duty is one of a chain that has a database of its own.
    fn is_elsewhere(&self, duty: Duty) -> bool {
        match duty {
            Duty::Chain(chain) => self.is_placed(chain),
            Duty::Streams => false,
        }
    }

    /// Waits until no other process has the duty.
    pub async fn lead(&self, duty: Duty) -> Leadership {
        let mut is_told = false;
        loop {
            match self.try_lead(duty).await {
                Ok(Some(leadership)) => return leadership,
                Ok(None) => is_told = false,
                Err(error) if !is_told => {
                    is_told = true;
                    tracing::warn!(duty = duty.name(), %error, "cannot ask who has a duty; asked again");
                }
                Err(_) => {}
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The same store for whoever has the duty: what it writes of streams is refused once another process has it.
    pub fn under(&self, leadership: &Leadership) -> Store {
        match (&self.engine, &leadership.term) {
            // A duty of another database says nothing of this one.
            (Engine::Postgres(store), Some(term)) if !self.is_elsewhere(term.duty) => {
                let engine = Engine::Postgres(store.under(term));
                Store { engine, placed: self.placed.clone() }
            }
            _ => self.clone(),
        }
    }
}
