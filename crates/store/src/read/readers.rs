//! Who reads the journal, how far each came, and rows that a reader keeps.

use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;
use crate::journal::{ReaderCursor, ReaderRow, ReaderStatus};

impl View {
    /// Every reader of a chain, by name.
    pub async fn readers(&self, chain: ChainId) -> Result<Vec<ReaderStatus>, Error> {
        let newest = self.coverage(chain).await?.newest();
        let cursors = match self.main().await? {
            EngineView::Embedded(view) => view.readers(chain)?,
            EngineView::Postgres(view) => view.readers(chain).await?,
        };
        let status = |(name, cursor): (String, ReaderCursor)| {
            let lag_blocks = newest.map_or(0, |newest| (newest + 1).saturating_sub(cursor.next));
            ReaderStatus { name, cursor, lag_blocks }
        };
        Ok(cursors.into_iter().map(status).collect())
    }

    pub(crate) async fn reader_cursor(
        &self,
        chain: ChainId,
        name: &str,
    ) -> Result<Option<ReaderCursor>, Error> {
        match self.main().await? {
            EngineView::Embedded(view) => view.reader_cursor(chain, name),
            EngineView::Postgres(view) => view.reader_cursor(chain, name).await,
        }
    }

    /// Rows of a reader whose keys begin with `prefix`, in the order of their keys, at most `limit`.
    pub async fn reader_rows(
        &self,
        chain: ChainId,
        name: &str,
        prefix: &[u8],
        limit: usize,
    ) -> Result<Vec<ReaderRow>, Error> {
        match self.main().await? {
            EngineView::Embedded(view) => view.reader_rows((chain, name), prefix, limit),
            EngineView::Postgres(view) => view.reader_rows((chain, name), prefix, limit).await,
        }
    }
}
