//! The queue of blocks without traces.

use model::chain::ChainId;

use super::View;
use crate::Error;
use crate::embedded::keys;

impl View {
    pub fn untraced_blocks(
        &self,
        chain: ChainId,
        below: u64,
        limit: usize,
    ) -> Result<Vec<u64>, Error> {
        let Some(newest) = below.checked_sub(1) else { return Ok(Vec::new()) };
        let range = keys::newest_first(chain, newest)..=keys::newest_first(chain, 0);
        let mut blocks = Vec::new();
        for item in self.snapshot.range(&self.tables.untraced, range).take(limit) {
            let number = keys::last_number(&item.key()?).map(|inverted| !inverted);
            blocks.push(number.ok_or(Error::Broken { what: "list of untraced blocks" })?);
        }
        Ok(blocks)
    }
}
