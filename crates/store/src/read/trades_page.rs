//! Sales of an NFT contract, a page at a time.

use super::{Snapshot, View};
use crate::Error;
use crate::query::{TradesPage, TradesQuery};

impl View {
    pub async fn trades_page(&self, q: &TradesQuery) -> Result<TradesPage, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.trades_page(q),
        }
    }
}
