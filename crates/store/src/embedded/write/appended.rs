//! Journal entries that another store's readers had not taken into account yet when it was copied.

use model::chain::ChainId;

use super::batch::Batch;
use crate::Error;
use crate::embedded::open::Store;
use crate::journal::{Entry, Origin};

impl Store {
    /// They change no block. Says which sequence the newest entry had before.
    pub fn append_journal(&self, chain: ChainId, entries: &[Entry]) -> Result<u64, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let mut batch = Batch::new(self, chain, &view, Origin::Import)?;
        let before = batch.seq;
        entries.iter().for_each(|entry| batch.append(*entry));
        batch.commit(&view)?;
        Ok(before)
    }
}
