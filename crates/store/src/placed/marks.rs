//! A reader's cursor moves in the main database; a mark in the chain's own says from where on the journal and blocks are kept.
//! It is moved down before the reader is, and up after it, so whoever dies in between leaves too much, never too little.

use model::chain::ChainId;

use crate::Error;
use crate::engine::Engine;
use crate::journal::ReaderCursor;
use crate::lease::Duty;
use crate::postgres::Store as Database;
use crate::read::EngineView;
use crate::store::Store;

/// A reader's mark, where its chain has a database of its own.
pub(crate) struct Mark<'a> {
    database: &'a Database,
    chain: ChainId,
    name: String,
}

impl Store {
    /// None where the reader's own row is in the chain's database.
    pub(crate) fn mark(&self, chain: ChainId, reader: &str) -> Option<Mark<'_>> {
        let placed = self.placed.as_ref()?;
        match placed.by_chain.get(&chain)? {
            Engine::Postgres(database) => {
                let name = format!("{}{reader}", placed.mark);
                Some(Mark { database, chain, name })
            }
            Engine::Embedded(_) => None,
        }
    }

    /// A reader as it is named, whether its mark was seen or itself.
    pub(crate) fn reader_of(&self, mark: String) -> String {
        let prefix = self.placed.as_ref().map(|placed| placed.mark.as_str()).unwrap_or_default();
        mark.strip_prefix(prefix).map(str::to_owned).unwrap_or(mark)
    }

    /// Marks of readers that never came to be, or whose end was cut short. Whoever has the duty to match streams makes all
    /// readers, so it calls this before it makes any.
    pub(crate) async fn drop_stray_marks(&self, duty: Duty) {
        let Some(placed) = self.placed.as_ref().filter(|_| duty == Duty::Streams) else { return };
        for chain in placed.by_chain.keys() {
            if let Err(error) = self.drop_strays_of(*chain, &placed.mark).await {
                tracing::debug!(chain.id = chain.0, %error, "marks of readers were not looked at");
            }
        }
    }

    async fn drop_strays_of(&self, chain: ChainId, prefix: &str) -> Result<(), Error> {
        let Engine::Postgres(database) = self.of(chain) else { return Ok(()) };
        let marks = database.marks(chain, prefix).await?;
        let readers = match self.engine.view().await? {
            EngineView::Embedded(view) => view.readers(chain)?,
            EngineView::Postgres(view) => view.readers(chain).await?,
        };
        for mark in marks {
            let reader = mark.strip_prefix(prefix).unwrap_or(&mark);
            if readers.iter().all(|(name, _)| name != reader) {
                database.drop_mark(chain, &mark).await?;
            }
        }
        Ok(())
    }
}

impl Mark<'_> {
    /// Before the reader moves.
    pub async fn hold(&self, from: Option<ReaderCursor>, to: ReaderCursor) -> Result<(), Error> {
        if from.is_some_and(|from| from.next <= to.next) {
            return Ok(());
        }
        self.database.hold_mark(self.chain, &self.name, to).await
    }

    /// After it moved. Where this fails, the next step does it.
    pub async fn follow(&self, to: ReaderCursor) {
        if let Err(error) = self.database.follow_mark(self.chain, &self.name, to).await {
            tracing::debug!(mark = self.name, %error, "a reader's mark stays behind");
        }
    }

    pub async fn drop(&self) {
        if let Err(error) = self.database.drop_mark(self.chain, &self.name).await {
            tracing::warn!(mark = self.name, %error, "a reader's mark stays: it keeps blocks and journal until streams are started again");
        }
    }
}
