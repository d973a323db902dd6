//! Which block is a chain's newest, for those who ask here: it does not go back, unless the chain does.
//!
//! The store says `latest` when it holds the newest block that any node announced and that any client was told of.
//! Else a node is asked, and what it says is remembered: whoever has seen the receipt of a block finds its logs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::chain::ChainId;
use rpc::Pool;
use serde::Deserialize;
use serde_json::value::RawValue;
use store::View;

use crate::answer::Failure;
use crate::params::quantity;

pub struct ChainHead {
    pool: Option<Arc<Pool>>,
    told: Mutex<Told>,
}

/// By block number.
#[derive(Default)]
struct Told {
    /// The newest that nodes announced, when it was last looked at.
    announced: u64,
    /// The newest that clients know of.
    newest: u64,
}

impl ChainHead {
    pub fn new(pool: Option<Arc<Pool>>) -> Self {
        ChainHead { pool, told: Mutex::default() }
    }

    pub fn has_nodes(&self) -> bool {
        self.pool.is_some()
    }

    /// The newest stored block, if it is the chain's newest as far as anyone knows. Without nodes it is all there is.
    pub async fn stored(&self, view: &View, chain: ChainId) -> Result<Option<u64>, Failure> {
        let Some(stored) = view.head(chain).await? else { return Ok(None) };
        let Some(pool) = &self.pool else { return Ok(Some(stored.number)) };
        let Some(head) = *pool.heads().borrow() else { return Ok(None) };
        let is_other = head.number == stored.number && head.hash != stored.hash;
        let mut told = self.told(head.number);
        if is_other || stored.number < told.newest.max(head.number) {
            return Ok(None);
        }
        told.newest = stored.number;
        Ok(Some(stored.number))
    }

    /// A node's head may be behind what clients know. Gives the number to tell.
    pub fn at_least(&self, number: u64) -> u64 {
        let mut told = self.told(self.announced());
        told.newest = told.newest.max(number);
        told.newest
    }

    /// What a node said of a transaction names a block that clients now know of.
    pub fn note_answer(&self, json: &[u8]) {
        #[derive(Deserialize)]
        struct InBlock<'a> {
            #[serde(borrow, rename = "blockNumber")]
            block_number: Option<&'a RawValue>,
        }
        let answer = serde_json::from_slice::<Option<InBlock>>(json).ok().flatten();
        if let Some(number) = answer.and_then(|tx| quantity(tx.block_number?.get())) {
            self.at_least(number);
        }
    }

    fn announced(&self) -> u64 {
        let heads = self.pool.as_ref().map(|pool| pool.heads());
        heads.and_then(|heads| *heads.borrow()).map_or(0, |head| head.number)
    }

    /// Where the nodes' own head went back, the chain did: what was told before does not count.
    fn told(&self, announced: u64) -> MutexGuard<'_, Told> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if announced < told.announced {
            told.newest = announced;
        }
        told.announced = announced;
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_were_told_does_not_go_back() {
        let head = ChainHead::new(None);
        assert_eq!(head.at_least(7), 7);
        head.note_answer(br#"{"blockNumber":"0x9","logs":[]}"#);
        assert_eq!(head.at_least(8), 9);
        for odd in [&b"null"[..], b"{", br#"{"blockNumber":null}"#, br#"{"blockNumber":7}"#] {
            head.note_answer(odd);
        }
        assert_eq!(head.at_least(0), 9);
        // The nodes' head went from 20 to 3: the chain started over.
        drop(head.told(20));
        assert_eq!(head.told(3).newest, 3);
    }
}
